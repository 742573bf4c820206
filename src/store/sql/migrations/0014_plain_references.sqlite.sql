-- 0014_plain_references.postgres.sql changes indices that only PostgreSQL has.
SELECT 1;
