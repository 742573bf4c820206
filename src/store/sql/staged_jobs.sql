-- Statements on the staged jobs, which wait to be sent to a queue outside this database; on the inbox, which records such jobs as
-- done in a transaction here; and on the queues that people have paused.
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_array_elements_text. PostgreSQL turns it into
-- an array, because a comparison with an array uses the index and a join may scan the table.

-- name: claim_staged_jobs [sqlite]   ($1 due by, $2 now, $3 claimed until, $4 latest possible claim end, $5 limit, $6 server)
UPDATE pawl_staged_jobs
SET claimed_until = $3, server_id = $6
WHERE id IN (
    SELECT id FROM pawl_staged_jobs
    WHERE run_at <= $1
      AND (claimed_until IS NULL OR claimed_until <= $2 OR claimed_until > $4)
    ORDER BY run_at, id
    LIMIT $5)
RETURNING id, jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
    history, trace;

-- name: claim_staged_jobs [postgres]
-- SKIP LOCKED skips the jobs that another enqueuer is claiming.
WITH taken AS (
    UPDATE pawl_staged_jobs
    SET claimed_until = $3, server_id = $6
    WHERE id = ANY (ARRAY(
        SELECT id FROM pawl_staged_jobs
        WHERE run_at <= $1
          AND (claimed_until IS NULL OR claimed_until <= $2 OR claimed_until > $4)
        ORDER BY run_at, id
        LIMIT $5
        FOR UPDATE SKIP LOCKED))
    RETURNING *)
SELECT id, jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
       history, trace
FROM taken
ORDER BY run_at, id;

-- name: copy_jobs_to_staged [sqlite]   ($1 ids as a JSON list)
-- Moves jobs after the service has changed its queue. Runs in one transaction after pick_ready_jobs and before delete_ready_jobs.
INSERT INTO pawl_staged_jobs
    (jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
    history, run_at, trace)
SELECT jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
       history, run_at, trace
FROM pawl_jobs
WHERE id IN (SELECT value FROM json_each($1))
ORDER BY id;

-- name: copy_jobs_to_staged [postgres]
INSERT INTO pawl_staged_jobs
    (jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
    history, run_at, trace)
SELECT jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
       history, run_at, trace
FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
ORDER BY id;

-- name: copy_staged_to_jobs [sqlite]   ($1 ids as a JSON list, $2 state, $3 attempt, $4 now)
-- Moves jobs after the service has changed its queue, and jobs that the external queue refuses. Runs in one transaction before
-- delete_staged_jobs. run_at is at least now, because each poll of a worker begins after the jobs that were due before.
INSERT INTO pawl_jobs
    (jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
    history, state, attempt, run_at, trace)
SELECT jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
       history, $2, $3, max(run_at, $4), trace
FROM pawl_staged_jobs
WHERE id IN (SELECT value FROM json_each($1))
ORDER BY pawl_staged_jobs.run_at, id
RETURNING id;

-- name: copy_staged_to_jobs [postgres]
-- The parameters of a SELECT need types on PostgreSQL.
INSERT INTO pawl_jobs
    (jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
    history, state, attempt, run_at, trace)
SELECT jid, queue, kind, args, failures, called_at, key_id, created_at, first_failed_at, last_failed_at, last_error,
       history, $2::text, $3::integer, greatest(run_at, $4::timestamptz), trace
FROM pawl_staged_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
ORDER BY pawl_staged_jobs.run_at, id
RETURNING id;

-- name: count_staged_jobs
SELECT queue, count(*), min(run_at)
FROM pawl_staged_jobs
GROUP BY queue
ORDER BY queue;

-- name: delete_old_inbox_rows [sqlite]   ($1 done before, $2 limit)
DELETE FROM pawl_inbox
WHERE jid IN (
    SELECT jid FROM pawl_inbox WHERE done_at < $1 ORDER BY done_at LIMIT $2);

-- name: delete_old_inbox_rows [postgres]
-- SKIP LOCKED skips the rows that another transaction has locked.
DELETE FROM pawl_inbox
WHERE jid = ANY (ARRAY(
    SELECT jid FROM pawl_inbox WHERE done_at < $1 ORDER BY done_at LIMIT $2
    FOR UPDATE SKIP LOCKED));

-- name: delete_ready_jobs [sqlite]   ($1 ids as a JSON list)
DELETE FROM pawl_jobs
WHERE id IN (SELECT value FROM json_each($1))
  AND state = 'ready';

-- name: delete_ready_jobs [postgres]
DELETE FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
  AND state = 'ready';

-- name: delete_staged_jobs [sqlite]   ($1 ids as a JSON list)
-- Deletes by id and not by range: a job with a lower id may have been committed since the jobs were sent.
DELETE FROM pawl_staged_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: delete_staged_jobs [postgres]
DELETE FROM pawl_staged_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: find_due_staged_job   ($1 due by, $2 now, $3 latest possible claim end)
SELECT id
FROM pawl_staged_jobs
WHERE run_at <= $1
  AND (claimed_until IS NULL OR claimed_until <= $2 OR claimed_until > $3)
ORDER BY run_at, id
LIMIT 1;

-- name: find_pause   ($1 queue)
SELECT since, actor, reason
FROM pawl_paused_queues
WHERE queue = $1;

-- name: find_waiting_job
SELECT id
FROM pawl_jobs
LIMIT 1;

-- name: insert_done   ($1 jid, $2 now)
INSERT INTO pawl_inbox (jid, done_at)
VALUES ($1, $2)
ON CONFLICT DO NOTHING;

-- name: insert_staged_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now)
INSERT INTO pawl_staged_jobs (jid, queue, kind, args, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: insert_traced_staged_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now, $8 trace)
INSERT INTO pawl_staged_jobs (jid, queue, kind, args, run_at, key_id, created_at, trace)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: list_pauses
SELECT queue, since, actor, reason
FROM pawl_paused_queues
ORDER BY queue;

-- name: pause_queue   ($1 queue, $2 now, $3 who, $4 reason)
INSERT INTO pawl_paused_queues (queue, since, actor, reason)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING;

-- name: pick_ready_jobs [sqlite]   ($1 limit)
SELECT id
FROM pawl_jobs
WHERE state = 'ready'
ORDER BY id
LIMIT $1;

-- name: pick_ready_jobs [postgres]
-- SKIP LOCKED skips the rows that another transaction has locked.
SELECT id
FROM pawl_jobs
WHERE state = 'ready'
ORDER BY id
LIMIT $1
FOR UPDATE SKIP LOCKED;

-- name: release_previous_server_staged_jobs
-- The only server of a database runs this at its start.
UPDATE pawl_staged_jobs
SET claimed_until = NULL
WHERE claimed_until IS NOT NULL;

-- name: release_staged_jobs [sqlite]   ($1 ids as a JSON list)
-- Ends the claims on jobs that were not sent, so that the next round of any server sends them.
UPDATE pawl_staged_jobs
SET claimed_until = NULL
WHERE id IN (SELECT value FROM json_each($1));

-- name: release_staged_jobs [postgres]
UPDATE pawl_staged_jobs
SET claimed_until = NULL
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: resume_queue   ($1 queue)
DELETE FROM pawl_paused_queues
WHERE queue = $1;
