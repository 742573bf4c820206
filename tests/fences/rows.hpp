#pragma once

#include <string>

// One row of each table. Numbers and texts are such that no two columns of a row are equal.
namespace pawl::fences {

inline const std::string now{"2027-01-01T00:00:10.500Z"};
inline const std::string early{"2027-01-01T00:00:00.500Z"};
inline const std::string late{"2027-01-01T00:01:00.500Z"};

inline constexpr const char* rows_of_pawl[] = {
    "INSERT INTO pawl_key_registry (id, hash, state, generation) VALUES (50, 'hash-5', 'live', 3)",
    "INSERT INTO pawl_idempotency_keys (id, hash, tenant, account, idempotency_key, operation, "
    "request_method, request_path, origin, fingerprint, secret_version, params, status, attempt, "
    "lease_until, recovery_point, recovery_data, generation, call_key, called_at, call_target, "
    "calling, created_at, last_run_at, completer_runs, server_id) "
    "VALUES (50, 'hash-5', 'tenant', 'ann', 'key-5', 'book_ride', 'POST', '/rides', '::1', 'f', 1, "
    "'{}', 'open', 7, '2027-01-01T00:00:10.500Z', 'ride_created', '{}', 3, 'call-5', "
    "'2027-01-01T00:00:00.500Z', 'bank-5', false, '2027-01-01T00:00:00.500Z', "
    "'2027-01-01T00:00:00.500Z', 1, 9)",
    "INSERT INTO pawl_attention (key_id, attempt, recovery_point, reason, detail, since) "
    "VALUES (50, 7, 'ride_created', 'in-doubt', 'no answer', '2027-01-01T00:00:00.500Z')",
    "INSERT INTO pawl_inquiries (key_id, generation, recovery_point, since, asked_at, times, "
    "answer, detail) VALUES (50, 3, 'ride_created', '2027-01-01T00:00:00.500Z', "
    "'2027-01-01T00:00:00.500Z', 2, 'undecided', 'late')",
    "INSERT INTO pawl_calls_not_made (key_id, generation, recovery_point, call_target, proof, "
    "detail, at) VALUES (50, 3, 'ride_created', 'bank-5', 'refused', 'no', "
    "'2027-01-01T00:00:00.500Z')",
    "INSERT INTO pawl_unrecorded_results (key_id, generation, recovery_point, result_name, result, "
    "error, since, tries) VALUES (50, 3, 'ride_created', 'Charge', '{}', 'a bug', "
    "'2027-01-01T00:00:00.500Z', 2)",
    "INSERT INTO pawl_key_events (key_id, attempt, part, events) VALUES (50, 7, 1, '{}')",
    "INSERT INTO pawl_key_references (key_id, name, id) VALUES (50, 'ride', 'r-5')",
    "INSERT INTO pawl_jobs (id, jid, queue, kind, args, state, run_at, attempt, failures, "
    "lease_until, called_at, created_at, unique_hash, priority, partition, server_id, deaths) "
    "VALUES (60, 'jid-5', 'mails-5', 'receipt', '{}', 'running', '2027-01-01T00:00:10.500Z', 7, 2, "
    "'2027-01-01T00:00:10.500Z', '2027-01-01T00:00:00.500Z', '2027-01-01T00:00:00.500Z', 'u-5', 2, "
    "'part-5', 9, 1)",
    "INSERT INTO pawl_dead_jobs (id, jid, queue, kind, args, attempt, failures, created_at, "
    "history, error_kind, died_at) VALUES (61, 'jid-6', 'mails-5', 'receipt', '{}', 7, 5, "
    "'2027-01-01T00:00:00.500Z', '[]', 'HTTP 503', '2027-01-01T00:00:10.500Z')",
    "INSERT INTO pawl_staged_jobs (id, jid, queue, kind, args, run_at, claimed_until, created_at, "
    "server_id) VALUES (62, 'jid-7', 'mails-5', 'receipt', '{}', '2027-01-01T00:00:10.500Z', "
    "'2027-01-01T00:00:10.500Z', '2027-01-01T00:00:00.500Z', 9)",
    "INSERT INTO pawl_servers (id, host, version, since, seen_at, beats) VALUES (9, 'host', '1.0', "
    "'2027-01-01T00:00:00.500Z', '2027-01-01T00:00:10.500Z', 4)",
    "INSERT INTO pawl_leases (name, epoch, holder, lease_until, ttl_ms) "
    "VALUES ('lease-5', 7, 'holder-5', '2027-01-01T00:00:10.500Z', 30000)",
    "INSERT INTO pawl_fencing_tokens (name, epoch) VALUES ('lease-5', 7)",
    "INSERT INTO pawl_once_windows (hash, over_at, result) "
    "VALUES ('window-5', '2027-01-01T00:00:10.500Z', '1')",
    "INSERT INTO pawl_schedules (name, schedule, next_at) "
    "VALUES ('daily-5', '@daily-5', '2027-01-01T00:00:10.500Z')",
    "INSERT INTO pawl_queue_limits (queue, running_max, partition_max, rate, full_at) "
    "VALUES ('mails-5', 10, 2, '', 0)",
    "INSERT INTO pawl_paused_queues (queue, since, actor, reason) "
    "VALUES ('mails-5', '2027-01-01T00:00:00.500Z', 'ann', 'why')",
    "INSERT INTO pawl_inbox (jid, done_at) VALUES ('done-5', '2027-01-01T00:00:10.500Z')",
    "INSERT INTO pawl_job_calls (id, called_at) VALUES ('done-5', '2027-01-01T00:00:10.500Z')",
    "INSERT INTO pawl_kafka_marks (topic, partition, record_offset, what, actor, at, reason, life) "
    "VALUES ('topic-5', 4, 100, 'merging', 'ann', '2027-01-01T00:00:00.500Z', 'why', 'life')",
    "INSERT INTO pawl_installation_secrets (version, secret, created_at) "
    "VALUES (5, 'secret', '2027-01-01T00:00:00.500Z')",
    "INSERT INTO pawl_installation_secret_verifiers (version, verifier, created_at) "
    "VALUES (5, 'verifier', '2027-01-01T00:00:00.500Z')",
    "INSERT INTO pawl_samples (at, server, sample) VALUES ('2027-01-01T00:00:10.500Z', 9, '{}')",
    "INSERT INTO pawl_audit_log (id, at, actor, action, key_id, detail) "
    "VALUES (80, '2027-01-01T00:00:00.500Z', 'ann', 'settle', 50, '{}')",
};

inline constexpr const char* rows_of_rides[] = {
    "INSERT INTO users (id, email, stripe_customer_id, points, role) "
    "VALUES (5, 'ann-5', 'cus-5', 10, 'rider')",
    "INSERT INTO rides (id, created_at, idempotency_key_id, tenant, origin_lat, origin_lon, "
    "target_lat, target_lon, state, amount, currency, stripe_charge_id, user_id) VALUES (30, "
    "'2027-01-01T00:00:10.500Z', 50, 'tenant-5', 47.6, -122.3, 47.6, -122.3, 'booked', 2000, "
    "'usd', 'charge-5', 5)",
    "INSERT INTO ride_refunds (ride_id, key, created_at, amount, state) "
    "VALUES (30, 'refund-5', '2027-01-01T00:00:10.500Z', 2000, 'made')",
    "INSERT INTO trips (id, created_at, idempotency_key_id, tenant, origin_lat, origin_lon, "
    "target_lat, target_lon, state, share, rest, currency, share_charge_id, hold_id, "
    "rest_charge_id, user_id) VALUES (40, '2027-01-01T00:00:10.500Z', 51, 'tenant-5', 47.6, "
    "-122.3, 47.6, -122.3, 'booked', 500, 1500, 'usd', 'share-5', 'hold-5', 'rest-5', 5)",
    "INSERT INTO provider_events (id, type, created_at, received_at, charge_id, amount, "
    "amount_refunded, object) VALUES ('event-5', 'charge.succeeded', '2027-01-01T00:00:10.500Z', "
    "'2027-01-01T00:00:10.500Z', 'charge-5', 2000, 0, '{}')",
    "INSERT INTO reconcile_differences (charge_id, day, kind, amount, currency, detail, state, "
    "first_seen, last_seen) VALUES ('charge-5', '2027-01-05', 'differs', 2000, 'usd', '', 'open', "
    "'2027-01-01T00:00:00.500Z', '2027-01-01T00:00:10.499Z')",
    "INSERT INTO ended_sessions (id, began) VALUES ('session-5', '2027-01-01T00:00:10.499Z')",
};

// Payouts 9 and 11, files 19 and 21 and reports 69 and 71 are neighbours, as others refer to them.
inline constexpr const char* rows_of_payouts[] = {
    "INSERT INTO payouts (id, created_at, tenant, account, idempotency_key_id, end_to_end_id, "
    "amount, currency, creditor_name, creditor_account, reference, state, return_reason) VALUES "
    "(10, '2027-01-01T00:00:00.500Z', 'tenant-5', 'ann-5', 50, 'end-5', 500, 'USD', 'Bob', 'DE1', "
    "'r', 'sent', NULL), "
    "(9, '2027-01-01T00:00:00.500Z', 'tenant', 'ann', 49, 'end-0', 500, 'USD', 'Bob', 'DE1', "
    "'r', 'returned', 'AC01'), "
    "(11, '2027-01-01T00:00:00.500Z', 'tenant', 'ann', 51, 'end-9', 500, 'USD', 'Bob', 'DE1', "
    "'r', 'returned', 'AC01')",
    "INSERT INTO bank_files (number, name, created_at, day, bytes, sha256, payouts, amount, "
    "currency, sent_at) VALUES (20, 'file', '2027-01-01T00:00:00.500Z', '2027-01-05', {bytes}, "
    "'0123456789012345678901234567890123456789012345678901234567890123', 1, 500, 'USD', "
    "'2027-01-01T00:00:10.500Z')",
    "INSERT INTO bank_files (number, name, created_at, day, bytes, sha256, payouts, amount, "
    "currency, sent_at) SELECT number - 1, 'file 19', created_at, 'never', bytes, sha256, payouts, "
    "amount, currency, sent_at FROM bank_files WHERE number = 20",
    "INSERT INTO bank_files (number, name, created_at, day, bytes, sha256, payouts, amount, "
    "currency, sent_at) SELECT number + 1, 'file 21', created_at, 'never', bytes, sha256, payouts, "
    "amount, currency, sent_at FROM bank_files WHERE number = 20",
    "INSERT INTO bank_file_payouts (payout_id, file_number) VALUES (10, 20)",
    "INSERT INTO bank_reports (id, sha256, name, bytes, fetched_at, state, rule, found, sender, "
    "message_id) VALUES (70, 'sha-5', 'report', {bytes}, '2027-01-01T00:00:00.500Z', 'stopped', "
    "'rule', 'found', 'bank-5', 'message-5')",
    "INSERT INTO bank_reports (id, sha256, name, bytes, fetched_at, state) SELECT id - 1, 'sha-0', "
    "'other', bytes, fetched_at, 'imported' FROM bank_reports WHERE id = 70",
    "INSERT INTO bank_reports (id, sha256, name, bytes, fetched_at, state) SELECT id + 1, 'sha-9', "
    "'other', bytes, fetched_at, 'imported' FROM bank_reports WHERE id = 70",
    "INSERT INTO bank_report_lines (sender, line_key, report_id, end_to_end_id, what, amount, "
    "currency, reason) VALUES ('bank-5', 'line-5', 70, 'end-5', 'paid', 500, 'USD', '')",
    "INSERT INTO bank_set_aside_items (report_id, place, rule, found, end_to_end_id) "
    "VALUES (70, 1, 'rule', 'found', 'end-x')",
    "INSERT INTO bank_report_series (series, next_number) VALUES ('series-5', 8)",
    "INSERT INTO bank_skipped_numbers (series, number, report_id) VALUES ('series-5', 8, 70)",
};

}  // namespace pawl::fences
