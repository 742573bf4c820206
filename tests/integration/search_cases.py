"""The search for keys (`keys search`): from what a person has at hand to the request."""
import json

from kill_cases import QUICK
from never_cases import ONCE
from world import World, check, check_equal, wait_until


def search(world, *words):
    done = world.rides_command('keys', 'search', *words, '--database', world.url, '--json')
    return json.loads(done.stdout)


def keys(world, *words):
    return [row['key'] for row in search(world, *words)]


def a_charge_and_a_request(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        world.phone().book('first')
        booked = world.phone().send('POST', '/rides', {'origin_lat': 1, 'origin_lon': 2, 'target_lat': 3, 'target_lon': 4},
                                    {'X-Request-Id': 'from-the-proxy-7'}, key='k')
        check_equal(booked.status, 201, 'a ride')
        ride = json.loads(booked.body)
        check_equal(keys(world, ride['charge']), ['k'], 'by the id of the charge')
        check_equal(keys(world, '--reference', f'charge={ride["charge"]}'), ['k'], 'by the named charge')
        check_equal(keys(world, '--reference', f'ride={ride["ride"]}'), ['k'], 'by the ride')
        check_equal(keys(world, '--reference', f'refund={ride["ride"]}'), [], 'by another name')
        check_equal(keys(world, 'from-the-proxy-7'), ['k'], 'by the id of the request')
        check_equal(keys(world, '--request-id', 'from-the-proxy-7'), ['k'], 'by the named id of the request')
        check_equal(keys(world, 'k'), ['k'], 'by the key')
        check_equal(keys(world, '--account', 'jane@example.com'), ['k', 'first'], 'by the account')
        check_equal(keys(world, '--operation', 'book_ride', '--limit', '1'), ['k'], 'by the operation')
        check_equal(keys(world, '--since', '1h', '--state', 'finished'), ['k', 'first'], 'by time and state')
        check_equal(keys(world, '--until', '1h'), [], 'before')
        shown = json.loads(world.rides_command('keys', 'show', '--key', 'k', '--database', world.url, '--json').stdout)
        check_equal(sorted(one['name'] for one in shown['references']), ['charge', 'request', 'ride'], 'the references of a key')
        # The program that knows no operation searches as well.
        done = world.pawl_command('keys', 'search', ride['charge'], '--json')
        check_equal([row['key'] for row in json.loads(done.stdout)], ['k'], 'by pawl')
        refund = json.loads(world.phone().refund(ride['ride']).body)
        check_equal([row['operation'] for row in search(world, refund['refund'])], ['refund_ride'], 'by the refund')
        check_equal([row['operation'] for row in search(world, ride['charge'])], ['refund_ride', 'book_ride'], 'both of the charge')


def pages(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        for n in range(5):
            check_equal(world.phone().booked(f'k{n}').status, 201, 'a ride')
        seen, below = [], []
        for _ in range(3):
            page = search(world, '--account', 'jane@example.com', '--limit', '2', *below)
            seen += [row['key'] for row in page]
            below = ['--below', str(page[-1]['id'])]
        check_equal(seen, ['k4', 'k3', 'k2', 'k1', 'k0'], 'three pages')


def a_request_that_waits_for_a_person(settings):
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        world.phone('test_doubt').book('k')
        wait_until('the attention list', lambda: world.count('pawl_attention'))
        ride = world.rows('SELECT id FROM rides')[0][0]
        error = world.rows('SELECT error FROM pawl_idempotency_keys')[0][0]
        for words in (['--state', 'attention'], ['--point', 'ride_created'], ['--error', error[3:20].upper()],
                      ['--reference', f'ride={ride}', '--state', 'attention']):
            check_equal(keys(world, *words), ['k'], ' '.join(words))
        check_equal(keys(world, '--error', 'no such error'), [], 'another error')


def killed_in_the_call(settings):
    """The claim has stored the references: nobody has gone on with the request yet."""
    with World(settings.bin, QUICK) as world:
        check(world.start_server(fault='engine.call.after:2:kill9'), world.log()[-300:])
        world.phone().book('first')
        try:
            world.phone().send('POST', '/rides', {'origin_lat': 1, 'origin_lon': 2, 'target_lat': 3, 'target_lon': 4},
                               {'X-Request-Id': 'lost-1'}, key='k')
        except OSError:
            pass
        wait_until('the death', world.dead)
        check_equal(keys(world, 'lost-1')[:1], ['k'], 'by the id of the request')


def expired(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        ride = json.loads(world.phone().book('k').body)
        world.change('UPDATE pawl_idempotency_keys SET expires_at = ?', '2020-01-01T00:00:00.000Z')
        world.rides_command('reaper', '--once', '--database', world.url)
        for words in ([ride['charge']], ['--reference', f'ride={ride["ride"]}'], ['--state', 'expired'],
                      ['--key', 'k', '--account', 'jane@example.com', '--tenant', 'rides']):
            found = search(world, *words)
            check_equal([(row['status'], row['response_status'], row['location'], row['account']) for row in found],
                        [('expired', 201, f'/rides/{ride["ride"]}', None)], ' '.join(words))
        done = world.rides_command('keys', 'search', ride['charge'], '--database', world.url)
        check('expired' in done.stdout, done.stdout)
        check_equal(keys(world, ride['charge'], '--operation', 'book_ride'), [], 'an expired key has no operation')


def wrong_words(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        for words, why in ((['--reference', 'ch_1'], 'NAME=ID'), (['--state', 'lost'], 'expired'), (['--since', 'lately'], '--since')):
            done = world.rides_command('keys', 'search', *words, '--database', world.url, check_status=2)
            check(why in done.stderr, done.stderr)
        done = world.rides_command('keys', 'search', 'nothing', '--database', world.url)
        check('No key matches.' in done.stdout, done.stdout)


def cases(settings):
    found = {'a charge and a request': a_charge_and_a_request, 'pages': pages, 'a person is needed': a_request_that_waits_for_a_person,
             'killed in the call': killed_in_the_call, 'expired': expired, 'wrong words': wrong_words}
    return [(f'search: {name}', lambda run=run: run(settings)) for name, run in found.items()]
