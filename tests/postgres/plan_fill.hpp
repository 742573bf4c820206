#pragma once

// A busy installation: a million keys, nearly all of them finished; 100,000 expired ones; requests
// on the attention list after a bad day; jobs in four queues, many of them running.
namespace pawl::plans {

// Otherwise autovacuum might analyze these tables during the test.
inline constexpr auto switch_autovacuum_off = R"(
DO $$
DECLARE t text;
BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', t);
    END LOOP;
END $$)";

// Keys 1 to 100,000 have expired. Of the others every 5,000th is open, and the one after every 50th
// is on the attention list. Hashes ascend: random ones fill an index five times as slowly.
inline constexpr auto fill_keys = R"(
INSERT INTO pawl_key_registry (hash, state, outcome, expired_at)
SELECT lpad(i::text, 32, '0'), CASE WHEN i <= 100000 THEN 'expired' ELSE 'live' END,
       CASE WHEN i <= 100000 THEN 201 END,
       CASE WHEN i <= 100000 THEN '2025-11-01Z'::timestamptz + i * interval '1 second' END
FROM generate_series(1, 1100000) AS i;

INSERT INTO pawl_idempotency_keys
    (id, hash, tenant, account, idempotency_key, operation, request_method, request_path, origin,
     fingerprint, secret_version, params, status, attempt, lease_until, recovery_point,
     recovery_data, call_key, called_at, call_target, response_status, response_type,
     response_headers,
     response_body, created_at, last_run_at, finished_at, expires_at)
SELECT i, lpad(i::text, 32, '0'), 'rocket-rides', 'user-' || i % 10000, 'key-' || i, 'book_ride',
       'POST', '/rides', '127.0.0.1', lpad(i::text, 64, '0'), 1, '{"origin_lat":47.6}', status, 1,
       CASE WHEN status = 'open' THEN '2027-01-01Z'::timestamptz END,
       CASE WHEN status = 'finished' THEN 'finished' ELSE 'ride_created' END, '{}',
       lpad(i::text, 64, '0'), '2026-12-31Z',
       CASE WHEN status <> 'finished' THEN 'stripe' END,
       CASE WHEN status = 'finished' THEN 201 END, 'application/json', '[]', '{"ride":1}',
       '2026-12-31Z', '2026-12-31Z',
       CASE WHEN status = 'finished' THEN '2026-12-31Z'::timestamptz END,
       CASE WHEN status = 'finished'
            THEN '2027-01-02Z'::timestamptz + (i - 100000) * interval '1 second' END
FROM (SELECT i, CASE WHEN i % 5000 = 0 THEN 'open' WHEN i % 50 = 1 THEN 'attention'
                     ELSE 'finished' END
      FROM generate_series(100001, 1100000) AS i) AS keys (i, status);

INSERT INTO pawl_attention
    (key_id, attempt, recovery_point, reason, detail, since, settlement, settled_at)
SELECT id, 1, 'ride_created', 'in-doubt', 'no answer', '2026-12-31Z',
       CASE WHEN id % 10000 = 1 THEN 'did-not-happen' END,
       CASE WHEN id % 10000 = 1 THEN '2026-12-31Z'::timestamptz END
FROM pawl_idempotency_keys WHERE status = 'attention';

UPDATE pawl_attention SET reason = 'failed-too-often', result_name = 'Charge', result = '{}'
WHERE key_id = 500101;
UPDATE pawl_attention
SET settlement = 'happened', settled_at = '2026-12-31Z', settling_error = 'a bug'
WHERE key_id = 500151;
UPDATE pawl_idempotency_keys SET completer_runs = 3, completer_next_at = '2027-02-01Z'
WHERE id = 520000;

INSERT INTO pawl_inquiries
    (key_id, generation, recovery_point, since, asked_at, times, answer, detail)
SELECT i, 0, 'ride_created', '2026-12-31Z', '2026-12-31Z', 3, 'undecided', 'its list is late'
FROM generate_series(500001, 600000) AS i;

INSERT INTO pawl_unrecorded_results
    (key_id, generation, recovery_point, result_name, result, error, since, tries)
SELECT id, 0, 'ride_created', 'Charge', '{}', 'a bug', '2026-12-31Z', 3
FROM pawl_idempotency_keys WHERE status = 'open';

INSERT INTO pawl_calls_not_made (key_id, generation, recovery_point, call_target, proof, detail, at)
SELECT i, 0, 'ride_created', 'bank a', 'refused', 'Declined', '2026-12-31Z'
FROM generate_series(500001, 600000) AS i;

INSERT INTO pawl_key_references (key_id, name, id)
SELECT i, 'request', 'req-' || i FROM generate_series(1, 1100000) AS i;
INSERT INTO pawl_key_events (key_id, attempt, part, events)
SELECT i, 1, 0, '{"events":[]}' FROM generate_series(450001, 550000) AS i;

INSERT INTO pawl_audit_log (at, actor, action, key_id, detail)
SELECT '2026-12-31Z', 'ann', 'settle', 100000 + i, '{}' FROM generate_series(1, 100000) AS i;

INSERT INTO pawl_marks (id, number, at, key_id, calls)
VALUES (1, 1, '2026-12-31Z', 1100000, 1000000);
)";

// Every twelfth job is running, every tenth is unique. queue-2 has partitions and limits.
inline constexpr auto fill_jobs = R"(
INSERT INTO pawl_jobs (jid, queue, kind, args, state, run_at, attempt, lease_until, created_at,
                       unique_hash, partition)
SELECT lpad(i::text, 24, '0'), 'queue-' || i % 4, 'send_receipt', '{}',
       CASE WHEN i % 12 = 3 THEN 'running' ELSE 'ready' END,
       '2027-01-01Z'::timestamptz + i * interval '1 second', 1,
       CASE WHEN i % 12 = 3 THEN '2027-02-01Z'::timestamptz + i * interval '1 ms' END,
       '2026-12-31Z',
       CASE WHEN i % 10 = 7 THEN lpad(i::text, 32, '0') END,
       CASE WHEN i % 4 = 2 THEN 'tenant-' || i % 40 END
FROM generate_series(1, 300000) AS i;

UPDATE pawl_jobs SET state = 'running', lease_until = '2027-02-20Z'
WHERE queue = 'queue-2' AND id % 6000 = 2;

INSERT INTO pawl_queue_limits (queue, running_max, partition_max, rate, full_at)
SELECT 'queue-' || i, 100, 10, '', 0 FROM generate_series(1, 20) AS i;

INSERT INTO pawl_schedules (name, schedule, next_at)
SELECT 'report-' || i, '@daily ', '2027-01-01Z' FROM generate_series(1, 100) AS i;

INSERT INTO pawl_servers (host, version, since, seen_at, beats)
SELECT 'host-' || i, '1.0', '2027-01-01Z', '2027-01-01Z', 1 FROM generate_series(1, 10) AS i;

UPDATE pawl_idempotency_keys SET server_id = 7 WHERE id IN (500000, 505000, 510000);
UPDATE pawl_idempotency_keys SET held_at = '2026-12-31Z', held_by = 'ann', error = 'refused'
WHERE id = 515000;
UPDATE pawl_jobs SET server_id = id % 10 WHERE state = 'running';
UPDATE pawl_jobs SET failures = 1 WHERE state = 'ready' AND id % 10000 = 0;

INSERT INTO pawl_dead_jobs
    (id, jid, queue, kind, args, attempt, failures, created_at, history, error_kind, died_at)
SELECT i, lpad(i::text, 24, '0'), 'queue-1', 'send_receipt', '{}', 5, 5, '2026-12-31Z', '[]',
       'HTTP 503', '2026-12-31Z'
FROM generate_series(1000001, 1100000) AS i;

INSERT INTO pawl_staged_jobs (id, jid, queue, kind, args, run_at, claimed_until, created_at)
SELECT i, lpad(i::text, 24, '0'), 'queue-1', 'send_receipt', '{}',
       '2026-12-31Z'::timestamptz + i * interval '1 ms',
       CASE WHEN i % 1000 = 7 THEN '2026-12-31Z'::timestamptz END, '2026-12-31Z'
FROM generate_series(1000001, 1200000) AS i;

UPDATE pawl_staged_jobs SET server_id = 7 WHERE claimed_until IS NOT NULL;

INSERT INTO pawl_inbox (jid, done_at)
SELECT lpad(i::text, 24, '0'), '2026-12-31Z'::timestamptz + i * interval '1 second'
FROM generate_series(1, 200000) AS i;
)";

inline constexpr auto fill_kafka = R"(
INSERT INTO pawl_job_calls (id, called_at)
SELECT 'rides/' || i, '2026-12-31Z'::timestamptz + i * interval '1 second'
FROM generate_series(1, 100000) AS i;

INSERT INTO pawl_inbox (jid, done_at)
SELECT 'rides/' || i, '2026-12-31Z'::timestamptz + i * interval '1 second'
FROM generate_series(1, 100000) AS i;

INSERT INTO pawl_kafka_marks (topic, partition, record_offset, what, actor, at, reason, life)
SELECT 'pawl.mails__rides__dlq', 0, i, 'purged', 'ann', '2026-12-31Z', 'why', i || '@'
FROM generate_series(1, 100000) AS i;
)";

inline constexpr auto fill_locks = R"(
INSERT INTO pawl_leases (name, epoch, holder, lease_until, ttl_ms)
SELECT 'lease-' || i, 1, 'holder', '2026-12-31Z', 30000 FROM generate_series(1, 100000) AS i;

INSERT INTO pawl_fencing_tokens (name, epoch)
SELECT 'lease-' || i, 1 FROM generate_series(1, 100000) AS i;

INSERT INTO pawl_once_windows (hash, over_at, result)
SELECT lpad(i::text, 32, '0'), '2026-12-31Z'::timestamptz + i * interval '1 second', '7'
FROM generate_series(1, 200000) AS i;
)";

inline constexpr auto fill_rides = R"(
INSERT INTO users (email, stripe_customer_id)
SELECT 'user-' || i || '@example.com', 'cus_' || i FROM generate_series(1, 50000) AS i;
INSERT INTO users (email, stripe_customer_id) VALUES ('user-77', 'cus_of_keys');

INSERT INTO rides (created_at, idempotency_key_id, origin_lat, origin_lon, target_lat, target_lon,
                   state, amount, currency, tenant, stripe_charge_id, user_id)
SELECT '2026-12-31Z', 100000 + i, 47.6, -122.3, 47.6, -122.3, 'booked', 2000, 'usd', 'rides',
       'ch_' || i, 1 + i % 50000
FROM generate_series(1, 200000) AS i;

INSERT INTO ride_refunds (ride_id, key, created_at, amount, state, stripe_refund_id)
SELECT 2 * i, 'ride-' || 2 * i || '-refund-1', '2026-12-31Z', 2000, 'made', 're_' || i
FROM generate_series(1, 100000) AS i;

INSERT INTO trips (created_at, idempotency_key_id, origin_lat, origin_lon, target_lat, target_lon,
                   state, share, rest, currency, tenant, share_charge_id, hold_id, user_id)
SELECT '2026-12-31Z', 400000 + i, 47.6, -122.3, 47.6, -122.3, 'booked', 500, 1500, 'usd', 'rides',
       'ch_share_' || i, 'ch_hold_' || i, 1 + i % 50000
FROM generate_series(1, 100000) AS i;

INSERT INTO reconcile_days (day, compared_at, theirs, ours, differences)
SELECT to_char('2026-12-31'::date - i, 'YYYY-MM-DD'), '2026-12-31Z', 1000, 1000, 3
FROM generate_series(0, 999) AS i;

INSERT INTO reconcile_differences
    (charge_id, day, kind, amount, currency, detail, state, first_seen, last_seen)
SELECT 'ch_other_' || i, to_char('2026-12-31'::date - i % 1000, 'YYYY-MM-DD'), 'only-theirs', 2000,
       'usd', '', CASE WHEN i % 100 = 0 THEN 'open' ELSE 'closed' END, '2026-12-31Z', '2026-12-31Z'
FROM generate_series(1, 100000) AS i;

INSERT INTO provider_events
    (id, type, created_at, received_at, charge_id, amount, amount_refunded, object)
SELECT 'evt_' || i, 'charge.succeeded', '2026-12-31Z', '2026-12-31Z', 'ch_' || i, 2000, 0, '{}'
FROM generate_series(1, 100000) AS i;

INSERT INTO audit_records (action, created_at, data, origin_ip, resource_id, resource_type, user_id)
SELECT 'created', '2026-12-31Z', '{}', '::1', i, 'ride', 1 + i % 50000
FROM generate_series(1, 100000) AS i;
)";

}  // namespace pawl::plans
