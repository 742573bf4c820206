-- Inquiries at providers, and calls that were made anew. 0006_inquiries.sqlite.sql has the same changes.

-- What a provider last said about a call in doubt. No call of that generation is made after the first inquiry.
CREATE TABLE pawl_inquiries (
    key_id          BIGINT PRIMARY KEY,
    generation      INTEGER NOT NULL,      -- Of the call; a later call of the key begins anew.
    recovery_point  TEXT NOT NULL,
    since           TIMESTAMPTZ NOT NULL,  -- The first inquiry.
    asked_at        TIMESTAMPTZ NOT NULL,  -- The last one.
    times           INTEGER NOT NULL,
    answer          TEXT NOT NULL CHECK (answer IN ('found', 'not-found', 'undecided')),
    detail          TEXT NOT NULL
);

-- Calls that were proven not made, each followed by a call of the next generation, perhaps at another provider.
CREATE TABLE pawl_calls_not_made (
    key_id          BIGINT NOT NULL,
    generation      INTEGER NOT NULL,
    recovery_point  TEXT NOT NULL,
    call_target     TEXT,
    proof           TEXT NOT NULL CHECK (proof IN ('not-sent', 'refused', 'not-found')),
    detail          TEXT NOT NULL,
    at              TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (key_id, generation)
);
