-- What Pawl itself keeps. The application's tables stand beside these in the same database, so that one transaction
-- covers both. Times are UTC, fixed width: 2026-11-21T04:30:00.000Z. Statuses are words.

CREATE TABLE installation (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    -- Random, made once: part of every foreign key, so that two installations never share one.
    name        TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE TABLE installation_secrets (
    version     INTEGER PRIMARY KEY,
    secret      TEXT NOT NULL,  -- Hex. For fingerprints only: no foreign key is made from it, as it may change.
    created_at  TEXT NOT NULL
) STRICT;

-- Decides, by its unique index alone, who is first with a key. A row is updated, never deleted, while it counts.
CREATE TABLE key_registry (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- Also idempotency_keys.id. Never used twice.
    hash         TEXT NOT NULL UNIQUE,               -- Of (tenant, account, key): 32 hex digits.
    state        TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'expired')),
    generation   INTEGER NOT NULL DEFAULT 0,         -- Counts re-executions of an expired key.
    outcome      INTEGER,                            -- HTTP status, once expired.
    location     TEXT,                               -- Where what it made can be seen, once expired.
    expired_at   TEXT
) STRICT;

CREATE INDEX key_registry_expired ON key_registry (expired_at) WHERE state = 'expired';

CREATE TABLE idempotency_keys (
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

CREATE INDEX idempotency_keys_open ON idempotency_keys (lease_until) WHERE standing = 'open';
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at) WHERE expires_at IS NOT NULL;

-- Requests that only a person can settle.
CREATE TABLE attention (
    key_id           INTEGER PRIMARY KEY,
    attempt          INTEGER NOT NULL,  -- Of the key when it came here: settling is fenced by it.
    recovery_point   TEXT NOT NULL,
    reason           TEXT NOT NULL CHECK (reason IN ('in-doubt', 'stuck', 'forgotten', 'failed-too-often')),
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
CREATE INDEX attention_settled ON attention (settled_at, key_id) WHERE settlement IS NOT NULL AND settling_error IS NULL;

-- The embedded queue: what a phase stages is a job once the phase has committed.
CREATE TABLE jobs (
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

CREATE INDEX jobs_due ON jobs (queue, run_at, id) WHERE state = 'ready';
-- Not by state = 'running', which every fence says: in an empty table such an index looks like the shortest way to one job.
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE dead_jobs (
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
CREATE TABLE staged_jobs (
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

CREATE INDEX staged_jobs_due ON staged_jobs (run_at, id);

-- Jobs of a queue outside this database that were done in a transaction here: whoever brings one again finds it.
CREATE TABLE inbox (
    jid      TEXT PRIMARY KEY,
    done_at  TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_done ON inbox (done_at);

-- Queues from which no worker takes a job, until people say otherwise.
CREATE TABLE paused_queues (
    queue   TEXT PRIMARY KEY,
    since   TEXT NOT NULL,
    actor   TEXT NOT NULL,
    reason  TEXT NOT NULL
) STRICT;

-- When a job of a Kafka queue was first about to call the outside: its record there can't be changed.
CREATE TABLE job_calls (
    id         TEXT PRIMARY KEY,  -- As in the inbox.
    called_at  TEXT NOT NULL
) STRICT;
CREATE INDEX job_calls_called ON job_calls (called_at);

-- What people decided about records of dead-letter topics, which stay where they are until Kafka drops them.
CREATE TABLE kafka_marks (
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
CREATE TABLE audit_log (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    key_id  INTEGER,
    detail  TEXT NOT NULL
) STRICT;
CREATE INDEX audit_log_of_key ON audit_log (key_id) WHERE key_id IS NOT NULL;
