-- Requests to other servers. The transaction that decides to send a request stores it here.
CREATE TABLE pawl_outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    target       TEXT NOT NULL,
    key          TEXT NOT NULL,    -- The Idempotency-Key header of every try.
    method       TEXT NOT NULL,
    headers      TEXT NOT NULL,    -- JSON: [{"name":..., "value":...}]
    body         TEXT NOT NULL,
    state        TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'answered', 'gave-up')),
    attempt      INTEGER NOT NULL DEFAULT 0,    -- The fence: the writes of a sender have this number in their WHERE.
    next_at      TEXT NOT NULL,    -- The request is not sent earlier. During a try: when another process may send it.
    created_at   TEXT NOT NULL,
    first_at     TEXT,    -- Time just before the first try; the other server remembers the key from then on.
    finished_at  TEXT,
    status       INTEGER,
    error        TEXT,    -- Why the last try was postponed; for operators.
    UNIQUE (target, key)
) STRICT;
CREATE INDEX pawl_outbox_due ON pawl_outbox (next_at, id) WHERE state = 'waiting';
CREATE INDEX pawl_outbox_finished ON pawl_outbox (finished_at) WHERE finished_at IS NOT NULL;
