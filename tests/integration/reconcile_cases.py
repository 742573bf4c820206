"""The provider's charges are compared with ours by day: differences are rows, listed and exported, and a killed day begins again."""
import csv
import datetime
import io
import json
import resource
import time

from kill_cases import QUICK, SLOW
from strange_provider import StrangeProvider, http
from world import World, check, check_equal, wait_until

EACH_MINUTE = ['--reconcile-at', '* * * * *']
LARGE = 1_000_000


def yesterday():
    return datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)


def charge_id(number):
    return f'ch_{number:012}'


def fill_ledger(world, day, numbers, amount=2000):
    """Charges of a day, before the stand-in starts. `amount`: of each, or a function of its number."""
    begin = int(datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.timezone.utc).timestamp())
    with open(f'{world.folder}/ledger', 'a', encoding='utf-8') as file:
        for number in numbers:
            due = amount(number) if callable(amount) else amount
            body = json.dumps({'id': charge_id(number), 'object': 'charge', 'amount': due,
                               'created': begin + number * 86_400 // (len(numbers) + 1),
                               'currency': 'usd', 'customer': 'cus_jane', 'description': '=SUM(1), or "so"'})
            file.write(json.dumps({'at': '2026-01-01T00:00:00.000Z', 'kind': 'charge', 'id': charge_id(number), 'amount': due,
                                   'object': body, 'key': '', 'status': 200, 'body': ''}) + '\n')


def fill_rides(world, day, first, last):
    """Rides of a day with the charges first to last, by one statement of the database itself."""
    at = f'{day}T12:00:00.000Z'
    numbers = {'sqlite': f'WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}) SELECT i FROM n',
               'postgres': f'SELECT generate_series({first}, {last}) AS i'}[World.database]
    ch = {'sqlite': "printf('ch_%012d', i)", 'postgres': "'ch_' || lpad(i::text, 12, '0')"}[World.database]
    world.change('INSERT INTO rides (created_at, tenant, origin_lat, origin_lon, target_lat, target_lon, state, amount, currency, '
                 f"stripe_charge_id, user_id) SELECT '{at}', 'rides', 1, 2, 3, 4, 'booked', 2000, 'usd', {ch}, 1 FROM ({numbers}) AS n")


class Past(World):
    """A world whose stand-in has charges of yesterday: those of `numbers`, and one in ten thousand of another amount."""

    def __init__(self, settings, options=(), numbers=()):
        super().__init__(settings.bin, [*QUICK, *options], judged=False)
        self.numbers, self.day = numbers, yesterday()

    def start_provider(self, *more):
        if self.provider is None:
            fill_ledger(self, self.day, self.numbers, lambda number: 1999 if number % 10_000 == 7 else 2000)
        super().start_provider(*more)

    def reconcile(self, *arguments, status=0):
        return self.rides_command('reconcile', *arguments, '--database', self.url, '--stripe-url',
                                  f'http://127.0.0.1:{self.stripe}', check_status=status).stdout

    def found(self, state='open'):
        return sorted(self.rows('SELECT charge_id, kind FROM reconcile_differences WHERE state = ?', state))


DIFFERENT = [(charge_id(1), 'only-theirs'), (charge_id(2), 'only-theirs'), (charge_id(7), 'differs'), (charge_id(1001), 'only-ours'),
             (charge_id(1002), 'only-ours')]


def each_night(settings, kill):
    """The periodic job finds each difference; what is no difference any more is closed."""
    with Past(settings, EACH_MINUTE, range(1, 1001)) as world:
        world.start_server()
        fill_rides(world, world.day, 3, 1002)
        if kill:
            world.kill_provider()   # The job is at its pages when the server dies.
            wait_until('the job', lambda: world.count('pawl_jobs', "kind = 'compare_day'"), 90)
            world.kill_server()
            world.start_provider()
            world.start_server()
        wait_until('the differences', lambda: world.count('reconcile_days'), 120)
        check_equal(world.found(), DIFFERENT, 'differences')
        check_equal(world.rows('SELECT theirs, ours, differences FROM reconcile_days'), [(1000, 1000, 5)], 'the day')
        listed = [json.loads(line) for line in world.reconcile('--stored', '--json', status=1).splitlines()]
        check_equal([(one['charge_id'], one['kind']) for one in listed], DIFFERENT, 'the list')
        first = {one['charge_id']: one['first_seen'] for one in listed}
        fill_rides(world, world.day, 1, 1)   # Somebody settled it.
        check('4 differences' in world.reconcile('--day', str(world.day), status=1), 'the day again')
        check_equal((world.found(), world.found('closed')), (DIFFERENT[1:], DIFFERENT[:1]), 'open and closed')
        lines = list(csv.reader(io.StringIO(world.reconcile('--stored', '--csv', status=1), newline='')))
        check_equal((len(lines), lines[1][0], lines[2][0]), (6, 'closed', 'open'), 'lines of the export')
        check_equal([len(line) for line in lines], [10] * 6, 'cells')
        check_equal(lines[2][7], '\'=SUM(1), or "so"', 'a description that would be a formula')
        check_equal(lines[2][8], first[charge_id(2)], 'first seen')
        world.change(f"DELETE FROM rides WHERE stripe_charge_id = '{charge_id(1)}'")   # And it comes back.
        check('5 differences' in world.reconcile('--day', str(world.day), status=1), 'the day a third time')
        check_equal((world.found(), world.found('closed')), (DIFFERENT, []), 'open again')
        listed = [json.loads(line) for line in world.reconcile('--stored', '--json', status=1).splitlines()]
        check_equal(listed[0]['first_seen'], first[charge_id(1)], 'first seen, before it was closed')


def days_at_midnight(settings):
    """A ride of yesterday whose charge is of today is no difference on either day."""
    with Past(settings, [], range(1, 101)) as world:
        world.start_server()
        today = world.day + datetime.timedelta(days=1)
        fill_rides(world, world.day, 1, 100)
        late = world.day - datetime.timedelta(days=1)
        world.change(f"UPDATE rides SET created_at = '{late}T23:59:59.999Z' WHERE stripe_charge_id = '{charge_id(50)}'")
        for day, theirs, ours, found in ((late, 0, 1, 0), (world.day, 100, 99, 1), (today, 0, 0, 0)):
            done = world.reconcile('--day', str(day), status=1 if found else 0)
            check_equal(done, f'{day}: {theirs} charges of theirs, {ours} rides of ours, {found} differences\n', 'the day')
        check_equal(world.found(), [(charge_id(7), 'differs')], 'differences')
        world.reconcile('--day', 'yesterday', status=2)


def large(settings):
    """A million charges in a minute."""
    with Past(settings, [], range(1, LARGE + 1)) as world:
        world.start_server()
        fill_rides(world, world.day, 3, LARGE + 2)
        began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = world.reconcile('--day', str(world.day), status=1)
        took, end = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = end.ru_utime + end.ru_stime - used.ru_utime - used.ru_stime
        print(f'    {LARGE} charges compared in {took:.1f} s; {cpu:.1f} s of CPU', flush=True)
        check_equal(world.count('reconcile_differences'), LARGE // 10_000 + 4, done)
        check(took < 60 * SLOW, f'a million charges took {took:.0f} s')


# One odd charge among the others.

def list_of(charges, has_more=False):
    return http(200, {'object': 'list', 'data': charges, 'has_more': has_more})


def odd_charges_hold_up_no_day(settings):
    """Issue 38, number 5: a description with NUL, an id of 5,000 bytes, and a charge that the provider fails to show."""
    with Past(settings) as world:
        begin = int(datetime.datetime(world.day.year, world.day.month, world.day.day, tzinfo=datetime.timezone.utc).timestamp())
        odd = [{'id': name, 'amount': 2000, 'currency': 'usd', 'description': text, 'created': begin}
               for name, text in (('ch_nul', 'a\x00b'), ('ch_' + 'é' * 2500, 'long'))]

        def answer(path):
            if path.startswith('/v1/charges?'):
                return list_of(odd if f'created%5Bgte%5D={begin}&' in path else [])
            return http(500 if path.endswith(charge_id(1)) else 404, {'error': {'message': 'odd'}})
        with StrangeProvider(answer) as provider:
            world.start_server()
            world.stripe = provider.port
            fill_rides(world, world.day, 1, 2)
            check('4 differences' in world.reconcile('--day', str(world.day), status=1), 'the day')
            found = dict(world.rows('SELECT charge_id, detail FROM reconcile_differences'))
            check_equal((len(found), found['ch_nul'], found[charge_id(2)]), (4, 'a?b', 'booked'), f'{found}')
            check('did not' in found[charge_id(1)], f'{found}')


def a_list_of_charges_without_an_end_is_an_error(settings):
    with Past(settings) as world, StrangeProvider(list_of([{'id': 'ch_1', 'amount': 1, 'currency': 'usd', 'created': 1}], True)) as provider:
        world.start_server()
        world.stripe = provider.port
        world.reconcile('--day', str(world.day), status=1)
        check_equal(world.count('reconcile_days'), 0, 'days that are compared')


def cases(settings):
    found = [('reconcile: each night', lambda: each_night(settings, False)),
             ('reconcile: killed and begun again', lambda: each_night(settings, True)),
             ('reconcile: days at midnight', lambda: days_at_midnight(settings)),
             ('right: reconcile: odd charges hold up no day', lambda: odd_charges_hold_up_no_day(settings)),
             ('right: reconcile: a list of charges without an end is an error',
              lambda: a_list_of_charges_without_an_end_is_an_error(settings))]
    if settings.mode == 'long':
        found.append(('reconcile: a million charges in a minute', lambda: large(settings)))
    return found
