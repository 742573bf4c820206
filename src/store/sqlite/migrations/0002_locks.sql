-- Leases with their fencing tokens, what a fenced resource has seen, and actions that are one within a window of time.

-- A row is never deleted: its epoch only grows, so that no holder is ever given that of another. One row for each name that
-- was ever used, so names are places ("nightly-report"), never ids of requests.
CREATE TABLE leases (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1),  -- Of the last one who took it: the fencing token.
    holder      TEXT,                                 -- Random, made for each try to take it; NULL: it was given back.
    lease_until TEXT NOT NULL,
    ttl_ms      INTEGER NOT NULL
) STRICT;

-- Beside the data that a lease guards: the highest epoch that has written there.
CREATE TABLE fences (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1)
) STRICT;

CREATE TABLE once_windows (
    hash        TEXT PRIMARY KEY,              -- Of tenant, account, action and what it is about.
    over_at     TEXT NOT NULL,                 -- The first one's time, and the window's length.
    result      TEXT NOT NULL                  -- What the first one stored, as JSON.
) STRICT;
CREATE INDEX once_windows_over ON once_windows (over_at);
