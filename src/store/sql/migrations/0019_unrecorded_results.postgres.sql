-- Results of calls that no keeper could record. 0019_unrecorded_results.sqlite.sql has the same changes.

CREATE TABLE pawl_unrecorded_results (
    key_id          BIGINT PRIMARY KEY,
    generation      INTEGER NOT NULL,      -- Of the call.
    recovery_point  TEXT NOT NULL,         -- Of the call.
    result_name     TEXT NOT NULL,
    result          TEXT NOT NULL,         -- JSON
    error           TEXT NOT NULL,         -- Of the last try.
    since           TIMESTAMPTZ NOT NULL,
    tries           INTEGER NOT NULL
);
