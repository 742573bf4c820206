"""Checks that the filled rows have the shape of the copied one."""
import os
import sqlite3
import tempfile
import unittest

from fill import fill

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = ('src/store/sql/migrations/0001_initial.sqlite.sql', 'apps/rides/sql/migrations/0001_rides.sqlite.sql')
RIDE = '''
INSERT INTO users (id, email, stripe_customer_id) VALUES (1, 'jane@example.com', 'cus_jane');
INSERT INTO pawl_key_registry (id, hash) VALUES (1, '5712670a0a75cdea94bb30ee95fe8a34');
INSERT INTO pawl_idempotency_keys (id, hash, tenant, account, idempotency_key, operation, request_method,
    request_path, origin, fingerprint, secret_version, params,
    status, attempt, recovery_point, recovery_data, call_key, response_status,
    response_headers, response_body, created_at, last_run_at, finished_at, expires_at)
VALUES (1, '5712670a0a75cdea94bb30ee95fe8a34', 'rides', 'jane@example.com', 'template-0-0', 'book_ride', 'POST',
    '/rides', '127.0.0.1', printf('%064d', 1), 1, '{}', 'finished', 1, 'finished', '{}', printf('%064d', 2), 201,
    '{"headers":[{"name":"Location","value":"/rides/1"}]}', '{"ride":1,"charge":"ch_000000000001"}',
    '2026-11-21T07:16:15.660Z', '2026-11-21T07:16:15.660Z', '2026-11-21T07:16:15.660Z', '2026-11-24T07:16:15.660Z');
INSERT INTO rides (id, created_at, idempotency_key_id, origin_lat, origin_lon, target_lat, target_lon, state, amount,
    currency, tenant, stripe_charge_id, user_id)
VALUES (1, '2026-11-21T07:16:15.660Z', 1, 1.0, 1.0, 1.0, 1.0, 'booked', 2000, 'usd', 'rides', 'ch_000000000001', 1);
INSERT INTO audit_records (action, created_at, data, origin_ip, resource_id, resource_type, user_id)
VALUES ('created', '2026-11-21T07:16:15.660Z', '{}', '127.0.0.1', 1, 'ride', 1);
'''


class Fill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'rides.db')
        self.db = sqlite3.connect(self.path)
        self.addCleanup(self.db.close)
        for name in SCHEMA:
            with open(os.path.join(ROOT, name), encoding='utf-8') as file:
                self.db.executescript(file.read())

    def one(self, query):
        return self.db.execute(query).fetchone()[0]

    def test_makes_as_many_keys_as_asked_each_with_its_ride_and_audit_record(self):
        self.db.executescript(RIDE)

        fill(self.path, 500)

        for table in ('pawl_key_registry', 'pawl_idempotency_keys', 'rides', 'audit_records'):
            self.assertEqual(self.one(f'SELECT count(*) FROM {table}'), 500, table)
        self.assertEqual(self.one('SELECT count(*) FROM pawl_idempotency_keys AS k JOIN pawl_key_registry AS r USING (id, hash) '
                                  'JOIN rides AS d ON d.idempotency_key_id = k.id'), 500)
        self.assertEqual(self.one('PRAGMA integrity_check'), 'ok')
        self.assertEqual(self.db.execute('PRAGMA foreign_key_check').fetchall(), [])

    def test_rows_differ_from_the_template_where_a_server_would_make_them_differ_and_nowhere_else(self):
        self.db.executescript(RIDE)
        self.db.row_factory = sqlite3.Row

        fill(self.path, 500)

        first, last = (dict(self.db.execute('SELECT * FROM pawl_idempotency_keys WHERE id = ?', (n,)).fetchone())
                       for n in (1, 500))
        differing = {column for column in first if first[column] != last[column]}
        self.assertEqual(differing, {'id', 'hash', 'idempotency_key', 'fingerprint', 'call_key', 'response_headers',
                                     'response_body', 'expires_at'})
        for column in ('hash', 'fingerprint', 'call_key', 'expires_at'):
            self.assertEqual(len(last[column]), len(first[column]), column)
        self.assertEqual(last['response_headers'], '{"headers":[{"name":"Location","value":"/rides/500"}]}')
        self.assertTrue(last['response_body'].startswith('{"ride":500,'))

    def test_the_next_key_of_the_server_gets_the_next_id(self):
        self.db.executescript(RIDE)

        fill(self.path, 500)

        self.db.execute("INSERT INTO pawl_key_registry (hash) VALUES ('next')")
        self.assertEqual(self.one('SELECT max(id) FROM pawl_key_registry'), 501)

    def test_a_database_without_a_ride_to_copy_is_an_error(self):
        with self.assertRaisesRegex(ValueError, 'no finished ride'):
            fill(self.path, 500)


if __name__ == '__main__':
    unittest.main()
