-- Statements on the time lines of keys: pawl_key_events.

-- name: delete_key_events [sqlite]   ($1 keys, as in expire_keys)
DELETE FROM pawl_key_events
WHERE key_id IN (SELECT value ->> '$.id' FROM json_each($1, '$.keys'));

-- name: delete_key_events [postgres]
DELETE FROM pawl_key_events
WHERE key_id = ANY (ARRAY(SELECT b.id FROM json_to_recordset($1::json -> 'keys') AS b (id BIGINT)));

-- name: delete_middle_key_events   ($1 key id, $2 first attempt, $3 last attempt)
-- A key that fails for days keeps its first attempts and its last ones.
DELETE FROM pawl_key_events
WHERE key_id = $1
  AND attempt BETWEEN $2 AND $3;

-- name: insert_key_events [sqlite]   ($1 key id, $2 attempt, $3 part, $4 events as JSON)
-- A row may be there: of an expired key whose time line a server of an older version has left.
INSERT INTO pawl_key_events (key_id, attempt, part, events)
VALUES ($1, $2, $3, $4)
ON CONFLICT (key_id, attempt, part) DO UPDATE SET events = excluded.events;

-- name: insert_key_events [postgres]
-- No unique index, which would cost each request (migration 0015).
INSERT INTO pawl_key_events (key_id, attempt, part, events)
VALUES ($1, $2, $3, $4);

-- name: insert_key_events_of_person   ($1 key id, $2 events as JSON)
-- Beside a running attempt, whose parts are below 1,000,000, as is the completer's.
INSERT INTO pawl_key_events (key_id, attempt, part, events)
SELECT k.id, k.attempt,
       coalesce((SELECT max(e.part) + 1
                 FROM pawl_key_events AS e
                 WHERE e.key_id = k.id AND e.attempt = k.attempt AND e.part > 1000000), 1000001),
       $2
FROM pawl_idempotency_keys AS k
WHERE k.id = $1;

-- name: list_key_events   ($1 key id)
SELECT attempt, events
FROM pawl_key_events
WHERE key_id = $1
ORDER BY attempt, part;

-- name: list_last_key_events   ($1 hash)
-- The first events of the last attempt: where it stands in a trace. The limit is for a key that has many.
SELECT events
FROM pawl_key_events
WHERE key_id = (SELECT id FROM pawl_key_registry WHERE hash = $1)
ORDER BY attempt DESC, part
LIMIT 10;
