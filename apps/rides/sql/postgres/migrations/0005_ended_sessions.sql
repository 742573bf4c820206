-- Sessions of browsers that a sign-out has ended, until they would have ended by themselves.

CREATE TABLE ended_sessions (
    id       TEXT PRIMARY KEY,
    began    TIMESTAMPTZ NOT NULL
);
