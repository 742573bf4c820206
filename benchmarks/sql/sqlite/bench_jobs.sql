-- What ./bench jobs asks the database for: it counts what is done, not the program that did it.

-- name: count_dead
SELECT count(*)
FROM dead_jobs;

-- name: count_left
SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM staged_jobs);
