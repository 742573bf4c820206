-- The time line of a key. 0008_key_events.postgres.sql has the same table.

-- What happened to a key, for people: no attempt reads it. Each row is what one transaction of an attempt has written.
CREATE TABLE pawl_key_events (
    key_id   INTEGER NOT NULL,
    attempt  INTEGER NOT NULL,
    part     INTEGER NOT NULL,  -- Counts within the attempt; a number may be missing.
    events   TEXT NOT NULL,     -- JSON: {"events": [{"at", "what", ...}]}, as docs/howto/timeline.md explains.
    PRIMARY KEY (key_id, attempt, part)
) STRICT, WITHOUT ROWID;
