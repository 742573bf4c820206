-- Parts of imported reports that no line can say, such as a fee or a reversal: a person decides what they mean.

CREATE TABLE bank_set_aside_items (
    report_id     INTEGER NOT NULL REFERENCES bank_reports,
    place         INTEGER NOT NULL,  -- In the report, from 1.
    rule          TEXT NOT NULL,
    found         TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,    -- Empty: it names no payment, or several.
    decision      TEXT CHECK (decision IN ('skipped', 'settled')),
    PRIMARY KEY (report_id, place)
) STRICT;

CREATE INDEX bank_set_aside_items_payout ON bank_set_aside_items (end_to_end_id);
