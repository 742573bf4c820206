-- Which migrations a database has had.

-- name: lock_migrations
-- A write transaction has the whole file already.
SELECT 1;

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    needs      TEXT NOT NULL,  -- What a binary must know to live with this one; empty: nothing. (src/store/migrate.hpp)
    PRIMARY KEY (owner, name)
) STRICT;

-- name: find_migrations   ($1 owner)
SELECT name, needs FROM migrations WHERE owner = $1;

-- name: find_migrations_table
SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'migrations';

-- name: insert_migration   ($1 owner, $2 name, $3 now, $4 needs)
INSERT INTO migrations (owner, name, applied_at, needs)
VALUES ($1, $2, $3, $4);

-- name: list_migrations
SELECT owner, name, applied_at FROM migrations ORDER BY applied_at, owner, name;
