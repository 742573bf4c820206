-- 0015_plain_key_events.postgres.sql changes indices that only PostgreSQL has.
SELECT 1;
