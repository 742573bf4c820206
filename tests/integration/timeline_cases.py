"""The time line of a key (`keys timeline`): what a person reads at three in the morning, after each kind of trouble."""
import json

from kill_cases import QUICK
from never_cases import ONCE
from world import World, check, check_equal, wait_until


def timeline(world, key):
    done = world.rides_command('keys', 'timeline', '--key', key, '--database', world.url, '--json')
    return json.loads(done.stdout)


def words(events):
    return [event['what'] for event in events]


def a_ride(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().book('first').status, 201, "the rider's first ride, which makes a customer")
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        check_equal(world.phone().book('k').status, 201, 'its repeat, which changes nothing')
        events = timeline(world, 'k')
        check_equal(words(events), ['claimed', 'phase', 'called', 'kept', 'phase', 'answered'], 'events')
        call = events[2]
        check_equal((call['point'], call['result'], call['status'], events[0]['by'], events[-1]['status']),
                    ('ride_created', 'Charge', 200, 'client', 201), 'facts')
        check(call['request_id'].startswith('req_') and float(call['took_ms']) > 0, f'{call}')
        check(call['to'].startswith('stripe'), f'{call}')


def killed_in_the_call(settings):
    """The dead attempt wrote no end: the next one says what it found, and how long nobody worked."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        world.kill_server()
        check(world.start_server(fault='engine.call.after:1:kill9'), world.log()[-300:])
        try:
            world.phone().book('k')
        except OSError:
            pass
        wait_until('the death', world.dead)
        check_equal(words(timeline(world, 'k')), ['now'], 'before anyone goes on')
        check('a call was begun at' in timeline(world, 'k')[0]['detail'], f'{timeline(world, "k")}')
        world.start_server()
        wait_until('the ride', lambda: world.phone().book('k').status == 201)
        events = timeline(world, 'k')
        check_equal(words(events), ['taken-over', 'called', 'kept', 'phase', 'answered'], 'events')
        check_equal({event['attempt'] for event in events}, {2}, 'attempts')
        check('attempt 1 left it, with a lease until' in events[0]['detail'], f'{events[0]}')


def the_provider_is_down(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        world.kill_provider()
        check_equal(world.phone().book('k').status, 503, 'a ride without a provider')
        events = timeline(world, 'k')
        check_equal(words(events)[:4], ['claimed', 'phase', 'called', 'released'], 'events')
        check_equal(events[2]['result'], 'not-made', 'the call')
        check("Couldn't connect" in events[2]['detail'], f'{events[2]}')
        world.start_provider()
        world.settle()
        events = timeline(world, 'k')
        check_equal(events[-1]['what'], 'answered', 'the end')
        check('completer' in {event['by'] for event in events}, f'{events}')


def a_person_settles(settings):
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        world.phone('test_doubt').book('k')
        wait_until('the attention list', lambda: world.count('pawl_attention'))
        events = timeline(world, 'k')
        check_equal(words(events)[-2:], ['attention', 'now'], 'events')
        check_equal(events[-1]['result'], 'waits for a person', 'now')
        world.rides_command('keys', 'settle', '--key', 'k', '--database', world.url, '--as', 'give-up', '--note', 'tried',
                            '--by', 'ann')
        wait_until('the decision to be carried out', lambda: world.count('pawl_attention') == 0)
        events = timeline(world, 'k')
        check_equal(words(events)[-2:], ['settled', 'answered'], 'events')
        check_equal((events[-2]['by'], events[-2]['result']), ('ann', 'give-up'), 'who decided what')


def unknown_and_expired(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        done = world.rides_command('keys', 'timeline', '99', '--database', world.url, check_status=1)
        check('no key 99' in done.stderr, done.stderr)
        key_id = str(world.rows('SELECT id FROM pawl_idempotency_keys')[0][0])
        world.change('UPDATE pawl_idempotency_keys SET expires_at = ?', '2020-01-01T00:00:00.000Z')
        world.rides_command('reaper', '--once', '--database', world.url)
        check_equal(world.count('pawl_key_events'), 0, 'events of keys that are gone')
        done = world.rides_command('keys', 'timeline', key_id, '--database', world.url, check_status=1)
        check('has expired, and its time line with it' in done.stderr, done.stderr)


def cases(settings):
    found = {'a ride': a_ride, 'killed in the call': killed_in_the_call, 'the provider is down': the_provider_is_down,
             'a person settles': a_person_settles, 'an unknown key, and an expired one': unknown_and_expired}
    return [(f'timeline: {name}', lambda run=run: run(settings)) for name, run in found.items()]
