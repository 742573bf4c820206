-- Keys that an operator holds. 0011_held_keys.postgres.sql has the same changes.

-- No attempt of a held key begins. NULL, all three: nobody holds it.
ALTER TABLE pawl_idempotency_keys ADD COLUMN held_at TEXT;
ALTER TABLE pawl_idempotency_keys ADD COLUMN held_by TEXT;
ALTER TABLE pawl_idempotency_keys ADD COLUMN held_why TEXT;
