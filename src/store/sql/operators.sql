-- What operators do to open keys, and what `top` and the page for operators read of that.
-- A list parameter is JSON text, as in inquiries.sql.

-- name: count_new_keys   ($1 created after, $2 and until then, $3 most)
-- Without the end of the range PostgreSQL's generic plan expects a third of all keys, and reads all of them.
SELECT count(*)
FROM (SELECT 1 AS one FROM pawl_idempotency_keys WHERE created_at > $1 AND created_at <= $2 LIMIT $3) AS newer;

-- name: delete_attention_of_key   ($1 id)
DELETE FROM pawl_attention
WHERE key_id = $1;

-- name: find_requests_of_jobs [sqlite]   ($1 hashes as a JSON list, $2 now)
-- The keys of jobs that are carried out as operations. CROSS JOIN as in find_held.
SELECT r.hash, r.id,
       CASE WHEN k.status <> 'open' THEN k.status WHEN k.lease_until > $2 THEN 'running' WHEN k.held_at IS NOT NULL THEN 'held' ELSE 'open' END,
       k.held_why, k.created_at
FROM json_each($1) AS w
CROSS JOIN pawl_key_registry AS r ON r.hash = w.value
CROSS JOIN pawl_idempotency_keys AS k ON k.id = r.id;

-- name: find_requests_of_jobs [postgres]
WITH asked AS MATERIALIZED (
    SELECT id, hash
    FROM pawl_key_registry
    WHERE hash = ANY (ARRAY(SELECT json_array_elements_text($1::json))))
SELECT a.hash, a.id, k.state, k.held_why, k.created_at
FROM asked AS a
CROSS JOIN LATERAL (
    SELECT CASE WHEN status <> 'open' THEN status WHEN lease_until > $2 THEN 'running' WHEN held_at IS NOT NULL THEN 'held' ELSE 'open'
           END AS state, held_why, created_at
    FROM pawl_idempotency_keys
    WHERE id = a.id
    LIMIT 1) AS k;

-- name: hand_over_key   ($1 id, $2 now, $3 why)
-- Puts an open key on the attention list, where a person can settle it. Not while an attempt works on it.
UPDATE pawl_idempotency_keys
SET status = 'attention', lease_until = NULL, error = coalesce(error, $3), last_run_at = $2
WHERE id = $1
  AND status = 'open'
  AND (lease_until IS NULL OR lease_until <= $2);

-- name: hold_key   ($1 id, $2 now, $3 by, $4 why)
-- From now on no attempt begins, and no decision of a person is carried out. An attempt that runs may end. A hold ends by
-- release_key, or when its key is settled. A person's hold replaces that of a cancelled job, which a merge would end.
UPDATE pawl_idempotency_keys
SET held_at = $2, held_by = $3, held_why = $4
WHERE id = $1
  AND status IN ('open', 'attention')
  AND (held_at IS NULL OR held_why LIKE 'jobs cancel: %' AND $4 NOT LIKE 'jobs cancel: %');

-- name: insert_attention_of_key   ($1 id, $2 why, $3 now)
-- After hand_over_key. A result that no keeper could record stays with the key.
INSERT INTO pawl_attention (key_id, attempt, recovery_point, reason, detail, since, result_name, result)
SELECT k.id, k.attempt, k.recovery_point, 'by-operator', $2, $3, u.result_name, u.result
FROM pawl_idempotency_keys AS k
LEFT JOIN pawl_unrecorded_results AS u
       ON u.key_id = k.id AND u.generation = k.generation AND u.recovery_point = k.recovery_point
WHERE k.id = $1;

-- name: keep_result_of_attention   ($1 id, $2 now)
-- After reopen_key: the next attempt runs the keeper with the result, and makes no call. A release before this table left such
-- results on the attention list.
INSERT INTO pawl_unrecorded_results (key_id, generation, recovery_point, result_name, result, error, since, tries)
SELECT k.id, k.generation, k.recovery_point, a.result_name, a.result, a.detail, $2, 1
FROM pawl_attention AS a
JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
WHERE a.key_id = $1
  AND a.recovery_point = k.recovery_point
  AND a.result IS NOT NULL;

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

-- name: lock_attention_to_reopen   ($1 id)
-- Whether a key may leave the attention list so that the next attempt goes on by itself: it has the call's result, or a fix or the
-- provider may have changed what failed. Not a call that only a person can judge: in doubt, forgotten, unanswered, or made in the time
-- that a restore has lost. The update keeps a decision from being recorded until the commit.
UPDATE pawl_attention
SET detail = detail
WHERE key_id = $1
  AND (settlement IS NULL OR settling_error IS NOT NULL)
  AND (result IS NOT NULL OR reason IN ('not-kept', 'failed-too-often', 'stuck', 'elsewhere', 'by-operator'));

-- name: page_keys_to_act_on [sqlite]   ($1 operation or NULL, $2 recovery point or NULL, $3 part of the error or NULL, $4 created since
--   or NULL, $5 retry, hold, release or hand-over, $6 now, $7 above this id, $8 limit)
-- The unsettled keys that an operator's act would change. A retry changes only keys that wait for the completer's next try, so that a
-- command that is interrupted goes on where it stopped, and those that lock_attention_to_reopen admits.
SELECT id, created_at, account, idempotency_key, operation, recovery_point, status, attempt, completer_runs, completer_next_at,
       held_at, held_by, error
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND id IN (
    SELECT id FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open WHERE status = 'open'
    UNION ALL
    SELECT key_id FROM pawl_attention)
  AND id > $7
  AND ($1 IS NULL OR operation = $1)
  AND ($2 IS NULL OR recovery_point = $2)
  AND ($3 IS NULL OR instr(error, $3) > 0)
  AND ($4 IS NULL OR created_at >= $4)
  AND ($5 = 'hand-over' OR (held_at IS NOT NULL) = ($5 = 'release') OR $5 = 'hold' AND held_why LIKE 'jobs cancel: %')
  AND ($5 <> 'hand-over' OR status = 'open' AND (lease_until IS NULL OR lease_until <= $6))
  AND ($5 <> 'retry'
       OR status = 'open' AND (completer_runs > 0 OR completer_next_at > $6)
       OR id IN (SELECT key_id
                 FROM pawl_attention
                 WHERE (settlement IS NULL OR settling_error IS NOT NULL)
                   AND (result IS NOT NULL OR reason IN ('not-kept', 'failed-too-often', 'stuck', 'elsewhere', 'by-operator'))))
ORDER BY id
LIMIT $8;

-- name: page_keys_to_act_on [postgres]
-- The materialized CTE reads the unsettled keys first, by their partial index, and the lateral join looks each one up: otherwise
-- PostgreSQL may walk all keys in the order of their ids.
WITH unsettled AS MATERIALIZED (
    SELECT id FROM pawl_idempotency_keys WHERE status = 'open' AND id > $7
    UNION ALL
    SELECT key_id FROM pawl_attention WHERE key_id > $7)
SELECT k.*
FROM unsettled AS u
CROSS JOIN LATERAL (
    SELECT id, created_at, account, idempotency_key, operation, recovery_point, status, attempt, completer_runs, completer_next_at,
           held_at, held_by, error
    FROM pawl_idempotency_keys
    WHERE id = u.id
      AND status <> 'finished'
      AND ($1::text IS NULL OR operation = $1)
      AND ($2::text IS NULL OR recovery_point = $2)
      AND ($3::text IS NULL OR strpos(error, $3) > 0)
      AND ($4::timestamptz IS NULL OR created_at >= $4)
      AND ($5::text = 'hand-over' OR (held_at IS NOT NULL) = ($5 = 'release') OR $5 = 'hold' AND held_why LIKE 'jobs cancel: %')
      AND ($5 <> 'hand-over' OR status = 'open' AND (lease_until IS NULL OR lease_until <= $6))
      AND ($5 <> 'retry'
           OR status = 'open' AND (completer_runs > 0 OR completer_next_at > $6)
           OR EXISTS (
               SELECT 1
               FROM pawl_attention AS a
               WHERE a.key_id = u.id
                 AND (a.settlement IS NULL OR a.settling_error IS NOT NULL)
                 AND (a.result IS NOT NULL
                      OR a.reason IN ('not-kept', 'failed-too-often', 'stuck', 'elsewhere', 'by-operator'))))
    LIMIT 1) AS k
ORDER BY k.id
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
  AND status IN ('open', 'attention')
  AND held_at IS NOT NULL;

-- name: reopen_key   ($1 id, $2 now)
-- After lock_attention_to_reopen. The attempt follows the rules for calls again.
UPDATE pawl_idempotency_keys
SET status = 'open', attempt = attempt + 1, lease_until = NULL, last_run_at = $2, completer_next_at = NULL, completer_runs = 0,
    completer_first_at = NULL
WHERE id = $1
  AND status = 'attention'
  AND held_at IS NULL;
