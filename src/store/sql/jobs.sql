-- Statements on the embedded queue. A worker's writes are fenced by (id, attempt): they touch no job that another worker has
-- claimed since.
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_array_elements_text. PostgreSQL turns it into
-- an array, because a comparison with an array uses the index and a join may scan the table.

-- name: claim_jobs [sqlite]   ($1 queue, $2 now, $3 lease until, $4 limit, $5 earliest run at, $6 and $7 fewest and most failures
--   or NULL, $8 kinds to leave out as a JSON list, $9 server, $10 priority)
-- $5 skips the part of the index whose jobs are all gone. While an old snapshot exists, their index entries stay, and the scan
-- would visit each of them.
UPDATE pawl_jobs
SET state = 'running', attempt = attempt + 1, lease_until = $3, server_id = $9
WHERE id IN (
    SELECT id FROM pawl_jobs
    WHERE queue = $1 AND state = 'ready' AND priority = $10 AND run_at >= $5 AND run_at <= $2 AND ($6 IS NULL OR failures >= $6)
      AND ($7 IS NULL OR failures <= $7) AND kind NOT IN (SELECT value FROM json_each($8))
    ORDER BY run_at, id LIMIT $4)
RETURNING id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
    last_error, run_at, trace, deaths, deaths_before_alone;

-- name: claim_jobs [postgres]
-- SKIP LOCKED skips the jobs that another worker is claiming. The outer SELECT sorts the rows, because an UPDATE returns them in
-- no order.
WITH taken AS (
    UPDATE pawl_jobs
    SET state = 'running', attempt = attempt + 1, lease_until = $3, server_id = $9
    WHERE id = ANY (ARRAY(
        SELECT id FROM pawl_jobs
        WHERE queue = $1 AND state = 'ready' AND priority = $10 AND run_at >= $5 AND run_at <= $2
          AND ($6::integer IS NULL OR failures >= $6) AND ($7::integer IS NULL OR failures <= $7)
          AND kind <> ALL (ARRAY(SELECT json_array_elements_text($8::json)))
        ORDER BY run_at, id LIMIT $4
        FOR UPDATE SKIP LOCKED))
    RETURNING *)
SELECT id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
       last_error, run_at, trace, deaths, deaths_before_alone
FROM taken
ORDER BY run_at, id;

-- name: claim_picked_jobs [sqlite]   ($1 ids as a JSON list, $2 lease until, $3 server)
-- For a queue with limits: runs in one transaction after lock_queue_limits and the statements that pick jobs.
UPDATE pawl_jobs
SET state = 'running', attempt = attempt + 1, lease_until = $2, server_id = $3, partition = coalesce(partition, '-')
WHERE id IN (SELECT value FROM json_each($1))
  AND state = 'ready'
RETURNING id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
    last_error, run_at, trace, deaths, deaths_before_alone;

-- name: claim_picked_jobs [postgres]
-- Not state = 'ready': a planner that takes the queue for empty would read all of the index of ready jobs, and not look for the ids.
UPDATE pawl_jobs
SET state = 'running', attempt = attempt + 1, lease_until = $2, server_id = $3, partition = coalesce(partition, '-')
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
  AND state <> 'running'
RETURNING id, jid, queue, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
    last_error, run_at, trace, deaths, deaths_before_alone;

-- name: copy_jobs_to_dead [sqlite]   ($1 ids as a JSON list, $2 error, $3 now, $4 now as text, $5 actor)
-- Cancels jobs. Runs in one transaction after lock_jobs and before delete_cancelled_jobs. No failure is counted.
INSERT INTO pawl_dead_jobs
    (id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, history, error_kind, died_at, trace)
SELECT id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at,
       last_failed_at, $2,
       json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $4, 'cancelled_by', $5)),
       'cancelled', $3, trace
FROM pawl_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: copy_jobs_to_dead [postgres]
-- history is JSONB on PostgreSQL, and the parameters of a SELECT need types.
INSERT INTO pawl_dead_jobs
    (id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, history, error_kind, died_at, trace)
SELECT id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at,
       last_failed_at, $2::text,
       (CASE WHEN jsonb_array_length(history) > 20 THEN history - 1 ELSE history END)
           || jsonb_build_array(jsonb_build_object('at', $4::text, 'cancelled_by', $5::text)),
       'cancelled', $3::timestamptz, trace
FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: count_dead_jobs
SELECT queue, count(*)
FROM pawl_dead_jobs
GROUP BY queue
ORDER BY queue;

-- name: count_jobs
SELECT queue, CASE WHEN state = 'ready' AND failures > 0 THEN 'retrying' ELSE state END AS shown_state, count(*), min(run_at)
FROM pawl_jobs
GROUP BY queue, shown_state
ORDER BY queue, shown_state;

-- name: count_retries
-- Jobs that wait for another try, by the number of their failures, which is that of their retry layer.
SELECT failures, count(*), min(run_at)
FROM pawl_jobs
WHERE state = 'ready'
  AND failures > 0
GROUP BY failures
ORDER BY failures;

-- name: delete_cancelled_jobs [sqlite]   ($1 ids as a JSON list)
-- Their workers' fences match no row from then on.
DELETE FROM pawl_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: delete_cancelled_jobs [postgres]
DELETE FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: delete_dead_jobs [sqlite]   ($1 ids as a JSON list)
DELETE FROM pawl_dead_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: delete_dead_jobs [postgres]
DELETE FROM pawl_dead_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: delete_job   ($1 id, $2 attempt)
DELETE FROM pawl_jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: delete_jobs [sqlite]   ($1 "id:attempt" of each as a JSON list)
DELETE FROM pawl_jobs
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each($1))
  AND id || ':' || attempt IN (SELECT value FROM json_each($1))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: delete_jobs [postgres]
DELETE FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT split_part(held, ':', 1)::bigint FROM json_array_elements_text($1::json) AS held))
  AND id || ':' || attempt = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: fail_job [sqlite]   ($1 id, $2 attempt, $3 error, $4 now, $5 run at, $6 now as text)
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $5, failures = failures + 1, last_error = $3, last_failed_at = $4,
    deaths_before_alone = NULL, first_failed_at = coalesce(first_failed_at, $4),
    history = json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $6, 'error', $3))
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: fail_job [postgres]
-- history is JSONB on PostgreSQL.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $5, failures = failures + 1, last_error = $3, last_failed_at = $4,
    deaths_before_alone = NULL, first_failed_at = coalesce(first_failed_at, $4),
    history = (CASE WHEN jsonb_array_length(history) > 20 THEN history - 1 ELSE history END)
           || jsonb_build_array(jsonb_build_object('at', $6::text, 'error', $3::text))
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: find_dead_job   ($1 id)
SELECT id, jid, queue, kind, args, failures, last_error, error_kind, history, called_at, key_id, created_at,
       first_failed_at, last_failed_at, died_at
FROM pawl_dead_jobs
WHERE id = $1;

-- name: find_held_jobs [sqlite]   ($1 "id:attempt" of each as a JSON list)
-- Which of a server's jobs it still holds: the others were cancelled, or their leases lost.
SELECT id || ':' || attempt
FROM pawl_jobs
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each($1))
  AND id || ':' || attempt IN (SELECT value FROM json_each($1))
  AND state = 'running';

-- name: find_held_jobs [postgres]
SELECT id || ':' || attempt
FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT split_part(held, ':', 1)::bigint FROM json_array_elements_text($1::json) AS held))
  AND id || ':' || attempt = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
  AND state = 'running';

-- name: find_unique_job   ($1 unique hash)
SELECT jid FROM pawl_jobs WHERE unique_hash = $1;

-- name: group_dead_jobs [sqlite]   (or NULL: $1 queue, $2 kind, $3 kind of error, $4 part of the error, $5 died before, $6 died
--   since, $7 failures at least)
SELECT queue, kind, error_kind, count(*), min(died_at), max(died_at), max(id)
FROM pawl_dead_jobs
WHERE ($1 IS NULL OR queue = $1)
  AND ($2 IS NULL OR kind = $2)
  AND ($3 IS NULL OR error_kind = $3)
  AND ($4 IS NULL OR instr(last_error, $4) > 0)
  AND ($5 IS NULL OR died_at < $5)
  AND ($6 IS NULL OR died_at >= $6)
  AND ($7 IS NULL OR failures >= $7)
GROUP BY queue, kind, error_kind
ORDER BY count(*) DESC, queue, kind, error_kind;

-- name: group_dead_jobs [postgres]
-- instr is strpos on PostgreSQL.
SELECT queue, kind, error_kind, count(*), min(died_at), max(died_at), max(id)
FROM pawl_dead_jobs
WHERE ($1::text IS NULL OR queue = $1)
  AND ($2::text IS NULL OR kind = $2)
  AND ($3::text IS NULL OR error_kind = $3)
  AND ($4::text IS NULL OR strpos(last_error, $4) > 0)
  AND ($5::timestamptz IS NULL OR died_at < $5)
  AND ($6::timestamptz IS NULL OR died_at >= $6)
  AND ($7::integer IS NULL OR failures >= $7)
GROUP BY queue, kind, error_kind
ORDER BY count(*) DESC, queue, kind, error_kind;

-- name: insert_dead_job [sqlite]   ($1 id, $2 attempt, $3 error, $4 now, $5 kind of error, $6 now as text)
-- Runs in one transaction with delete_job and has the same fence, so that a rescued job is not recorded as dead.
INSERT INTO pawl_dead_jobs
    (id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, history, error_kind, died_at, trace)
SELECT id, jid, queue, priority, partition, kind, args, attempt, failures + 1, called_at, key_id, created_at,
       coalesce(first_failed_at, $4), $4, $3,
       json_insert(CASE WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $6, 'error', $3)),
       $5, $4, trace
FROM pawl_jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: insert_dead_job [postgres]
-- history is JSONB on PostgreSQL, and the parameters of a SELECT need types.
INSERT INTO pawl_dead_jobs
    (id, jid, queue, priority, partition, kind, args, attempt, failures, called_at, key_id, created_at, first_failed_at, last_failed_at,
     last_error, history, error_kind, died_at, trace)
SELECT id, jid, queue, priority, partition, kind, args, attempt, failures + 1, called_at, key_id, created_at,
       coalesce(first_failed_at, $4::timestamptz), $4::timestamptz, $3::text,
       (CASE WHEN jsonb_array_length(history) > 20 THEN history - 1 ELSE history END)
           || jsonb_build_array(jsonb_build_object('at', $6::text, 'error', $3::text)),
       $5::text, $4::timestamptz, trace
FROM pawl_jobs
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: insert_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now)
INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7);

-- name: insert_special_job   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now, $8 unique hash or NULL, $9 priority,
--   $10 partition or NULL, $11 trace or NULL)
-- Touches no row if an unfinished job has the same hash. If another transaction has inserted one, this waits for its end.
INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, key_id, created_at, unique_hash, priority, partition, trace)
VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (unique_hash) WHERE unique_hash IS NOT NULL DO NOTHING;

-- name: list_dead_jobs [sqlite]   ($1 above this id, $2 limit; or NULL: $3 queue, $4 kind, $5 kind of error, $6 part of the error,
--   $7 died before, $8 died since, $9 failures at least)
SELECT id, jid, queue, kind, args, failures, last_error, error_kind, history, called_at, key_id, created_at,
       first_failed_at, last_failed_at, died_at
FROM pawl_dead_jobs
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

-- name: list_dead_jobs [postgres]
-- instr is strpos on PostgreSQL.
SELECT id, jid, queue, kind, args, failures, last_error, error_kind, history, called_at, key_id, created_at,
       first_failed_at, last_failed_at, died_at
FROM pawl_dead_jobs
WHERE ($3::text IS NULL OR queue = $3)
  AND ($4::text IS NULL OR kind = $4)
  AND ($5::text IS NULL OR error_kind = $5)
  AND ($6::text IS NULL OR strpos(last_error, $6) > 0)
  AND ($7::timestamptz IS NULL OR died_at < $7)
  AND ($8::timestamptz IS NULL OR died_at >= $8)
  AND ($9::integer IS NULL OR failures >= $9)
  AND id > $1
ORDER BY id
LIMIT $2;

-- name: list_jobs [sqlite]   ($1 above this id, $2 limit, $3 now; or NULL: $4 queue, $5 kind, $6 due, later, retrying or running,
--   $7 part of the error, $8 created before, $9 created since, $10 key id)
SELECT id, shown_state, jid, queue, kind, args, attempt, failures, run_at, lease_until, called_at, key_id, created_at,
       first_failed_at, last_failed_at, last_error, history, deaths
FROM (SELECT *, CASE WHEN state = 'running' THEN 'running'
                     WHEN run_at <= $3 THEN 'due'
                     WHEN failures > 0 THEN 'retrying'
                     ELSE 'later' END AS shown_state
      FROM pawl_jobs
      WHERE id > $1) AS jobs
WHERE ($4 IS NULL OR queue = $4)
  AND ($5 IS NULL OR kind = $5)
  AND ($6 IS NULL OR shown_state = $6)
  AND ($7 IS NULL OR instr(last_error, $7) > 0)
  AND ($8 IS NULL OR created_at < $8)
  AND ($9 IS NULL OR created_at >= $9)
  AND ($10 IS NULL OR key_id = $10)
ORDER BY id
LIMIT $2;

-- name: list_jobs [postgres]
-- instr is strpos on PostgreSQL.
SELECT id, shown_state, jid, queue, kind, args, attempt, failures, run_at, lease_until, called_at, key_id, created_at,
       first_failed_at, last_failed_at, last_error, history, deaths
FROM (SELECT *, CASE WHEN state = 'running' THEN 'running'
                     WHEN run_at <= $3::timestamptz THEN 'due'
                     WHEN failures > 0 THEN 'retrying'
                     ELSE 'later' END AS shown_state
      FROM pawl_jobs
      WHERE id > $1) AS jobs
WHERE ($4::text IS NULL OR queue = $4)
  AND ($5::text IS NULL OR kind = $5)
  AND ($6::text IS NULL OR shown_state = $6)
  AND ($7::text IS NULL OR strpos(last_error, $7) > 0)
  AND ($8::timestamptz IS NULL OR created_at < $8)
  AND ($9::timestamptz IS NULL OR created_at >= $9)
  AND ($10::bigint IS NULL OR key_id = $10)
ORDER BY id
LIMIT $2;

-- name: lock_dead_jobs [sqlite]   ($1 ids as a JSON list)
-- A write transaction on SQLite runs alone, so that no lock is needed.
SELECT id, called_at
FROM pawl_dead_jobs
WHERE id IN (SELECT value FROM json_each($1))
ORDER BY id;

-- name: lock_dead_jobs [postgres]
-- If two transactions lock the same rows, the second one waits here and then finds no rows.
SELECT id, called_at
FROM pawl_dead_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
ORDER BY id
FOR UPDATE;

-- name: lock_jobs [sqlite]   ($1 ids as a JSON list)
-- A write transaction on SQLite runs alone, so that no lock is needed.
SELECT id, state
FROM pawl_jobs
WHERE id IN (SELECT value FROM json_each($1))
ORDER BY id;

-- name: lock_jobs [postgres]
-- A worker that ends such a job at this moment waits, or has done so already.
SELECT id, state
FROM pawl_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
ORDER BY id
FOR UPDATE;

-- name: mark_job_called   ($1 id, $2 attempt, $3 now)
-- Written before the job's first foreign call. Once the provider no longer remembers the key, the call is not repeated (F7).
UPDATE pawl_jobs
SET called_at = coalesce(called_at, $3)
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: mark_jobs_called [sqlite]   ($1 "id:attempt" of each as a JSON list, $2 now)
UPDATE pawl_jobs
SET called_at = coalesce(called_at, $2)
WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each($1))
  AND id || ':' || attempt IN (SELECT value FROM json_each($1))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: mark_jobs_called [postgres]
UPDATE pawl_jobs
SET called_at = coalesce(called_at, $2)
WHERE id = ANY (ARRAY(SELECT split_part(held, ':', 1)::bigint FROM json_array_elements_text($1::json) AS held))
  AND id || ':' || attempt = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
  AND state = 'running'
RETURNING id || ':' || attempt;

-- name: merge_dead_jobs [sqlite]   ($1 ids as a JSON list, $2 now, $3 whether to clear called_at, $4 now as text, $5 actor)
-- Runs in one transaction after lock_dead_jobs and before delete_dead_jobs. One damaged history must not hold up the others.
INSERT INTO pawl_jobs
    (id, jid, queue, priority, partition, kind, args, state, run_at, attempt, failures, called_at, key_id, created_at, first_failed_at,
     last_failed_at, last_error, history, trace)
SELECT id, jid, queue, priority, partition, kind, args, 'ready', $2, attempt, 0, CASE WHEN $3 THEN NULL ELSE called_at END, key_id,
       created_at, first_failed_at, last_failed_at, last_error,
       json_insert(CASE WHEN NOT json_valid(history) THEN '[]'
                        WHEN json_array_length(history) > 20 THEN json_remove(history, '$[1]') ELSE history END, '$[#]',
                   json_object('at', $4, 'merged_by', $5)), trace
FROM pawl_dead_jobs
WHERE id IN (SELECT value FROM json_each($1));

-- name: merge_dead_jobs [postgres]
-- history is JSONB on PostgreSQL, and the parameters of a SELECT need types.
INSERT INTO pawl_jobs
    (id, jid, queue, priority, partition, kind, args, state, run_at, attempt, failures, called_at, key_id, created_at, first_failed_at,
     last_failed_at, last_error, history, trace)
SELECT id, jid, queue, priority, partition, kind, args, 'ready', $2::timestamptz, attempt, 0,
       CASE WHEN $3::boolean THEN NULL ELSE called_at END, key_id, created_at, first_failed_at, last_failed_at, last_error,
       (CASE WHEN jsonb_typeof(history) <> 'array' THEN '[]'::jsonb
             WHEN jsonb_array_length(history) > 20 THEN history - 1 ELSE history END)
           || jsonb_build_array(jsonb_build_object('at', $4::text, 'merged_by', $5::text)), trace
FROM pawl_dead_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint));

-- name: next_job_at [sqlite]   ($1 queue, $2 earliest run at of each priority as a JSON list, $3 latest run at, $4 and $5 fewest
--   and most failures or NULL, $6 kinds to leave out as a JSON list)
-- For each priority the first job, or NULL.
SELECT since.key + 1,
       (SELECT run_at
        FROM pawl_jobs
        WHERE queue = $1 AND state = 'ready' AND priority = since.key + 1 AND run_at >= since.value AND run_at <= $3
          AND ($4 IS NULL OR failures >= $4) AND ($5 IS NULL OR failures <= $5)
          AND kind NOT IN (SELECT value FROM json_each($6))
        ORDER BY run_at, id
        LIMIT 1)
FROM json_each($2) AS since;

-- name: next_job_at [postgres]
-- The query does not use min(run_at), because PostgreSQL 15 then reads the whole table if it was never analyzed.
SELECT since.priority,
       (SELECT run_at
        FROM pawl_jobs
        WHERE queue = $1 AND state = 'ready' AND pawl_jobs.priority = since.priority AND run_at >= since.run_at::timestamptz
          AND run_at <= $3
          AND ($4::integer IS NULL OR failures >= $4) AND ($5::integer IS NULL OR failures <= $5)
          AND kind <> ALL (ARRAY(SELECT json_array_elements_text($6::json)))
        ORDER BY pawl_jobs.run_at, id
        LIMIT 1)
FROM json_array_elements_text($2::json) WITH ORDINALITY AS since (run_at, priority);

-- name: renew_job   ($1 id, $2 attempt, $3 lease until)
UPDATE pawl_jobs
SET lease_until = $3
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: reschedule_job   ($1 id, $2 attempt, $3 run at)
-- Does not count as a failure: the worker stops, or the handler asked for a later time.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $3, deaths_before_alone = NULL
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: rescue_jobs [sqlite]   ($1 now, $2 latest possible lease end, $3 earliest lease end)
-- Makes jobs ready again if their lease has ended, because their workers are dead or lost. An earlier rescue has handled the
-- leases that ended before $3. A lease that ends later than $2 was written by a wrong clock and counts as ended. If the job's server
-- has beaten after the lease's end, it has not died: it could not renew the lease.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $1,
    deaths = deaths + CASE WHEN lease_until > $2 OR EXISTS (SELECT 1 FROM pawl_servers AS s WHERE s.id = server_id AND s.seen_at > lease_until)
                           THEN 0 ELSE 1 END
WHERE state = 'running'
  AND (lease_until >= $3 AND lease_until <= $1 OR lease_until > $2);

-- name: rescue_jobs [postgres]
-- Two SELECTs read the two ends of the index, because PostgreSQL would read every running job for one condition with OR. Without a
-- LIMIT it may read a table that was never analyzed from end to end for the second one; the next round gets the others. The
-- outer WHERE repeats the conditions, so that a job whose lease was renewed in between is not touched.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $1,
    deaths = deaths + CASE WHEN lease_until > $2 OR EXISTS (SELECT 1 FROM pawl_servers AS s WHERE s.id = server_id AND s.seen_at > lease_until)
                           THEN 0 ELSE 1 END
WHERE id = ANY (ARRAY(
    SELECT id FROM pawl_jobs WHERE lease_until >= $3 AND lease_until <= $1
    UNION ALL
    (SELECT id FROM pawl_jobs WHERE lease_until > $2 ORDER BY lease_until DESC LIMIT 1000)))
  AND state = 'running'
  AND (lease_until <= $1 OR lease_until > $2);

-- name: rescue_previous_server_jobs   ($1 now)
-- The only server of a database runs this at its start. The condition on lease_until makes the statement use its index.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $1, deaths = deaths + 1
WHERE state = 'running'
  AND lease_until IS NOT NULL;

-- name: retry_jobs_now [sqlite]   ($1 ids as a JSON list, $2 now)
-- Jobs that wait for a later time are due at once. Their failures stay.
UPDATE pawl_jobs
SET run_at = $2
WHERE id IN (SELECT value FROM json_each($1))
  AND state = 'ready'
  AND run_at > $2
RETURNING id;

-- name: retry_jobs_now [postgres]
UPDATE pawl_jobs
SET run_at = $2
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)::bigint))
  AND state = 'ready'
  AND run_at > $2
RETURNING id;
