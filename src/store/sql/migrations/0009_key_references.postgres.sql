-- The search for keys. 0009_key_references.sqlite.sql has the same changes.

-- Ids by which people search for a key: of the request, and those that its operation names with tx.reference(). A row lives as long
-- as the key's row in pawl_key_registry, so that an expired key is found, too.
CREATE TABLE pawl_key_references (
    key_id  BIGINT NOT NULL,
    name    TEXT NOT NULL,  -- 'request', or as the operation calls it: 'ride', 'charge'.
    id      TEXT NOT NULL,
    PRIMARY KEY (key_id, name, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX pawl_key_references_id ON pawl_key_references (id, key_id);

-- With the id, as SQLite's indices have it: they give the order of a result, and no row is sorted.
CREATE INDEX pawl_idempotency_keys_account ON pawl_idempotency_keys (account, created_at, id);
CREATE INDEX pawl_idempotency_keys_key ON pawl_idempotency_keys (idempotency_key);
CREATE INDEX pawl_idempotency_keys_operation ON pawl_idempotency_keys (operation, created_at, id);
