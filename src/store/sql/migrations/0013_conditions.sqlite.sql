-- A condition that SQLite checks faster. 0013_conditions.postgres.sql has the same reason.

-- For `status IN (...)` with more than two values SQLite builds a temporary table each time it checks the condition, at each claim and
-- at each end of a request (ADR 40). The allowed values stay the same. SQLite describes this way to change a condition without a copy
-- of the table: https://www.sqlite.org/lang_altertable.html#otheralter
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'CHECK (status IN (''open'', ''attention'', ''finished''))',
                       'CHECK (status = ''open'' OR status = ''attention'' OR status = ''finished'')')
WHERE type = 'table'
  AND name = 'pawl_idempotency_keys';
PRAGMA writable_schema = RESET;
-- Tells other connections to read the schema again.
CREATE VIEW pawl_new_schema AS SELECT 1;
DROP VIEW pawl_new_schema;
