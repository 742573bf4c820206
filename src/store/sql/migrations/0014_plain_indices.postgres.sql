-- Less work for each request (ADR 41). 0014_plain_indices.sqlite.sql changes nothing: these tables are trees of their primary keys there.

-- A unique index is searched before each insert, and compares names and ids. Rows of one key are few: a reader leaves out what it has
-- twice.
ALTER TABLE pawl_key_references DROP CONSTRAINT pawl_key_references_pkey;
CREATE INDEX pawl_key_references_key ON pawl_key_references (key_id) WITH (deduplicate_items = off);
ALTER TABLE pawl_key_events DROP CONSTRAINT pawl_key_events_pkey;
CREATE INDEX pawl_key_events_key ON pawl_key_events (key_id) WITH (deduplicate_items = off);

-- Compared by their bytes, as on SQLite. The database's collation costs three times as much, and no search orders by these columns.
ALTER TABLE pawl_key_references ALTER COLUMN id TYPE TEXT COLLATE "C";
ALTER TABLE pawl_idempotency_keys
    ALTER COLUMN account TYPE TEXT COLLATE "C",
    ALTER COLUMN idempotency_key TYPE TEXT COLLATE "C",
    ALTER COLUMN operation TYPE TEXT COLLATE "C";

-- Hardly two entries are equal in these indices, but before a page is split, PostgreSQL looks for equal ones.
ALTER INDEX pawl_key_references_id SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_account SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_created SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_key SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_operation SET (deduplicate_items = off);
