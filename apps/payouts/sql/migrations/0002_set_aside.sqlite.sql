-- What is set aside until a person decides, and what persons decided. Who and why are in the audit.

ALTER TABLE payouts ADD COLUMN set_aside TEXT;  -- Why no file gets it; NULL: nothing is wrong with it.

-- A cancelled file also has sent_at, so that a server of the release before does not send it.
ALTER TABLE bank_files ADD COLUMN given_up_at TEXT;   -- A person ended its sending.
ALTER TABLE bank_files ADD COLUMN cancelled_at TEXT;  -- Its payouts have left it.

-- The payouts of cancelled files; bank_file_payouts has the one file that a payout is in now.
CREATE TABLE bank_file_moves (
    payout_id   INTEGER NOT NULL REFERENCES payouts,
    file_number INTEGER NOT NULL REFERENCES bank_files,
    moved_at    TEXT NOT NULL,
    PRIMARY KEY (payout_id, file_number)
) STRICT;

CREATE INDEX bank_file_moves_file ON bank_file_moves (file_number, payout_id);

-- NULL: nobody has decided. A report with a decision has the state imported, so that a server of the release before leaves it
-- alone. unread: the file could not be read, and waits for a person.
ALTER TABLE bank_reports ADD COLUMN decision TEXT CHECK (decision IN ('unread', 'skipped', 'settled', 'replaced'));
ALTER TABLE bank_reports ADD COLUMN replaced_by INTEGER;

-- Numbers that leave no gap, although no report with them is imported: a report with the number is stopped, or a person has
-- skipped the number. The row goes when a report with the number is imported.
CREATE TABLE bank_skipped_numbers (
    series    TEXT NOT NULL,
    number    INTEGER NOT NULL,
    report_id INTEGER REFERENCES bank_reports,  -- NULL: nobody has seen the report.
    PRIMARY KEY (series, number)
) STRICT;
