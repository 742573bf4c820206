-- Of secrets that are in a file (--secret-file), which themselves are not in the database (ADR 21).

CREATE TABLE installation_secret_verifiers (
    version     INTEGER PRIMARY KEY,  -- As in installation_secrets: no version is in both for long.
    verifier    TEXT NOT NULL,        -- Hex; tells whether a secret is this one.
    created_at  TIMESTAMPTZ NOT NULL
);
