-- Statements of the outbox, in alphabetical order.

-- name: outbox_claim [sqlite]   ($1 now, $2 when another process may send them, $3 limit)
UPDATE pawl_outbox
SET attempt = attempt + 1, next_at = $2, first_at = coalesce(first_at, $1)
WHERE id IN (
    SELECT id FROM pawl_outbox
    WHERE state = 'waiting'
      AND next_at <= $1
    ORDER BY next_at, id
    LIMIT $3)
RETURNING id, attempt, target, key, method, headers, body, first_at;

-- name: outbox_claim [postgres]
-- SKIP LOCKED skips the rows that another process is claiming.
UPDATE pawl_outbox
SET attempt = attempt + 1, next_at = $2, first_at = coalesce(first_at, $1)
WHERE id = ANY (ARRAY(
    SELECT id FROM pawl_outbox
    WHERE state = 'waiting'
      AND next_at <= $1
    ORDER BY next_at, id
    LIMIT $3
    FOR UPDATE SKIP LOCKED))
RETURNING id, attempt, target, key, method, headers, body, first_at;

-- name: outbox_count
SELECT count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'gave-up'),
       min(created_at) FILTER (WHERE state = 'waiting')
FROM pawl_outbox;

-- name: outbox_find   ($1 target, $2 key)
SELECT method, headers, body FROM pawl_outbox WHERE target = $1 AND key = $2;

-- name: outbox_finish   ($1 id, $2 attempt, $3 state, $4 status or 0, $5 error, $6 now)
UPDATE pawl_outbox
SET state = $3, status = nullif(CAST($4 AS integer), 0), error = $5, finished_at = $6
WHERE id = $1
  AND attempt = $2
  AND state = 'waiting';

-- name: outbox_forget [sqlite]   ($1 finished before, $2 limit)
DELETE FROM pawl_outbox
WHERE id IN (
    SELECT id FROM pawl_outbox WHERE finished_at < $1 AND state = 'answered' ORDER BY finished_at LIMIT $2);

-- name: outbox_forget [postgres]
-- SKIP LOCKED skips the rows that another transaction is removing.
DELETE FROM pawl_outbox
WHERE id = ANY (ARRAY(
    SELECT id FROM pawl_outbox WHERE finished_at < $1 AND state = 'answered' ORDER BY finished_at LIMIT $2
    FOR UPDATE SKIP LOCKED));

-- name: outbox_put   ($1 target, $2 key, $3 method, $4 headers, $5 body, $6 now)
-- next_at is 1970, so that the request is due at once even for a process whose clock is behind ours.
INSERT INTO pawl_outbox (target, key, method, headers, body, next_at, created_at)
VALUES ($1, $2, $3, $4, $5, '1970-01-01T00:00:00.000Z', $6)
ON CONFLICT (target, key) DO NOTHING;

-- name: outbox_put_off   ($1 id, $2 attempt, $3 when it is due, $4 error, $5 1: the other server has not received it, else 0)
UPDATE pawl_outbox
SET next_at = $3, error = $4, first_at = CASE WHEN CAST($5 AS integer) = 0 THEN first_at END
WHERE id = $1
  AND attempt = $2
  AND state = 'waiting';
