-- Statements on pawl_inquiries and pawl_calls_not_made: what a provider said about a call in doubt, and calls that were made anew.
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_to_recordset. PostgreSQL turns it into an array,
-- because a comparison with an array uses the index and a join may scan the table.

-- name: call_anew   ($1 id, $2 attempt, $3 recovery point, $4 generation of the call that was not made, $5 call key, $6 now,
--   $7 calling, $8 call target, $9 lease until)
-- Begins the next generation, whose call has another key. The generation in the WHERE refuses a second begin after a commit in doubt.
UPDATE pawl_idempotency_keys
SET generation = generation + 1, call_key = $5, called_at = $6, calling = $7, call_target = $8, lease_until = $9, last_run_at = $6,
    error = NULL
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND generation = $4
  AND status = 'open';

-- name: delete_calls_not_made [sqlite]   ($1 keys, as in expire_keys)
DELETE FROM pawl_calls_not_made
WHERE key_id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'));

-- name: delete_calls_not_made [postgres]
DELETE FROM pawl_calls_not_made
WHERE key_id = ANY (ARRAY(SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT)));

-- name: delete_inquiries [sqlite]   ($1 keys, as in expire_keys)
DELETE FROM pawl_inquiries
WHERE key_id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'));

-- name: delete_inquiries [postgres]
DELETE FROM pawl_inquiries
WHERE key_id = ANY (ARRAY(SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT)));

-- name: fail_inquiry   ($1 id, $2 attempt, $3 recovery point, $4 error, $5 now)
-- Releases the lease, as fail_attempt. `calling` keeps every later attempt from the call: it asks again.
UPDATE pawl_idempotency_keys
SET calling = true, lease_until = NULL, error = $4, last_run_at = $5
WHERE id = $1
  AND attempt = $2
  AND recovery_point = $3
  AND status = 'open';

-- name: find_inquiry   ($1 key id, $2 generation, $3 recovery point)
SELECT since
FROM pawl_inquiries
WHERE key_id = $1
  AND generation = $2
  AND recovery_point = $3;

-- name: find_refusals   ($1 key id, $2 recovery point)
-- The providers that refused this call for good.
SELECT call_target
FROM pawl_calls_not_made
WHERE key_id = $1
  AND recovery_point = $2
  AND proof = 'refused'
  AND call_target IS NOT NULL;

-- name: insert_call_not_made   ($1 key id, $2 generation, $3 recovery point, $4 call target, $5 proof, $6 detail, $7 now)
INSERT INTO pawl_calls_not_made (key_id, generation, recovery_point, call_target, proof, detail, at)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: list_providers [sqlite]
-- What waits for each provider and account: calls that are under way or are tried again, calls that are asked about, and entries
-- of the attention list. A key without a call key is at a phase, with the target of its last call. Then the servers that it does not
-- answer, and since when.
WITH waiting AS (
    SELECT call_target AS target, sum(status = 'open') AS open, sum(status = 'open' AND calling) AS in_doubt,
           sum(status = 'attention') AS attention, min(called_at) AS oldest, max(error) AS error
    FROM pawl_idempotency_keys
    WHERE status <> 'finished'
      AND call_target IS NOT NULL
      AND call_key IS NOT NULL
      AND id IN (
        SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
        UNION ALL
        SELECT key_id FROM pawl_attention)
    GROUP BY call_target),
down AS (
    SELECT one.value ->> '$.provider' AS target, count(*) AS servers, min(one.value ->> '$.since') AS since,
           max(one.value ->> '$.error') AS error
    FROM pawl_servers, json_each(pawl_servers.providers_down, '$.down') AS one
    GROUP BY 1)
SELECT coalesce(w.target, d.target), coalesce(w.open, 0), coalesce(w.in_doubt, 0), coalesce(w.attention, 0), w.oldest,
       coalesce(d.servers, 0), d.since, coalesce(d.error, w.error)
FROM waiting AS w
FULL JOIN down AS d ON d.target = w.target
ORDER BY 1;

-- name: list_providers [postgres]
-- PostgreSQL has no INDEXED BY, and no sum of conditions.
WITH waiting AS (
    SELECT call_target AS target, count(*) FILTER (WHERE status = 'open') AS open,
           count(*) FILTER (WHERE status = 'open' AND calling) AS in_doubt, count(*) FILTER (WHERE status = 'attention') AS attention,
           min(called_at) AS oldest, max(error) AS error
    FROM pawl_idempotency_keys
    WHERE status <> 'finished'
      AND call_target IS NOT NULL
      AND call_key IS NOT NULL
      AND id IN (
        SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
        UNION ALL
        SELECT key_id FROM pawl_attention)
    GROUP BY call_target),
down AS (
    SELECT one.provider AS target, count(*) AS servers, min(one.since) AS since, max(one.error) AS error
    FROM pawl_servers, json_to_recordset(pawl_servers.providers_down::json -> 'down')
        AS one (provider TEXT, since TIMESTAMPTZ, error TEXT)
    GROUP BY one.provider)
SELECT coalesce(w.target, d.target), coalesce(w.open, 0), coalesce(w.in_doubt, 0), coalesce(w.attention, 0), w.oldest,
       coalesce(d.servers, 0), d.since, coalesce(d.error, w.error)
FROM waiting AS w
FULL JOIN down AS d ON d.target = w.target
ORDER BY 1;

-- name: note_inquiry   ($1 key id, $2 generation, $3 recovery point, $4 now, $5 answer, $6 detail)
-- An inquiry about another call of the key begins a new count.
INSERT INTO pawl_inquiries (key_id, generation, recovery_point, since, asked_at, times, answer, detail)
VALUES ($1, $2, $3, $4, $4, 1, $5, $6)
ON CONFLICT (key_id) DO UPDATE
SET since = CASE WHEN pawl_inquiries.generation = excluded.generation AND pawl_inquiries.recovery_point = excluded.recovery_point
                 THEN pawl_inquiries.since ELSE excluded.since END,
    times = CASE WHEN pawl_inquiries.generation = excluded.generation AND pawl_inquiries.recovery_point = excluded.recovery_point
                 THEN pawl_inquiries.times + 1 ELSE 1 END,
    generation = excluded.generation, recovery_point = excluded.recovery_point, asked_at = excluded.asked_at,
    answer = excluded.answer, detail = excluded.detail;
