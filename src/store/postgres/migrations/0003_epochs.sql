-- A database that was restored from a backup has forgotten what happened since. docs/adr/0022.

-- An epoch is the time from one restore to the next. The first has no row. A row is never changed.
CREATE TABLE epochs (
    epoch        BIGINT PRIMARY KEY CHECK (epoch >= 2),
    opened_at    TIMESTAMPTZ NOT NULL,
    lost_since   TIMESTAMPTZ NOT NULL,  -- The restored database has all that happened before.
    keys_until   TIMESTAMPTZ NOT NULL,  -- Until then clients may repeat requests that are lost.
    last_key_id  BIGINT NOT NULL,       -- The highest id in the restored database: these keys may have gone on since.
    opened_by    TEXT NOT NULL,
    detail       TEXT NOT NULL
);

-- Numbers that only grow. Each server advances them while it works and copies them to a file outside the database
-- afterwards: a database whose numbers are behind that file was restored.
CREATE TABLE marks (
    id           BIGINT PRIMARY KEY CHECK (id = 1),
    number       BIGINT NOT NULL,       -- How often the row was advanced.
    at           TIMESTAMPTZ NOT NULL,
    key_id       BIGINT NOT NULL,       -- The highest id in key_registry.
    calls        BIGINT NOT NULL        -- Foreign calls that were begun.
);
