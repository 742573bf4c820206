-- Statements on pawl_unrecorded_results: results of calls at which their keepers failed. Their keys are open, and each attempt runs
-- the keeper again instead of making the call.

-- name: count_unrecorded_results [sqlite]   ($1 limit)
-- By error. An older release does not know this table, and may have moved a key on or put it on the attention list.
SELECT count(*), k.operation, u.recovery_point, min(u.since), max(u.tries), max(u.key_id), u.error
FROM pawl_unrecorded_results AS u
JOIN pawl_idempotency_keys AS k ON k.id = u.key_id
WHERE k.status = 'open'
  AND k.recovery_point = u.recovery_point
GROUP BY k.operation, u.recovery_point, u.error
ORDER BY count(*) DESC, max(u.key_id) DESC
LIMIT $1;

-- name: count_unrecorded_results [postgres]
-- The lateral join looks each key up by its id. Otherwise PostgreSQL may begin with all open keys.
SELECT count(*), k.operation, u.recovery_point, min(u.since), max(u.tries), max(u.key_id), u.error
FROM pawl_unrecorded_results AS u
CROSS JOIN LATERAL (
    SELECT operation
    FROM pawl_idempotency_keys
    WHERE id = u.key_id AND status = 'open' AND recovery_point = u.recovery_point
    LIMIT 1) AS k
GROUP BY k.operation, u.recovery_point, u.error
ORDER BY count(*) DESC, max(u.key_id) DESC
LIMIT $1;

-- name: delete_unrecorded_result   ($1 key id)
DELETE FROM pawl_unrecorded_results
WHERE key_id = $1;

-- name: delete_unrecorded_results [sqlite]   ($1 keys, as in expire_keys)
DELETE FROM pawl_unrecorded_results
WHERE key_id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'));

-- name: delete_unrecorded_results [postgres]
DELETE FROM pawl_unrecorded_results
WHERE key_id = ANY (ARRAY(SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT)));

-- name: find_unrecorded_result   ($1 key id, $2 generation of the call, $3 its recovery point)
SELECT result_name, result
FROM pawl_unrecorded_results
WHERE key_id = $1
  AND generation = $2
  AND recovery_point = $3;

-- name: retry_defects [sqlite]   ($1 now, $2 operations and points of this program's phases, as JSON, $3 limit)
-- The keys that failed at a phase or a keeper, and wait for their next try: at the start of a server.
UPDATE pawl_idempotency_keys
SET completer_next_at = NULL
WHERE id IN (
    SELECT id
    FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open
    WHERE status = 'open'
      AND completer_runs > 0
      AND completer_next_at > $1
      AND (id IN (SELECT key_id FROM pawl_unrecorded_results)
           OR (operation, recovery_point) IN (SELECT value ->> '$.operation', value ->> '$.point' FROM json_each($2, '$.points')))
    LIMIT $3);

-- name: retry_defects [postgres]
-- The materialized CTE as in find_completable.
WITH open AS MATERIALIZED (
    SELECT id, operation, recovery_point
    FROM pawl_idempotency_keys
    WHERE status = 'open' AND completer_runs > 0 AND completer_next_at > $1),
due AS MATERIALIZED (
    SELECT id
    FROM open
    WHERE EXISTS (SELECT 1 FROM pawl_unrecorded_results AS u WHERE u.key_id = open.id)
       OR (operation, recovery_point) IN (
           SELECT p.operation, p.point FROM json_to_recordset($2::json -> 'points') AS p (operation TEXT, point TEXT))
    LIMIT $3)
UPDATE pawl_idempotency_keys AS k
SET completer_next_at = NULL
FROM due
WHERE k.id = due.id;

-- name: store_unrecorded_result   ($1 key id, $2 generation of the call, $3 its recovery point, $4 result name, $5 result, $6 error,
--   $7 now)
INSERT INTO pawl_unrecorded_results AS u
    (key_id, generation, recovery_point, result_name, result, error, since, tries)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
ON CONFLICT (key_id) DO UPDATE
SET generation = excluded.generation, recovery_point = excluded.recovery_point, result_name = excluded.result_name,
    result = excluded.result, error = excluded.error,
    since = CASE WHEN u.generation = excluded.generation AND u.recovery_point = excluded.recovery_point THEN u.since ELSE excluded.since END,
    tries = CASE WHEN u.generation = excluded.generation AND u.recovery_point = excluded.recovery_point THEN u.tries + 1 ELSE 1 END;
