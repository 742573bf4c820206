-- Who may refund a ride: its rider, and support of the ride's own tenant.

ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'rider' CHECK (role IN ('rider', 'support'));

ALTER TABLE rides ADD COLUMN tenant TEXT NOT NULL DEFAULT 'rides';  -- Of the key that made it.
