CREATE TABLE accounts (name TEXT PRIMARY KEY, cents BIGINT NOT NULL CHECK (cents >= 0));
CREATE TABLE payments (
    id BIGINT PRIMARY KEY, payer TEXT NOT NULL REFERENCES accounts, payee TEXT NOT NULL, cents BIGINT NOT NULL,
    state TEXT NOT NULL, reference TEXT NOT NULL
);
