-- As 0014_plain_references.postgres.sql. 0016_plain_search.sqlite.sql changes nothing.

ALTER TABLE pawl_idempotency_keys
    ALTER COLUMN account TYPE TEXT COLLATE "C",
    ALTER COLUMN idempotency_key TYPE TEXT COLLATE "C",
    ALTER COLUMN operation TYPE TEXT COLLATE "C";
ALTER INDEX pawl_idempotency_keys_account SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_created SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_key SET (deduplicate_items = off);
ALTER INDEX pawl_idempotency_keys_operation SET (deduplicate_items = off);
