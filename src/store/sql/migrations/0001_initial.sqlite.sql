-- The tables of Pawl. The application's tables stand beside these in the same database, so that one transaction covers
-- both. Times are UTC, fixed width: 2026-11-21T04:30:00.000Z. Statuses are words. 0001_initial.postgres.sql has the same
-- tables.

CREATE TABLE pawl_installation (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    -- Random, made once: part of every foreign key, so that two installations never share one.
    name        TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE pawl_installation_secrets (
    version     INTEGER PRIMARY KEY,
    secret      TEXT NOT NULL,  -- Hex. For fingerprints only: no foreign key is made from it, as it may change.
    created_at  TEXT NOT NULL
) STRICT;

-- For secrets that are in a file (--secret-file) and so not in the database (ADR 21).
CREATE TABLE pawl_installation_secret_verifiers (
    version     INTEGER PRIMARY KEY,  -- As in pawl_installation_secrets: no version is in both for long.
    verifier    TEXT NOT NULL,        -- Hex; tells whether a secret is this one.
    created_at  TEXT NOT NULL
) STRICT;

-- Decides, by its unique index alone, who is first with a key. A row is updated, never deleted, while it counts.
CREATE TABLE pawl_key_registry (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- Also pawl_idempotency_keys.id. Never used twice.
    hash         TEXT NOT NULL UNIQUE,               -- Of (tenant, account, key): 32 hex digits.
    state        TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'expired')),
    generation   INTEGER NOT NULL DEFAULT 0,         -- Counts re-executions of an expired key.
    outcome      INTEGER,                            -- HTTP status, once expired.
    location     TEXT,                               -- Where what it made can be seen, once expired.
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

    standing             TEXT NOT NULL CHECK (standing IN ('open', 'attention', 'finished')),
    attempt              INTEGER NOT NULL,    -- The fence: every write of an attempt carries its number.
    lease_until          TEXT,                -- NULL: nobody works on it.
    recovery_point       TEXT NOT NULL,
    recovery_data        TEXT NOT NULL,       -- The point's ids and amounts, as JSON.
    generation           INTEGER NOT NULL DEFAULT 0,  -- Counts settlements "did not happen" and re-executions.
    call_key             TEXT,                -- Foreign key of the call that follows the recovery point.
    called_at            TEXT,                -- When that call was first about to be made.
    call_target          TEXT,                -- Provider and account of that call, if the operation named them.
    calling              INTEGER NOT NULL DEFAULT 0 CHECK (calling IN (0, 1)),  -- Repeat::never only: perhaps called.

    response_status      INTEGER,
    response_type        TEXT,
    response_headers     TEXT,                -- JSON: [{"name":..., "value":...}]
    response_body        TEXT,

    created_at           TEXT NOT NULL,
    last_run_at          TEXT NOT NULL,
    finished_at          TEXT,
    expires_at           TEXT,                -- NULL while unsettled, or if kept for ever.
    error                TEXT,                -- Of the last attempt that failed; for operators.
    completer_runs       INTEGER NOT NULL DEFAULT 0,  -- Failed runs of the completer, not of clients.
    completer_first_at   TEXT,
    completer_next_at    TEXT
) STRICT;

CREATE INDEX pawl_idempotency_keys_open ON pawl_idempotency_keys (lease_until) WHERE standing = 'open';
CREATE INDEX pawl_idempotency_keys_expiry ON pawl_idempotency_keys (expires_at) WHERE expires_at IS NOT NULL;
-- For `keys list`, newest first: ids are not in the order of time, as servers preallocate them in blocks.
CREATE INDEX pawl_idempotency_keys_created ON pawl_idempotency_keys (created_at, id);

-- Requests that only a person can settle.
CREATE TABLE pawl_attention (
    key_id           INTEGER PRIMARY KEY,
    attempt          INTEGER NOT NULL,  -- Of the key when it came here: settling is fenced by it.
    recovery_point   TEXT NOT NULL,
    reason           TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 50),
    detail           TEXT NOT NULL,
    result_name      TEXT,              -- A result that arrived but could not be kept.
    result           TEXT,
    since            TEXT NOT NULL,
    settlement       TEXT CHECK (settlement IN ('happened', 'did-not-happen', 'give-up')),
    settled_result_name TEXT,
    settled_result   TEXT,
    settled_by       TEXT,
    settled_note     TEXT,
    settled_at       TEXT,
    settling_error   TEXT               -- Why the service could not carry the settlement out.
) STRICT;

-- What people decided and no server has carried out: the completer asks for it each second.
CREATE INDEX pawl_attention_settled ON pawl_attention (settled_at, key_id) WHERE settlement IS NOT NULL AND settling_error IS NULL;

-- The embedded queue: what a phase stages is a job once the phase has committed.
CREATE TABLE pawl_jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    jid              TEXT NOT NULL,     -- 24 hex digits; the same over all retries and merges.
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('ready', 'running')),
    run_at           TEXT NOT NULL,     -- Not before.
    attempt          INTEGER NOT NULL DEFAULT 0,  -- Counts claims: the fence of a worker's writes.
    failures         INTEGER NOT NULL DEFAULT 0,
    lease_until      TEXT,
    called_at        TEXT,              -- First call to the outside under this job's key.
    key_id           INTEGER,           -- The request that staged it.
    created_at       TEXT NOT NULL,
    first_failed_at  TEXT,
    last_failed_at   TEXT,
    last_error       TEXT,
    history          TEXT NOT NULL DEFAULT '[]'  -- Its failures and merges: the first and the last twenty.
) STRICT;

CREATE INDEX pawl_jobs_due ON pawl_jobs (queue, run_at, id) WHERE state = 'ready';
-- Not by state = 'running', which every fence says: in an empty table such an index looks like the shortest way to one job.
CREATE INDEX pawl_jobs_leased ON pawl_jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE pawl_dead_jobs (
    id               INTEGER PRIMARY KEY,
    jid              TEXT NOT NULL,
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    attempt          INTEGER NOT NULL,  -- Goes on after a merge: an old worker's fence must not fit.
    failures         INTEGER NOT NULL,
    called_at        TEXT,
    key_id           INTEGER,
    created_at       TEXT NOT NULL,
    first_failed_at  TEXT,
    last_failed_at   TEXT,
    last_error       TEXT,
    history          TEXT NOT NULL,
    error_kind       TEXT NOT NULL,     -- What errors of one cause have in common: core::error_kind().
    died_at          TEXT NOT NULL
) STRICT;

-- Jobs on their way to a queue outside this database: staged in a phase, drained by the enqueuer. What went through the
-- embedded queue before (a change of queue) brings its history along.
CREATE TABLE pawl_staged_jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    jid              TEXT NOT NULL,     -- 24 hex digits; made with the row, so that a second push says the same.
    queue            TEXT NOT NULL,
    kind             TEXT NOT NULL,
    args             TEXT NOT NULL,
    run_at           TEXT NOT NULL,     -- Not pushed before.
    claimed_until    TEXT,              -- An enqueuer is pushing it. Not fenced: what was sent is deleted by id, whoever sent it.
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

-- Jobs of a queue outside this database that were done in a transaction here: whoever brings one again finds it.
CREATE TABLE pawl_inbox (
    jid      TEXT PRIMARY KEY,
    done_at  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_inbox_done ON pawl_inbox (done_at);

-- Queues from which no worker takes a job, until people say otherwise.
CREATE TABLE pawl_paused_queues (
    queue   TEXT PRIMARY KEY,
    since   TEXT NOT NULL,
    actor   TEXT NOT NULL,
    reason  TEXT NOT NULL
) STRICT;

-- When a job of a Kafka queue was first about to call the outside: its record there can't be changed.
CREATE TABLE pawl_job_calls (
    id         TEXT PRIMARY KEY,  -- As in the inbox.
    called_at  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_job_calls_called ON pawl_job_calls (called_at);

-- What people decided about records of dead-letter topics, which stay where they are until Kafka drops them.
CREATE TABLE pawl_kafka_marks (
    topic          TEXT NOT NULL,
    partition      INTEGER NOT NULL,
    record_offset  INTEGER NOT NULL,
    what           TEXT NOT NULL CHECK (what IN ('merging', 'merged', 'purged')),
    actor          TEXT NOT NULL,
    at             TEXT NOT NULL,
    reason         TEXT NOT NULL,
    life           TEXT NOT NULL,  -- Of the job: a death may have written its letter twice.
    PRIMARY KEY (topic, partition, record_offset)
) STRICT;

-- What operators did, and what contradicts it: the late result of a call that was settled already.
CREATE TABLE pawl_audit_log (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    key_id  INTEGER,
    detail  TEXT NOT NULL
) STRICT;
CREATE INDEX pawl_audit_log_of_key ON pawl_audit_log (key_id) WHERE key_id IS NOT NULL;

-- Leases with their fencing tokens. A row is never deleted: its epoch only grows, so that no holder is ever given that of
-- another. One row for each name that was ever used, so names are places ("nightly-report"), never ids of requests.
CREATE TABLE pawl_leases (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1),  -- Of the last one who took it: the fencing token.
    holder      TEXT,                                 -- Random, made for each try to take it; NULL: it was given back.
    lease_until TEXT NOT NULL,
    ttl_ms      INTEGER NOT NULL
) STRICT;

-- Beside the data that a lease guards: the highest epoch that has written there.
CREATE TABLE pawl_fences (
    name        TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    epoch       INTEGER NOT NULL CHECK (epoch >= 1)
) STRICT;

-- Actions that are one within a window of time.
CREATE TABLE pawl_once_windows (
    hash        TEXT PRIMARY KEY,              -- Of tenant, account, action and what it is about.
    over_at     TEXT NOT NULL,                 -- The first one's time, and the window's length.
    result      TEXT NOT NULL                  -- What the first one stored, as JSON.
) STRICT;
CREATE INDEX pawl_once_windows_over ON pawl_once_windows (over_at);

-- A database that was restored from a backup has forgotten what happened since (docs/adr/0022). An epoch is the time from
-- one restore to the next. The first has no row. A row is never changed.
CREATE TABLE pawl_epochs (
    epoch        INTEGER PRIMARY KEY CHECK (epoch >= 2),
    opened_at    TEXT NOT NULL,
    lost_since   TEXT NOT NULL,     -- The restored database has all that happened before.
    keys_until   TEXT NOT NULL,     -- Until then clients may repeat requests that are lost.
    last_key_id  INTEGER NOT NULL,  -- The highest id in the restored database: these keys may have gone on since.
    opened_by    TEXT NOT NULL,
    detail       TEXT NOT NULL
) STRICT;

-- Numbers that only grow. Each server advances them while it works and copies them to a file outside the database
-- afterwards: a database whose numbers are behind that file was restored.
CREATE TABLE pawl_marks (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,  -- How often the row was advanced.
    at           TEXT NOT NULL,
    key_id       INTEGER NOT NULL,  -- The highest id in pawl_key_registry.
    calls        INTEGER NOT NULL   -- Foreign calls that were begun.
) STRICT;
