-- Servers with a heartbeat. 0004_servers.postgres.sql has the same changes.

-- A row for each running server. It counts its beats; when they stop, another server deletes the row and ends what it held.
CREATE TABLE pawl_servers (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,  -- Never used twice.
    host          TEXT NOT NULL,
    version       TEXT NOT NULL,
    since         TEXT NOT NULL,
    seen_at       TEXT NOT NULL,  -- The last beat.
    beats         INTEGER NOT NULL,
    session_lock  INTEGER         -- The advisory lock that a connection of the server holds as long as it lives.
) STRICT;

-- The server that took the key or job last; NULL: unknown, so that only the end of the lease frees it.
ALTER TABLE pawl_idempotency_keys ADD COLUMN server_id INTEGER;
ALTER TABLE pawl_jobs ADD COLUMN server_id INTEGER;
ALTER TABLE pawl_staged_jobs ADD COLUMN server_id INTEGER;
