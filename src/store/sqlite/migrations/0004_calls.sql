-- Who was called, and more reasons for which a request needs a person.

-- The provider and the account of the call at called_at, as the operation named them; NULL: it named none.
ALTER TABLE idempotency_keys ADD COLUMN call_target TEXT;

-- The reasons were a CHECK of the table. SQLite can't drop one, so the table is made anew: it has one row for each request that
-- waits for a person, and statements of older servers fit it.
CREATE TABLE attention_with_any_reason (
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

INSERT INTO attention_with_any_reason
    (key_id, attempt, recovery_point, reason, detail, result_name, result, since, settlement, settled_result_name,
     settled_result, settled_by, settled_note, settled_at, settling_error)
SELECT key_id, attempt, recovery_point, reason, detail, result_name, result, since, settlement, settled_result_name,
       settled_result, settled_by, settled_note, settled_at, settling_error
FROM attention;

DROP TABLE attention;
ALTER TABLE attention_with_any_reason RENAME TO attention;
CREATE INDEX attention_settled ON attention (settled_at, key_id) WHERE settlement IS NOT NULL AND settling_error IS NULL;
