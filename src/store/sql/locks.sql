-- Leases, fences, and actions that run once within a window of time. src/core/lease.hpp makes the decisions about a lease; the
-- store locks its row before it reads it.

-- name: acquire_lease   ($1 name, $2 epoch seen, $3 holder, $4 until, $5 ttl in ms)
UPDATE pawl_leases
SET epoch = epoch + 1, holder = $3, lease_until = $4, ttl_ms = $5
WHERE name = $1
  AND epoch = $2;

-- name: close_window   ($1 hash)
DELETE FROM pawl_once_windows WHERE hash = $1;

-- name: delete_ended_windows [sqlite]   ($1 ended before, $2 limit)
DELETE FROM pawl_once_windows
WHERE hash IN (
    SELECT hash FROM pawl_once_windows WHERE over_at < $1 ORDER BY over_at LIMIT $2);

-- name: delete_ended_windows [postgres]
-- SKIP LOCKED skips the rows that another transaction is removing.
DELETE FROM pawl_once_windows
WHERE hash = ANY (ARRAY(
    SELECT hash FROM pawl_once_windows WHERE over_at < $1 ORDER BY over_at LIMIT $2
    FOR UPDATE SKIP LOCKED));

-- name: extend_lease   ($1 name, $2 epoch, $3 holder, $4 until)
UPDATE pawl_leases
SET lease_until = $4
WHERE name = $1
  AND epoch = $2
  AND holder = $3;

-- name: find_fencing_token   ($1 name)
SELECT epoch FROM pawl_fencing_tokens WHERE name = $1;

-- name: find_window   ($1 hash)
SELECT result FROM pawl_once_windows WHERE hash = $1;

-- name: insert_lease   ($1 name, $2 holder, $3 until, $4 ttl in ms)
-- If two transactions insert the same new name, the second one touches no row.
INSERT INTO pawl_leases (name, epoch, holder, lease_until, ttl_ms)
VALUES ($1, 1, $2, $3, $4)
ON CONFLICT DO NOTHING;

-- name: lock_lease [sqlite]   ($1 name)
-- A write transaction on SQLite runs alone, so that no lock is needed.
SELECT epoch, holder, lease_until, ttl_ms FROM pawl_leases WHERE name = $1;

-- name: lock_lease [postgres]
-- If two transactions lock the same lease, the second one waits here.
SELECT epoch, holder, lease_until, ttl_ms FROM pawl_leases WHERE name = $1 FOR UPDATE;

-- name: open_window   ($1 hash, $2 now, $3 its end, $4 latest possible window end)
-- Touches no row while an open window exists. A concurrent transaction waits for the commit of the first one. Above READ
-- COMMITTED it then gets a serialization failure and runs again. A window that ends later than $4 was written by a wrong clock.
INSERT INTO pawl_once_windows (hash, over_at, result)
VALUES ($1, $3, '')
ON CONFLICT (hash) DO UPDATE
SET over_at = excluded.over_at, result = ''
WHERE pawl_once_windows.over_at <= $2
   OR pawl_once_windows.over_at > $4;

-- name: record_fencing_token   ($1 name, $2 epoch)
-- Touches no row if a higher epoch has passed. Each holder updates the row, even with the same epoch, so that the row stays locked
-- until the commit: a holder with a higher epoch waits, and its writes follow these.
INSERT INTO pawl_fencing_tokens (name, epoch)
VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE
SET epoch = excluded.epoch
WHERE pawl_fencing_tokens.epoch <= excluded.epoch;

-- name: release_lease   ($1 name, $2 holder)
-- The row and its epoch stay, because an epoch is never used twice.
UPDATE pawl_leases
SET holder = NULL
WHERE name = $1
  AND holder = $2;

-- name: set_window_result   ($1 hash, $2 result)
UPDATE pawl_once_windows SET result = $2 WHERE hash = $1;
