-- name: open_account   ($1 name, $2 cents)
INSERT INTO accounts (name, cents) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING;
-- name: find_account   ($1 name)
SELECT name, cents FROM accounts WHERE name = $1;
-- name: take   ($1 name, $2 cents)
UPDATE accounts SET cents = cents - $2 WHERE name = $1 AND cents >= $2;
-- name: give   ($1 name, $2 cents)
UPDATE accounts SET cents = cents + $2 WHERE name = $1;
-- name: begin_payment   ($1 id, $2 payer, $3 payee, $4 cents)
INSERT INTO payments (id, payer, payee, cents, state, reference) VALUES ($1, $2, $3, $4, 'open', '');
-- name: end_payment   ($1 id, $2 state, $3 reference)
UPDATE payments SET state = $2, reference = $3 WHERE id = $1;
-- name: find_payment   ($1 id)
SELECT id, payer, payee, cents, state, reference FROM payments WHERE id = $1;
