-- What servers of one database must have in common. 0017_settings.sqlite.sql has the same changes.

-- When a server last started with this secret as the one in use. NULL: none has.
ALTER TABLE pawl_installation_secret_verifiers ADD COLUMN used_at TIMESTAMPTZ;

-- The settings of the server: {"settings": [{"name", "value"}]}. NULL: a server of a release before.
ALTER TABLE pawl_servers ADD COLUMN settings TEXT;
