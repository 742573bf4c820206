-- What ./bench jobs asks the database for: it counts what is done, not the program that did it.

-- name: count_dead
SELECT count(*)
FROM pawl_dead_jobs;

-- name: count_left
SELECT (SELECT count(*) FROM pawl_jobs) + (SELECT count(*) FROM pawl_staged_jobs);
