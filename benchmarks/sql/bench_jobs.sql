-- Statements of ./bench jobs. It counts finished jobs in the database and does not rely on the counts of the tested program.

-- name: count_dead
SELECT count(*)
FROM pawl_dead_jobs;

-- name: count_left
SELECT (SELECT count(*) FROM pawl_jobs) + (SELECT count(*) FROM pawl_staged_jobs);
