-- Statements about the database itself.

-- name: advance_mark   ($1 now, $2 foreign calls since the last advance)
INSERT INTO pawl_marks (id, number, at, key_id, calls)
VALUES (1, 1, $1, coalesce((SELECT max(id) FROM pawl_key_registry), 0), $2)
ON CONFLICT (id) DO UPDATE
SET number = pawl_marks.number + 1, calls = pawl_marks.calls + excluded.calls,
    at = CASE WHEN excluded.at > pawl_marks.at THEN excluded.at ELSE pawl_marks.at END,
    key_id = CASE WHEN excluded.key_id > pawl_marks.key_id THEN excluded.key_id ELSE pawl_marks.key_id END
RETURNING number, at, key_id, calls;

-- name: delete_secret   ($1 version)
-- Used if the secret is in a file; the database then has only its verifier.
DELETE FROM pawl_installation_secrets WHERE version = $1;

-- name: find_epochs
SELECT epoch, lost_since, keys_until, last_key_id, opened_at FROM pawl_epochs ORDER BY epoch;

-- name: find_installation
SELECT name FROM pawl_installation WHERE id = 1;

-- name: find_mark
-- Also returns the highest key id now, which may be above the id in the row.
SELECT number, at, key_id, calls, (SELECT max(id) FROM pawl_key_registry) FROM pawl_marks WHERE id = 1;

-- name: find_secret_verifiers
SELECT version, verifier FROM pawl_installation_secret_verifiers ORDER BY version DESC;

-- name: find_secret_in_use
-- The version with which a server started last, and 1; before any server has recorded one: the newest, and 0. No row: no secret is
-- in a file.
SELECT version, CASE WHEN used_at IS NULL THEN 0 ELSE 1 END
FROM pawl_installation_secret_verifiers
ORDER BY used_at DESC NULLS LAST, version DESC
LIMIT 1;

-- name: find_secrets
SELECT version, secret FROM pawl_installation_secrets ORDER BY version DESC;

-- name: find_tables [sqlite]
SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'pawl_key_registry';

-- name: find_tables [postgres]
-- Other schemas of the database may belong to other applications.
SELECT table_name
FROM information_schema.tables
WHERE table_schema = current_schema()
  AND table_name = 'pawl_key_registry';

-- name: insert_epoch   ($1 epoch, $2 now, $3 lost since, $4 keys until, $5 by, $6 detail)
INSERT INTO pawl_epochs (epoch, opened_at, lost_since, keys_until, last_key_id, opened_by, detail)
VALUES ($1, $2, $3, $4, coalesce((SELECT max(id) FROM pawl_key_registry), 0), $5, $6);

-- name: insert_installation   ($1 name, $2 now)
INSERT INTO pawl_installation (id, name, created_at)
VALUES (1, $1, $2)
ON CONFLICT (id) DO NOTHING;

-- name: insert_secret   ($1 version, $2 secret, $3 now)
INSERT INTO pawl_installation_secrets (version, secret, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (version) DO NOTHING;

-- name: insert_secret_verifier   ($1 version, $2 verifier, $3 now)
INSERT INTO pawl_installation_secret_verifiers (version, verifier, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (version) DO NOTHING;

-- name: set_secret_used   ($1 version, $2 now)
UPDATE pawl_installation_secret_verifiers
SET used_at = $2
WHERE version = $1;
