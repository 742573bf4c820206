-- A user has no Stripe customer until Stripe has made one. An older binary can't read such a user:
-- needs 0002_customers_of_stripe
--
-- SQLite can't drop NOT NULL from a column, nor a table that others refer to. So users and the tables that refer to it are copied.
-- A table that is renamed keeps its new name in the references of the others.

CREATE TABLE new_users (
    id                 INTEGER PRIMARY KEY,
    email              TEXT NOT NULL UNIQUE CHECK (length(email) <= 255),
    stripe_customer_id TEXT UNIQUE CHECK (length(stripe_customer_id) <= 50),
    points             INTEGER NOT NULL DEFAULT 0,
    role               TEXT NOT NULL DEFAULT 'rider' CHECK (role IN ('rider', 'support'))
) STRICT;

INSERT INTO new_users (id, email, stripe_customer_id, points, role)
SELECT id, email, stripe_customer_id, points, role FROM users;

CREATE TABLE new_rides (
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
    user_id            INTEGER NOT NULL REFERENCES new_users ON DELETE RESTRICT,
    UNIQUE (idempotency_key_id)
) STRICT;

INSERT INTO new_rides
SELECT id, created_at, idempotency_key_id, tenant, origin_lat, origin_lon, target_lat, target_lon, state, amount, currency,
       stripe_charge_id, stripe_refund_id, user_id
FROM rides;

CREATE TABLE new_audit_records (
    id            INTEGER PRIMARY KEY,
    action        TEXT NOT NULL CHECK (length(action) <= 50),
    created_at    TEXT NOT NULL,
    data          TEXT NOT NULL,
    origin_ip     TEXT NOT NULL,
    resource_id   INTEGER NOT NULL,
    resource_type TEXT NOT NULL CHECK (length(resource_type) <= 50),
    user_id       INTEGER NOT NULL REFERENCES new_users ON DELETE RESTRICT
) STRICT;

INSERT INTO new_audit_records
SELECT id, action, created_at, data, origin_ip, resource_id, resource_type, user_id FROM audit_records;

DROP TABLE rides;
DROP TABLE audit_records;
DROP TABLE users;
ALTER TABLE new_users RENAME TO users;
ALTER TABLE new_rides RENAME TO rides;
ALTER TABLE new_audit_records RENAME TO audit_records;

CREATE INDEX rides_user ON rides (user_id, id);
