-- Statements on the embedded queue. A worker's writes are fenced by (id, attempt): a job that was given to another
-- meanwhile is not touched.

-- name: bury_job   ($1 id, $2 attempt, $3 error, $4 now, $5 kind of error, $6 now as text)
-- With delete_job in the same transaction, and by the same fence: a job that was rescued is not buried as well.
INSERT INTO dead_jobs
    (id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, history, error_kind, died_at)
SELECT id, jid, queue, kind, args, attempt, failures + 1, called_at, key_id, created_at, coalesce(first_failed_at, $4), $4, $3,
       json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $6, 'error', $3)),
       $5, $4
FROM jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: claim_jobs   ($1 queue, $2 now, $3 lease until, $4 limit, $5 run at least then)
-- $5 leaves out where all jobs are gone: under an old snapshot their index entries stay, and each is visited.
UPDATE jobs
SET state = 'running', attempt = attempt + 1, lease_until = $3
WHERE id IN (
    SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at >= $5 AND run_at <= $2
    ORDER BY run_at, id LIMIT $4)
RETURNING id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
    last_error, run_at;

-- name: count_jobs
SELECT queue, state, count(*), min(run_at)
FROM jobs
GROUP BY queue, state
ORDER BY queue, state;

-- name: delete_job   ($1 id, $2 attempt)
DELETE FROM jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: delete_jobs   ($1 "id:attempt" of each as a JSON list)
DELETE FROM jobs
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each($1))
  AND id || ':' || attempt IN (SELECT value FROM json_each($1))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: delete_dead_jobs   ($1 ids as a JSON list)
DELETE FROM dead_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: fail_job   ($1 id, $2 attempt, $3 error, $4 now, $5 run at, $6 now as text)
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $5, failures = failures + 1, last_error = $3, last_failed_at = $4,
    first_failed_at = coalesce(first_failed_at, $4),
    history = json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $6, 'error', $3))
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: find_dead_job   ($1 id)
SELECT id, jid, queue, kind, args, failures, last_error, error_kind, history, called_at, key_id, created_at, first_failed_at,
       last_failed_at, died_at
FROM dead_jobs
WHERE id = $1;

-- name: group_dead_jobs   (or NULL: $1 queue, $2 kind, $3 kind of error, $4 part of the error, $5 died before, $6 died
--   since, $7 failures at least)
SELECT queue, kind, error_kind, count(*), min(died_at), max(died_at), max(id)
FROM dead_jobs
WHERE ($1 IS NULL OR queue = $1)
  AND ($2 IS NULL OR kind = $2)
  AND ($3 IS NULL OR error_kind = $3)
  AND ($4 IS NULL OR instr(last_error, $4) > 0)
  AND ($5 IS NULL OR died_at < $5)
  AND ($6 IS NULL OR died_at >= $6)
  AND ($7 IS NULL OR failures >= $7)
GROUP BY queue, kind, error_kind
ORDER BY count(*) DESC, queue, kind, error_kind;

-- name: insert_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now)
INSERT INTO jobs (jid, queue, kind, args, state, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7);

-- name: list_dead_jobs   ($1 behind this id, $2 limit; or NULL: $3 queue, $4 kind, $5 kind of error, $6 part of the error,
--   $7 died before, $8 died since, $9 failures at least)
SELECT id, jid, queue, kind, args, failures, last_error, error_kind, history, called_at, key_id, created_at, first_failed_at,
       last_failed_at, died_at
FROM dead_jobs
WHERE ($3 IS NULL OR queue = $3)
  AND ($4 IS NULL OR kind = $4)
  AND ($5 IS NULL OR error_kind = $5)
  AND ($6 IS NULL OR instr(last_error, $6) > 0)
  AND ($7 IS NULL OR died_at < $7)
  AND ($8 IS NULL OR died_at >= $8)
  AND ($9 IS NULL OR failures >= $9)
  AND id > $1
ORDER BY id
LIMIT $2;

-- name: lock_dead_jobs   ($1 ids as a JSON list)
-- Whoever comes second waits here, and finds them gone.
SELECT id, called_at
FROM dead_jobs
WHERE id IN (SELECT value FROM json_each($1))
ORDER BY id;

-- name: mark_job_called   ($1 id, $2 attempt, $3 now)
-- Before the first call to the outside: past the provider's memory it is not repeated (F7).
UPDATE jobs
SET called_at = coalesce(called_at, $3)
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: mark_jobs_called   ($1 "id:attempt" of each as a JSON list, $2 now)
UPDATE jobs
SET called_at = coalesce(called_at, $2)
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each($1))
  AND id || ':' || attempt IN (SELECT value FROM json_each($1))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: merge_dead_jobs   ($1 ids as a JSON list, $2 now, $3 a call that was made counts no more, $4 now as text, $5 who)
-- With lock_dead_jobs before and delete_dead_jobs behind, in one transaction.
INSERT INTO jobs
    (id, jid, queue, kind, args, state, run_at, attempt, failures, called_at, key_id, created_at, first_failed_at,
     last_failed_at, last_error, history)
SELECT id, jid, queue, kind, args, 'ready', $2, attempt, 0, CASE WHEN $3 THEN NULL ELSE called_at END, key_id,
       created_at, first_failed_at, last_failed_at, last_error,
       json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $4, 'merged_by', $5))
FROM dead_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: next_job_at   ($1 queue, $2 run at least then)
SELECT run_at
FROM jobs
WHERE queue = $1
  AND state = 'ready'
  AND run_at >= $2
ORDER BY run_at, id
LIMIT 1;

-- name: put_job_back   ($1 id, $2 attempt, $3 run at)
-- Not a failure: the worker stops, or the handler asked for a later moment.
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $3
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: renew_job   ($1 id, $2 attempt, $3 lease until)
UPDATE jobs
SET lease_until = $3
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: rescue_jobs   ($1 now, $2 no lease can last beyond, $3 leases that ended before were looked at)
-- Leases that ended: their workers are dead or lost. One further away than any can be is a clock that was wrong.
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $1
WHERE state = 'running'
  AND (lease_until >= $3 AND lease_until <= $1 OR lease_until > $2);

-- name: rescue_predecessors_jobs   ($1 now)
-- At the start of the one server that owns the file. The lease is named for its index.
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $1
WHERE state = 'running'
  AND lease_until IS NOT NULL;
