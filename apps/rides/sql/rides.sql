-- Statements of Rocket Rides, in alphabetical order.

-- name: add_points   ($1 user, $2 points)
UPDATE users SET points = points + $2 WHERE id = $1;

-- name: cancel_ride   ($1 ride, $2 user)
UPDATE rides
SET state = 'cancelled'
WHERE id = $1
  AND user_id = $2
  AND state IN ('booked', 'cancelled');

-- name: close_differences   ($1 day, $2 begin of its comparison, $3 now)
UPDATE reconcile_differences
SET state = 'closed', last_seen = $3
WHERE day = $1
  AND state = 'open'
  AND last_seen < $2;

-- name: end_session   ($1 id, $2 when it began)
INSERT INTO ended_sessions (id, began)
VALUES ($1, $2)
ON CONFLICT (id) DO NOTHING;

-- name: find_charged_ride   ($1 charge)
SELECT id, user_id
FROM rides
WHERE stripe_charge_id = $1;

-- name: find_ended_sessions
SELECT id, began FROM ended_sessions ORDER BY began DESC LIMIT 65536;

-- name: find_event   ($1 event)
SELECT type, charge_id, amount, amount_refunded, object, call_key, state
FROM provider_events
WHERE id = $1;

-- name: find_key_of_charge   ($1 stripe customer, $2 the client's key, from the charge's description)
-- People run it for one charge at a time.
SELECT k.id, k.status
FROM pawl_idempotency_keys AS k
JOIN users AS u ON u.email = k.account
WHERE u.stripe_customer_id = $1
  AND k.idempotency_key = $2;

-- name: find_ride   ($1 ride, $2 user)
SELECT id, created_at, origin_lat, origin_lon, target_lat, target_lon,
       CASE WHEN state = 'booking' AND EXISTS (
           SELECT 1 FROM pawl_idempotency_keys AS k WHERE k.id = rides.idempotency_key_id AND k.held_at IS NOT NULL
       ) THEN 'on_hold' ELSE state END,
       amount, currency, stripe_charge_id, stripe_refund_id,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE id = $1
  AND user_id = $2;

-- name: find_ride_of_charge   ($1 charge)
SELECT id, amount, currency
FROM rides
WHERE stripe_charge_id = $1;

-- name: find_ride_of_key   ($1 key id, $2 user)
SELECT id, created_at, origin_lat, origin_lon, target_lat, target_lon,
       CASE WHEN state = 'booking' AND EXISTS (
           SELECT 1 FROM pawl_idempotency_keys AS k WHERE k.id = rides.idempotency_key_id AND k.held_at IS NOT NULL
       ) THEN 'on_hold' ELSE state END,
       amount, currency, stripe_charge_id, stripe_refund_id,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE idempotency_key_id = $1
  AND user_id = $2;

-- name: find_rider_of_customer   ($1 stripe customer)
SELECT email
FROM users
WHERE stripe_customer_id = $1;

-- name: find_state_for_refund   ($1 ride, $2 tenant, $3 email of the caller)
-- Returns a row only if the ride belongs to the tenant and the caller is its rider or support.
SELECT r.state
FROM rides AS r
JOIN users AS u ON u.email = $3
WHERE r.id = $1
  AND r.tenant = $2
  AND (r.user_id = u.id OR u.role = 'support');

-- name: find_state_of_trip   ($1 trip, $2 tenant, $3 email of the caller)
-- Returns a row only if the trip belongs to the tenant and the caller is its rider or support.
SELECT t.state
FROM trips AS t
JOIN users AS u ON u.email = $3
WHERE t.id = $1
  AND t.tenant = $2
  AND (t.user_id = u.id OR u.role = 'support');

-- name: find_trip   ($1 trip, $2 user)
SELECT id, created_at, origin_lat, origin_lon, target_lat, target_lon, state, share, rest, currency, share_charge_id, hold_id,
       rest_charge_id
FROM trips
WHERE id = $1
  AND user_id = $2;

-- name: find_trip_of_charge   ($1 charge)
SELECT id, CASE WHEN share_charge_id = $1 THEN share ELSE rest END, currency
FROM trips
WHERE share_charge_id = $1
   OR hold_id = $1
   OR rest_charge_id = $1;

-- name: find_user   ($1 email)
SELECT id, stripe_customer_id
FROM users
WHERE email = $1;

-- name: forget_ended_sessions   ($1 began before)
DELETE FROM ended_sessions WHERE began < $1;

-- name: insert_audit   ($1 action, $2 now, $3 data, $4 origin ip, $5 resource id, $6 resource type, $7 user)
INSERT INTO audit_records (action, created_at, data, origin_ip, resource_id, resource_type, user_id)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: insert_event   ($1 id, $2 type, $3 created, $4 now, $5 charge, $6 amount, $7 amount refunded, $8 object, $9 call key or NULL)
INSERT INTO provider_events (id, type, created_at, received_at, charge_id, amount, amount_refunded, object, call_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: insert_refund   ($1 ride, $2 key, $3 now, $4 amount)
INSERT INTO ride_refunds (ride_id, key, created_at, amount, state)
VALUES ($1, $2, $3, $4, 'ordered');

-- name: insert_ride   ($1 now, $2 key id, $3 origin lat, $4 origin lon, $5 target lat, $6 target lon, $7 amount, $8 currency,
--   $9 tenant, $10 user)
INSERT INTO rides (created_at, idempotency_key_id, origin_lat, origin_lon, target_lat, target_lon, state, amount,
                   currency, tenant, user_id)
VALUES ($1, $2, $3, $4, $5, $6, 'booking', $7, $8, $9, $10)
RETURNING id;

-- name: insert_trip   ($1 now, $2 key id, $3 origin lat, $4 origin lon, $5 target lat, $6 target lon, $7 share, $8 rest, $9 currency,
--   $10 tenant, $11 user)
INSERT INTO trips (created_at, idempotency_key_id, origin_lat, origin_lon, target_lat, target_lon, state, share, rest, currency,
                   tenant, user_id)
VALUES ($1, $2, $3, $4, $5, $6, 'booking', $7, $8, $9, $10, $11)
RETURNING id;

-- name: insert_user   ($1 email, $2 stripe customer or NULL)
-- ON CONFLICT names no index: the second of two concurrent inserts may conflict in either unique index, and ON CONFLICT (email)
-- would fail if the conflict is on the customer. Each address has its own customer.
INSERT INTO users (email, stripe_customer_id)
VALUES ($1, $2)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: keep_customer   ($1 user, $2 customer that Stripe made)
-- The first customer stays. Returns the stored one.
UPDATE users
SET stripe_customer_id = COALESCE(stripe_customer_id, $2)
WHERE id = $1
RETURNING stripe_customer_id;

-- name: keep_refund   ($1 ride, $2 key, $3 now, $4 amount, $5 refund)
-- A refund that was ordered by a server without the table has no row yet.
INSERT INTO ride_refunds (ride_id, key, created_at, amount, state, stripe_refund_id)
VALUES ($1, $2, $3, $4, 'made', $5)
ON CONFLICT (ride_id, key) DO UPDATE SET state = 'made', stripe_refund_id = excluded.stripe_refund_id;

-- name: last_compared_day
SELECT day FROM reconcile_days ORDER BY day DESC LIMIT 1;

-- name: list_charged_rides   ($1 since, $2 until, $3 above this id, $4 limit)
SELECT id, stripe_charge_id, amount, currency
FROM rides
WHERE created_at >= $1
  AND created_at < $2
  AND stripe_charge_id IS NOT NULL
  AND id > $3
ORDER BY id
LIMIT $4;

-- name: list_charged_trips   ($1 since, $2 until, $3 above this id, $4 limit)
SELECT id, share_charge_id, share, hold_id, rest_charge_id, rest, currency
FROM trips
WHERE created_at >= $1
  AND created_at < $2
  AND hold_id IS NOT NULL
  AND id > $3
ORDER BY id
LIMIT $4;

-- name: list_day   ($1 from, $2 until, $3 limit)
SELECT id, created_at, stripe_charge_id, amount, currency, state,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE created_at >= $1
  AND created_at < $2
  AND stripe_charge_id IS NOT NULL
ORDER BY created_at, id
LIMIT $3;

-- name: list_day_after   ($1 created at of the last row, $2 its id, $3 until, $4 limit)
SELECT id, created_at, stripe_charge_id, amount, currency, state,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE (created_at, id) > ($1, $2)
  AND created_at < $3
  AND stripe_charge_id IS NOT NULL
ORDER BY created_at, id
LIMIT $4;

-- name: list_differences   ($1 above this charge, $2 state, or empty for all, $3 limit)
SELECT charge_id, day, kind, ride_id, amount, currency, detail, state, first_seen, last_seen
FROM reconcile_differences
WHERE charge_id > $1
  AND (CAST($2 AS text) = '' OR state = $2)
ORDER BY charge_id
LIMIT $3;

-- name: list_open_days   ($1 since)
SELECT DISTINCT day FROM reconcile_differences WHERE state = 'open' AND day >= $1;

-- name: list_rides   ($1 user, $2 below this id or NULL, $3 limit)
SELECT id, created_at, origin_lat, origin_lon, target_lat, target_lon,
       CASE WHEN state = 'booking' AND EXISTS (
           SELECT 1 FROM pawl_idempotency_keys AS k WHERE k.id = rides.idempotency_key_id AND k.held_at IS NOT NULL
       ) THEN 'on_hold' ELSE state END,
       amount, currency, stripe_charge_id, stripe_refund_id,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE user_id = $1
  AND (CAST($2 AS bigint) IS NULL OR id < $2)
ORDER BY id DESC
LIMIT $3;

-- name: put_day   ($1 day, $2 now, $3 theirs, $4 ours, $5 differences)
INSERT INTO reconcile_days (day, compared_at, theirs, ours, differences)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (day) DO UPDATE SET compared_at = $2, theirs = $3, ours = $4, differences = $5;

-- name: put_difference   ($1 charge, $2 day, $3 kind, $4 ride or NULL, $5 amount, $6 currency, $7 detail, $8 now)
INSERT INTO reconcile_differences (charge_id, day, kind, ride_id, amount, currency, detail, state, first_seen, last_seen)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'open', $8, $8)
ON CONFLICT (charge_id) DO UPDATE
SET day = $2, kind = $3, ride_id = $4, amount = $5, currency = $6, detail = $7, state = 'open', last_seen = $8;

-- name: set_charge   ($1 ride, $2 charge)
UPDATE rides
SET stripe_charge_id = $2, state = 'booked'
WHERE id = $1;

-- name: set_customer   ($1 email, $2 stripe customer)
UPDATE users SET stripe_customer_id = $2 WHERE email = $1;

-- name: set_event_state   ($1 event, $2 state)
UPDATE provider_events SET state = $2 WHERE id = $1;

-- name: set_refund_state   ($1 ride, $2 key, $3 state)
UPDATE ride_refunds
SET state = $3
WHERE ride_id = $1
  AND key = $2;

-- name: set_refunded   ($1 ride, $2 its last refund)
-- Changes nothing while a part of the ride's amount is not refunded.
UPDATE rides
SET stripe_refund_id = $2, state = 'refunded'
WHERE id = $1
  AND amount = (SELECT SUM(f.amount) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made');

-- name: set_refunded_by_event   ($1 charge)
-- Refunded at the provider, without a request of ours. Another state is not a ride that was paid for.
UPDATE rides
SET state = 'refunded'
WHERE stripe_charge_id = $1
  AND state IN ('booked', 'cancelled');

-- name: set_role   ($1 email, $2 role)
UPDATE users SET role = $2 WHERE email = $1 AND role <> $2;

-- name: set_state   ($1 ride, $2 state)
UPDATE rides
SET state = $2
WHERE id = $1;

-- name: set_trip_hold   ($1 trip, $2 authorised charge)
UPDATE trips SET hold_id = $2 WHERE id = $1;

-- name: set_trip_paid   ($1 trip, $2 charge of the rest)
UPDATE trips SET rest_charge_id = $2, state = 'paid' WHERE id = $1;

-- name: set_trip_share   ($1 trip, $2 charge of the share)
UPDATE trips SET share_charge_id = $2, state = 'booked' WHERE id = $1;

-- name: set_trip_state   ($1 trip, $2 state)
UPDATE trips SET state = $2 WHERE id = $1;

-- name: show_ride_for_refund   ($1 ride)
-- The last column: what is refunded, or may be.
SELECT state, stripe_charge_id, amount, currency, (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state <> 'not_made'
       )
FROM rides
WHERE id = $1;

-- name: show_ride_of_charge   ($1 charge)
SELECT id, created_at, stripe_charge_id, amount, currency, state,
       CASE WHEN state = 'refunded' THEN amount ELSE (
           SELECT CAST(COALESCE(SUM(f.amount), 0) AS bigint) FROM ride_refunds AS f WHERE f.ride_id = rides.id AND f.state = 'made'
       ) END
FROM rides
WHERE stripe_charge_id = $1;

-- name: show_trip_for_pick_up   ($1 trip)
SELECT t.state, t.share, t.share_charge_id, t.hold_id, t.rest, t.currency, u.stripe_customer_id
FROM trips AS t
JOIN users AS u ON u.id = t.user_id
WHERE t.id = $1;

-- name: start_pick_up   ($1 trip)
UPDATE trips SET state = 'picking_up' WHERE id = $1 AND state = 'booked';
