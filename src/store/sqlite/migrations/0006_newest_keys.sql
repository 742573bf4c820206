-- For `keys list`, newest first: ids are no order of time, as servers take them ahead in blocks.
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at, id);
