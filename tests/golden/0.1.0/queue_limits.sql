-- Statements on the queues with limits over all servers (docs/adr/0030). A claim of such a queue runs these in one transaction:
-- lock_queue_limits, count_limited_jobs, then for each priority pick_jobs, or pick_partitions and pick_partition_jobs; then
-- claim_picked_jobs (jobs.sql) and set_queue_full_at.
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_array_elements_text. PostgreSQL turns it into
-- an array, because a comparison with an array uses the index and a join may scan the table.

-- name: count_limited_jobs   ($1 queue)
-- The running jobs of each partition, and how many of them are retries. Jobs that a server without the limits has claimed may be
-- missing.
SELECT partition, count(*), sum(CASE WHEN failures > 0 THEN 1 ELSE 0 END)
FROM pawl_jobs
WHERE queue = $1
  AND state = 'running'
  AND partition IS NOT NULL
GROUP BY partition;

-- name: declare_queue_limits   ($1 queue, $2 running max, $3 partition max, $4 rate)
-- A queue that is declared again keeps full_at, so that restarts do not raise its rate.
INSERT INTO pawl_queue_limits (queue, running_max, partition_max, rate, full_at)
VALUES ($1, $2, $3, $4, 0)
ON CONFLICT (queue) DO UPDATE
SET running_max = excluded.running_max, partition_max = excluded.partition_max, rate = excluded.rate;

-- name: delete_queue_limits   ($1 queue)
DELETE FROM pawl_queue_limits
WHERE queue = $1;

-- name: find_job_without_partition   ($1 queue)
SELECT id
FROM pawl_jobs
WHERE queue = $1
  AND state = 'ready'
  AND partition IS NULL
LIMIT 1;

-- name: find_queue_limits   ($1 queue)
SELECT full_at
FROM pawl_queue_limits
WHERE queue = $1;

-- name: insert_queue_limits   ($1 queue)
-- Touches no row if there is one, also if another server has locked it.
INSERT INTO pawl_queue_limits (queue, running_max, partition_max, rate, full_at)
VALUES ($1, 0, 0, '', 0)
ON CONFLICT DO NOTHING;

-- name: list_queue_limits
SELECT queue, running_max, partition_max, rate
FROM pawl_queue_limits
ORDER BY queue;

-- name: lock_queue_limits [sqlite]   ($1 queue)
-- A write transaction on SQLite runs alone, so that no lock is needed.
SELECT full_at
FROM pawl_queue_limits
WHERE queue = $1;

-- name: lock_queue_limits [postgres]
-- No row: another server is claiming jobs of this queue. The statements after this one see what the claims before it have committed.
SELECT full_at
FROM pawl_queue_limits
WHERE queue = $1
FOR UPDATE SKIP LOCKED;

-- name: pick_jobs [sqlite]   ($1 queue, $2 now, $3 limit, $4 earliest run at, $5 and $6 fewest and most failures or NULL, $7 kinds to
--   leave out as a JSON list, $8 priority)
SELECT id, run_at
FROM pawl_jobs
WHERE queue = $1 AND state = 'ready' AND priority = $8 AND run_at >= $4 AND run_at <= $2
  AND ($5 IS NULL OR failures >= $5) AND ($6 IS NULL OR failures <= $6)
  AND kind NOT IN (SELECT value FROM json_each($7))
ORDER BY run_at, id
LIMIT $3;

-- name: pick_jobs [postgres]
SELECT id, run_at
FROM pawl_jobs
WHERE queue = $1 AND state = 'ready' AND priority = $8 AND run_at >= $4 AND run_at <= $2
  AND ($5::integer IS NULL OR failures >= $5) AND ($6::integer IS NULL OR failures <= $6)
  AND kind <> ALL (ARRAY(SELECT json_array_elements_text($7::json)))
ORDER BY run_at, id
LIMIT $3;

-- name: pick_partition_jobs [sqlite]   ($1 queue, $2 now, $3 limit, $4 partition, $5 and $6 fewest and most failures or NULL, $7 kinds
--   to leave out as a JSON list, $8 priority)
SELECT id, run_at
FROM pawl_jobs
WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition = $4 AND run_at <= $2
  AND ($5 IS NULL OR failures >= $5) AND ($6 IS NULL OR failures <= $6)
  AND kind NOT IN (SELECT value FROM json_each($7))
ORDER BY run_at, id
LIMIT $3;

-- name: pick_partition_jobs [postgres]
SELECT id, run_at
FROM pawl_jobs
WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition = $4 AND run_at <= $2
  AND ($5::integer IS NULL OR failures >= $5) AND ($6::integer IS NULL OR failures <= $6)
  AND kind <> ALL (ARRAY(SELECT json_array_elements_text($7::json)))
ORDER BY run_at, id
LIMIT $3;

-- name: pick_partitions [sqlite]   ($1 queue, $2 now, $3 limit, $4 after this partition, $5 and $6 fewest and most failures or NULL,
--   $7 kinds to leave out as a JSON list, $8 priority, $9 full partitions as a JSON list)
-- The next partitions in turn that have a due job. Each step of the recursion reads one entry of the index, however many jobs a
-- partition has. After a thousand steps it returns where it is, so that the next claim goes on from there.
WITH RECURSIVE turns (partition, step) AS (
    SELECT min(partition), 1
    FROM pawl_jobs
    WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition > $4
    UNION ALL
    SELECT (SELECT min(partition) FROM pawl_jobs
            WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition > turns.partition),
           step + 1
    FROM turns
    WHERE turns.partition IS NOT NULL AND step < 1000)
SELECT partition, CASE WHEN due THEN 1 ELSE 0 END
FROM (SELECT partition, step, partition NOT IN (SELECT value FROM json_each($9)) AND EXISTS (
          SELECT 1 FROM pawl_jobs
          WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition = turns.partition AND run_at <= $2
            AND ($5 IS NULL OR failures >= $5) AND ($6 IS NULL OR failures <= $6)
            AND kind NOT IN (SELECT value FROM json_each($7))) AS due
      FROM turns
      WHERE partition IS NOT NULL)
WHERE due OR step = 1000
LIMIT $3;

-- name: pick_partitions [postgres]
-- The query does not use min(partition): see next_job_at.
WITH RECURSIVE turns (partition, step) AS (
    (SELECT partition, 1
     FROM pawl_jobs
     WHERE queue = $1 AND state = 'ready' AND priority = $8 AND partition > $4
     ORDER BY partition
     LIMIT 1)
    UNION ALL
    SELECT (SELECT later.partition FROM pawl_jobs AS later
            WHERE later.queue = $1 AND later.state = 'ready' AND later.priority = $8 AND later.partition > turns.partition
            ORDER BY later.partition
            LIMIT 1),
           step + 1
    FROM turns
    WHERE turns.partition IS NOT NULL AND step < 1000)
SELECT partition, CASE WHEN due THEN 1 ELSE 0 END
FROM (SELECT turns.partition, turns.step, turns.partition <> ALL (ARRAY(SELECT json_array_elements_text($9::json))) AND EXISTS (
          SELECT FROM pawl_jobs
          WHERE queue = $1 AND state = 'ready' AND priority = $8 AND pawl_jobs.partition = turns.partition AND run_at <= $2
            AND ($5::integer IS NULL OR failures >= $5) AND ($6::integer IS NULL OR failures <= $6)
            AND kind <> ALL (ARRAY(SELECT json_array_elements_text($7::json)))) AS due
      FROM turns
      WHERE turns.partition IS NOT NULL) AS walked
WHERE due OR step = 1000
LIMIT $3;

-- name: put_jobs_in_a_partition [sqlite]   ($1 queue, $2 above this id, $3 limit)
-- Jobs from before the queue had turns, which no turn would find.
UPDATE pawl_jobs
SET partition = '-'
WHERE id IN (
    SELECT id FROM pawl_jobs
    WHERE id > $2 AND queue = $1 AND state = 'ready' AND partition IS NULL
    ORDER BY id
    LIMIT $3)
RETURNING id;

-- name: put_jobs_in_a_partition [postgres]
-- SKIP LOCKED skips the rows that another transaction has locked.
UPDATE pawl_jobs
SET partition = '-'
WHERE id = ANY (ARRAY(
    SELECT id FROM pawl_jobs
    WHERE id > $2 AND queue = $1 AND state = 'ready' AND partition IS NULL
    ORDER BY id
    LIMIT $3
    FOR UPDATE SKIP LOCKED))
RETURNING id;

-- name: set_queue_full_at   ($1 queue, $2 full at)
UPDATE pawl_queue_limits
SET full_at = $2
WHERE queue = $1;
