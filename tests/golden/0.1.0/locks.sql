-- Leases, fences, and actions that are one within a window of time. What is decided about a lease stands in
-- src/core/lease.hpp; the row is locked before it is looked at.

-- name: close_window   ($1 hash)
DELETE FROM pawl_once_windows WHERE hash = $1;

-- name: extend_lease   ($1 name, $2 epoch, $3 holder, $4 until)
UPDATE pawl_leases
SET lease_until = $4
WHERE name = $1
  AND epoch = $2
  AND holder = $3;

-- name: find_fence   ($1 name)
SELECT epoch FROM pawl_fences WHERE name = $1;

-- name: find_window   ($1 hash)
SELECT result FROM pawl_once_windows WHERE hash = $1;

-- name: forget_windows [sqlite]   ($1 over before, $2 limit)
DELETE FROM pawl_once_windows
WHERE hash IN (
    SELECT hash FROM pawl_once_windows WHERE over_at < $1 ORDER BY over_at LIMIT $2);

-- name: forget_windows [postgres]
-- Passes over the rows that another transaction is removing.
DELETE FROM pawl_once_windows
WHERE hash = ANY (ARRAY(
    SELECT hash FROM pawl_once_windows WHERE over_at < $1 ORDER BY over_at LIMIT $2
    FOR UPDATE SKIP LOCKED));

-- name: give_back_lease   ($1 name, $2 holder)
-- Its epoch stays.
UPDATE pawl_leases
SET holder = NULL
WHERE name = $1
  AND holder = $2;

-- name: insert_lease   ($1 name, $2 holder, $3 until, $4 ttl in ms)
-- Touches no row for whoever is second with a name that is new.
INSERT INTO pawl_leases (name, epoch, holder, lease_until, ttl_ms)
VALUES ($1, 1, $2, $3, $4)
ON CONFLICT DO NOTHING;

-- name: lock_lease [sqlite]   ($1 name)
-- A write transaction is alone here.
SELECT epoch, holder, lease_until, ttl_ms FROM pawl_leases WHERE name = $1;

-- name: lock_lease [postgres]
-- The second transaction waits here.
SELECT epoch, holder, lease_until, ttl_ms FROM pawl_leases WHERE name = $1 FOR UPDATE;

-- name: open_window   ($1 hash, $2 now, $3 its end, $4 no window can last beyond)
-- Touches no row within the window of another. Who comes at the same time waits for the first one's commit; above READ
-- COMMITTED that is a serialization failure then, and its transaction runs again.
INSERT INTO pawl_once_windows (hash, over_at, result)
VALUES ($1, $3, '')
ON CONFLICT (hash) DO UPDATE
SET over_at = excluded.over_at, result = ''
WHERE pawl_once_windows.over_at <= $2
   OR pawl_once_windows.over_at > $4;

-- name: pass_fence   ($1 name, $2 epoch)
-- Touches no row if a higher epoch was here. Written anew by each, so that the row stays locked until the commit: a higher
-- one waits, and its writes come behind these.
INSERT INTO pawl_fences (name, epoch)
VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE
SET epoch = excluded.epoch
WHERE pawl_fences.epoch <= excluded.epoch;

-- name: set_window_result   ($1 hash, $2 result)
UPDATE pawl_once_windows SET result = $2 WHERE hash = $1;

-- name: take_lease   ($1 name, $2 epoch seen, $3 holder, $4 until, $5 ttl in ms)
UPDATE pawl_leases
SET epoch = epoch + 1, holder = $3, lease_until = $4, ttl_ms = $5
WHERE name = $1
  AND epoch = $2;
