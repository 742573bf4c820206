-- Statements of Payouts about payouts and files, in alphabetical order.

-- name: add_lost_to_file
-- The payouts that the bank has in a file which this database had lost, unless that file was cancelled.
INSERT INTO bank_file_payouts (payout_id, file_number)
SELECT p.id, l.file_number
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
JOIN bank_files AS f ON f.number = l.file_number
WHERE p.state = 'collected'
  AND p.amount = l.amount
  AND COALESCE(p.routing_number || '/', '') || p.creditor_account = l.creditor_account
  AND f.cancelled_at IS NULL;

-- name: add_to_file   ($1 file number, $2 most payouts)
INSERT INTO bank_file_payouts (payout_id, file_number)
SELECT id, $1
FROM payouts
WHERE state = 'collected'
  AND set_aside IS NULL
  AND (NOT EXISTS (SELECT 1 FROM bank_reports WHERE state <> 'imported' AND state = 'fetched')
       OR NOT EXISTS (SELECT 1 FROM bank_file_moves AS m WHERE m.payout_id = payouts.id))
ORDER BY id
LIMIT $2;

-- name: answer_restores   ($1 now)
INSERT INTO bank_restores (epoch, answered_at)
SELECT epoch, $1
FROM pawl_epochs
WHERE epoch > (SELECT COALESCE(max(epoch), 0) FROM bank_restores);

-- name: cancel_file   ($1 number, $2 now)
UPDATE bank_files
SET cancelled_at = $2, sent_at = COALESCE(sent_at, $2)
WHERE number = $1
  AND cancelled_at IS NULL
  AND (sent_at IS NOT NULL OR given_up_at IS NOT NULL);

-- name: claim_file   ($1 number, $2 key id of the request)
-- For one request only: no other one sends the file, also after the job of the first was cancelled.
UPDATE bank_files
SET request_id = $2
WHERE number = $1
  AND (request_id IS NULL OR request_id = $2)
RETURNING number, name, sha256;

-- name: collect_again   ($1 file number)
UPDATE payouts
SET state = 'collected'
WHERE state IN ('in_file', 'sent')
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: count_answered   ($1 file number)
SELECT count(*)
FROM bank_file_payouts AS f
JOIN payouts AS p ON p.id = f.payout_id
WHERE f.file_number = $1
  AND p.state NOT IN ('in_file', 'sent');

-- name: count_files_of_day   ($1 day)
SELECT count(*) FROM bank_files WHERE day = $1;

-- name: count_lost_found
SELECT count(*)
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
JOIN bank_file_payouts AS i ON i.payout_id = p.id
WHERE i.file_number = l.file_number;

-- name: count_lost_in_other_files
SELECT count(*)
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
JOIN bank_file_payouts AS i ON i.payout_id = p.id
WHERE i.file_number <> l.file_number
   OR l.amount = 0;

-- name: count_lost_refused
SELECT count(*)
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
WHERE p.state = 'returned'
  AND NOT EXISTS (SELECT 1 FROM bank_file_payouts AS i WHERE i.payout_id = p.id);

-- name: count_lost_set_aside
SELECT count(*)
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
WHERE p.state = 'collected'
  AND p.set_aside IS NOT NULL;

-- name: count_restores
SELECT count(*) FROM pawl_epochs;

-- name: count_unsent_files
SELECT count(*) FROM bank_files WHERE sent_at IS NULL AND given_up_at IS NULL;

-- name: find_file_bytes   ($1 number)
SELECT bytes, sent_at, given_up_at, cancelled_at FROM bank_files WHERE number = $1;

-- name: find_file_state   ($1 number)
SELECT number, name, sent_at, given_up_at, cancelled_at FROM bank_files WHERE number = $1;

-- name: find_file_to_name   ($1 number)
SELECT sha256, sent_at, given_up_at, cancelled_at FROM bank_files WHERE number = $1;

-- name: find_first_unsent
SELECT number FROM bank_files WHERE sent_at IS NULL AND given_up_at IS NULL ORDER BY number LIMIT 1;

-- name: find_next_file
SELECT number FROM next_bank_file WHERE id = 1;

-- name: find_open_restore
-- A person has not said yet which files the bank got in the lost time.
SELECT epoch
FROM pawl_epochs
WHERE epoch > (SELECT COALESCE(max(epoch), 0) FROM bank_restores)
ORDER BY epoch DESC
LIMIT 1;

-- name: find_payout   ($1 payout, $2 tenant, $3 account)
SELECT p.id, p.created_at, p.end_to_end_id, p.amount, p.currency, p.creditor_name, p.creditor_account, p.routing_number,
       p.reference,
       CASE WHEN p.set_aside IS NULL OR p.state <> 'collected' THEN p.state ELSE 'set_aside' END AS state,
       f.file_number, COALESCE(p.return_reason, p.set_aside) AS return_reason
FROM payouts AS p
LEFT JOIN bank_file_payouts AS f ON f.payout_id = p.id
WHERE p.id = $1
  AND p.tenant = $2
  AND p.account = $3;

-- name: find_payout_of_end_to_end   ($1 end to end id)
SELECT id, state, amount, currency FROM payouts WHERE end_to_end_id = $1;

-- name: forget_moves   ($1 file number)
DELETE FROM bank_file_moves WHERE file_number = $1;

-- name: give_up_file   ($1 number, $2 now)
UPDATE bank_files
SET given_up_at = $2
WHERE number = $1
  AND sent_at IS NULL;

-- name: insert_file   ($1 number, $2 name, $3 now, $4 day, $5 bytes, $6 sha256, $7 payouts, $8 amount, $9 currency)
INSERT INTO bank_files (number, name, created_at, day, bytes, sha256, payouts, amount, currency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: insert_lost_payout   ($1 end to end id, $2 file number, $3 amount, $4 creditor account)
-- A later file has the payouts of one that the bank has refused. Amount 0: the bank has another file under the number, too.
INSERT INTO bank_lost_payouts (end_to_end_id, file_number, amount, creditor_account)
VALUES ($1, $2, $3, $4)
ON CONFLICT (end_to_end_id) DO UPDATE
SET file_number = excluded.file_number, amount = excluded.amount, creditor_account = excluded.creditor_account
WHERE bank_lost_payouts.file_number < excluded.file_number;

-- name: insert_payout   ($1 now, $2 tenant, $3 account, $4 key id, $5 end to end id, $6 amount, $7 currency, $8 creditor name,
--   $9 creditor account, $10 routing number or NULL, $11 reference)
INSERT INTO payouts (created_at, tenant, account, idempotency_key_id, end_to_end_id, amount, currency, creditor_name,
                     creditor_account, routing_number, reference)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING id;

-- name: keep_sent   ($1 file number, $2 now)
UPDATE bank_files
SET sent_at = $2
WHERE number = $1
  AND sent_at IS NULL;

-- name: leave_file   ($1 file number)
-- Those of move_out.
DELETE FROM bank_file_payouts
WHERE file_number = $1
  AND payout_id IN (SELECT payout_id FROM bank_file_moves WHERE file_number = $1);

-- name: list_file_payouts   ($1 file number)
-- Also of a cancelled file.
SELECT p.id, p.end_to_end_id, p.amount, p.currency, p.creditor_name, p.creditor_account, p.state, p.set_aside
FROM payouts AS p
WHERE p.id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1
               UNION
               SELECT payout_id FROM bank_file_moves WHERE file_number = $1)
ORDER BY p.id;

-- name: list_file_references   ($1 file number)
SELECT p.end_to_end_id
FROM payouts AS p
JOIN bank_file_payouts AS f ON f.payout_id = p.id
WHERE f.file_number = $1;

-- name: list_files
SELECT number, name, created_at, payouts, amount, currency, sha256, sent_at, given_up_at, cancelled_at
FROM bank_files
ORDER BY number;

-- name: list_overtaken_files
-- Unsent, though the bank has some of their payouts in another file. 1: its request was not given up.
SELECT DISTINCT f.number, CASE WHEN f.request_id IS NOT NULL AND f.given_up_at IS NULL THEN 1 ELSE 0 END
FROM bank_lost_payouts AS l
JOIN payouts AS p ON p.end_to_end_id = l.end_to_end_id
JOIN bank_file_payouts AS i ON i.payout_id = p.id
JOIN bank_files AS f ON f.number = i.file_number
WHERE f.number <> l.file_number
  AND f.sent_at IS NULL
  AND f.cancelled_at IS NULL
ORDER BY f.number;

-- name: list_set_aside
SELECT id, end_to_end_id, amount, currency, creditor_name, creditor_account, set_aside
FROM payouts
WHERE state = 'collected'
  AND set_aside IS NOT NULL
ORDER BY id;

-- name: list_unsent_of_backup
-- 1: its request was begun.
SELECT number, CASE WHEN request_id IS NOT NULL THEN 1 ELSE 0 END
FROM bank_files
WHERE sent_at IS NULL
  AND given_up_at IS NULL
  AND created_at < (SELECT max(opened_at) FROM pawl_epochs)
ORDER BY number;

-- name: list_waiting   ($1 most payouts)
-- In the order in which add_to_file puts them. A report that is not imported may name those of cancelled files: they wait for
-- its import. Both conditions of reports, as their index has the first one.
SELECT end_to_end_id, amount, currency, creditor_name, creditor_account, routing_number, reference
FROM payouts
WHERE state = 'collected'
  AND set_aside IS NULL
  AND (NOT EXISTS (SELECT 1 FROM bank_reports WHERE state <> 'imported' AND state = 'fetched')
       OR NOT EXISTS (SELECT 1 FROM bank_file_moves AS m WHERE m.payout_id = payouts.id))
ORDER BY id
LIMIT $1;

-- name: list_withdrawn   ($1 file number)
-- The files that were given up and cancelled, and whose payouts this one has. Not one that the bank is known to have, as a report has
-- named some of its payouts, which are in it still.
SELECT name, bytes
FROM bank_files
WHERE given_up_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM bank_file_payouts AS kept WHERE kept.file_number = bank_files.number)
  AND number IN (SELECT m.file_number
                 FROM bank_file_moves AS m
                 JOIN bank_file_payouts AS f ON f.payout_id = m.payout_id
                 WHERE f.file_number = $1)
ORDER BY number;

-- name: lock_next_file
-- Written, so that of a cancellation, a cut-off and an import that run at once one is rolled back and run again.
UPDATE next_bank_file SET number = number WHERE id = 1;

-- name: mark_in_file   ($1 file number)
UPDATE payouts
SET state = 'in_file'
WHERE state = 'collected'
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: mark_lost_sent
-- Those of add_lost_to_file: no other payout that is in a file is collected.
UPDATE payouts
SET state = 'sent', set_aside = NULL
WHERE state = 'collected'
  AND id IN (SELECT f.payout_id
             FROM bank_file_payouts AS f
             JOIN bank_lost_payouts AS l ON l.file_number = f.file_number);

-- name: mark_sent   ($1 file number)
UPDATE payouts
SET state = 'sent'
WHERE state = 'in_file'
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: move_out   ($1 file number, $2 now)
INSERT INTO bank_file_moves (payout_id, file_number, moved_at)
SELECT payout_id, file_number, $2
FROM bank_file_payouts
WHERE file_number = $1
  AND payout_id IN (SELECT id FROM payouts WHERE state IN ('in_file', 'sent'));

-- name: next_file_number
-- The row is locked until the commit: the numbers have no gap, and files get them in the order of their commits.
UPDATE next_bank_file
SET number = number + 1
WHERE id = 1
RETURNING number - 1;

-- name: raise_next_file   ($1 number)
UPDATE next_bank_file
SET number = $1
WHERE number < $1;

-- name: refuse_payout   ($1 payout, $2 reason)
UPDATE payouts
SET state = 'returned', return_reason = $2
WHERE id = $1
  AND state = 'collected'
  AND set_aside IS NOT NULL;

-- name: release_payout   ($1 payout)
UPDATE payouts
SET set_aside = NULL
WHERE id = $1
  AND state = 'collected'
  AND set_aside IS NOT NULL;

-- name: release_waiting   ($1 why)
UPDATE payouts
SET set_aside = NULL
WHERE state = 'collected'
  AND set_aside = $1;

-- name: reopen_file   ($1 number, $2 bytes, $3 sha256, $4 payouts, $5 amount)
-- The bank has it after all, or had this one under the number before a restore.
UPDATE bank_files
SET bytes = $2, sha256 = $3, payouts = $4, amount = $5, sent_at = NULL, given_up_at = NULL, cancelled_at = NULL
WHERE number = $1;

-- name: set_aside   ($1 end to end id, $2 why)
UPDATE payouts
SET set_aside = $2
WHERE end_to_end_id = $1
  AND state = 'collected';

-- name: set_aside_lost
-- Of those that the bank has, what add_lost_to_file has left. Amount 0: of another file under the number, so that ours may be cancelled.
UPDATE payouts
SET set_aside = 'the bank has its end-to-end id in a file of before the restore, with another amount, account or number'
WHERE state = 'collected'
  AND set_aside IS NULL
  AND EXISTS (SELECT 1
              FROM bank_lost_payouts AS l
              JOIN bank_files AS f ON f.number = l.file_number
              WHERE l.end_to_end_id = payouts.end_to_end_id
                AND (l.amount <> payouts.amount
                     OR COALESCE(payouts.routing_number || '/', '') || payouts.creditor_account <> l.creditor_account)
                AND (f.cancelled_at IS NULL OR l.amount = 0));

-- name: set_aside_moved   ($1 why, $2 file number)
-- Of before a restore.
UPDATE payouts
SET set_aside = $1
WHERE state = 'collected'
  AND set_aside IS NULL
  AND id IN (SELECT payout_id FROM bank_file_moves WHERE file_number = $2)
  AND created_at < (SELECT max(opened_at) FROM pawl_epochs);

-- name: set_aside_payout_of_file   ($1 file number, $2 payout, $3 why)
-- Before the payout leaves the file.
UPDATE payouts
SET set_aside = $3
WHERE id = $2
  AND id IN (SELECT payout_id FROM bank_file_payouts WHERE file_number = $1);

-- name: set_aside_waiting   ($1 why)
-- Of before the restore.
UPDATE payouts
SET set_aside = $1
WHERE state = 'collected'
  AND set_aside IS NULL
  AND created_at < (SELECT max(opened_at) FROM pawl_epochs);
