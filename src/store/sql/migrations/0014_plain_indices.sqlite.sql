-- 0014_plain_indices.postgres.sql changes indices that only PostgreSQL has.
SELECT 1;
