-- Statements on pawl_samples, of which the operator's page draws its plots.

-- name: delete_samples   ($1 before)
DELETE FROM pawl_samples
WHERE at < $1;

-- name: insert_sample   ($1 at, $2 server, $3 sample)
INSERT INTO pawl_samples (at, server, sample)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: list_samples   ($1 since, $2 limit)
SELECT at, sample
FROM pawl_samples
WHERE at >= $1
ORDER BY at, server
LIMIT $2;
