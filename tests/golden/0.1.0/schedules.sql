-- Statements on the schedules of periodic jobs.

-- name: advance_schedule   ($1 name, $2 schedule, $3 its next tick, $4 the tick after that, $5 the tick that is run, or NULL)
-- Of several servers one touches the row, and stages the job in the same transaction.
UPDATE pawl_schedules
SET next_at = $4, last_at = coalesce($5, last_at)
WHERE name = $1
  AND schedule = $2
  AND next_at = $3;

-- name: declare_schedule   ($1 name, $2 schedule, $3 next tick)
-- A schedule that is declared unchanged keeps its next tick, also if it was missed.
INSERT INTO pawl_schedules (name, schedule, next_at)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE
SET schedule = excluded.schedule, next_at = excluded.next_at
WHERE pawl_schedules.schedule <> excluded.schedule;

-- name: list_schedules
SELECT name, schedule, next_at, last_at
FROM pawl_schedules
ORDER BY name;
