-- A restored backup does not know the files that the bank got since: a person says which ones, before another is made or sent.

-- The restores of this database (pawl_epochs) after which a person has said so.
CREATE TABLE bank_restores (
    epoch       INTEGER PRIMARY KEY,
    answered_at TEXT NOT NULL
) STRICT;

-- Those of before this release count as answered.
INSERT INTO bank_restores (epoch, answered_at) SELECT epoch, opened_at FROM pawl_epochs;

-- The payouts of these files. A request that was lost may come again later, and its payout is in that file already.
CREATE TABLE bank_lost_payouts (
    end_to_end_id    TEXT PRIMARY KEY,
    file_number      INTEGER NOT NULL REFERENCES bank_files,
    amount           INTEGER NOT NULL,
    creditor_account TEXT NOT NULL
) STRICT;

CREATE INDEX bank_lost_payouts_file ON bank_lost_payouts (file_number);
