-- The schedules of periodic jobs. 0003_schedules.sqlite.sql has the same changes.

-- A row for each periodic job. The server that moves next_at from one tick to the next stages the job in the same transaction.
CREATE TABLE pawl_schedules (
    name       TEXT PRIMARY KEY,
    schedule   TEXT NOT NULL,          -- The cron expression and the time zone; a server with another one leaves the row alone.
    next_at    TIMESTAMPTZ NOT NULL,
    last_at    TIMESTAMPTZ             -- The last tick that was run.
);
