-- Statements about the database itself.

-- name: delete_secret   ($1 version)
-- Of a secret that is in a file: its verifier is kept instead.
DELETE FROM installation_secrets WHERE version = $1;

-- name: find_installation
SELECT name FROM installation WHERE id = 1;

-- name: find_secret_verifiers
SELECT version, verifier FROM installation_secret_verifiers ORDER BY version DESC;

-- name: find_secrets
SELECT version, secret FROM installation_secrets ORDER BY version DESC;

-- name: find_tables
SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'key_registry';

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
