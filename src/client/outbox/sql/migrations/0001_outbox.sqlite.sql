-- Requests to other servers, stored in the transaction that decides on them.
CREATE TABLE pawl_outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    target       TEXT NOT NULL,
    key          TEXT NOT NULL,    -- The Idempotency-Key of every try.
    method       TEXT NOT NULL,
    headers      TEXT NOT NULL,    -- JSON: [{"name":..., "value":...}]
    body         TEXT NOT NULL,
    standing     TEXT NOT NULL DEFAULT 'waiting' CHECK (standing IN ('waiting', 'answered', 'gave-up')),
    attempt      INTEGER NOT NULL DEFAULT 0,    -- The fence: whoever sends it carries its number.
    next_at      TEXT NOT NULL,    -- Not sent before; while it is being sent, when another may.
    created_at   TEXT NOT NULL,
    first_at     TEXT,    -- When it was first about to be sent: the other server counts from there.
    finished_at  TEXT,
    status       INTEGER,
    error        TEXT,    -- Why it was put off last; for operators.
    UNIQUE (target, key)
) STRICT;
CREATE INDEX pawl_outbox_due ON pawl_outbox (next_at, id) WHERE standing = 'waiting';
CREATE INDEX pawl_outbox_finished ON pawl_outbox (finished_at) WHERE finished_at IS NOT NULL;
