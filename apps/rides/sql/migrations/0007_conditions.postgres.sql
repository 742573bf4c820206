-- 0007_conditions.sqlite.sql changes a condition that only SQLite checks slowly.
SELECT 1;
