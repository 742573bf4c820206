-- Requests to other servers. The transaction that decides to send a request stores it here.
CREATE TABLE pawl_outbox (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target       TEXT COLLATE "C" NOT NULL,
    key          TEXT COLLATE "C" NOT NULL,    -- The Idempotency-Key header of every try.
    method       TEXT NOT NULL,
    headers      TEXT NOT NULL,    -- JSON: [{"name":..., "value":...}]
    body         TEXT NOT NULL,
    state        TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'answered', 'gave-up')),
    attempt      INTEGER NOT NULL DEFAULT 0,    -- The fence: the writes of a sender have this number in their WHERE.
    next_at      TIMESTAMPTZ NOT NULL,    -- The request is not sent earlier. During a try: when another process may send it.
    created_at   TIMESTAMPTZ NOT NULL,
    first_at     TIMESTAMPTZ,    -- Time just before the first try; the other server remembers the key from then on.
    finished_at  TIMESTAMPTZ,
    status       INTEGER,
    error        TEXT,    -- Why the last try was postponed; for operators.
    UNIQUE (target, key)
);
CREATE INDEX pawl_outbox_due ON pawl_outbox (next_at, id) WHERE state = 'waiting';
CREATE INDEX pawl_outbox_finished ON pawl_outbox (finished_at) WHERE finished_at IS NOT NULL;
