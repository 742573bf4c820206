-- Statements about the database itself.

-- name: advance_mark   ($1 now, $2 calls since the last time)
INSERT INTO marks (id, number, at, key_id, calls)
VALUES (1, 1, $1, coalesce((SELECT max(id) FROM key_registry), 0), $2)
ON CONFLICT (id) DO UPDATE
SET number = marks.number + 1, at = greatest(marks.at, excluded.at), key_id = greatest(marks.key_id, excluded.key_id),
    calls = marks.calls + excluded.calls
RETURNING number, at, key_id, calls;

-- name: delete_secret   ($1 version)
-- Of a secret that is in a file: its verifier is kept instead.
DELETE FROM installation_secrets WHERE version = $1;

-- name: find_epochs
SELECT epoch, lost_since, keys_until, last_key_id FROM epochs ORDER BY epoch;

-- name: find_installation
SELECT name FROM installation WHERE id = 1;

-- name: find_mark
-- The highest key now, too: it may be ahead of the row.
SELECT number, at, key_id, calls, (SELECT max(id) FROM key_registry) FROM marks WHERE id = 1;

-- name: find_secret_verifiers
SELECT version, verifier FROM installation_secret_verifiers ORDER BY version DESC;

-- name: find_secrets
SELECT version, secret FROM installation_secrets ORDER BY version DESC;

-- name: find_tables
SELECT table_name
FROM information_schema.tables
WHERE table_schema = current_schema()
  AND table_name = 'key_registry';

-- name: insert_epoch   ($1 epoch, $2 now, $3 lost since, $4 keys until, $5 by, $6 detail)
INSERT INTO epochs (epoch, opened_at, lost_since, keys_until, last_key_id, opened_by, detail)
VALUES ($1, $2, $3, $4, coalesce((SELECT max(id) FROM key_registry), 0), $5, $6);

-- name: insert_installation   ($1 name, $2 now)
INSERT INTO installation (id, name, created_at)
VALUES (1, $1, $2)
ON CONFLICT (id) DO NOTHING;

-- name: insert_secret   ($1 version, $2 secret, $3 now)
INSERT INTO installation_secrets (version, secret, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (version) DO NOTHING;

-- name: insert_secret_verifier   ($1 version, $2 verifier, $3 now)
INSERT INTO installation_secret_verifiers (version, verifier, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (version) DO NOTHING;
