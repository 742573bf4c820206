CREATE TABLE accounts (
    name  TEXT PRIMARY KEY,
    cents BIGINT NOT NULL CHECK (cents >= 0)
);
