-- The tables of Rocket Rides. Tables and columns are those of the article; money is in minor units with its currency.

CREATE TABLE users (
    id                 INTEGER PRIMARY KEY,
    email              TEXT NOT NULL UNIQUE CHECK (length(email) <= 255),
    stripe_customer_id TEXT NOT NULL UNIQUE CHECK (length(stripe_customer_id) <= 50),
    points             INTEGER NOT NULL DEFAULT 0,
    role               TEXT NOT NULL DEFAULT 'rider' CHECK (role IN ('rider', 'support'))
) STRICT;

CREATE TABLE rides (
    id                 INTEGER PRIMARY KEY,
    created_at         TEXT NOT NULL,
    idempotency_key_id INTEGER,  -- The key that created the ride. No REFERENCES, because expired keys are removed.
    tenant             TEXT NOT NULL,  -- The tenant of that key. The tenant's support may refund the ride, and so may its rider.
    origin_lat         REAL NOT NULL CHECK (origin_lat BETWEEN -90 AND 90),
    origin_lon         REAL NOT NULL CHECK (origin_lon BETWEEN -180 AND 180),
    target_lat         REAL NOT NULL CHECK (target_lat BETWEEN -90 AND 90),
    target_lon         REAL NOT NULL CHECK (target_lon BETWEEN -180 AND 180),
    state              TEXT NOT NULL CHECK (state IN ('booking', 'booked', 'refused', 'cancelled', 'refunded', 'given_up')),
    amount             INTEGER NOT NULL,
    currency           TEXT NOT NULL,
    stripe_charge_id   TEXT UNIQUE CHECK (length(stripe_charge_id) <= 50),
    stripe_refund_id   TEXT UNIQUE CHECK (length(stripe_refund_id) <= 50),
    user_id            INTEGER NOT NULL REFERENCES users ON DELETE RESTRICT,
    UNIQUE (idempotency_key_id)
) STRICT;

CREATE INDEX rides_user ON rides (user_id, id);

CREATE TABLE audit_records (
    id            INTEGER PRIMARY KEY,
    action        TEXT NOT NULL CHECK (length(action) <= 50),
    created_at    TEXT NOT NULL,
    data          TEXT NOT NULL,
    origin_ip     TEXT NOT NULL,
    resource_id   INTEGER NOT NULL,
    resource_type TEXT NOT NULL CHECK (length(resource_type) <= 50),
    user_id       INTEGER NOT NULL REFERENCES users ON DELETE RESTRICT
) STRICT;

-- Browser sessions that a sign-out has ended. A row is kept until its session would have ended by itself.
CREATE TABLE ended_sessions (
    id       TEXT PRIMARY KEY,
    began    TEXT NOT NULL
) STRICT;
