-- What the daily comparison with the provider has found. Days are in UTC, "2026-11-21".

CREATE TABLE reconcile_days (
    day         TEXT PRIMARY KEY,
    compared_at TIMESTAMPTZ NOT NULL,
    theirs      BIGINT NOT NULL,
    ours        BIGINT NOT NULL,
    differences BIGINT NOT NULL
);

CREATE TABLE reconcile_differences (
    charge_id  TEXT PRIMARY KEY,
    day        TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('only-theirs', 'only-ours', 'differs')),
    ride_id    BIGINT,
    amount     BIGINT NOT NULL,
    currency   TEXT NOT NULL,
    detail     TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    first_seen TIMESTAMPTZ NOT NULL,
    last_seen  TIMESTAMPTZ NOT NULL  -- Of a closed one: the first comparison without it.
);

CREATE INDEX reconcile_differences_open ON reconcile_differences (day) WHERE state = 'open';
CREATE INDEX rides_created ON rides (created_at, id);
