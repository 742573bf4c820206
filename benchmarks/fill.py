"""Fills a database with copies of a finished ride, faster than a server could."""
import sqlite3

KEY_COLUMNS_OWN = {
    'id': 'r.id',
    'hash': 'r.hash',
    'idempotency_key': "'fill-' || r.id",
    'fingerprint': 'lower(hex(randomblob(32)))',
    'call_key': 'lower(hex(randomblob(32)))',
    'response_headers': "replace(t.response_headers, '/rides/' || $ride, '/rides/' || r.id)",
    'response_body': "replace(t.response_body, '\"ride\":' || $ride, '\"ride\":' || r.id)",
    # Ordered by id, and before the server's later rows: as if one ride had come each millisecond.
    'expires_at': "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+60 hours', (r.id * 0.001) || ' seconds')",
}
RIDE_COLUMNS_OWN = {
    'id': 'r.id',
    'idempotency_key_id': 'r.id',
    'stripe_charge_id': "printf('ch_f%011d', r.id)",
}
AUDIT_COLUMNS_OWN = {'id': 'r.id', 'resource_id': 'r.id'}


def copy_rows(db, table, own, template, values):
    """A row of `table` for each registry key without one: a copy of the row `template` except for its own columns."""
    columns = [row[1] for row in db.execute(f'PRAGMA table_info({table})')]
    picked = ', '.join(own.get(column, f't.{column}') for column in columns)
    db.execute(
        f'INSERT INTO {table} ({", ".join(columns)}) SELECT {picked} FROM pawl_key_registry AS r, {table} AS t '
        f'WHERE r.id > $key AND {template} ORDER BY r.id', values)


def fill(path, keys):
    """Adds finished rides until the table has `keys` keys. There must be one, finished, and the server must be down."""
    db = sqlite3.connect(path)
    try:
        db.execute('PRAGMA journal_mode = OFF')   # If this fails halfway, the scratch file is deleted.
        db.execute('PRAGMA synchronous = OFF')
        db.execute('PRAGMA cache_size = -400000')
        template = db.execute(
            "SELECT k.id, d.id FROM pawl_idempotency_keys AS k JOIN rides AS d ON d.idempotency_key_id = k.id "
            "WHERE k.status = 'finished' AND k.operation = 'book_ride' AND k.id = (SELECT max(id) FROM pawl_key_registry)"
        ).fetchone()
        if template is None:
            raise ValueError(f'{path} has no finished ride as its last key to use as the template')
        key, ride = template
        values = {'key': key, 'ride': ride}
        db.execute('WITH RECURSIVE n (id) AS (SELECT $key + 1 WHERE $key < $last UNION ALL '
                   'SELECT id + 1 FROM n WHERE id < $last) '
                   'INSERT INTO pawl_key_registry (id, hash) SELECT id, lower(hex(randomblob(16))) FROM n',
                   {'key': key, 'last': keys})
        copy_rows(db, 'pawl_idempotency_keys', KEY_COLUMNS_OWN, 't.id = $key', values)
        copy_rows(db, 'rides', RIDE_COLUMNS_OWN, 't.id = $ride', values)
        copy_rows(db, 'audit_records', AUDIT_COLUMNS_OWN, "t.resource_id = $ride AND t.resource_type = 'ride'", values)
        db.commit()
        db.execute('PRAGMA journal_mode = WAL')
    finally:
        db.close()
