"""pgbench scripts of the server's own statements, from the same .sql files.

pgbench has only numbers, so SQL makes texts of them: md5(:n::text) for a key's hash. An INSERT's id is read
by currval(), as results can't be fetched inside a pipeline.
"""
import importlib.machinery
import importlib.util
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# In a subselect: currval() is volatile, and WHERE id = currval(...) would read the whole table.
KEY = "(SELECT currval('pawl_key_registry_id_seq'))"
RIDE = "(SELECT currval('rides_id_seq'))"
HASH = 'md5(:n::text)'
PARAMS = "'{\"origin_lat\": 47.61,\"origin_lon\": -122.33,\"target_lat\": 47.66,\"target_lon\": -122.35}'"
POINT = "'{\"ride\": 1,\"user\": 1,\"amount\": 2000,\"currency\":\"usd\",\"customer\":\"cus_jane\",\"email\":\"jane@example.com\"}'"
HEX = "md5(:n::text) || md5(:n::text)"
BODY = ("'{\"ride\": 1,\"charge\":\"ch_000000000001\",\"amount\": 2000,\"currency\":\"usd\",\"message\":\"Paid. Your rocket is on "
        "its way.\"}'")
SOON = "now() + interval '30 seconds'"
TARGET = "'stripe http://127.0.0.1:12111 account key 0123456789ab'"


def statements():
    loader = importlib.machinery.SourceFileLoader('embed_sql', os.path.join(ROOT, 'tools', 'embed_sql'))
    spec = importlib.util.spec_from_loader('embed_sql', loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    files = ['src/store/sql/keys.sql', 'src/store/sql/jobs.sql', 'src/store/sql/session.sql', 'apps/rides/sql/rides.sql']
    found = {}
    for file in files:
        for name, statement in module.read([os.path.join(ROOT, file)]).items():
            found['audit_record' if name == 'insert_audit' and 'rides' in file else name] = statement.texts['postgres']
    return found


def filled(text, *values):
    """The statement in one line, each $n replaced by its value."""
    numbers = {int(number) for number in re.findall(r'\$(\d+)', text)}
    if numbers != set(range(1, len(values) + 1)):
        raise ValueError(f'{len(values)} values for {len(numbers)} parameters: {text}')

    def value(found):
        return values[int(found.group(1)) - 1]
    return re.sub(r'\$(\d+)', value, ' '.join(text.split())) + ';'


def fenced(statement):
    return f'WITH fenced AS ({statement.rstrip(";")} RETURNING 1) SELECT 1 / (EXISTS (SELECT FROM fenced))::int;'


class Scripts:
    """The scripts by name; each runs one ride, or one replay."""

    def __init__(self):
        self.sql = statements()

    def _key(self, point, data, called=True):
        return filled(self.sql['insert_key'], KEY, HASH, "'rocket-rides'", "'jane@example.com'", ":n::text", "'book_ride'",
                      "'POST'", "'/rides'", "'127.0.0.1'", HEX, '1', PARAMS, SOON, point, data, HEX if called else 'NULL',
                      'now()' if called else 'NULL', 'false', 'now()', 'NULL', '0', TARGET if called else 'NULL', '7')

    def _move(self, old, new, data):
        return fenced(filled(self.sql['move_key'], KEY, '1', old, new, data, SOON, HEX, 'now()', 'false', 'now()', TARGET))

    def _finish(self, old):
        headers = "'[{\"name\":\"Location\",\"value\":\"/rides/1\"}]'"
        return fenced(filled(self.sql['finish_key'], KEY, '1', old, '201', "'application/json'", headers, BODY, 'now()',
                             "now() + interval '72 hours'"))

    def _ride(self):
        return [filled(self.sql['find_user'], "'jane@example.com'"),
                filled(self.sql['insert_ride'], 'now()', KEY, '47.61', '-122.33', '47.66', '-122.35', '2000', "'usd'", "'rides'",
                       '1'),
                filled(self.sql['audit_record'], "'created'", 'now()', PARAMS, "'127.0.0.1'", RIDE, "'ride'", '1')]

    def _charge(self):
        return [filled(self.sql['set_charge'], RIDE, f"'ch_' || {RIDE}")]

    def _jobs(self):
        jobs = [("'0123456789abcdef01234567'", "'default'", f"'{kind}'", POINT, 'now()', '1', 'now()')
                for kind in ('send_receipt', 'add_points')]
        return [filled(self.sql['insert_two_jobs'], *jobs[0], *jobs[1])]

    def _transaction(self, statements, isolation='READ COMMITTED'):
        return [f'BEGIN ISOLATION LEVEL {isolation};', *statements, 'COMMIT;']

    def _claim(self):
        return filled(self.sql['claim_key'], HASH)

    def four(self):
        """The article's four transactions."""
        return ['\\set n random(1, 9000000000000000)',
                *self._transaction([filled(self.sql['find_key'], HASH), self._claim(),
                                    self._key("'started'", "'{}'", called=False)]),
                *self._transaction([*self._ride(), self._move("'started'", "'ride_created'", POINT)]),
                *self._transaction([*self._charge(), self._move("'ride_created'", "'charge_created'", POINT)]),
                *self._transaction([*self._jobs(), self._finish("'charge_created'")])]

    def two_pipelined(self):
        """The server's two transactions: claim and first phase, keep and last phase."""
        first = self._transaction([self._claim(), *self._ride(), self._key("'ride_created'", POINT)])
        second = self._transaction([*self._charge(), *self._jobs(), self._finish("'ride_created'")])
        return ['\\set n random(1, 9000000000000000)', '\\startpipeline', *first, '\\endpipeline',
                '\\startpipeline', *second, '\\endpipeline']

    def replay(self):
        # As many keys as the load has clients: the same few pages.
        return ['\\set k random(2, 65)', filled(self.sql['find_key'], "md5('fill-' || :k::text)")]
