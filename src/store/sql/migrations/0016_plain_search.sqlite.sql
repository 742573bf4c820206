-- 0016_plain_search.postgres.sql changes indices that only PostgreSQL has.
SELECT 1;
