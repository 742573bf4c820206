-- Statements of Payouts, in alphabetical order.

-- name: add_to_file   ($1 file number, $2 most payouts)
INSERT INTO bank_file_payouts (payout_id, file_number)
SELECT id, $1
FROM payouts
WHERE state = 'collected'
ORDER BY id
LIMIT $2;

-- name: count_collected
SELECT count(*) FROM payouts WHERE state = 'collected';

-- name: count_files_of_day   ($1 day)
SELECT count(*) FROM bank_files WHERE day = $1;

-- name: count_new_lines   ($1 report)
SELECT count(*) FROM bank_report_lines WHERE report_id = $1;

-- name: end_series_number   ($1 series, $2 number)
UPDATE bank_report_series
SET next_number = next_number + 1
WHERE series = $1
  AND next_number = $2;

-- name: find_file   ($1 number)
SELECT number, name, sha256 FROM bank_files WHERE number = $1;

-- name: find_file_bytes   ($1 number)
SELECT bytes FROM bank_files WHERE number = $1;

-- name: find_first_unsent
SELECT number FROM bank_files WHERE sent_at IS NULL ORDER BY number LIMIT 1;

-- name: find_payout   ($1 payout, $2 tenant, $3 account)
SELECT p.id, p.created_at, p.end_to_end_id, p.amount, p.currency, p.creditor_name, p.creditor_account, p.routing_number,
       p.reference, p.state, f.file_number, p.return_reason
FROM payouts AS p
LEFT JOIN bank_file_payouts AS f ON f.payout_id = p.id
WHERE p.id = $1
  AND p.tenant = $2
  AND p.account = $3;

-- name: find_report   ($1 report)
SELECT state, bytes, name FROM bank_reports WHERE id = $1;

-- name: find_report_of_hash   ($1 sha256)
SELECT id FROM bank_reports WHERE sha256 = $1;

-- name: find_report_of_message   ($1 sender, $2 message id)
SELECT name FROM bank_reports WHERE sender = $1 AND message_id = $2;

-- name: find_report_state   ($1 report)
SELECT state FROM bank_reports WHERE id = $1;

-- name: find_series_number   ($1 series)
SELECT next_number FROM bank_report_series WHERE series = $1;

-- name: find_wrong_line   ($1 report)
-- A line without a payout of its amount that is in a file, or a second line about the same payout.
SELECT l.end_to_end_id, l.what, l.amount, l.currency, p.state, p.amount, p.currency
FROM bank_report_lines AS l
LEFT JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
WHERE l.report_id = $1
  AND (p.id IS NULL
       OR p.state = 'collected'
       OR p.amount <> l.amount
       OR p.currency <> l.currency
       OR EXISTS (SELECT 1
                  FROM bank_report_lines AS other
                  WHERE other.end_to_end_id = l.end_to_end_id
                    AND other.what = l.what
                    AND (other.sender <> l.sender OR other.line_key <> l.line_key)))
ORDER BY l.line_key
LIMIT 1;

-- name: insert_file   ($1 number, $2 name, $3 now, $4 day, $5 bytes, $6 sha256, $7 payouts, $8 amount, $9 currency)
INSERT INTO bank_files (number, name, created_at, day, bytes, sha256, payouts, amount, currency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: insert_line   ($1 sender, $2 line key, $3 report, $4 end to end id, $5 what, $6 amount, $7 currency, $8 reason)
-- A line that came before has its key.
INSERT INTO bank_report_lines (sender, line_key, report_id, end_to_end_id, what, amount, currency, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (sender, line_key) DO NOTHING;

-- name: insert_payout   ($1 now, $2 tenant, $3 account, $4 key id, $5 end to end id, $6 amount, $7 currency, $8 creditor name,
--   $9 creditor account, $10 routing number or NULL, $11 reference)
INSERT INTO payouts (created_at, tenant, account, idempotency_key_id, end_to_end_id, amount, currency, creditor_name,
                     creditor_account, routing_number, reference)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING id;

-- name: insert_report   ($1 sha256, $2 name, $3 bytes, $4 now)
INSERT INTO bank_reports (sha256, name, bytes, fetched_at, state)
VALUES ($1, $2, $3, $4, 'fetched')
ON CONFLICT (sha256) DO NOTHING;

-- name: insert_report_name   ($1 name, $2 size, $3 modified, seconds, $4 report)
INSERT INTO bank_report_names (name, size, modified_s, report_id)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING;

-- name: insert_series   ($1 series, $2 first number)
INSERT INTO bank_report_series (series, next_number)
VALUES ($1, $2)
ON CONFLICT (series) DO NOTHING;

-- name: keep_imported   ($1 report, $2 now, $3 sender, $4 message id, $5 lines, $6 new lines)
UPDATE bank_reports
SET state = 'imported', imported_at = $2, sender = $3, message_id = $4, lines = $5, new_lines = $6, rule = NULL, found = NULL
WHERE id = $1
  AND state <> 'imported';

-- name: keep_sent   ($1 file number, $2 now)
UPDATE bank_files
SET sent_at = $2
WHERE number = $1
  AND sent_at IS NULL;

-- name: keep_stopped   ($1 report, $2 rule, $3 found)
UPDATE bank_reports
SET state = 'stopped', rule = $2, found = $3
WHERE id = $1
  AND state <> 'imported';

-- name: list_file_payouts   ($1 file number)
SELECT p.end_to_end_id, p.amount, p.currency, p.creditor_name, p.creditor_account, p.routing_number, p.reference
FROM bank_file_payouts AS f
JOIN payouts AS p ON p.id = f.payout_id
WHERE f.file_number = $1
ORDER BY p.id;

-- name: list_files
SELECT number, name, created_at, payouts, amount, currency, sha256, sent_at FROM bank_files ORDER BY number;

-- name: list_open_reports
SELECT id FROM bank_reports WHERE state <> 'imported' ORDER BY id;

-- name: list_report_names
SELECT name, size, modified_s FROM bank_report_names;

-- name: list_reports
SELECT id, name, fetched_at, state, sender, message_id, lines, new_lines, rule, found FROM bank_reports ORDER BY id;

-- name: mark_in_file   ($1 file number)
UPDATE payouts
SET state = 'in_file'
WHERE state = 'collected'
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: mark_paid   ($1 report)
-- A report may come before our own record that the file was sent: the bank has it.
UPDATE payouts
SET state = 'paid'
WHERE state IN ('in_file', 'sent')
  AND end_to_end_id IN (SELECT end_to_end_id FROM bank_report_lines WHERE report_id = $1 AND what = 'paid');

-- name: mark_returned   ($1 report)
UPDATE payouts
SET state = 'returned',
    return_reason = (SELECT max(reason)
                     FROM bank_report_lines AS l
                     WHERE l.report_id = $1
                       AND l.what = 'returned'
                       AND l.end_to_end_id = payouts.end_to_end_id)
WHERE state IN ('in_file', 'sent', 'paid')
  AND end_to_end_id IN (SELECT end_to_end_id FROM bank_report_lines WHERE report_id = $1 AND what = 'returned');

-- name: mark_sent   ($1 file number)
UPDATE payouts
SET state = 'sent'
WHERE state = 'in_file'
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: next_file_number
-- The row is locked until the commit: the numbers have no gap, and files get them in the order of their commits.
UPDATE next_bank_file
SET number = number + 1
WHERE id = 1
RETURNING number - 1;
