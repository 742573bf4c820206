-- The tables of Payouts. Money is in minor units with its currency.

CREATE TABLE payouts (
    id                 INTEGER PRIMARY KEY,
    created_at         TEXT NOT NULL,
    tenant             TEXT NOT NULL,
    account            TEXT NOT NULL,
    idempotency_key_id INTEGER NOT NULL UNIQUE,  -- No REFERENCES, because expired keys are removed.
    end_to_end_id      TEXT NOT NULL UNIQUE CHECK (length(end_to_end_id) BETWEEN 1 AND 15),
    amount             INTEGER NOT NULL CHECK (amount > 0),
    currency           TEXT NOT NULL,
    creditor_name      TEXT NOT NULL,
    creditor_account   TEXT NOT NULL,
    routing_number     TEXT,
    reference          TEXT NOT NULL,
    state              TEXT NOT NULL DEFAULT 'collected'
                       CHECK (state IN ('collected', 'in_file', 'sent', 'paid', 'returned')),
    return_reason      TEXT,
    CHECK ((state = 'returned') = (return_reason IS NOT NULL))
) STRICT;

CREATE INDEX payouts_collected ON payouts (id) WHERE state = 'collected';

-- One row: the number of the next file. The transaction that makes the file also counts it up, so the numbers have no gap.
CREATE TABLE next_bank_file (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL CHECK (number >= 1)
) STRICT;
INSERT INTO next_bank_file (id, number) VALUES (1, 1);

-- Frozen: only sent_at ever changes.
CREATE TABLE bank_files (
    number     INTEGER PRIMARY KEY CHECK (number >= 1),
    name       TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    day        TEXT NOT NULL,
    bytes      BLOB NOT NULL,
    sha256     TEXT NOT NULL CHECK (length(sha256) = 64),
    payouts    INTEGER NOT NULL CHECK (payouts > 0),
    amount     INTEGER NOT NULL CHECK (amount > 0),
    currency   TEXT NOT NULL,
    sent_at    TEXT
) STRICT;

CREATE INDEX bank_files_unsent ON bank_files (number) WHERE sent_at IS NULL;
CREATE INDEX bank_files_day ON bank_files (day);

-- The primary key keeps a payout out of a second file.
CREATE TABLE bank_file_payouts (
    payout_id   INTEGER PRIMARY KEY REFERENCES payouts,
    file_number INTEGER NOT NULL REFERENCES bank_files DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE INDEX bank_file_payouts_file ON bank_file_payouts (file_number, payout_id);

-- A file of the bank, stored as it came, before it is read.
CREATE TABLE bank_reports (
    id          INTEGER PRIMARY KEY,
    sha256      TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    bytes       BLOB NOT NULL,
    fetched_at  TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('fetched', 'imported', 'stopped')),
    rule        TEXT,
    found       TEXT,
    sender      TEXT,
    message_id  TEXT,
    lines       INTEGER,
    new_lines   INTEGER,
    imported_at TEXT,
    CHECK ((state = 'stopped') = (rule IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX bank_reports_message ON bank_reports (sender, message_id);
CREATE INDEX bank_reports_open ON bank_reports (id) WHERE state <> 'imported';

-- The names under which the reports were seen, so that each is read once.
CREATE TABLE bank_report_names (
    name       TEXT NOT NULL,
    size       INTEGER NOT NULL,
    modified_s INTEGER NOT NULL,
    report_id  INTEGER NOT NULL REFERENCES bank_reports,
    PRIMARY KEY (name, size, modified_s)
) STRICT;

CREATE TABLE bank_report_series (
    series      TEXT PRIMARY KEY,
    next_number INTEGER NOT NULL
) STRICT;

CREATE TABLE bank_report_lines (
    sender        TEXT NOT NULL,
    line_key      TEXT NOT NULL,
    report_id     INTEGER NOT NULL REFERENCES bank_reports,
    end_to_end_id TEXT NOT NULL,
    what          TEXT NOT NULL CHECK (what IN ('paid', 'returned')),
    amount        INTEGER NOT NULL,
    currency      TEXT NOT NULL,
    reason        TEXT NOT NULL,
    PRIMARY KEY (sender, line_key)
) STRICT;

CREATE INDEX bank_report_lines_report ON bank_report_lines (report_id);
CREATE INDEX bank_report_lines_payout ON bank_report_lines (end_to_end_id);
