-- Statements of `doctor`; a server runs the first one, too. They read only, and only columns of the first release where they can,
-- because `doctor` runs before the migrations of a deploy.

-- name: count_keys_by_secret
-- How many open and how many finished keys were stored under each secret. Reads the whole table.
SELECT secret_version, sum(CASE WHEN status = 'finished' THEN 0 ELSE 1 END), sum(CASE WHEN status = 'finished' THEN 1 ELSE 0 END)
FROM pawl_idempotency_keys
GROUP BY secret_version
ORDER BY secret_version;

-- name: durability [postgres]
-- The settings that are off, as text. The values are those of this session, because the database, the role and the URL may each set
-- one. NULL: the server does not know the setting.
SELECT coalesce(string_agg(name || ' = off', ', '), '')
FROM unnest(ARRAY['fsync', 'full_page_writes']) AS name
WHERE current_setting(name, true) = 'off';

-- name: find_role [postgres]
-- The role, whether it is a superuser, and the size of the database.
SELECT current_user::text, rolsuper::integer, pg_database_size(current_database())
FROM pg_roles
WHERE rolname = current_user;

-- name: list_beats
SELECT id, host, version, seen_at FROM pawl_servers ORDER BY id;

-- name: list_dead_rows [postgres]   ($1 dead rows at least)
-- Tables of which more than half is dead.
SELECT relname::text, n_dead_tup, n_live_tup
FROM pg_stat_user_tables
WHERE schemaname = current_schema()
  AND relname LIKE 'pawl\_%'
  AND n_dead_tup >= $1::bigint
  AND n_dead_tup > n_live_tup
ORDER BY relname;

-- name: list_missing_rights [postgres]
-- The rights that a serving role needs on each table and sequence, and does not have.
SELECT c.relname::text, string_agg(needed.right_name, ', ')
FROM pg_class AS c
CROSS JOIN LATERAL unnest(
    CASE WHEN c.relname = 'pawl_migrations' THEN ARRAY['SELECT']
         WHEN c.relkind = 'S' THEN ARRAY['USAGE']
         ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END) AS needed (right_name)
WHERE c.relnamespace = current_schema()::text::regnamespace
  AND c.relname LIKE 'pawl\_%'
  AND c.relkind IN ('r', 'S')
  AND NOT CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, needed.right_name)
               ELSE has_table_privilege(c.oid, needed.right_name) END
GROUP BY c.relname
ORDER BY c.relname;

-- name: list_old_snapshots [postgres]   ($1 age in seconds at least)
-- What keeps VACUUM from removing dead rows: transactions, prepared transactions, and replication slots that nobody reads. The age of
-- a slot is in transactions. Not autovacuum's workers, which end by themselves.
SELECT 'a transaction', floor(extract(epoch FROM clock_timestamp() - xact_start))::bigint,
       'pid ' || pid || ' of ' || coalesce(usename::text, '?') || ', ' || coalesce(state, '?')
FROM pg_stat_activity
WHERE datname = current_database()
  AND pid <> pg_backend_pid()
  AND backend_type <> 'autovacuum worker'
  AND xact_start < clock_timestamp() - make_interval(secs => $1::integer)
UNION ALL
SELECT 'a prepared transaction', floor(extract(epoch FROM clock_timestamp() - prepared))::bigint, gid
FROM pg_prepared_xacts
WHERE database = current_database()
  AND prepared < clock_timestamp() - make_interval(secs => $1::integer)
UNION ALL
SELECT 'a replication slot', age(coalesce(xmin, catalog_xmin))::bigint, slot_name::text
FROM pg_replication_slots
WHERE coalesce(xmin, catalog_xmin) IS NOT NULL
  AND NOT active
ORDER BY 1, 2 DESC
LIMIT 20;

-- name: newest_times
-- The newest times that servers have stored, each by an index or from the last row. Not max(), for which PostgreSQL 15 reads the whole
-- table if it was never analyzed.
SELECT 'pawl_idempotency_keys.created_at',
       (SELECT created_at FROM pawl_idempotency_keys ORDER BY created_at DESC, id DESC LIMIT 1)
UNION ALL
SELECT 'pawl_inbox.done_at', (SELECT done_at FROM pawl_inbox ORDER BY done_at DESC LIMIT 1)
UNION ALL
SELECT 'pawl_marks.at', max(at) FROM pawl_marks
UNION ALL
SELECT 'pawl_audit_log.at', (SELECT at FROM pawl_audit_log ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT 'pawl_jobs.created_at', (SELECT created_at FROM pawl_jobs ORDER BY id DESC LIMIT 1);

-- name: page_attention_keys [sqlite]   ($1 above this id, $2 limit)
SELECT k.id, k.operation, k.recovery_point, k.recovery_data, k.params
FROM pawl_attention AS a
JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
WHERE a.key_id > $1
ORDER BY a.key_id
LIMIT $2;

-- name: page_attention_keys [postgres]
-- The lateral join looks each key up by its id. Otherwise PostgreSQL may read all keys.
SELECT k.id, k.operation, k.recovery_point, k.recovery_data, k.params
FROM pawl_attention AS a
CROSS JOIN LATERAL (
    SELECT id, operation, recovery_point, recovery_data, params
    FROM pawl_idempotency_keys
    WHERE id = a.key_id
    LIMIT 1) AS k
WHERE a.key_id > $1
ORDER BY a.key_id
LIMIT $2;

-- name: page_jobs   ($1 above this id, $2 limit)
SELECT id, kind, args FROM pawl_jobs WHERE id > $1 ORDER BY id LIMIT $2;

-- name: page_open_keys [sqlite]   ($1 above this id, $2 limit)
SELECT id, operation, recovery_point, recovery_data, params
FROM pawl_idempotency_keys INDEXED BY pawl_idempotency_keys_open
WHERE status = 'open'
  AND id > $1
ORDER BY id
LIMIT $2;

-- name: page_open_keys [postgres]
-- PostgreSQL has no INDEXED BY; its planner uses the partial index by itself.
SELECT id, operation, recovery_point, recovery_data, params
FROM pawl_idempotency_keys
WHERE status = 'open'
  AND id > $1
ORDER BY id
LIMIT $2;

-- name: page_staged_jobs   ($1 above this id, $2 limit)
SELECT id, kind, args FROM pawl_staged_jobs WHERE id > $1 ORDER BY id LIMIT $2;
