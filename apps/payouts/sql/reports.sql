-- Statements of Payouts about the bank's reports, in alphabetical order.

-- name: add_skipped_number   ($1 series, $2 number, $3 report or NULL)
INSERT INTO bank_skipped_numbers (series, number, report_id)
VALUES ($1, $2, $3)
ON CONFLICT (series, number) DO NOTHING;

-- name: count_new_lines   ($1 report)
SELECT count(*) FROM bank_report_lines WHERE report_id = $1;

-- name: count_open_items   ($1 report)
SELECT count(*) FROM bank_set_aside_items WHERE report_id = $1 AND decision IS NULL;

-- name: decide_items   ($1 report, $2 decision)
UPDATE bank_set_aside_items
SET decision = $2
WHERE report_id = $1
  AND decision IS NULL;

-- name: decide_report   ($1 report, $2 decision, $3 now, $4 lines, $5 replaced by or NULL)
-- What was wrong stays in found.
UPDATE bank_reports
SET state = 'imported', decision = $2, imported_at = $3, lines = $4, new_lines = $4, replaced_by = $5,
    found = COALESCE(rule || ': ', '') || found, rule = NULL
WHERE id = $1
  AND (state <> 'imported' OR decision = 'unread');

-- name: delete_line   ($1 sender, $2 line key)
DELETE FROM bank_report_lines WHERE sender = $1 AND line_key = $2;

-- name: drop_skipped_number   ($1 series, $2 number)
DELETE FROM bank_skipped_numbers WHERE series = $1 AND number = $2;

-- name: end_series_number   ($1 series, $2 number)
UPDATE bank_report_series
SET next_number = next_number + 1
WHERE series = $1
  AND next_number = $2;

-- name: find_item_of_file   ($1 file number)
-- An undecided item that names a payout of the file, or that may be about any and came after the file was made.
SELECT i.report_id, i.end_to_end_id
FROM bank_set_aside_items AS i
JOIN bank_reports AS r ON r.id = i.report_id
WHERE i.decision IS NULL
  AND ((i.end_to_end_id = '' AND r.fetched_at >= (SELECT max(created_at) FROM bank_files WHERE number = $1))
       OR i.end_to_end_id IN (SELECT p.end_to_end_id
                              FROM payouts AS p
                              JOIN bank_file_payouts AS f ON f.payout_id = p.id
                              WHERE f.file_number = $1))
ORDER BY i.report_id, i.place
LIMIT 1;

-- name: find_report   ($1 report)
SELECT state, bytes, name FROM bank_reports WHERE id = $1;

-- name: find_report_bytes   ($1 report)
SELECT bytes FROM bank_reports WHERE id = $1;

-- name: find_report_of_hash   ($1 sha256)
SELECT id FROM bank_reports WHERE sha256 = $1;

-- name: find_report_of_message   ($1 sender, $2 message id)
SELECT name FROM bank_reports WHERE sender = $1 AND message_id = $2;

-- name: find_report_shown   ($1 report)
SELECT id, name, fetched_at, COALESCE(decision, state) AS state, sender, message_id, lines, new_lines, rule, found, replaced_by,
       (SELECT count(*) FROM bank_set_aside_items AS i WHERE i.report_id = bank_reports.id AND i.decision IS NULL) AS set_aside
FROM bank_reports
WHERE id = $1;

-- name: find_report_state   ($1 report)
SELECT state FROM bank_reports WHERE id = $1;

-- name: find_series_number   ($1 series)
SELECT next_number FROM bank_report_series WHERE series = $1;

-- name: insert_item   ($1 report, $2 place, $3 rule, $4 found, $5 end to end id)
INSERT INTO bank_set_aside_items (report_id, place, rule, found, end_to_end_id)
VALUES ($1, $2, $3, $4, $5);

-- name: insert_line   ($1 sender, $2 line key, $3 report, $4 end to end id, $5 what, $6 amount, $7 currency, $8 reason)
-- A line that came before has its key.
INSERT INTO bank_report_lines (sender, line_key, report_id, end_to_end_id, what, amount, currency, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (sender, line_key) DO NOTHING;

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

-- name: insert_unread_report   ($1 sha256 of its name, size and time, $2 name, $3 no bytes, $4 now, $5 found)
INSERT INTO bank_reports (sha256, name, bytes, fetched_at, state, decision, found)
VALUES ($1, $2, $3, $4, 'imported', 'unread', $5)
ON CONFLICT (sha256) DO NOTHING;

-- name: keep_imported   ($1 report, $2 now, $3 sender, $4 message id, $5 lines, $6 new lines)
UPDATE bank_reports
SET state = 'imported', imported_at = $2, sender = $3, message_id = $4, lines = $5, new_lines = $6, rule = NULL, found = NULL
WHERE id = $1
  AND state <> 'imported';

-- name: keep_stopped   ($1 report, $2 rule, $3 found)
UPDATE bank_reports
SET state = 'stopped', rule = $2, found = $3
WHERE id = $1
  AND state <> 'imported';

-- name: list_items   ($1 report)
SELECT rule, found, end_to_end_id, decision FROM bank_set_aside_items WHERE report_id = $1 ORDER BY place;

-- name: list_numbers_of_report   ($1 report)
SELECT series, number FROM bank_skipped_numbers WHERE report_id = $1 ORDER BY series, number;

-- name: list_open_reports   ($1 file number)
-- Nobody has decided about them. since: 1 if the report came after the file was made.
SELECT r.id, r.state, (SELECT count(*) FROM bank_files AS f WHERE f.number = $1 AND f.created_at <= r.fetched_at) AS since
FROM bank_reports AS r
WHERE r.state <> 'imported'
   OR r.decision = 'unread'
ORDER BY r.id;

-- name: list_report_lines   ($1 report)
SELECT end_to_end_id, what, amount, currency, reason FROM bank_report_lines WHERE report_id = $1 ORDER BY line_key;

-- name: list_report_names
SELECT name, size, modified_s FROM bank_report_names;

-- name: list_reports
SELECT id, name, fetched_at, COALESCE(decision, state) AS state, sender, message_id, lines, new_lines, rule, found, replaced_by,
       (SELECT count(*) FROM bank_set_aside_items AS i WHERE i.report_id = bank_reports.id AND i.decision IS NULL) AS set_aside
FROM bank_reports
ORDER BY id;

-- name: list_stopped_reports
-- Whose cause another report may have removed.
SELECT id
FROM bank_reports
WHERE state <> 'imported'
  AND rule IN ('numbers without a gap', 'unknown reference')
ORDER BY id;

-- name: list_wrong_lines   ($1 report)
-- A line without a payout of its amount that is in a file, a payment of one that a person has refused, or a second line about
-- the same payout.
SELECT l.sender, l.line_key, l.end_to_end_id, l.what, l.amount, l.currency, p.state, p.amount, p.currency,
       p.set_aside, f.file_number
FROM bank_report_lines AS l
LEFT JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
LEFT JOIN bank_file_payouts AS f ON f.payout_id = p.id
WHERE l.report_id = $1
  AND (p.id IS NULL
       OR p.state = 'collected'
       OR (p.state = 'returned' AND f.file_number IS NULL AND l.what = 'paid')
       OR p.amount <> l.amount
       OR p.currency <> l.currency
       OR EXISTS (SELECT 1
                  FROM bank_report_lines AS other
                  WHERE other.end_to_end_id = l.end_to_end_id
                    AND other.what = l.what
                    AND (other.sender <> l.sender OR other.line_key <> l.line_key)))
ORDER BY l.line_key;

-- name: lock_series_number   ($1 series)
-- Written, so that of two concurrent reports of a series one is rolled back and run again: a lock alone does not do that.
UPDATE bank_report_series SET next_number = next_number WHERE series = $1 RETURNING next_number;

-- name: mark_paid   ($1 report)
-- A report may come before our own record that the file was sent: the bank has it. Only a person settles a payout that is in no
-- file, as its file was cancelled, or that a person has refused.
UPDATE payouts
SET state = 'paid', set_aside = NULL, return_reason = NULL
WHERE (state IN ('in_file', 'sent')
       OR (state = 'collected' AND set_aside IS NOT NULL)
       OR (state = 'returned' AND NOT EXISTS (SELECT 1 FROM bank_file_payouts AS f WHERE f.payout_id = payouts.id)))
  AND end_to_end_id IN (SELECT end_to_end_id FROM bank_report_lines WHERE report_id = $1 AND what = 'paid');

-- name: mark_returned   ($1 report)
UPDATE payouts
SET state = 'returned',
    return_reason = (SELECT max(reason)
                     FROM bank_report_lines AS l
                     WHERE l.report_id = $1
                       AND l.what = 'returned'
                       AND l.end_to_end_id = payouts.end_to_end_id)
WHERE (state IN ('in_file', 'sent', 'paid') OR (state = 'collected' AND set_aside IS NOT NULL))
  AND end_to_end_id IN (SELECT end_to_end_id FROM bank_report_lines WHERE report_id = $1 AND what = 'returned');

-- name: pass_skipped_number   ($1 series)
UPDATE bank_report_series
SET next_number = next_number + 1
WHERE series = $1
  AND EXISTS (SELECT 1
              FROM bank_skipped_numbers AS s
              WHERE s.series = $1
                AND s.number = bank_report_series.next_number);

-- name: set_aside_named [sqlite]   ($1 end to end ids, a JSON list, $2 why)
-- A list is JSON text, which each database reads in its own way.
UPDATE payouts
SET set_aside = COALESCE(set_aside || '; ', '') || $2
WHERE state = 'collected'
  AND end_to_end_id IN (SELECT value FROM json_each($1))
RETURNING end_to_end_id;

-- name: set_aside_named [postgres]
UPDATE payouts
SET set_aside = COALESCE(set_aside || '; ', '') || $2
WHERE state = 'collected'
  AND end_to_end_id = ANY (ARRAY(SELECT json_array_elements_text($1::json)))
RETURNING end_to_end_id;

-- name: set_aside_of_cancelled   ($1 why)
-- They were at the bank, perhaps.
UPDATE payouts
SET set_aside = $1
WHERE state = 'collected'
  AND set_aside IS NULL
  AND id IN (SELECT payout_id FROM bank_file_moves)
RETURNING end_to_end_id;
