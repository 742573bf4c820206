-- Trips: a share of the fare is charged at the booking, and the rest is authorised then and captured at the pick-up.
--
-- booking     the payments of the booking are being made
-- booked      the share is charged, and the rest is authorised
-- refused     a payment of the booking was declined: nothing is charged, and nothing is held
-- given_up    an operator gave the booking or the pick-up up
-- picking_up  the rest is being paid
-- paid        the rest is paid
-- not_paid    the rest was declined: the share is paid back
CREATE TABLE trips (
    id                 INTEGER PRIMARY KEY,
    created_at         TEXT NOT NULL,
    idempotency_key_id INTEGER UNIQUE,  -- The key that created the trip. No REFERENCES, because expired keys are removed.
    tenant             TEXT NOT NULL,  -- The tenant of that key. Its support may start the pick-up, and so may the trip's rider.
    origin_lat         REAL NOT NULL CHECK (origin_lat BETWEEN -90 AND 90),
    origin_lon         REAL NOT NULL CHECK (origin_lon BETWEEN -180 AND 180),
    target_lat         REAL NOT NULL CHECK (target_lat BETWEEN -90 AND 90),
    target_lon         REAL NOT NULL CHECK (target_lon BETWEEN -180 AND 180),
    state              TEXT NOT NULL
                       CHECK (state IN ('booking', 'booked', 'refused', 'given_up', 'picking_up', 'paid', 'not_paid')),
    share              INTEGER NOT NULL CHECK (share > 0),
    rest               INTEGER NOT NULL CHECK (rest > 0),
    currency           TEXT NOT NULL,
    share_charge_id    TEXT UNIQUE CHECK (length(share_charge_id) <= 50),
    hold_id            TEXT UNIQUE CHECK (length(hold_id) <= 50),         -- The authorised charge of the rest.
    rest_charge_id     TEXT UNIQUE CHECK (length(rest_charge_id) <= 50),  -- What paid the rest: the hold, or a charge after it had expired.
    user_id            INTEGER NOT NULL REFERENCES users ON DELETE RESTRICT
) STRICT;
