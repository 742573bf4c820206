-- Results of calls that no keeper could record. 0019_unrecorded_results.postgres.sql has the same changes.

CREATE TABLE pawl_unrecorded_results (
    key_id          INTEGER PRIMARY KEY,
    generation      INTEGER NOT NULL,      -- Of the call.
    recovery_point  TEXT NOT NULL,         -- Of the call.
    result_name     TEXT NOT NULL,
    result          TEXT NOT NULL,         -- JSON
    error           TEXT NOT NULL,         -- Of the last try.
    since           TEXT NOT NULL,
    tries           INTEGER NOT NULL
) STRICT;
