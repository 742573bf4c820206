-- Conditions that PostgreSQL parses and plans again in each statement that writes the table: a tenth of its work for a request (ADR 40).
-- Pawl's statements write constants there, and `check` finds other values. 0013_conditions.sqlite.sql has the same reason.

-- In the order in which a claim locks them, so that a migration beside running servers is in no deadlock with them.
ALTER TABLE pawl_key_registry DROP CONSTRAINT IF EXISTS pawl_key_registry_state_check;
ALTER TABLE pawl_jobs DROP CONSTRAINT IF EXISTS pawl_jobs_state_check;
ALTER TABLE pawl_idempotency_keys DROP CONSTRAINT IF EXISTS pawl_idempotency_keys_status_check;
