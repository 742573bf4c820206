-- Statements on pawl_servers, and on what a server holds.

-- name: beat   ($1 id, $2 now, $3 its session lock or NULL)
-- Touches no row if another server has ended this one.
UPDATE pawl_servers
SET seen_at = $2, beats = beats + 1, session_lock = $3
WHERE id = $1;

-- name: begin_job_alone   ($1 id, $2 attempt)
-- If the server dies before the run's end is written, a claim finds more deaths than before the run.
UPDATE pawl_jobs
SET deaths_before_alone = deaths
WHERE id = $1
  AND attempt = $2
  AND state = 'running';

-- name: delete_all_servers
-- The only server of a database runs this at its start.
DELETE FROM pawl_servers;

-- name: delete_server   ($1 id)
DELETE FROM pawl_servers
WHERE id = $1;

-- name: delete_silent_server   ($1 id, $2 its beats when they stopped)
-- Runs in one transaction before the three statements end_leases_of_server, rescue_jobs_of_server and release_staged_jobs_of_server.
-- Touches no row if the server has beaten again, or if another server was faster.
DELETE FROM pawl_servers
WHERE id = $1
  AND beats = $2;

-- name: end_leases_of_server   ($1 id, $2 now, $3 the lease's new end)
-- $3 is so long ago that the completer takes the keys at once. A key in a call with Repeat::never keeps its lease: the call may still
-- be under way, and only its end tells whether it happened.
UPDATE pawl_idempotency_keys
SET lease_until = $3
WHERE status = 'open'
  AND server_id = $1
  AND lease_until > $2
  AND NOT calling;

-- name: find_other_servers   ($1 id of this server)
SELECT id, beats, session_lock
FROM pawl_servers
WHERE id <> $1;

-- name: find_server_of_key   ($1 id)
-- The server that claimed the key last.
SELECT server_id
FROM pawl_idempotency_keys
WHERE id = $1;

-- name: insert_server   ($1 host, $2 version, $3 now, $4 its session lock or NULL)
INSERT INTO pawl_servers (host, version, since, seen_at, beats, session_lock)
VALUES ($1, $2, $3, $3, 1, $4)
RETURNING id;

-- name: list_server_settings
SELECT id, host, seen_at, session_lock, settings
FROM pawl_servers
ORDER BY id;

-- name: list_servers
-- Also counts the keys, jobs and staged jobs that each one has taken and not given back.
SELECT id, host, version, since, seen_at,
       (SELECT count(*) FROM pawl_idempotency_keys AS k WHERE k.status = 'open' AND k.server_id = s.id AND k.lease_until IS NOT NULL),
       (SELECT count(*) FROM pawl_jobs AS j WHERE j.lease_until IS NOT NULL AND j.server_id = s.id),
       (SELECT count(*) FROM pawl_staged_jobs AS g WHERE g.server_id = s.id AND g.claimed_until IS NOT NULL),
       coalesce(s.settings, '')
FROM pawl_servers AS s
ORDER BY id;

-- name: release_staged_jobs_of_server   ($1 id)
UPDATE pawl_staged_jobs
SET claimed_until = NULL
WHERE server_id = $1
  AND claimed_until IS NOT NULL;

-- name: rescue_jobs_of_server   ($1 id, $2 now)
-- The condition on lease_until makes the statement use its index.
UPDATE pawl_jobs
SET state = 'ready', lease_until = NULL, run_at = $2, deaths = deaths + 1
WHERE server_id = $1
  AND state = 'running'
  AND lease_until IS NOT NULL;

-- name: set_providers_down   ($1 id, $2 providers that do not answer it, as JSON, or NULL)
UPDATE pawl_servers
SET providers_down = $2
WHERE id = $1;

-- name: set_server_settings   ($1 id, $2 settings as JSON)
UPDATE pawl_servers
SET settings = $2
WHERE id = $1;
