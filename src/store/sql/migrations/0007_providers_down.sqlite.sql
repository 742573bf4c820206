-- What the breakers of each server say. 0007_providers_down.postgres.sql has the same change.

-- The providers that the server keeps from new payments: {"down": [{"provider", "since", "error"}]}. NULL: none.
ALTER TABLE pawl_servers ADD COLUMN providers_down TEXT;
