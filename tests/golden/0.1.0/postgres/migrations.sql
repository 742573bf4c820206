-- Which migrations a database has had.

-- name: lock_migrations
-- One node at a time, until its commit; the number is "Pawl".
SELECT pg_advisory_xact_lock(1348564844);

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL,
    needs      TEXT NOT NULL,  -- What a binary must know to live with this one; empty: nothing. (src/store/migrate.hpp)
    PRIMARY KEY (owner, name)
);

-- name: find_migrations   ($1 owner)
SELECT name, needs FROM migrations WHERE owner = $1;

-- name: find_migrations_table
-- CREATE TABLE IF NOT EXISTS asks for the right to create before it looks.
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'migrations';

-- name: insert_migration   ($1 owner, $2 name, $3 now, $4 needs)
INSERT INTO migrations (owner, name, applied_at, needs)
VALUES ($1, $2, $3, $4);

-- name: list_migrations
SELECT owner, name, applied_at FROM migrations ORDER BY applied_at, owner, name;
