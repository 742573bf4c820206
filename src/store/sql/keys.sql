-- Statements on pawl_idempotency_keys and pawl_key_registry. The engine passes the store's time as the parameter "now", so that a
-- test can set the clock. A fence is `id, attempt, recovery_point` in the WHERE: if the statement touches no row, the lease is
-- lost (model/README.md, F1 and F2).
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_array_elements_text. PostgreSQL turns it into
-- an array, because a comparison with an array uses the index and a join may scan the table.

-- name: claim_expired_key [sqlite]   ($1 hash)
-- Makes an expired key live again, if its operation allows a re-execution. The key gets a new id, so that rows which the first
-- execution created do not count as rows of this one, and a new generation, so that its call keys are new.
UPDATE pawl_key_registry
SET state = 'live', generation = generation + 1, outcome = NULL, location = NULL, expired_at = NULL,
    id = 1 + max((SELECT max(id) FROM pawl_key_registry), (SELECT seq FROM sqlite_sequence WHERE name = 'pawl_key_registry'))
WHERE hash = $1
  AND state = 'expired'
RETURNING id, generation;

-- name: claim_expired_key [postgres]
-- SQLite has no DEFAULT for the id of an existing row.
UPDATE pawl_key_registry
SET state = 'live', generation = generation + 1, outcome = NULL, location = NULL, expired_at = NULL, id = DEFAULT
WHERE hash = $1
  AND state = 'expired'
RETURNING id, generation;

-- name: claim_key   ($1 hash)
-- Decides a race of two claims: the second one touches no row. A claim also touches no row if its id is used already, which can
-- happen after a failover that lost a part of the sequence (docs/adr/0010). PostgreSQL mostly uses claim_key_under_id of session.sql.
-- No RETURNING: for it SQLite builds a temporary table and copies each page that the statement changes (ADR 40).
INSERT INTO pawl_key_registry (hash)
VALUES ($1)
ON CONFLICT DO NOTHING;

-- name: clear_calling   ($1 id, $2 attempt, $3 recovery point, $4 error, $5 now)
-- Records that the call provably did nothing. Only after this may a Repeat::never call be made again. The engine never runs it
-- if an earlier attempt may have made the call. The target stays, for list_providers: without called_at it binds no later call.
UPDATE pawl_idempotency_keys
SET calling = false, called_at = NULL, lease_until = NULL, error = $4, last_run_at = $5
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';

-- name: count_open_by_point [sqlite]
-- For the points that a server does not know.
SELECT operation, recovery_point, count(*)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
GROUP BY operation, recovery_point
ORDER BY operation, recovery_point;

-- name: count_open_by_point [postgres]
-- PostgreSQL has no INDEXED BY; its planner uses the partial index by itself.
SELECT operation, recovery_point, count(*)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND id IN (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
GROUP BY operation, recovery_point
ORDER BY operation, recovery_point;

-- name: delete_key   ($1 id)
-- Runs in one transaction with expire_key.
DELETE FROM pawl_idempotency_keys
WHERE id = $1
  AND status = 'finished';

-- name: delete_keys [sqlite]   ($1 keys, as in expire_keys)
-- Runs in one transaction with expire_keys.
DELETE FROM pawl_idempotency_keys
WHERE id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'))
  AND status = 'finished';

-- name: delete_keys [postgres]
DELETE FROM pawl_idempotency_keys
WHERE id IN (SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT))
  AND status = 'finished';

-- name: delete_tombstones [sqlite]   ($1 expired before, $2 limit)
-- Without its row in the registry, a very late repeat is a new request. Rows stay 400 days by default. The id of a row claimed again is
-- above the count of AUTOINCREMENT. Such a row stays until a new key has raised the count, so that no id is assigned twice.
DELETE FROM pawl_key_registry
WHERE id IN (
    SELECT id FROM pawl_key_registry
    WHERE state = 'expired' AND expired_at < $1
      AND id <= (SELECT seq FROM sqlite_sequence WHERE name = 'pawl_key_registry')
    ORDER BY expired_at LIMIT $2)
RETURNING id;

-- name: delete_tombstones [postgres]
-- An identity column never assigns an id twice.
DELETE FROM pawl_key_registry
WHERE id IN (
    SELECT id FROM pawl_key_registry
    WHERE state = 'expired' AND expired_at < $1
    ORDER BY expired_at LIMIT $2)
RETURNING id;

-- name: end_previous_server_leases   ($1 now, $2 the lease's new end)
-- The only server of a database runs this at its start: the process that held these leases is dead. A server that shares its
-- database never runs it. $2 is so long ago that the completer takes the keys at once.
UPDATE pawl_idempotency_keys
SET lease_until = $2
WHERE status = 'open'
  AND lease_until > $1;

-- name: expire_key   ($1 id, $2 outcome, $3 location, $4 now)
-- Runs before delete_key and copies the generation from the row that delete_key removes, so that a re-execution never reuses a
-- call key.
UPDATE pawl_key_registry
SET state = 'expired', outcome = $2, location = $3, expired_at = $4,
    generation = coalesce((SELECT k.generation FROM pawl_idempotency_keys AS k WHERE k.id = $1), generation)
WHERE id = $1
  AND state = 'live';

-- name: expire_keys [sqlite]   ($1 keys: {"keys":[{"id":..., "outcome":..., "location":...}]}, $2 now)
-- Does the same as expire_key for many keys.
UPDATE pawl_key_registry
SET state = 'expired', outcome = b.value ->> '$.outcome', location = b.value ->> '$.location', expired_at = $2,
    generation = coalesce(
        (SELECT k.generation FROM pawl_idempotency_keys AS k WHERE k.id = pawl_key_registry.id), generation)
FROM json_each($1, '$.keys') AS b
WHERE pawl_key_registry.id = b.value ->> '$.id'
  AND state = 'live';

-- name: expire_keys [postgres]
UPDATE pawl_key_registry
SET state = 'expired', outcome = b.outcome, location = b.location, expired_at = $2,
    generation = coalesce((SELECT k.generation FROM pawl_idempotency_keys AS k WHERE k.id = b.id), generation)
FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT, outcome INTEGER, location TEXT)
WHERE pawl_key_registry.id = b.id
  AND state = 'live';

-- name: fail_attempt   ($1 id, $2 attempt, $3 recovery point, $4 error, $5 now)
-- Releases the lease, fenced (F3): another attempt may take the key over at once.
UPDATE pawl_idempotency_keys
SET lease_until = NULL, error = $4, last_run_at = $5
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';

-- name: find_claimed_id   ($1 hash)
-- After claim_key.
SELECT id
FROM pawl_key_registry
WHERE hash = $1;

-- name: find_completable [sqlite]   ($1 lease ended before, $2 now, $3 limit, $4 latest possible lease end, $5 latest possible
--   end of a back-off, $6 operations and points that this program knows, as JSON)
-- Leaves keys at other points to servers of another release.
-- Finds open keys whose lease ended or was released before $1 and whose back-off is over. A time later than $4 or $5 was written
-- by a wrong clock and counts as over, as in take_over. INDEXED BY names the index of the open keys, which are few: without it
-- SQLite would walk the whole table in the order of the ids, with a million finished keys, in every round.
-- Those that wait longest come first, so that many keys that fail do not hold up the others.
SELECT id
FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open
WHERE status = 'open'
  AND held_at IS NULL
  AND (coalesce(lease_until, last_run_at) < $1 OR coalesce(lease_until, last_run_at) > $4)
  AND (completer_next_at IS NULL OR completer_next_at <= $2 OR completer_next_at > $5)
  AND (operation, recovery_point) IN (SELECT value ->> '$.operation', value ->> '$.point' FROM json_each($6, '$.points'))
ORDER BY completer_next_at NULLS FIRST, id
LIMIT $3;

-- name: find_completable [postgres]
-- The materialized CTE reads the open keys first, by their partial index. SQLite does the same by INDEXED BY.
WITH open AS MATERIALIZED (
    SELECT id, operation, recovery_point, lease_until, last_run_at, completer_next_at
    FROM pawl_idempotency_keys
    WHERE status = 'open' AND held_at IS NULL)
SELECT id
FROM open
WHERE (coalesce(lease_until, last_run_at) < $1 OR coalesce(lease_until, last_run_at) > $4)
  AND (completer_next_at IS NULL OR completer_next_at <= $2 OR completer_next_at > $5)
  AND (operation, recovery_point) IN (
      SELECT p.operation, p.point FROM json_to_recordset($6::json -> 'points') AS p (operation TEXT, point TEXT))
ORDER BY completer_next_at NULLS FIRST, id
LIMIT $3;

-- name: find_expired_ids [sqlite]   ($1 hashes as a JSON list)
-- CROSS JOIN looks each hash up. Otherwise SQLite reads all expired rows by their index.
SELECT r.id
FROM json_each($1) AS w
CROSS JOIN pawl_key_registry AS r ON r.hash = w.value
WHERE r.state = 'expired'
ORDER BY r.id;

-- name: find_expired_ids [postgres]
-- The materialized CTE does the same.
WITH found AS MATERIALIZED (
    SELECT id, state FROM pawl_key_registry WHERE hash = ANY (ARRAY(SELECT json_array_elements_text($1::json))))
SELECT id
FROM found
WHERE state = 'expired'
ORDER BY id;

-- name: find_held [sqlite]   ($1 hashes as a JSON list, $2 now, $3 latest possible lease end)
-- Returns the hashes whose keys are held by a live lease, by the rule of core::decide_claim. One query serves all requests that
-- wait for keys of other processes. A request whose hash is not returned tries to claim the key.
-- CROSS JOIN keeps the order of the joins: the query has few hashes, and the tables have many rows.
SELECT r.hash
FROM json_each($1) AS w
CROSS JOIN pawl_key_registry AS r ON r.hash = w.value
CROSS JOIN pawl_idempotency_keys AS k ON k.id = r.id
WHERE k.status = 'open'
  AND k.lease_until > $2
  AND k.lease_until <= $3;

-- name: find_held [postgres]
-- The lateral join looks each key up by its hash and then by its id. Otherwise PostgreSQL begins with all open keys, which may be
-- many.
WITH asked AS MATERIALIZED (
    SELECT id, hash
    FROM pawl_key_registry
    WHERE hash = ANY (ARRAY(SELECT json_array_elements_text($1::json))))
SELECT a.hash
FROM asked AS a
CROSS JOIN LATERAL (
    SELECT
    FROM pawl_idempotency_keys
    WHERE id = a.id
      AND status = 'open'
      AND lease_until > $2
      AND lease_until <= $3
    LIMIT 1) AS held;

-- name: find_key   ($1 hash)
SELECT r.id, r.hash, r.state, r.outcome, r.location,
       k.tenant, k.account, k.idempotency_key, k.operation, k.origin, k.fingerprint, k.secret_version, k.params,
       k.status, k.attempt, k.lease_until, k.recovery_point, k.recovery_data, k.generation,
       k.call_key, k.called_at, k.calling, k.call_target,
       k.response_status, k.response_type, k.response_headers, k.response_body, k.expires_at, k.held_at IS NOT NULL
FROM pawl_key_registry AS r
LEFT JOIN pawl_idempotency_keys AS k ON k.id = r.id
WHERE r.hash = $1;

-- name: find_key_by_id   ($1 id)
SELECT r.id, r.hash, r.state, r.outcome, r.location,
       k.tenant, k.account, k.idempotency_key, k.operation, k.origin, k.fingerprint, k.secret_version, k.params,
       k.status, k.attempt, k.lease_until, k.recovery_point, k.recovery_data, k.generation,
       k.call_key, k.called_at, k.calling, k.call_target,
       k.response_status, k.response_type, k.response_headers, k.response_body, k.expires_at, k.held_at IS NOT NULL
FROM pawl_key_registry AS r
LEFT JOIN pawl_idempotency_keys AS k ON k.id = r.id
WHERE r.id = $1;

-- name: find_key_progress   ($1 hash, $2 hash of the same key for the whole tenant)
SELECT CASE
         WHEN r.state = 'expired' THEN 'expired'
         WHEN k.status = 'attention' THEN 'needs-attention'
         WHEN k.held_at IS NOT NULL THEN 'on-hold'
         ELSE k.recovery_point
       END
FROM (SELECT id, state FROM pawl_key_registry WHERE hash IN ($1, $2) ORDER BY hash = $1 DESC LIMIT 1) AS r
LEFT JOIN pawl_idempotency_keys AS k ON k.id = r.id;

-- name: find_keys_to_expire [sqlite]   ($1 now, $2 limit, $3 and $4 expires_at and id of the last key of the page before)
SELECT id, response_status, response_headers, expires_at
FROM pawl_idempotency_keys
WHERE expires_at <= $1
  AND (expires_at, id) > ($3, $4)
ORDER BY expires_at, id
LIMIT $2;

-- name: find_keys_to_expire [postgres]
-- The reaper removes these keys in the same transaction, and SKIP LOCKED gives other keys to another reaper. The text of
-- expires_at keeps its microseconds; SQLite stores a text anyway.
SELECT id, response_status, response_headers, expires_at::text AS expires_at_text
FROM pawl_idempotency_keys
WHERE expires_at <= $1
  AND (expires_at, id) > ($3, $4)
ORDER BY expires_at, id
LIMIT $2
FOR NO KEY UPDATE SKIP LOCKED;

-- name: finish_key   ($1 id, $2 attempt, $3 recovery point, $4 status, $5 type, $6 headers, $7 body, $8 now, $9
--   expires at)
UPDATE pawl_idempotency_keys
SET status = 'finished', recovery_point = 'finished', recovery_data = '{}', lease_until = NULL, calling = false,
    response_status = $4, response_type = $5, response_headers = $6, response_body = $7,
    finished_at = $8, last_run_at = $8, expires_at = $9, error = NULL, held_at = NULL, held_by = NULL, held_why = NULL
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';

-- name: insert_key   ($1 id, $2 hash, $3 tenant, $4 account, $5 idempotency_key, $6 operation, $7 request_method,
--   $8 request_path, $9 origin, $10 fingerprint, $11 secret_version, $12 params, $13 lease_until, $14 recovery_point,
--   $15 recovery_data, $16 call_key, $17 called_at, $18 calling, $19 now, $20 error, $21 generation, $22 call_target, $23 server)
-- Runs last in the transaction of the claim (T1), so that the row is written once, with the recovery point already reached.
INSERT INTO pawl_idempotency_keys
    (id, hash, tenant, account, idempotency_key, operation, request_method, request_path, origin, fingerprint,
     secret_version, params, status, attempt, lease_until, recovery_point, recovery_data, call_key, called_at,
     calling, created_at, last_run_at, error, generation, call_target, server_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open', 1, $13, $14, $15, $16, $17, $18, $19, $19, $20,
        $21, $22, $23);

-- name: insert_key_finished   ($1 id, $2 hash, $3 tenant, $4 account, $5 idempotency_key, $6 operation,
--   $7 request_method, $8 request_path, $9 origin, $10 fingerprint, $11 secret_version, $12 params, $13 response_status,
--   $14 response_type, $15 response_headers, $16 response_body, $17 now, $18 expires_at, $19 generation)
-- Inserts a request that finished all its phases in the transaction of its claim.
INSERT INTO pawl_idempotency_keys
    (id, hash, tenant, account, idempotency_key, operation, request_method, request_path, origin, fingerprint,
     secret_version, params, status, attempt, recovery_point, recovery_data, response_status, response_type,
     response_headers, response_body, created_at, last_run_at, finished_at, expires_at, generation)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'finished', 1, 'finished', '{}', $13, $14, $15, $16,
        $17, $17, $17, $18, $19);

-- name: list_accounts   ($1 limit)
-- For a search by the client's key alone. An expired key leaves only the hash of (tenant, account, key), so that the search
-- computes the hash for each account. Steps from one account to the next in the index instead of reading all keys. An account
-- that several tenants have is listed with the tenant of its newest key.
WITH RECURSIVE accounts (account) AS (
    SELECT min(account) FROM pawl_idempotency_keys
    UNION ALL
    SELECT (SELECT min(k.account) FROM pawl_idempotency_keys AS k WHERE k.account > a.account)
    FROM accounts AS a
    WHERE a.account IS NOT NULL)
SELECT (SELECT k.tenant FROM pawl_idempotency_keys AS k WHERE k.account = a.account ORDER BY k.created_at DESC LIMIT 1), a.account
FROM accounts AS a
WHERE a.account IS NOT NULL
LIMIT $1;

-- name: move_key   ($1 id, $2 attempt, $3 from point, $4 to point, $5 data, $6 lease until, $7 call key, $8 called
--   at, $9 calling, $10 now, $11 call target)
UPDATE pawl_idempotency_keys
SET recovery_point = $4, recovery_data = $5, lease_until = $6, call_key = $7, called_at = $8, calling = $9, call_target = $11,
    last_run_at = $10, error = NULL
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';

-- name: note_completer_failure   ($1 id, $2 now, $3 next at)
UPDATE pawl_idempotency_keys
SET completer_runs = completer_runs + 1,
    completer_first_at = coalesce(completer_first_at, $2),
    completer_next_at = $3
WHERE id = $1
  AND status = 'open'
RETURNING completer_runs, completer_first_at;

-- name: put_off_key   ($1 id, $2 next at, $3 now)
-- Not a key at which somebody works, or that another server has put off.
UPDATE pawl_idempotency_keys
SET completer_next_at = $2
WHERE id = $1
  AND status = 'open'
  AND (lease_until IS NULL OR lease_until <= $3)
  AND (completer_next_at IS NULL OR completer_next_at <= $3);

-- name: renew_lease   ($1 id, $2 attempt, $3 recovery point, $4 lease until)
-- lease_until IS NOT NULL: a late renewal must not renew a lease that was released in the meantime.
UPDATE pawl_idempotency_keys
SET lease_until = $4
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open'
  AND lease_until IS NOT NULL;

-- name: set_completer_next   ($1 id, $2 next at)
UPDATE pawl_idempotency_keys
SET completer_next_at = $2
WHERE id = $1
  AND status = 'open';

-- name: show_expired [sqlite]   ($1 id)
SELECT id, 'expired', outcome, location, expired_at, generation,
       (SELECT json_group_array(json_object('name', name, 'id', id))
        FROM (SELECT name, id FROM pawl_key_references WHERE key_id = $1 ORDER BY name, id)),
       (SELECT json_group_array(json_object('at', at, 'actor', actor, 'action', action, 'detail', detail))
        FROM (SELECT * FROM pawl_audit_log WHERE key_id = $1 ORDER BY id))
FROM pawl_key_registry
WHERE id = $1
  AND state = 'expired';

-- name: show_expired [postgres]
-- The times in the JSON have the same format as on SQLite, where they are stored as text.
SELECT id, 'expired', outcome, location, expired_at, generation,
       (SELECT coalesce(json_agg(json_build_object('name', name, 'id', id) ORDER BY name, id), '[]')
        FROM (SELECT DISTINCT name, id FROM pawl_key_references WHERE key_id = $1) AS named),
       (SELECT coalesce(json_agg(json_build_object(
                   'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   'actor', actor, 'action', action, 'detail', detail) ORDER BY id), '[]')
        FROM pawl_audit_log WHERE key_id = $1)
FROM pawl_key_registry
WHERE id = $1
  AND state = 'expired';

-- name: show_key [sqlite]   ($1 id)
SELECT id, tenant, account, idempotency_key, operation, request_method, request_path, origin, params, status,
       attempt, lease_until, recovery_point, recovery_data, generation, call_key, called_at, calling, call_target,
       response_status, response_type, response_headers, response_body, created_at, last_run_at, finished_at,
       expires_at, error, completer_runs, completer_first_at, completer_next_at, held_at, held_by, held_why,
       (SELECT json_group_array(json_object('name', name, 'id', id))
        FROM (SELECT name, id FROM pawl_key_references WHERE key_id = $1 ORDER BY name, id)),
       (SELECT json_group_array(json_object(
                   'at', at, 'recovery_point', recovery_point, 'call_target', call_target, 'proof', proof, 'detail', detail))
        FROM (SELECT * FROM pawl_calls_not_made WHERE key_id = $1 ORDER BY generation)),
       (SELECT json_group_array(json_object('at', at, 'actor', actor, 'action', action, 'detail', detail))
        FROM (SELECT * FROM pawl_audit_log WHERE key_id = $1 ORDER BY id))
FROM pawl_idempotency_keys
WHERE id = $1;

-- name: show_key [postgres]
-- The times in the JSON have the same format as on SQLite, where they are stored as text.
SELECT id, tenant, account, idempotency_key, operation, request_method, request_path, origin, params, status,
       attempt, lease_until, recovery_point, recovery_data, generation, call_key, called_at, calling, call_target,
       response_status, response_type, response_headers, response_body, created_at, last_run_at, finished_at,
       expires_at, error, completer_runs, completer_first_at, completer_next_at, held_at, held_by, held_why,
       (SELECT coalesce(json_agg(json_build_object('name', name, 'id', id) ORDER BY name, id), '[]')
        FROM (SELECT DISTINCT name, id FROM pawl_key_references WHERE key_id = $1) AS named),
       (SELECT coalesce(json_agg(json_build_object(
                   'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'recovery_point', recovery_point,
                   'call_target', call_target, 'proof', proof, 'detail', detail) ORDER BY generation), '[]')
        FROM pawl_calls_not_made WHERE key_id = $1),
       (SELECT coalesce(json_agg(json_build_object(
                   'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   'actor', actor, 'action', action, 'detail', detail) ORDER BY id), '[]')
        FROM pawl_audit_log WHERE key_id = $1)
FROM pawl_idempotency_keys
WHERE id = $1;

-- name: summarise_open_keys [sqlite]
-- A key that an operator holds is neither old nor stuck: it waits because a person wants it to.
SELECT count(*), min(created_at) FILTER (WHERE held_at IS NULL),
       count(*) FILTER (WHERE completer_runs >= 3 AND held_at IS NULL), count(held_at)
FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open
WHERE status = 'open';

-- name: summarise_open_keys [postgres]
-- PostgreSQL has no INDEXED BY.
SELECT count(*), min(created_at) FILTER (WHERE held_at IS NULL),
       count(*) FILTER (WHERE completer_runs >= 3 AND held_at IS NULL), count(held_at)
FROM pawl_idempotency_keys
WHERE status = 'open';

-- name: take_from_attention   ($1 id, $2 attempt of the attention entry, $3 generation to add, $4 lease until, $5 now, $6 server)
-- A server that carries out a settlement takes the key over: it begins a new attempt, fenced by the old one.
UPDATE pawl_idempotency_keys
SET status = 'open', attempt = attempt + 1, generation = generation + $3, lease_until = $4, last_run_at = $5, server_id = $6,
    completer_runs = 0, completer_first_at = NULL, completer_next_at = NULL
WHERE id = $1
  AND attempt = $2
  AND status = 'attention'
  AND held_at IS NULL;

-- name: take_over   ($1 id, $2 attempt seen, $3 now, $4 lease until, $5 latest possible lease end, $6 recovery
--   point seen, $7 server)
-- Attempt and recovery point in the WHERE make this a compare-and-set. Only one of two servers gets a row, and no server
-- continues from a recovery point that the attempt before has left in the meantime. A lease that ends later than $5 was written
-- by a wrong clock and counts as over. An operator may have held the key since it was read.
UPDATE pawl_idempotency_keys
SET attempt = attempt + 1, lease_until = $4, last_run_at = $3, server_id = $7
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $6
  AND status = 'open'
  AND held_at IS NULL
  AND (lease_until IS NULL OR lease_until <= $3 OR lease_until > $5);

-- name: to_attention   ($1 id, $2 attempt, $3 recovery point, $4 error, $5 now)
UPDATE pawl_idempotency_keys
SET status = 'attention', lease_until = NULL, error = $4, last_run_at = $5
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';
