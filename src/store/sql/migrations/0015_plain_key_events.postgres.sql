-- As 0014_plain_references.postgres.sql. 0015_plain_key_events.sqlite.sql changes nothing.

ALTER TABLE pawl_key_events DROP CONSTRAINT pawl_key_events_pkey;
ALTER TABLE pawl_key_events REPLICA IDENTITY FULL;
CREATE INDEX pawl_key_events_key ON pawl_key_events (key_id) WITH (deduplicate_items = off);
