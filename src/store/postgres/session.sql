-- What the PostgreSQL store itself needs.

-- name: begin_work   ($1 time-out of a statement and of idling, in ms, $2 of waiting for a lock, 0: none of its own)
-- Behind BEGIN, in the same packet: the limits of the transaction, and the clock of the database in ms since 1970.
SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, set_config('lock_timeout', $2, true);

-- name: database_clock
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: lock_patience   ($1 in ms; 0: until the deadline)
SELECT set_config('lock_timeout', $1, true);

-- name: durability
-- Each as its name, for this session: the database, the role and the URL may have their own. NULL where there is none.
SELECT current_setting('synchronous_commit', true) AS synchronous_commit, current_setting('fsync', true) AS fsync,
       current_setting('full_page_writes', true) AS full_page_writes;
