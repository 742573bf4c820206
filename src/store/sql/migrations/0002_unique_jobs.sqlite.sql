-- Unique jobs. 0002_unique_jobs.postgres.sql has the same changes.

-- Hash of the kind and of StageOptions::unique; NULL: any number of such jobs. A dead job, or a merged one, has none.
ALTER TABLE pawl_jobs ADD COLUMN unique_hash TEXT;
CREATE UNIQUE INDEX pawl_jobs_unique ON pawl_jobs (unique_hash) WHERE unique_hash IS NOT NULL;
