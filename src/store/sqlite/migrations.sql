-- Which migrations a database has had.

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    owner      TEXT NOT NULL,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT;

-- name: find_migrations   ($1 owner)
SELECT name FROM migrations WHERE owner = $1;

-- name: insert_migration   ($1 owner, $2 name, $3 now)
INSERT INTO migrations (owner, name, applied_at)
VALUES ($1, $2, $3);

-- name: list_migrations
SELECT owner, name, applied_at FROM migrations ORDER BY applied_at, owner, name;
