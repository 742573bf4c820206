-- State of a Kafka queue that must be in the database, because a Kafka record can't be changed and a topic takes no part in our
-- transactions. The id of a job is the same as in the inbox: "group/jid".
-- A list parameter is JSON text. SQLite reads it by json_each, PostgreSQL by json_array_elements_text. PostgreSQL turns it into
-- an array, because a comparison with an array uses the index and a join may scan the table.

-- name: delete_job_call   ($1 id)
DELETE FROM pawl_job_calls
WHERE id = $1;

-- name: find_job_calls [sqlite]   ($1 ids as a JSON list)
SELECT id, called_at
FROM pawl_job_calls
WHERE id IN (SELECT value FROM json_each($1));

-- name: find_job_calls [postgres]
SELECT id, called_at
FROM pawl_job_calls
WHERE id = ANY (ARRAY(SELECT json_array_elements_text($1::json)));

-- name: find_jobs_done [sqlite]   ($1 ids as a JSON list)
SELECT jid
FROM pawl_inbox
WHERE jid IN (SELECT value FROM json_each($1));

-- name: find_jobs_done [postgres]
SELECT jid
FROM pawl_inbox
WHERE jid = ANY (ARRAY(SELECT json_array_elements_text($1::json)));

-- name: forget_job_calls [sqlite]   ($1 called before, $2 limit)
DELETE FROM pawl_job_calls
WHERE id IN (
    SELECT id FROM pawl_job_calls WHERE called_at < $1 ORDER BY called_at LIMIT $2);

-- name: forget_job_calls [postgres]
-- SKIP LOCKED skips the rows that another transaction has locked.
DELETE FROM pawl_job_calls
WHERE id = ANY (ARRAY(
    SELECT id FROM pawl_job_calls WHERE called_at < $1 ORDER BY called_at LIMIT $2
    FOR UPDATE SKIP LOCKED));

-- name: forget_kafka_marks   ($1 topic, $2 partition, $3 before this offset)
-- Kafka has removed these records from the topic.
DELETE FROM pawl_kafka_marks
WHERE topic = $1
  AND partition = $2
  AND record_offset < $3;

-- name: insert_job_call   ($1 id, $2 called at)
INSERT INTO pawl_job_calls (id, called_at)
VALUES ($1, $2)
ON CONFLICT DO NOTHING;

-- name: list_kafka_marks   ($1 topic, $2 partition, $3 from this offset)
-- Leaves out the marks 'merging': the process that began the merge may have died, and the merge may be repeated.
SELECT record_offset, life
FROM pawl_kafka_marks
WHERE topic = $1
  AND partition = $2
  AND record_offset >= $3
  AND what <> 'merging'
ORDER BY record_offset;

-- name: mark_kafka_record   ($1 topic, $2 partition, $3 offset, $4 what, $5 who, $6 now, $7 why, $8 life)
-- Touches no row whose record is merged or purged.
INSERT INTO pawl_kafka_marks (topic, partition, record_offset, what, actor, at, reason, life)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (topic, partition, record_offset) DO UPDATE
SET what = excluded.what, actor = excluded.actor, at = excluded.at, reason = excluded.reason
WHERE pawl_kafka_marks.what = 'merging';
