"""`keys hold`, `keys release` and the retry of many keys, beside a running server."""
import json
import os
import subprocess
import time

from kill_cases import QUICK
from operator_cases import Operated
from world import WAIT_S, World, check, check_equal, open_terminal, wait_until

WHY = ['--reason', 'which card was charged?', '--by', 'ann']


def in_an_hour():
    """As the stores keep times."""
    return time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(time.time() + 3600))


def keys(world, *arguments, check_status=0):
    """A command of `rides keys`, as JSON, or what it says on standard error."""
    done = world.rides_command('keys', *arguments, '--database', world.url, '--json', check_status=check_status)
    return json.loads(done.stdout) if check_status == 0 else done.stderr


def without_provider(world, *names):
    """Rides that stand before their charge, as the provider is down."""
    check_equal(world.phone().book('first').status, 201, 'a first ride, which makes a customer')
    world.kill_provider()
    for name in names:
        check_equal(world.phone().book(name).type, 'provider-unavailable', name)


def a_held_key(settings):
    with Operated(settings) as one:
        one.start()
        world = one.world
        without_provider(world, 'k')
        keys(world, 'hold', '--key', 'k', *WHY)
        world.start_provider()
        attempt = keys(world, 'show', '--key', 'k')['attempt']
        answer = world.phone().book('k')
        check_equal((answer.status, answer.type, answer.headers['retry-after']), (503, 'on-hold', '30'), 'a repeat')
        check_equal(answer.json['retry'], True, 'whether the client may repeat it')
        check_equal(world.phone().get('/idempotency-keys/k').json, {'state': 'on-hold'}, 'its progress')
        check_equal(world.phone().get('/bookings/k').json['state'], 'on_hold', 'the booking')
        (ride,) = [ride for ride in world.phone().get('/rides').json['rides'] if ride['state'] != 'booked']
        check_equal((ride['state'], world.phone().get(f"/rides/{ride['id']}").json['state']), ('on_hold', 'on_hold'), 'its ride')
        wait_until('the gauge', lambda: one.value('pawl_keys_held') == 1)
        check_equal(one.value('pawl_keys_oldest_open_seconds'), 0, 'a held key is not an old one')
        world.rides_command('completer', '--once', '--database', world.url)
        shown = keys(world, 'show', '--key', 'k')
        check_equal((shown['status'], shown['attempt'], shown['held_by'], shown['held_why']), ('open', attempt, 'ann', WHY[1]), 'the key')
        check('open, held' in world.rides_command('keys', 'list', '--database', world.url).stdout, 'the list')
        found = json.loads(world.rides_command('doctor', '--database', world.url, '--json', check_status=None).stdout)['findings']
        check(any(finding['check'] == 'held_keys' and 'by ann' in finding['found'] for finding in found), f'{found}')

        for command, why in (('hold', 'is held since'), ('retry', 'is held since')):
            check(why in keys(world, command, '--key', 'k', '--reason', 'x', check_status=1), command)
        keys(world, 'release', '--key', 'k', '--by', 'bob')
        wait_until('the ride', lambda: world.phone().book('k').status == 201)
        check_equal(world.phone().get('/idempotency-keys/k').json, {'state': 'finished'}, 'its progress after the release')
        check_equal(world.phone().get(f"/rides/{ride['id']}").json['state'], 'booked', 'its ride')
        check('is finished: there is nothing to hold' in keys(world, 'hold', '--key', 'k', '--reason', 'x', check_status=1), 'finished')
        check_equal([(by, action, detail) for by, action, detail in world.rows(
            'SELECT actor, action, detail FROM pawl_audit_log ORDER BY id')], [('ann', 'hold', WHY[1]), ('bob', 'release', '')], 'the audit')
        events = [(event['what'], event['by']) for event in keys(world, 'timeline', '--key', 'k')]
        check(('held', 'ann') in events and ('hold-ended', 'bob') in events, f'{events}')
        check_equal(events[-1][0], 'answered', 'the end of the time line')


def arguments(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        for given, why in ((['hold', '1'], '--reason is missing'), (['retry'], 'no keys chosen'),
                           (['retry', '--all'], '--reason is missing'), (['retry', '1', '--all'], 'give a key or filters, not both'),
                           (['hold', '--all', '--since', 'noon', '--reason', 'x'], '--since is noon'), (['hold', '--limit', '0'], 'limit')):
            check(why in keys(world, *given, check_status=2), f'{given}')
        check('there is no key 99' in keys(world, 'hold', '99', *WHY, check_status=1), 'an unknown key')
        check('is not held' in keys(world, 'release', '--key', 'k', check_status=1) or
              'is finished' in keys(world, 'release', '--key', 'k', check_status=1), 'no hold')
        check_equal(world.count('pawl_audit_log'), 0, 'nothing is done')


def retry_of_many(settings):
    """After an outage a person lets the requests that failed with it be tried at once."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        names = [f'k-{i}' for i in range(4)]
        without_provider(world, *names)
        wait_until('failures', lambda: world.count('pawl_idempotency_keys', 'completer_runs > 0') == 4)
        keys(world, 'hold', '--key', 'k-3', *WHY)
        # The back-off of hours of failures. The errors differ: the breaker of the provider may be open.
        world.change("UPDATE pawl_idempotency_keys SET completer_next_at = ?, error = ? WHERE status = 'open'",
                     in_an_hour(), "Couldn't connect to server")
        world.start_provider()
        chosen = ['--all', '--operation', 'book_ride', '--error', "Couldn't connect", '--since', '1h']
        sample = keys(world, 'retry', *chosen, '--dry-run')
        check_equal(sorted(key['key'] for key in sample), names[:3], 'the dry run')
        said = world.rides_command('keys', 'retry', *chosen, '--limit', '2', '--dry-run', '--database', world.url).stdout
        check('The choice has 2 keys.' in said, said)
        check_equal(keys(world, 'retry', '--error', 'another error', '--reason', 'x')['chosen'], 0, 'another error')
        check_equal(world.count('pawl_audit_log', "action = 'retry'"), 0, 'nothing is done so far')

        done = keys(world, 'retry', *chosen, '--reason', 'stripe is back', '--by', 'ann')
        check_equal(done, {'chosen': 3, 'done': 3, 'left': 0}, 'the retry')
        wait_until('the rides', lambda: world.unsettled() == 1)
        check_equal(world.count('pawl_audit_log', "action = 'retry' AND actor = 'ann' AND detail = 'stripe is back'"), 3, 'the audit')
        check_equal(keys(world, 'retry', '--all', '--reason', 'again')['chosen'], 0, 'a second run')
        world.change('UPDATE pawl_idempotency_keys SET completer_next_at = NULL')
        check_equal(keys(world, 'release', '--all', '--reason', 'it was ours')['done'], 1, 'the release of all')
        wait_until('the last ride', lambda: world.unsettled() == 0)


MANY = 3_000


def many_keys(world):
    """Copies of the open key `k`, beside no server."""
    columns = ['tenant', 'account', 'idempotency_key', 'operation', 'request_method', 'request_path', 'origin', 'fingerprint',
               'secret_version', 'params', 'status', 'attempt', 'recovery_point', 'recovery_data', 'created_at', 'last_run_at', 'error']
    listed = ', '.join(columns)
    world.change(f'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY - 1}) '
                 f'INSERT INTO pawl_idempotency_keys (id, hash, {listed}, completer_runs) '
                 f"SELECT 10000 + i, 'h' || i, {listed}, 1 FROM pawl_idempotency_keys, n WHERE idempotency_key = 'k'")


def interrupted(settings):
    """Ctrl-C in the middle of a long retry, with its bar on a terminal; the second run goes on, and each key is retried once."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        without_provider(world, 'k')
        world.stop_server()
        many_keys(world)
        command = [world.rides, 'keys', 'retry', '--operation', 'book_ride', '--reason', 'back', '--database', world.url]
        ours, theirs = open_terminal()
        with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL) as running:
            os.close(theirs)
            shown = b''
            while b' of ' not in shown:
                shown += os.read(ours, 1_000)
            running.kill()
            running.wait(WAIT_S)
        os.close(ours)
        check(b'\r[' in shown and b'#' in shown, f'the bar: {shown}')
        first = world.count('pawl_audit_log', "action = 'retry'")
        check(0 < first < MANY and first % 100 == 0, f'{first} of {MANY} keys: not killed in between, or within a transaction')
        again = world.rides_command('keys', 'retry', '--operation', 'book_ride', '--reason', 'back', '--database', world.url)
        check('retried.' in again.stdout and ' of ' in again.stderr and '\r' not in again.stderr, f'plain lines: {again.stderr}')
        for what in ('count(*)', 'count(DISTINCT key_id)'):
            check_equal(int(world.rows(f'SELECT {what} FROM pawl_audit_log WHERE key_id >= 10000')[0][0]), MANY, 'each key once')
        world.change('DELETE FROM pawl_idempotency_keys WHERE id >= 10000')
        world.start_provider()
        world.start_server()
        world.settle()


def cases(settings):
    found = {'a held key': a_held_key, 'arguments': arguments, 'a retry of many keys': retry_of_many,
             'a retry of many keys is killed': interrupted}
    return [(f'hold: {name}', lambda run=run: run(settings)) for name, run in found.items()]
