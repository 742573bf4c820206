-- Less work for each request (ADR 41), in three migrations: each locks one table, so that it is in no deadlock with running servers.
-- 0014_plain_references.sqlite.sql changes nothing.

-- A unique index is searched before each insert, and compares names and ids. A key has few references: a reader leaves out what is there
-- twice. Without a primary key a logical replication needs the whole row.
ALTER TABLE pawl_key_references DROP CONSTRAINT pawl_key_references_pkey;
ALTER TABLE pawl_key_references REPLICA IDENTITY FULL;
CREATE INDEX pawl_key_references_key ON pawl_key_references (key_id) WITH (deduplicate_items = off);

-- Compared by its bytes, as on SQLite: the database's collation costs more. Before a page of an index is split, PostgreSQL looks for
-- equal entries, of which there are hardly any.
ALTER TABLE pawl_key_references ALTER COLUMN id TYPE TEXT COLLATE "C";
ALTER INDEX pawl_key_references_id SET (deduplicate_items = off);
