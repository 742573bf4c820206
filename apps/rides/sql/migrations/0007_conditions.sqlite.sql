-- A condition that SQLite checks faster, as in Pawl's own 0013_conditions.sqlite.sql. The allowed values stay the same.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(
        sql, 'CHECK (state IN (''booking'', ''booked'', ''refused'', ''cancelled'', ''refunded'', ''given_up''))',
        'CHECK (state = ''booking'' OR state = ''booked'' OR state = ''refused'' OR state = ''cancelled'' OR state = ''refunded'' '
            || 'OR state = ''given_up'')')
WHERE type = 'table'
  AND name = 'rides';
PRAGMA writable_schema = RESET;
CREATE VIEW new_schema AS SELECT 1;
DROP VIEW new_schema;
