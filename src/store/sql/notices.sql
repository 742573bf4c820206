-- Notices from server to server that an attempt of a key has ended (src/store/postgres/notices.hpp). All schemas of a database
-- share the channel. If two applications use one database, a notice about a key of the other application wakes no request.

-- name: disable_synchronous_commit [postgres]
-- A notice need not survive a crash. The commit must not wait for the disk, because it holds the lock that orders all NOTIFYs.
SET synchronous_commit = off;

-- name: hold_session_lock [postgres]   ($1 number)
-- Held as long as the connection. Other servers see by it that this process lives.
SELECT pg_advisory_lock($1::bigint);

-- name: listen_for_keys [postgres]
LISTEN pawl_keys;

-- name: send_notices [postgres]   ($1 hashes as a JSON list)
SELECT pg_notify('pawl_keys', hash) FROM json_array_elements_text($1::json) AS hash;
