-- The tables of Pawl. The application's tables are in the same database, so that one transaction covers both. Times are UTC and
-- have a fixed width: 2026-11-21T04:30:00.000Z. 0001_initial.postgres.sql has the same tables.

CREATE TABLE pawl_installation (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    -- A random name, generated once. It is a part of every call key, so that two installations never share one.
    name        TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE pawl_installation_secrets (
    version     INTEGER PRIMARY KEY,
    secret      TEXT NOT NULL,  -- Hex. Used for fingerprints only, not for call keys, because a secret may change.
    created_at  TEXT NOT NULL
) STRICT;

-- Verifiers of the secrets that are in a file (--secret-file) and not in the database (ADR 21).
CREATE TABLE pawl_installation_secret_verifiers (
    version     INTEGER PRIMARY KEY,  -- The version in pawl_installation_secrets; it is in both tables only during a change.
    verifier    TEXT NOT NULL,        -- Hex. Shows whether a secret is the right one.
    created_at  TEXT NOT NULL
) STRICT;

-- The unique index on hash decides which request claims a key. A row is updated but not deleted until delete_tombstones removes it.
CREATE TABLE pawl_key_registry (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- Also pawl_idempotency_keys.id. Never used twice.
    hash         TEXT NOT NULL UNIQUE,               -- Hash of (tenant, account, key): 32 hex digits.
    state        TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'expired')),
    generation   INTEGER NOT NULL DEFAULT 0,         -- Counts re-executions of an expired key.
    outcome      INTEGER,                            -- HTTP status; set when the key expires.
    location     TEXT,                               -- URL of the created resource; set when the key expires.
    expired_at   TEXT
) STRICT;

CREATE INDEX pawl_key_registry_expired ON pawl_key_registry (expired_at) WHERE state = 'expired';

CREATE TABLE pawl_idempotency_keys (
    id                   INTEGER PRIMARY KEY,
    hash                 TEXT NOT NULL,
    tenant               TEXT NOT NULL,
    account              TEXT NOT NULL,
    idempotency_key      TEXT NOT NULL,
    operation            TEXT NOT NULL,
    request_method       TEXT NOT NULL,
    request_path         TEXT NOT NULL,
    origin               TEXT NOT NULL,       -- Address of the client.
    fingerprint          TEXT NOT NULL,       -- Hex of the HMAC of the request.
    secret_version       INTEGER NOT NULL,
    params               TEXT NOT NULL,       -- The request as JSON: the completer starts from it.

    status               TEXT NOT NULL CHECK (status IN ('open', 'attention', 'finished')),
    attempt              INTEGER NOT NULL,    -- The fence: every write of an attempt has this number in its WHERE.
    lease_until          TEXT,                -- NULL: no attempt holds the key.
    recovery_point       TEXT NOT NULL,
    recovery_data        TEXT NOT NULL,       -- Data of the recovery point (ids, amounts), as JSON.
    generation           INTEGER NOT NULL DEFAULT 0,  -- Counts settlements "did not happen" and re-executions.
    call_key             TEXT,                -- Idempotency key of the foreign call that follows the recovery point.
    called_at            TEXT,                -- Time just before the first try of that call.
    call_target          TEXT,                -- Provider and account of that call, if the operation named them.
    calling              INTEGER NOT NULL DEFAULT 0 CHECK (calling IN (0, 1)),  -- Repeat::never only: the call may have been made.

    response_status      INTEGER,
    response_type        TEXT,
    response_headers     TEXT,                -- JSON: [{"name":..., "value":...}]
    response_body        TEXT,

    created_at           TEXT NOT NULL,
    last_run_at          TEXT NOT NULL,
    finished_at          TEXT,
    expires_at           TEXT,                -- NULL: not finished, or kept for ever.
    error                TEXT,                -- Error of the last failed attempt; for operators.
    completer_runs       INTEGER NOT NULL DEFAULT 0,  -- Failed runs of the completer, not of clients.
    completer_first_at   TEXT,
    completer_next_at    TEXT
) STRICT;

CREATE INDEX pawl_idempotency_keys_open ON pawl_idempotency_keys (lease_until) WHERE status = 'open';
CREATE INDEX pawl_idempotency_keys_expiry ON pawl_idempotency_keys (expires_at) WHERE expires_at IS NOT NULL;
-- `keys list` shows the newest keys first. Ids are not in the order of time, because servers preallocate them in blocks.
CREATE INDEX pawl_idempotency_keys_created ON pawl_idempotency_keys (created_at, id);

-- Requests that only a person can settle.
CREATE TABLE pawl_attention (
    key_id           INTEGER PRIMARY KEY,
    attempt          INTEGER NOT NULL,  -- The key's attempt when it came here; the fence of a settlement.
    recovery_point   TEXT NOT NULL,
    reason           TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 50),
    detail           TEXT NOT NULL,
    result_name      TEXT,              -- Name of a result that arrived but could not be stored in the key.
    result           TEXT,
    since            TEXT NOT NULL,
    settlement       TEXT CHECK (settlement IN ('happened', 'did-not-happen', 'give-up')),
    settled_result_name TEXT,
    settled_result   TEXT,
    settled_by       TEXT,
    settled_note     TEXT,
    settled_at       TEXT,
    settling_error   TEXT               -- Why no server could carry the settlement out.
) STRICT;

-- The completer queries each second for the decisions that no server has carried out.
CREATE INDEX pawl_attention_settled ON pawl_attention (settled_at, key_id) WHERE settlement IS NOT NULL AND settling_error IS NULL;

-- The embedded queue. The commit of a phase adds the jobs that the phase staged.
CREATE TABLE pawl_jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    jid              TEXT NOT NULL,     -- 24 hex digits; all retries and merges keep it.
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('ready', 'running')),
    run_at           TEXT NOT NULL,     -- The job does not run earlier.
    attempt          INTEGER NOT NULL DEFAULT 0,  -- Number of claims; the fence of a worker's writes.
    failures         INTEGER NOT NULL DEFAULT 0,
    lease_until      TEXT,
    called_at        TEXT,              -- Time of the first foreign call with this job's key.
    key_id           INTEGER,           -- The request that staged it.
    created_at       TEXT NOT NULL,
    first_failed_at  TEXT,
    last_failed_at   TEXT,
    last_error       TEXT,
    history          TEXT NOT NULL DEFAULT '[]'  -- Failures and merges: the first one and the last twenty.
) STRICT;

CREATE INDEX pawl_jobs_due ON pawl_jobs (queue, run_at, id) WHERE state = 'ready';
-- The condition is not state = 'running', because every fence has that condition: in an empty table the planner would use such an
-- index for a query of one job by its id.
CREATE INDEX pawl_jobs_leased ON pawl_jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE pawl_dead_jobs (
    id               INTEGER PRIMARY KEY,
    jid              TEXT NOT NULL,
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    attempt          INTEGER NOT NULL,  -- A merge does not reset it, so that the fence of an old worker does not match.
    failures         INTEGER NOT NULL,
    called_at        TEXT,
    key_id           INTEGER,
    created_at       TEXT NOT NULL,
    first_failed_at  TEXT,
    last_failed_at   TEXT,
    last_error       TEXT,
    history          TEXT NOT NULL,
    error_kind       TEXT NOT NULL,     -- The common part of errors with the same cause: base::error_kind().
    died_at          TEXT NOT NULL
) STRICT;

-- Jobs for a queue outside this database. A phase stages them, and the enqueuer sends them. After a change of queue, a job from the
-- embedded queue keeps its history.
CREATE TABLE pawl_staged_jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    jid              TEXT NOT NULL,     -- 24 hex digits; stored with the row, so that a second push sends the same id.
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    run_at           TEXT NOT NULL,     -- The job is not pushed earlier.
    claimed_until    TEXT,              -- An enqueuer is pushing the job. No fence: any enqueuer deletes a sent job by id.
    failures         INTEGER NOT NULL DEFAULT 0,
    called_at        TEXT,
    key_id           INTEGER,           -- The request that staged it.
    created_at       TEXT NOT NULL,
    first_failed_at  TEXT,
    last_failed_at   TEXT,
    last_error       TEXT,
    history          TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE INDEX pawl_staged_jobs_due ON pawl_staged_jobs (run_at, id);

-- Jobs of an external queue that were done in a transaction of this database. If the queue delivers a job again, its row is found.
CREATE TABLE pawl_inbox (
    jid      TEXT PRIMARY KEY,
    done_at  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_inbox_done ON pawl_inbox (done_at);

-- Queues that a person has paused: no worker claims a job from them until a person resumes them.
CREATE TABLE pawl_paused_queues (
    queue   TEXT PRIMARY KEY,
    since   TEXT NOT NULL,
    actor   TEXT NOT NULL,
    reason  TEXT NOT NULL
) STRICT;

-- The time just before the first foreign call of a job of a Kafka queue. It is here because a Kafka record can't be changed.
CREATE TABLE pawl_job_calls (
    id         TEXT PRIMARY KEY,  -- The same id as in the inbox.
    called_at  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_job_calls_called ON pawl_job_calls (called_at);

-- Decisions of people about the records of dead-letter topics. The records stay in the topic until Kafka removes them.
CREATE TABLE pawl_kafka_marks (
    topic          TEXT NOT NULL,
    partition      INTEGER NOT NULL,
    record_offset  INTEGER NOT NULL,
    what           TEXT NOT NULL CHECK (what IN ('merging', 'merged', 'purged')),
    actor          TEXT NOT NULL,
    at             TEXT NOT NULL,
    reason         TEXT NOT NULL,
    life           TEXT NOT NULL,  -- The same for two records of one death, which may be written twice.
    PRIMARY KEY (topic, partition, record_offset)
) STRICT;

-- Actions of operators, and late results that contradict a settlement.
CREATE TABLE pawl_audit_log (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    key_id  INTEGER,
    detail  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_audit_log_of_key ON pawl_audit_log (key_id) WHERE key_id IS NOT NULL;

-- Leases with their fencing tokens. A row is never deleted, so that its epoch only grows and no two holders get the same epoch. The
-- table keeps a row for each name ever used, so a name must be a purpose ("nightly-report") and not the id of a request.
CREATE TABLE pawl_leases (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1),  -- The fencing token of the last holder.
    holder      TEXT,                                 -- Random, generated for each try to claim the lease; NULL: released.
    lease_until TEXT NOT NULL,
    ttl_ms      INTEGER NOT NULL
) STRICT;

-- The highest epoch that has written the data which a lease guards. The row is in the same database as that data.
CREATE TABLE pawl_fencing_tokens (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1)
) STRICT;

-- Actions that run once within a window of time.
CREATE TABLE pawl_once_windows (
    hash        TEXT PRIMARY KEY,              -- Hash of tenant, account, action and subject.
    over_at     TEXT NOT NULL,                 -- The time of the first action plus the length of the window.
    result      TEXT NOT NULL                  -- The result of the first action, as JSON.
) STRICT;
CREATE INDEX pawl_once_windows_over ON pawl_once_windows (over_at);

-- A database that was restored from a backup lacks all changes since that backup (docs/adr/0022). An epoch is the time from one
-- restore to the next. The first epoch has no row. A row is never changed.
CREATE TABLE pawl_epochs (
    epoch        INTEGER PRIMARY KEY CHECK (epoch >= 2),
    opened_at    TEXT NOT NULL,
    lost_since   TEXT NOT NULL,     -- The restored database has all changes before this time.
    keys_until   TEXT NOT NULL,     -- Until this time clients may repeat lost requests.
    last_key_id  INTEGER NOT NULL,  -- The highest id in the restored database. Keys up to it may have moved on in the lost time.
    opened_by    TEXT NOT NULL,
    detail       TEXT NOT NULL
) STRICT;

-- Numbers that only grow. Each server advances them while it works and copies them to a file outside the database
-- afterwards: a database whose numbers are behind that file was restored.
CREATE TABLE pawl_marks (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,  -- Counts the updates of this row.
    at           TEXT NOT NULL,
    key_id       INTEGER NOT NULL,  -- The highest id in pawl_key_registry.
    calls        INTEGER NOT NULL   -- Number of foreign calls begun.
) STRICT;
