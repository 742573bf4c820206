-- What the PostgreSQL store itself needs.

-- name: begin_work [postgres]   ($1 time-out of a statement and of idling, in ms, $2 of waiting for a lock, 0: none of its own)
-- Behind BEGIN, in the same packet: the limits of the transaction, and the clock of the database in ms since 1970.
SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, set_config('lock_timeout', $2, true);

-- name: database_clock [postgres]
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: lock_patience [postgres]   ($1 in ms; 0: until the deadline)
SELECT set_config('lock_timeout', $1, true);

-- name: lock_name [postgres]   ($1 number)
-- Until the end of the transaction, and never of the session: behind PgBouncer that is another one's next.
SELECT pg_advisory_xact_lock($1);

-- name: take_key_ids [postgres]   ($1 how many)
-- For claims that wait for no answer (src/engine/preallocated_ids.hpp).
-- Its commit is durable, as the sequence's own WAL makes it one that has written.
SELECT nextval(s::regclass)
FROM pg_get_serial_sequence('pawl_key_registry', 'id') AS s, generate_series(1, $1::integer);

-- name: claim_under_id [postgres]   ($1 id taken before, $2 hash)
-- As insert_registry: it touches no row for whoever is second, or whose id is taken.
INSERT INTO pawl_key_registry (id, hash)
VALUES ($1, $2)
ON CONFLICT DO NOTHING;

-- name: durability [postgres]
-- Each as its name, for this session: the database, the role and the URL may have their own. NULL where there is none.
SELECT current_setting('synchronous_commit', true) AS synchronous_commit, current_setting('fsync', true) AS fsync,
       current_setting('full_page_writes', true) AS full_page_writes;

-- name: try_lock_name [postgres]   ($1 number)
SELECT pg_try_advisory_xact_lock($1)::integer;
