-- The refunds of rides, one row for each Idempotency-Key. A ride whose whole refund was made by a server without this table has none.
--
-- ordered    Stripe is being asked; the amount is reserved
-- made       Stripe has paid it back
-- not_made   Stripe refused it, or it was given up before Stripe was asked: the amount is free again
-- in_doubt   it was given up after Stripe was asked; the amount stays reserved
CREATE TABLE ride_refunds (
    ride_id          INTEGER NOT NULL REFERENCES rides ON DELETE RESTRICT,
    key              TEXT NOT NULL,
    created_at       TEXT NOT NULL,
    amount           INTEGER NOT NULL CHECK (amount > 0),
    state            TEXT NOT NULL CHECK (state IN ('ordered', 'made', 'not_made', 'in_doubt')),
    stripe_refund_id TEXT UNIQUE CHECK (length(stripe_refund_id) <= 50),
    PRIMARY KEY (ride_id, key)
) STRICT;
