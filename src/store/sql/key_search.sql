-- The search for keys by people: ops/key_search.hpp. The statements that begin with search_ have the same columns. Each reads the
-- index of one criterion, and compares the others row by row. A criterion is NULL for any value, but the times always have one, so
-- that both databases find the first row in the index. The error is a pattern in lower case.

-- name: delete_key_references [sqlite]   ($1 keys, as in expire_keys)
DELETE FROM pawl_key_references
WHERE key_id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'));

-- name: delete_key_references [postgres]
DELETE FROM pawl_key_references
WHERE key_id = ANY (ARRAY(SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT)));

-- name: find_keys_by_reference   ($1 id, $2 its name, $3 limit)
SELECT DISTINCT key_id
FROM pawl_key_references
WHERE id = $1
  AND name = $2
ORDER BY key_id DESC
LIMIT $3;

-- name: find_keys_by_text   ($1 a client's key, or the id of a reference, $2 limit)
SELECT id
FROM pawl_idempotency_keys
WHERE idempotency_key = $1
UNION
SELECT key_id
FROM pawl_key_references
WHERE id = $1
ORDER BY 1 DESC
LIMIT $2;

-- name: find_place_of_key   ($1 id)
-- Of a page's last key, for the next page.
SELECT coalesce(k.created_at, r.expired_at)
FROM pawl_key_registry AS r
LEFT JOIN pawl_idempotency_keys AS k ON k.id = r.id
WHERE r.id = $1;

-- name: insert_key_reference [sqlite]   ($1 key id, $2 name, $3 id)
INSERT INTO pawl_key_references (key_id, name, id)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: insert_key_reference [postgres]
-- A second phase may name the same reference. Its row is there twice then (migration 0014).
INSERT INTO pawl_key_references (key_id, name, id)
VALUES ($1, $2, $3);

-- name: move_key_references   ($1 old key id, $2 new key id)
-- An expired key that is executed again gets a new id.
UPDATE pawl_key_references
SET key_id = $2
WHERE key_id = $1;

-- name: search_expired_by_id [sqlite]   ($1 expired since, $2 and $3: only keys before this time and id, $4 limit, $5 ids as a JSON list)
SELECT id, NULL, NULL, NULL, NULL, state, NULL, NULL, NULL, outcome, NULL, NULL, NULL, NULL, expired_at, location
FROM pawl_key_registry
WHERE state = 'expired'
  AND id IN (SELECT value FROM json_each($5))
  AND expired_at >= $1
  AND (expired_at, id) < ($2, $3)
ORDER BY expired_at DESC, id DESC
LIMIT $4;

-- name: search_expired_by_id [postgres]
-- The materialized CTE reads the rows by their ids. Otherwise the planner may read all expired rows in the order of the result.
WITH found AS MATERIALIZED (
    SELECT * FROM pawl_key_registry WHERE id = ANY (ARRAY(SELECT CAST(json_array_elements_text($5::json) AS bigint))))
SELECT id, NULL, NULL, NULL, NULL, state, NULL, NULL, NULL, outcome, NULL, NULL, NULL, NULL, expired_at, location
FROM found
WHERE state = 'expired'
  AND expired_at >= $1
  AND (expired_at, id) < ($2, $3)
ORDER BY expired_at DESC, id DESC
LIMIT $4;

-- name: search_expired_by_time   ($1 expired since, $2 and $3: only keys before this time and id, $4 limit)
SELECT id, NULL, NULL, NULL, NULL, state, NULL, NULL, NULL, outcome, NULL, NULL, NULL, NULL, expired_at, location
FROM pawl_key_registry
WHERE state = 'expired'
  AND expired_at >= $1
  AND (expired_at, id) < ($2, $3)
ORDER BY expired_at DESC, id DESC
LIMIT $4;

-- name: search_keys_by_account   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND account = $4
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_id [sqlite]   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit, $12 ids as a JSON list)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE id IN (SELECT value FROM json_each($12))
  AND (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_id [postgres]
-- As in search_expired_by_id.
WITH found AS MATERIALIZED (
    SELECT * FROM pawl_idempotency_keys WHERE id = ANY (ARRAY(SELECT CAST(json_array_elements_text($12::json) AS bigint))))
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM found
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_key [sqlite]   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND idempotency_key = $5
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_key [postgres]
-- As in search_expired_by_id: before the first ANALYZE the planner expects many keys of one text.
WITH found AS MATERIALIZED (
    SELECT * FROM pawl_idempotency_keys WHERE idempotency_key = $5)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM found
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_operation   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND operation = $2
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_keys_by_time   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit)
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_unsettled_keys [sqlite]   ($1 status, $2 operation, $3 tenant, $4 account, $5 key, $6 point, $7 error,
--   $8 since, $9 before, $10 before id, $11 limit)
-- Reads the open keys and the attention list, which are few. INDEXED BY as in find_completable.
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
  AND (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;

-- name: search_unsettled_keys [postgres]
-- PostgreSQL has no INDEXED BY; its planner uses the partial index by itself.
SELECT id, tenant, account, idempotency_key, operation, status, recovery_point, attempt, lease_until,
       response_status, created_at, last_run_at, error, held_at, NULL, NULL
FROM pawl_idempotency_keys
WHERE id IN (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
  AND (CAST($1 AS text) IS NULL OR status = $1)
  AND (CAST($2 AS text) IS NULL OR operation = $2)
  AND (CAST($3 AS text) IS NULL OR tenant = $3)
  AND (CAST($4 AS text) IS NULL OR account = $4)
  AND (CAST($5 AS text) IS NULL OR idempotency_key = $5)
  AND (CAST($6 AS text) IS NULL OR recovery_point = $6)
  AND (CAST($7 AS text) IS NULL OR lower(error) LIKE $7 ESCAPE '!')
  AND created_at >= $8
  AND (created_at, id) < ($9, $10)
ORDER BY created_at DESC, id DESC
LIMIT $11;
