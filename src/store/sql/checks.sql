-- The invariants of `check`. Each statement returns the ids of rows that break one, at most $1 of them; src/cli/check.cpp has what
-- each one means. Most read a whole table: a person runs them, beside running servers, each in a read snapshot of its own.

-- name: attention_without_key   ($1 limit)
SELECT CAST(a.key_id AS TEXT)
FROM pawl_attention AS a
LEFT JOIN pawl_idempotency_keys AS k ON k.id = a.key_id
WHERE k.id IS NULL
   OR k.status <> 'attention'
   OR k.attempt <> a.attempt
   OR k.recovery_point <> a.recovery_point
ORDER BY a.key_id
LIMIT $1;

-- name: call_marks   ($1 limit)
-- A call that provably did nothing leaves its key and its target, without the time (clear_calling). At a phase a key has the time and
-- the target of its last call, without the call key.
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND ((calling AND (call_key IS NULL OR called_at IS NULL))
       OR (call_target IS NOT NULL AND call_key IS NULL AND called_at IS NULL))
ORDER BY id
LIMIT $1;

-- name: calls_not_made   ($1 limit)
SELECT CAST(n.key_id AS TEXT)
FROM pawl_calls_not_made AS n
LEFT JOIN pawl_idempotency_keys AS k ON k.id = n.key_id
WHERE k.id IS NULL
   OR n.generation >= k.generation
ORDER BY n.key_id
LIMIT $1;

-- name: done_jobs   ($1 limit)
SELECT CAST(j.id AS TEXT)
FROM pawl_jobs AS j
JOIN pawl_inbox AS i ON i.jid = j.jid
WHERE j.state = 'ready'
ORDER BY j.id
LIMIT $1;

-- name: expiries   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE expires_at IS NOT NULL
  AND expires_at <= created_at
ORDER BY id
LIMIT $1;

-- name: finished_keys   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE status = 'finished'
  AND (response_status IS NULL OR response_type IS NULL OR response_headers IS NULL OR response_body IS NULL
       OR finished_at IS NULL OR recovery_point <> 'finished' OR lease_until IS NOT NULL OR calling OR attempt < 1 OR generation < 0)
ORDER BY id
LIMIT $1;

-- name: inquiries   ($1 limit)
SELECT CAST(q.key_id AS TEXT)
FROM pawl_inquiries AS q
LEFT JOIN pawl_idempotency_keys AS k ON k.id = q.key_id
WHERE k.id IS NULL
   OR q.generation > k.generation
   OR q.times < 1
ORDER BY q.key_id
LIMIT $1;

-- name: job_ids   ($1 limit)
SELECT jid
FROM (SELECT jid FROM pawl_jobs
      UNION ALL
      SELECT jid FROM pawl_staged_jobs
      UNION ALL
      SELECT jid FROM pawl_dead_jobs) AS jobs
GROUP BY jid
HAVING count(*) > 1
ORDER BY jid
LIMIT $1;

-- name: job_leases   ($1 limit, $2 latest possible lease end)
SELECT CAST(id AS TEXT)
FROM pawl_jobs
WHERE lease_until > $2
ORDER BY id
LIMIT $1;

-- name: job_states   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_jobs
WHERE state NOT IN ('ready', 'running')
   OR (state = 'running') <> (lease_until IS NOT NULL)
   OR (state = 'running' AND attempt < 1)
   OR attempt < 0
   OR failures < 0
   OR (failures > 0 AND last_failed_at IS NULL)
ORDER BY id
LIMIT $1;

-- name: key_leases   ($1 limit, $2 latest possible lease end)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE status = 'open'
  AND lease_until > $2
ORDER BY id
LIMIT $1;

-- name: key_without_attention   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE status = 'attention'
  AND (lease_until IS NOT NULL OR NOT EXISTS (SELECT 1 FROM pawl_attention AS a WHERE a.key_id = pawl_idempotency_keys.id))
ORDER BY id
LIMIT $1;

-- name: live_registry   ($1 limit)
SELECT CAST(r.id AS TEXT)
FROM pawl_key_registry AS r
LEFT JOIN pawl_idempotency_keys AS k ON k.id = r.id
WHERE r.state = 'live'
  AND k.id IS NULL
ORDER BY r.id
LIMIT $1;

-- name: registry   ($1 limit)
SELECT CAST(k.id AS TEXT)
FROM pawl_idempotency_keys AS k
LEFT JOIN pawl_key_registry AS r ON r.id = k.id
WHERE r.id IS NULL
   OR r.hash <> k.hash
   OR r.state <> 'live'
   OR r.generation > k.generation
ORDER BY k.id
LIMIT $1;

-- name: secret_versions   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE secret_version NOT IN (SELECT version FROM pawl_installation_secrets)
  AND secret_version NOT IN (SELECT version FROM pawl_installation_secret_verifiers)
ORDER BY id
LIMIT $1;

-- name: settlement_audits   ($1 limit)
SELECT CAST(a.key_id AS TEXT)
FROM pawl_attention AS a
WHERE a.settlement IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM pawl_audit_log AS l WHERE l.key_id = a.key_id AND l.action = 'settle ' || a.settlement)
ORDER BY a.key_id
LIMIT $1;

-- name: settlements   ($1 limit)
SELECT CAST(key_id AS TEXT)
FROM pawl_attention
WHERE (settlement IS NULL) <> (settled_at IS NULL)
   OR (settlement IS NULL) <> (settled_by IS NULL)
ORDER BY key_id
LIMIT $1;

-- name: staged_claims   ($1 limit, $2 latest possible claim end)
SELECT CAST(id AS TEXT)
FROM pawl_staged_jobs
WHERE claimed_until > $2
   OR failures < 0
ORDER BY id
LIMIT $1;

-- name: tombstones   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_key_registry
WHERE state NOT IN ('live', 'expired')
   OR (state = 'expired' AND (outcome IS NULL OR expired_at IS NULL))
   OR (state = 'live' AND (outcome IS NOT NULL OR location IS NOT NULL OR expired_at IS NOT NULL))
ORDER BY id
LIMIT $1;

-- name: unfinished_keys   ($1 limit)
SELECT CAST(id AS TEXT)
FROM pawl_idempotency_keys
WHERE status <> 'finished'
  AND (status NOT IN ('open', 'attention') OR recovery_point = 'finished' OR response_status IS NOT NULL OR finished_at IS NOT NULL
       OR expires_at IS NOT NULL OR attempt < 1 OR generation < 0)
ORDER BY id
LIMIT $1;
