-- What operators do to open keys, and what `top` and the page for operators read of that.
-- A list parameter is JSON text, as in inquiries.sql.

-- name: count_new_keys   ($1 created after, $2 and until then, $3 most)
-- Without the end of the range PostgreSQL's generic plan expects a third of all keys, and reads all of them.
SELECT count(*)
FROM (SELECT 1 AS one FROM pawl_idempotency_keys WHERE created_at > $1 AND created_at <= $2 LIMIT $3) AS newer;

-- name: hold_key   ($1 id, $2 now, $3 by, $4 why)
-- From now on no attempt begins; one that runs may end. A hold ends by release_key, or when its key is open no more.
UPDATE pawl_idempotency_keys
SET held_at = $2, held_by = $3, held_why = $4
WHERE id = $1
  AND status = 'open'
  AND held_at IS NULL;

-- name: list_oldest_unsettled [sqlite]   ($1 limit)
SELECT id, created_at, operation, recovery_point, status, lease_until, held_at IS NOT NULL, completer_runs, error
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
ORDER BY created_at, id
LIMIT $1;

-- name: list_oldest_unsettled [postgres]
-- The materialized CTE reads the open keys by their partial index. Otherwise PostgreSQL may walk all keys in the order of time.
WITH unsettled AS MATERIALIZED (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
SELECT k.id, k.created_at, k.operation, k.recovery_point, k.status, k.lease_until, k.held_at IS NOT NULL, k.completer_runs, k.error
FROM unsettled AS u
JOIN pawl_idempotency_keys AS k ON k.id = u.id
WHERE k.status <> 'finished'
ORDER BY k.created_at, k.id
LIMIT $1;

-- name: list_provider_errors [sqlite]   ($1 limit)
-- The last errors of the unsettled keys, the most frequent first. A key without a call key is at a phase: the error is not its
-- last provider's.
SELECT CASE WHEN call_key IS NOT NULL THEN call_target END AS target, operation, recovery_point, error, count(*), max(last_run_at),
       max(id)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND error IS NOT NULL
  AND id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
GROUP BY target, operation, recovery_point, error
ORDER BY count(*) DESC, max(id) DESC
LIMIT $1;

-- name: list_provider_errors [postgres]
-- PostgreSQL has no INDEXED BY; its planner uses the partial index by itself.
SELECT CASE WHEN call_key IS NOT NULL THEN call_target END AS target, operation, recovery_point, error, count(*), max(last_run_at),
       max(id)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND error IS NOT NULL
  AND id IN (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
GROUP BY target, operation, recovery_point, error
ORDER BY count(*) DESC, max(id) DESC
LIMIT $1;

-- name: list_stuck_keys [sqlite]   ($1 operations and points that this program does not know, $2 limit)
-- The keys that summarise_open_keys counts as stuck, and those at one of these points.
SELECT id, created_at, operation, recovery_point, status, completer_runs, completer_next_at, error
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
  AND (status = 'open' AND completer_runs >= 3 AND held_at IS NULL
       OR (operation, recovery_point) IN (SELECT value ->> '$.operation', value ->> '$.point' FROM json_each($1, '$.points')))
ORDER BY created_at, id
LIMIT $2;

-- name: list_stuck_keys [postgres]
-- The materialized CTE as in list_oldest_unsettled.
WITH unsettled AS MATERIALIZED (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
SELECT k.id, k.created_at, k.operation, k.recovery_point, k.status, k.completer_runs, k.completer_next_at, k.error
FROM unsettled AS u
JOIN pawl_idempotency_keys AS k ON k.id = u.id
WHERE k.status <> 'finished'
  AND (k.status = 'open' AND k.completer_runs >= 3 AND k.held_at IS NULL
       OR (k.operation, k.recovery_point) IN (
           SELECT p.operation, p.point FROM json_to_recordset($1::json -> 'points') AS p (operation TEXT, point TEXT)))
ORDER BY k.created_at, k.id
LIMIT $2;

-- name: page_keys_to_act_on [sqlite]   ($1 operation or NULL, $2 recovery point or NULL, $3 part of the error or NULL, $4 created since
--   or NULL, $5 retry, hold or release, $6 now, $7 above this id, $8 limit)
-- The open keys that an operator's act would change. A retry changes only keys that wait for the completer's next try, so that a
-- command that is interrupted goes on where it stopped.
SELECT id, created_at, account, idempotency_key, operation, recovery_point, attempt, completer_runs, completer_next_at,
       held_at, held_by, error
FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open
WHERE status = 'open'
  AND id > $7
  AND ($1 IS NULL OR operation = $1)
  AND ($2 IS NULL OR recovery_point = $2)
  AND ($3 IS NULL OR instr(error, $3) > 0)
  AND ($4 IS NULL OR created_at >= $4)
  AND (held_at IS NOT NULL) = ($5 = 'release')
  AND ($5 <> 'retry' OR completer_runs > 0 OR completer_next_at > $6)
ORDER BY id
LIMIT $8;

-- name: page_keys_to_act_on [postgres]
-- The materialized CTE reads the open keys first, by their partial index, as in find_completable.
WITH open AS MATERIALIZED (
    SELECT id, created_at, account, idempotency_key, operation, recovery_point, attempt, completer_runs, completer_next_at,
           held_at, held_by, error
    FROM pawl_idempotency_keys
    WHERE status = 'open' AND id > $7)
SELECT *
FROM open
WHERE ($1::text IS NULL OR operation = $1)
  AND ($2::text IS NULL OR recovery_point = $2)
  AND ($3::text IS NULL OR strpos(error, $3) > 0)
  AND ($4::timestamptz IS NULL OR created_at >= $4)
  AND (held_at IS NOT NULL) = ($5::text = 'release')
  AND ($5::text <> 'retry' OR completer_runs > 0 OR completer_next_at > $6)
ORDER BY id
LIMIT $8;

-- name: release_for_retry   ($1 id, $2 now)
-- Carries out an operator's "retry now": the completer runs the key in its next round.
UPDATE pawl_idempotency_keys
SET completer_next_at = $2, completer_runs = 0, completer_first_at = NULL
WHERE id = $1
  AND status = 'open'
  AND held_at IS NULL;

-- name: release_key   ($1 id)
UPDATE pawl_idempotency_keys
SET held_at = NULL, held_by = NULL, held_why = NULL
WHERE id = $1
  AND status = 'open'
  AND held_at IS NOT NULL;
