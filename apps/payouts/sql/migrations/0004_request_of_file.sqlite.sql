-- Two requests would send one file: a job that was cancelled is not unique any more, and its request may go on.

-- The id of the key of the one request that sends the file; NULL: none has begun. A server of the release before leaves it NULL.
ALTER TABLE bank_files ADD COLUMN request_id INTEGER;
