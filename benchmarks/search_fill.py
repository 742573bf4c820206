"""Fills a migrated database with keys to search for, faster than a server could.

Of n keys every fifth is of the account "busy", the others are of 10,000 accounts. Ten have the operation "rare", every 20th
"refund_ride". A thousand are open, with an error, and 200 on the attention list. Each key has three references. A tenth as many
keys have expired before. The keys came one each 10 ms.
"""
import sqlite3

OPEN, ATTENTION = 1000, 200
KEY_COLUMNS = ('id, hash, tenant, account, idempotency_key, operation, request_method, request_path, origin, fingerprint, secret_version, '
               'params, status, attempt, recovery_point, recovery_data, call_key, response_status, response_type, response_headers, '
               'response_body, created_at, last_run_at, finished_at, expires_at, error')
PARAMS = '{"origin_lat":47.61,"origin_lon":-122.33,"target_lat":47.66,"target_lon":-122.35}'
HEADERS = '{"headers":[{"name":"Location","value":"/rides/1"}]}'
BODY = ('{"ride":1,"charge":"ch_000000000001","amount":2000,"currency":"usd","message":"Paid. Your rocket is on its way."}')


def statements(keys, sqlite):
    """The SQL texts, for tables that have no key."""
    numbers = 'WITH RECURSIVE n (i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM n WHERE i < {1}) ' if sqlite else ''
    source = 'n' if sqlite else 'generate_series({0}, {1}) AS n (i)'
    digits = 'lower(hex(randomblob({0})))' if sqlite else 'substr(md5(i::text) || md5((-i)::text), 1, 2 * {0})'
    time = ("strftime('%Y-%m-%dT%H:%M:%fZ', '2026-06-01', '+' || (i * 0.01) || ' seconds')" if sqlite
            else "timestamptz '2026-06-01Z' + i * interval '10 ms'")
    later = "'2027-06-01T00:00:00.000Z'"
    step, attention_step = max(keys // OPEN, 1), max(keys // ATTENTION, 1)
    status = f"CASE WHEN i % {step} = 3 THEN 'open' WHEN i % {attention_step} = 4 THEN 'attention' ELSE 'finished' END"

    def rows(into, columns, first, last, picked):
        return (f'INSERT INTO {into} ({columns}) {numbers.format(first, last)}'
                f'SELECT {picked} FROM {source.format(first, last)}')
    gone = keys // 10
    done = f"({status}) = 'finished'"
    yield rows('pawl_key_registry', 'id, hash', 1, keys, f'i, {digits.format(16)}')
    yield rows('pawl_key_registry', 'id, hash, state, outcome, location, expired_at', keys + 1, keys + gone,
               f"i, {digits.format(16)}, 'expired', 201, '/rides/' || i, {time}")
    yield rows('pawl_idempotency_keys', KEY_COLUMNS, 1, keys,
               f"i, {digits.format(16)}, 'rocket-rides', CASE WHEN i % 5 = 0 THEN 'busy' ELSE 'user-' || (i % 10000) END, 'key-' || i, "
               f"CASE WHEN i % {max(keys // 10, 1)} = 7 THEN 'rare' WHEN i % 20 = 0 THEN 'refund_ride' ELSE 'book_ride' END, 'POST', "
               f"'/rides', '127.0.0.1', {digits.format(32)}, 1, '{PARAMS}', {status}, 1, "
               f"CASE WHEN {done} THEN 'finished' ELSE 'ride_created' END, '{{}}', {digits.format(32)}, "
               f"CASE WHEN {done} THEN 201 END, 'application/json', '{HEADERS}', '{BODY}', {time}, {time}, "
               f"CASE WHEN {done} THEN {time} END, CASE WHEN {done} THEN {later if sqlite else later + '::timestamptz'} END, "
               f"CASE WHEN {done} THEN NULL ELSE 'the call timed out' END")
    yield ("INSERT INTO pawl_attention (key_id, attempt, recovery_point, reason, detail, since) "
           "SELECT id, 1, recovery_point, 'in-doubt', 'no answer', created_at FROM pawl_idempotency_keys WHERE status = 'attention'")
    for name, text in (('request', "'req-' || i"), ('ride', "CAST(i AS text)"), ('charge', "'ch_' || i")):
        yield rows('pawl_key_references', 'key_id, name, id', 1, keys, f"i, '{name}', {text}")
    yield rows('pawl_key_references', 'key_id, name, id', keys + 1, keys + gone, f"i, 'charge', 'ch_x' || (i - {keys})")


def fill_sqlite(path, keys):
    db = sqlite3.connect(path)
    for setting in ('journal_mode = OFF', 'synchronous = OFF', 'cache_size = -2000000'):
        db.execute('PRAGMA ' + setting)
    # Indices are built at the end: ten times as fast.
    made = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND name LIKE 'pawl_key_ref%'"
                      " OR name LIKE 'pawl_idem%' AND type = 'index' AND sql IS NOT NULL").fetchall()
    for name, _ in made:
        db.execute(f'DROP INDEX {name}')
    for text in statements(keys, True):
        db.execute(text)
    for _, text in made:
        db.execute(text)
    db.commit()
    db.execute('PRAGMA journal_mode = WAL')
    db.close()


def fill_postgres(sql, keys):
    made = sql("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'pawl_key_references_id' OR indexname LIKE "
               "'pawl_idempotency_keys_%' AND indexname NOT LIKE '%pkey'").split('\n')
    for line in made:
        sql('DROP INDEX ' + line.split()[2])
    for text in statements(keys, False):
        sql(text + ';')
    for line in made:
        sql("SET maintenance_work_mem = '1GB'; " + line + ';')
    sql('VACUUM ANALYZE;')
