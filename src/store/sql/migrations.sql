-- Statements on the migrations that a database has had.

-- name: create_migrations [sqlite]
CREATE TABLE IF NOT EXISTS pawl_migrations (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    needs      TEXT NOT NULL,  -- What a binary must know to use this schema; may be empty (src/store/migrate.hpp).
    PRIMARY KEY (owner, name)
) STRICT;

-- name: create_migrations [postgres]
CREATE TABLE IF NOT EXISTS pawl_migrations (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL,
    needs      TEXT NOT NULL,  -- What a binary must know to use this schema; may be empty (src/store/migrate.hpp).
    PRIMARY KEY (owner, name)
);

-- name: find_migrations   ($1 owner)
SELECT name, needs FROM pawl_migrations WHERE owner = $1;

-- name: find_migrations_table [sqlite]
SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'pawl_migrations';

-- name: find_migrations_table [postgres]
-- The store runs this query first, because CREATE TABLE IF NOT EXISTS needs the right to create even if the table exists.
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'pawl_migrations';

-- name: insert_migration   ($1 owner, $2 name, $3 now, $4 needs)
INSERT INTO pawl_migrations (owner, name, applied_at, needs)
VALUES ($1, $2, $3, $4);

-- name: list_migrations
SELECT owner, name, applied_at FROM pawl_migrations ORDER BY applied_at, owner, name;

-- name: lock_migrations [sqlite]
-- A write transaction on SQLite has locked the whole file already.
SELECT 1;

-- name: lock_migrations [postgres]
-- One server migrates at a time, until its commit. The number is "Pawl" in ASCII.
SELECT pg_advisory_xact_lock(1348564844);
