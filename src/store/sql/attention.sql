-- Statements on pawl_attention (the requests that only a person can settle) and on pawl_audit_log.

-- name: count_attention
-- Without the requests that a person has decided and no server has carried out yet.
SELECT reason, count(*), min(since)
FROM pawl_attention
WHERE settlement IS NULL
   OR settling_error IS NOT NULL
GROUP BY reason
ORDER BY reason;

-- name: delete_attention   ($1 key id, $2 attempt of the entry, $3 time of the decision, or NULL)
-- $3 is the fence of a recorded decision. If a person has undone or replaced the decision since the server read it, no row
-- matches, and the server does not carry it out.
DELETE FROM pawl_attention
WHERE key_id = $1
  AND attempt = $2
  AND (CAST($3 AS timestamptz) IS NULL OR settled_at = $3);

-- name: find_doubt_of_event [sqlite]   ($1 call key or its beginning, or NULL, $2 client's key or NULL, $3 call target or NULL)
-- Finds requests in doubt that an event of a provider may settle. The attention list is short, so no index serves this query. A
-- reference does not tell a later call from one that a person declared as not made (generation > 0). A kept result, or a
-- decision, is stronger than an event. CROSS JOIN keeps the order of the joins: the attention list has few rows.
SELECT a.key_id, a.attempt, a.recovery_point, k.operation, k.recovery_data
FROM pawl_attention AS a
CROSS JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
WHERE a.settlement IS NULL
  AND a.result IS NULL
  AND k.called_at IS NOT NULL
  AND (($1 IS NOT NULL AND substr(k.call_key, 1, length($1)) = $1)
       OR ($1 IS NULL AND k.idempotency_key = $2 AND k.generation = 0))
  AND ($3 IS NULL OR k.call_target = $3)
ORDER BY a.key_id;

-- name: find_doubt_of_event [postgres]
-- The lateral join looks each key up by its id. Otherwise PostgreSQL may read all keys.
SELECT a.key_id, a.attempt, a.recovery_point, k.operation, k.recovery_data
FROM pawl_attention AS a
CROSS JOIN LATERAL (
    SELECT operation, recovery_data
    FROM pawl_idempotency_keys
    WHERE id = a.key_id
      AND called_at IS NOT NULL
      AND (($1::text IS NOT NULL AND substr(call_key, 1, length($1)) = $1)
           OR ($1::text IS NULL AND idempotency_key = $2 AND generation = 0))
      AND ($3::text IS NULL OR call_target = $3)
    LIMIT 1) AS k
WHERE a.settlement IS NULL
  AND a.result IS NULL
ORDER BY a.key_id;

-- name: find_settlements   ($1 limit, $2 latest time of a decision, $3 time that no correct clock can show)
-- Finds the decisions of people that no server has carried out. People may undo a decision that is later than $2. If a decision
-- is later than $3, the clock that recorded it or this clock is wrong. Such a decision is due at once, as in take_over. A key that an
-- operator holds waits for its release.
SELECT key_id, attempt, recovery_point, settlement, settled_result_name, settled_result, settled_by, settled_at
FROM pawl_attention
WHERE settlement IS NOT NULL
  AND settling_error IS NULL
  AND (settled_at <= $2 OR settled_at > $3)
  AND (SELECT k.held_at FROM pawl_idempotency_keys AS k WHERE k.id = key_id) IS NULL
ORDER BY settled_at, key_id
LIMIT $1;

-- name: forget_not_happened
-- After a restore: what a person had decided by the provider's books, and no server had carried out in the backup, may have been
-- carried out in the lost time. The person looks again.
UPDATE pawl_attention
SET settlement = NULL, settled_result_name = NULL, settled_result = NULL, settled_by = NULL, settled_note = NULL,
    settled_at = NULL, settling_error = NULL
WHERE settlement = 'did-not-happen';

-- name: insert_attention   ($1 key id, $2 attempt, $3 recovery point, $4 reason, $5 detail, $6 now)
INSERT INTO pawl_attention (key_id, attempt, recovery_point, reason, detail, since)
VALUES ($1, $2, $3, $4, $5, $6);

-- name: insert_audit   ($1 at, $2 actor, $3 action, $4 key id, $5 detail)
INSERT INTO pawl_audit_log (at, actor, action, key_id, detail)
VALUES ($1, $2, $3, $4, $5);

-- name: keep_result_for_person   ($1 key id, $2 result name, $3 result, $4 generation of its call, $5 its recovery point)
-- Stores a result that arrived after its key had gone to the attention list. A result of an earlier generation belongs to a
-- call that a person has declared as not happened. A result of another recovery point belongs to another call. Neither may
-- pass for the result of the call now in doubt. The same result may be written twice, because the server repeats the write if
-- it does not know whether the first one was committed.
UPDATE pawl_attention
SET result_name = $2, result = $3
WHERE key_id = $1
  AND recovery_point = $5
  AND (result IS NULL OR (result_name = $2 AND result = $3))
  AND EXISTS (SELECT 1 FROM pawl_idempotency_keys AS k WHERE k.id = $1 AND k.generation = $4);

-- name: list_attention   ($1 limit)
-- The call key is NULL for a Repeat::never call, because the provider was sent no key, and for a call that is asked about. The last
-- answer of the provider is about the call that is in doubt.
SELECT a.key_id, k.tenant, k.account, k.idempotency_key, k.operation, a.recovery_point, a.attempt, a.reason, a.detail,
       a.result_name, a.result, a.since, a.settlement, a.settled_by, a.settled_note, a.settled_at, a.settling_error,
       CASE WHEN NOT k.calling THEN k.call_key END, k.called_at, k.call_target, k.recovery_data,
       q.answer, q.detail, q.asked_at, q.times, k.held_at, k.held_by
FROM pawl_attention AS a
JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
LEFT JOIN pawl_inquiries AS q ON q.key_id = k.id AND q.generation = k.generation AND q.recovery_point = k.recovery_point
ORDER BY a.since, a.key_id
LIMIT $1;

-- name: list_audit   ($1 below this id, or NULL, $2 limit)
SELECT id, at, actor, action, key_id, detail
FROM pawl_audit_log
WHERE id < coalesce(CAST($1 AS bigint), 9223372036854775807)
ORDER BY id DESC
LIMIT $2;

-- name: request_settlement   ($1 key id, $2 attempt, $3 settlement, $4 result name, $5 result, $6 by, $7 note, $8 now)
-- The operator's command records the decision, and a server carries it out. A second decision touches no row, unless the
-- first one has failed.
UPDATE pawl_attention
SET settlement = $3, settled_result_name = $4, settled_result = $5, settled_by = $6, settled_note = $7,
    settled_at = $8, settling_error = NULL
WHERE key_id = $1
  AND attempt = $2
  AND (settlement IS NULL OR settling_error IS NOT NULL);

-- name: retry_settlements
-- At the start of a server, which may have the fix: decisions whose keeper or phase failed are due again.
UPDATE pawl_attention
SET settling_error = NULL
WHERE settlement IS NOT NULL
  AND settling_error IS NOT NULL;

-- name: set_settling_error   ($1 key id, $2 attempt, $3 error)
UPDATE pawl_attention
SET settling_error = $3
WHERE key_id = $1
  AND attempt = $2;

-- name: show_attention   ($1 key id)
SELECT a.key_id, k.tenant, k.account, k.idempotency_key, k.operation, a.recovery_point, a.attempt, a.reason, a.detail,
       a.result_name, a.result, a.since, a.settlement, a.settled_by, a.settled_note, a.settled_at, a.settling_error,
       CASE WHEN NOT k.calling THEN k.call_key END, k.called_at, k.call_target, k.recovery_data,
       q.answer, q.detail, q.asked_at, q.times, k.held_at, k.held_by
FROM pawl_attention AS a
JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
LEFT JOIN pawl_inquiries AS q ON q.key_id = k.id AND q.generation = k.generation AND q.recovery_point = k.recovery_point
WHERE a.key_id = $1;

-- name: undo_settlement   ($1 key id, $2 attempt of the entry)
-- Touches no row if a server has carried the decision out: the row is then deleted or belongs to a later attempt.
UPDATE pawl_attention
SET settlement = NULL, settled_result_name = NULL, settled_result = NULL, settled_by = NULL, settled_note = NULL,
    settled_at = NULL, settling_error = NULL
WHERE key_id = $1
  AND attempt = $2
  AND settlement IS NOT NULL;
