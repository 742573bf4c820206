-- Statements on the embedded queue. A worker's writes are fenced by (id, attempt): a job that was given to another
-- meanwhile is not touched.

-- name: bury_job   ($1 id, $2 attempt, $3 error, $4 now)
-- With delete_job in the same transaction, and by the same fence: a job that was rescued is not buried as well.
INSERT INTO dead_jobs
    (id, jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, died_at)
SELECT id, jid, queue, kind, args, failures + 1, called_at, key_id, created_at, coalesce(first_failed_at, $4), $4,
       $3, $4
FROM jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: claim_jobs   ($1 queue, $2 now, $3 lease until, $4 limit)
UPDATE jobs
SET state = 'running', attempt = attempt + 1, lease_until = $3
WHERE id IN (
    SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2 ORDER BY run_at, id LIMIT $4)
RETURNING id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_error;

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

-- name: fail_job   ($1 id, $2 attempt, $3 error, $4 now, $5 run at)
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $5, failures = failures + 1, last_error = $3, last_failed_at = $4,
    first_failed_at = coalesce(first_failed_at, $4)
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: insert_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now)
INSERT INTO jobs (jid, queue, kind, args, state, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7);

-- name: list_dead_jobs   ($1 limit)
SELECT id, jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
       last_error, died_at
FROM dead_jobs
ORDER BY id
LIMIT $1;

-- name: mark_job_called   ($1 id, $2 attempt, $3 now)
-- Before the first call to the outside: past the provider's memory it is not repeated (F7).
UPDATE jobs
SET called_at = coalesce(called_at, $3)
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: next_job_at   ($1 queue)
SELECT run_at
FROM jobs
WHERE queue = $1
  AND state = 'ready'
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

-- name: rescue_jobs   ($1 now, $2 no lease can last beyond)
-- Leases that ended: their workers are dead or lost. One further away than any can be is a clock that was wrong.
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $1
WHERE state = 'running'
  AND (lease_until <= $1 OR lease_until > $2);

-- name: rescue_predecessors_jobs   ($1 now)
-- At the start of the one server that owns the file. The lease is named for its index.
UPDATE jobs
SET state = 'ready', lease_until = NULL, run_at = $1
WHERE state = 'running'
  AND lease_until IS NOT NULL;
