-- Queues with priorities, partitions and limits. 0005_queue_limits.postgres.sql has the same changes.

-- The limits of a queue over all servers, as the last server that started declared them; 0: no such limit. Each claim of such a queue
-- locks its row.
CREATE TABLE pawl_queue_limits (
    queue          TEXT PRIMARY KEY,
    running_max    INTEGER NOT NULL,
    partition_max  INTEGER NOT NULL,
    rate           TEXT NOT NULL,         -- For people, such as "10/s, burst 20"; empty: none.
    full_at        INTEGER NOT NULL       -- In microseconds since 1970, when the rate's token bucket is full again.
) STRICT;

-- 1 (first) to 4. Jobs of one priority are claimed by run_at.
ALTER TABLE pawl_jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 1;
ALTER TABLE pawl_dead_jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 1;
-- Whose job it is, for fair turns: a tenant, an account. A claim of a queue with limits writes '-' for NULL, so that
-- pawl_jobs_partitions has the job.
ALTER TABLE pawl_jobs ADD COLUMN partition TEXT;
ALTER TABLE pawl_dead_jobs ADD COLUMN partition TEXT;

DROP INDEX pawl_jobs_due;
CREATE INDEX pawl_jobs_due ON pawl_jobs (queue, priority, run_at, id) WHERE state = 'ready';
-- One index for turns and for the count of running jobs: each index of this table, even a partial one, slows down each staged job.
CREATE INDEX pawl_jobs_partitions ON pawl_jobs (queue, state, priority, partition, run_at, id) WHERE partition IS NOT NULL;
