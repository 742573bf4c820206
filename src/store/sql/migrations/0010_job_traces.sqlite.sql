-- Traces of jobs. 0010_job_traces.postgres.sql has the same changes.

-- Where the job stands in a trace: the traceparent of the span that staged it, and after a space its tracestate (W3C Trace Context).
-- NULL: in none.
ALTER TABLE pawl_jobs ADD COLUMN trace TEXT;
ALTER TABLE pawl_dead_jobs ADD COLUMN trace TEXT;
ALTER TABLE pawl_staged_jobs ADD COLUMN trace TEXT;
