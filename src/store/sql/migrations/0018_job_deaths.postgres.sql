-- Jobs whose servers died. 0018_job_deaths.sqlite.sql has the same changes.

-- How many servers died while they had the job; a merge of a dead letter begins anew.
ALTER TABLE pawl_jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
-- The deaths before it last ran alone in a process; NULL: it did not, or that run has ended.
ALTER TABLE pawl_jobs ADD COLUMN deaths_before_alone INTEGER;
