CREATE TABLE wires (
    id        BIGINT PRIMARY KEY,  -- That of the idempotency key. No REFERENCES, because expired keys are removed.
    payer     TEXT NOT NULL REFERENCES accounts,
    payee     TEXT NOT NULL,
    cents     BIGINT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('open', 'paid', 'returned')),
    reference TEXT NOT NULL
);
