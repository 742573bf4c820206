-- What the servers counted, minute by minute. 0012_samples.postgres.sql has the same table.

-- For the plots of the operator's page: nothing else reads it. A server writes its row each minute and removes what is old.
CREATE TABLE pawl_samples (
    at      TEXT NOT NULL,     -- The end of the minute, by the database's clock.
    server  INTEGER NOT NULL,  -- pawl_servers.id
    sample  TEXT NOT NULL,     -- JSON: {"requests", "failed", ...}, as `Sample` in src/page/samples.hpp.
    PRIMARY KEY (at, server)
) STRICT, WITHOUT ROWID;
