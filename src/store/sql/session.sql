-- Statements on the session and the transaction of the PostgreSQL store.

-- name: begin_pooled_work [postgres]   ($1 and $2 as of begin_work)
-- Behind a pooler, which gives each transaction another session: pins what pin_session pins, too. That costs the database 69,000
-- instructions, as much as an empty transaction with begin_work (callgrind, PostgreSQL 15).
SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, set_config('lock_timeout', $2, true),
       set_config('datestyle', 'ISO', true), set_config('intervalstyle', 'postgres', true), set_config('timezone', 'UTC', true),
       set_config('extra_float_digits', '1', true), set_config('client_encoding', 'UTF8', true),
       set_config('standard_conforming_strings', 'on', true), set_config('plan_cache_mode', 'auto', true),
       CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END;

-- name: begin_work [postgres]   ($1 time-out of a statement and of an idle transaction in ms, $2 time-out of a lock in ms, 0: no own limit)
-- The store sends this after BEGIN in the same packet. It sets the limits of the transaction, and returns the database's clock in ms
-- since 1970.
SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, set_config('lock_timeout', $2, true);

-- name: claim_key_under_id [postgres]   ($1 preallocated id, $2 hash)
-- Touches no row if another request holds the key or the id, as claim_key.
INSERT INTO pawl_key_registry (id, hash)
VALUES ($1, $2)
ON CONFLICT DO NOTHING;

-- name: database_clock [postgres]
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- name: insert_jobs [postgres]   ($1 rows as a JSON list)
-- insert_job (jobs.sql) for three rows or more, whose values have the names p1 to p7. A row costs half as much as by a statement of its
-- own.
INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, key_id, created_at)
SELECT p1, p2, p3, p4, 'ready', p5, p6, p7
FROM json_to_recordset($1::json)
    AS rows (p1 TEXT, p2 TEXT, p3 TEXT, p4 TEXT, p5 TIMESTAMPTZ, p6 BIGINT, p7 TIMESTAMPTZ);

-- name: pin_session [postgres]
-- At the start of a session that is ours alone: pins what a result depends on, whatever a database, a role or a URL says, and also
-- after a reload of the configuration.
SELECT set_config('datestyle', 'ISO', false), set_config('intervalstyle', 'postgres', false), set_config('timezone', 'UTC', false),
       set_config('extra_float_digits', '1', false), set_config('client_encoding', 'UTF8', false),
       set_config('standard_conforming_strings', 'on', false), set_config('plan_cache_mode', 'auto', false),
       set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false);

-- name: insert_staged_jobs [postgres]   ($1 rows as a JSON list)
-- The same for insert_staged_job (staged_jobs.sql).
INSERT INTO pawl_staged_jobs (jid, queue, kind, args, run_at, key_id, created_at)
SELECT p1, p2, p3, p4, p5, p6, p7
FROM json_to_recordset($1::json)
    AS rows (p1 TEXT, p2 TEXT, p3 TEXT, p4 TEXT, p5 TIMESTAMPTZ, p6 BIGINT, p7 TIMESTAMPTZ);

-- name: insert_two_jobs [postgres]   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now, and the same of another job:
--   $8 jid, $9 queue, $10 kind, $11 args, $12 run at, $13 key id, $14 now)
-- insert_job (jobs.sql) twice. For two rows a list in JSON costs more than it saves.
INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, 'ready', $5, $6, $7), ($8, $9, $10, $11, 'ready', $12, $13, $14);

-- name: insert_two_key_references [postgres]   ($1 key id, $2 name, $3 id, $4 key id, $5 another name, $6 another id)
-- insert_key_reference (key_search.sql) twice.
INSERT INTO pawl_key_references (key_id, name, id)
VALUES ($1, $2, $3), ($4, $5, $6);

-- name: insert_two_staged_jobs [postgres]   ($1 jid, $2 queue, $3 kind, $4 args, $5 run at, $6 key id, $7 now, and the same of another job:
--   $8 jid, $9 queue, $10 kind, $11 args, $12 run at, $13 key id, $14 now)
-- insert_staged_job (staged_jobs.sql) twice.
INSERT INTO pawl_staged_jobs (jid, queue, kind, args, run_at, key_id, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7), ($8, $9, $10, $11, $12, $13, $14);

-- name: lock_name [postgres]   ($1 number)
-- The lock belongs to the transaction and not to the session: PgBouncer gives the session to another client afterwards.
SELECT pg_advisory_xact_lock($1);

-- name: preallocate_key_ids [postgres]   ($1 number of ids)
-- Preallocates ids, so that a claim need not wait for its id (src/engine/preallocated_ids.hpp). The commit is durable, because
-- nextval() writes WAL.
SELECT nextval(s::regclass)
FROM pg_get_serial_sequence('pawl_key_registry', 'id') AS s, generate_series(1, $1::integer);

-- name: set_lock_timeout [postgres]   ($1 time-out in ms, 0: until the deadline)
SELECT set_config('lock_timeout', $1, true);

-- name: try_lock_name [postgres]   ($1 number)
SELECT pg_try_advisory_xact_lock($1)::integer;
