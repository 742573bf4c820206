"""Other accounts' keys can't be detected: each answer is the same to the byte as for an unused key.

tests/conformance/other_tenants_test.cpp checks that both run the same statements.
"""
import json
import re

from malformed_requests import GOOD_JSON, HOST
from murphy_cases import faults
from phone import HERE_TO_THERE
from race_cases import QUICK
from raw import exchanged
from world import World, check, check_equal, wait_until

VARIES = re.compile(rb'^(Date|Idempotency-Expires|X-Request-Id): [^\r]*\r\n', re.MULTILINE)
JOE, POOR = b'test_joe', b'test_poor'   # The second one's card is declined: an answer without ids.


def asked(method, target, token, key=b'', body=b''):
    fields = b'Authorization: Bearer ' + token + b'\r\nConnection: close\r\n'
    if key:
        fields += b'Idempotency-Key: ' + key + b'\r\nContent-Type: application/json\r\n'
    return method + b' ' + target + b' HTTP/1.1\r\n' + HOST + fields + b'Content-Length: %d\r\n\r\n' % len(body) + body


def questions(key):
    """Requests that try to find out whether a key exists. The last one creates it."""
    yield 'how far it is', asked(b'GET', b'/idempotency-keys/' + key, JOE)
    yield 'its head', asked(b'HEAD', b'/idempotency-keys/' + key, JOE)
    yield 'in quotation marks', asked(b'GET', b'/idempotency-keys/%22' + key + b'%22', JOE)
    yield 'a malformed body', asked(b'POST', b'/rides', POOR, key, b'{')
    yield 'a wrong field', asked(b'POST', b'/rides', POOR, key, b'{"origin_lat": 1}')
    yield 'a wrong path', asked(b'POST', b'/nowhere', POOR, key, GOOD_JSON)
    yield 'without a token', asked(b'POST', b'/rides', b'test_nobody', key, GOOD_JSON)
    yield 'a refund of nothing', asked(b'POST', b'/rides/4711/refund', POOR, b'refund-' + key)
    yield 'a ride', asked(b'POST', b'/rides', POOR, key, GOOD_JSON)
    yield 'the ride again', asked(b'POST', b'/rides', POOR, key, GOOD_JSON)
    yield 'another ride under it', asked(b'POST', b'/rides', POOR, key, json.dumps(HERE_TO_THERE | {'origin_lat': 1}).encode())


def expect_no_difference(world, state, key):
    unknown = 'unknown-' + key[len('unknown-'):]
    check_equal(len(unknown), len(key), 'lengths')
    statuses = []
    for (what, of_hers), (_, of_none) in zip(questions(key.encode()), questions(unknown.encode())):
        first, second = (VARIES.sub(b'', exchanged(world.port, sent, False)) for sent in (of_hers, of_none))
        check(first, f'{state}, {what}: no answer')
        check_equal(first.replace(key.encode(), b'-'), second.replace(unknown.encode(), b'-'), f'a key that is {state}: {what}')
        statuses.append(int(first[9:12]))
    check_equal(statuses, [404, 404, 404, 400, 400, 404, 401, 404, 402, 402, 422], f'{state}: the statuses')


def not_found_by_answers(settings):
    with World(settings.bin, [*QUICK, '--rider', 'test_poor declined@example.com',
                              '--rider', 'test_stuck 500@example.com']) as world:
        world.start_server()
        jane = world.phone()
        keys = {state: f'key-of-hers-{n}' for n, state in enumerate(('finished', 'expired', 'for a person', 'at work'))}
        check_equal(jane.booked(keys['expired']).status, 201, 'a ride')
        world.settle()
        world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z'")
        world.rides_command('reaper', '--once', '--database', world.url)
        check_equal(jane.get('/idempotency-keys/' + keys['expired']).json['state'], 'expired', 'its state')
        check_equal(jane.booked(keys['finished']).status, 201, 'a ride')
        wait_until('it to be stuck', lambda: world.phone('test_stuck').book(keys['for a person']).status == 502)
        for state in ('finished', 'expired', 'for a person'):
            expect_no_difference(world, state, keys[state])
        faults(world, delay_ms=3000)
        jane.send_and_hang_up('POST', '/rides', HERE_TO_THERE, keys['at work'])
        wait_until('it to be in progress', lambda: world.count('pawl_idempotency_keys', f"idempotency_key = '{keys['at work']}'"))
        faults(world, delay_ms=0)   # The call in flight keeps its delay.
        expect_no_difference(world, 'at work', keys['at work'])


def cases(settings):
    return [("tenant: another's keys can't be found by their answers", lambda: not_found_by_answers(settings))]
