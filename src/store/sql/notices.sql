-- Word between servers that a key's attempt has ended (src/store/postgres/notices.hpp). The channel is the database's;
-- where two applications share one, in schemas of their own, a notice of the other's key wakes nobody.

-- name: commit_quietly [postgres]
-- A notice is nothing that must outlive a crash: no wait for the disk, while the lock that orders all NOTIFYs is held.
SET synchronous_commit = off;

-- name: hear_notices [postgres]
LISTEN pawl_keys;

-- name: send_notices [postgres]   ($1 hashes as a JSON list)
SELECT pg_notify('pawl_keys', hash) FROM json_array_elements_text($1::json) AS hash;
