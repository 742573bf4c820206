-- A user has no Stripe customer until Stripe has made one. An older binary can't read such a user:
-- needs 0002_customers_of_stripe

ALTER TABLE users ALTER COLUMN stripe_customer_id DROP NOT NULL;
