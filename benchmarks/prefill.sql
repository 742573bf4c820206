-- :keys settled keys, as rides leave them: their registry rows, keys and rides. The newest is an hour old.
BEGIN;
INSERT INTO key_registry (id, hash)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :keys)
SELECT i, lower(hex(randomblob(16))) FROM n;
INSERT INTO idempotency_keys
    (id, hash, tenant, account, idempotency_key, operation, request_method, request_path, origin, fingerprint,
     secret_version, params, standing, attempt, recovery_point, recovery_data, call_key, called_at, response_status,
     response_type, response_headers, response_body, created_at, last_run_at, finished_at, expires_at)
SELECT id, hash, 'rides', 'jane@example.com', 'old-' || id, 'book_ride', 'POST', '/rides', '127.0.0.1',
       hash || hash, 1, '{"origin_lat":47.61,"origin_lon":-122.33,"target_lat":47.66,"target_lon":-122.35}',
       'finished', 1, 'finished', '{}', hash || hash, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour'), 201,
       'application/json', '{"headers":[{"name":"Location","value":"/rides/' || id || '"}]}',
       '{"ride":' || id || ',"charge":"ch_old' || id || '","amount":2000,"currency":"usd","message":"Paid. Your rocket is on its way."}',
       strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour'),
       strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+71 hours')
FROM key_registry
WHERE NOT EXISTS (SELECT 1 FROM idempotency_keys AS k WHERE k.id = key_registry.id);
COMMIT;
