"""Behaviours of the payment provider, and the resulting rides."""
import base64
import concurrent.futures
import json
import re
import signal

from murphy_cases import faults
from phone import HERE_TO_THERE, Phone
from ports import free_port
from strange_provider import CHARGED, StrangeProvider, http
from world import World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '100',
         '--job-lease-ms', '3000', '--job-timeout-ms', '2000']
CALL_LIMIT_S = 60   # Stripe's client waits 25 s for an answer.


def rider(customer):
    """A rider whose customer's name selects the provider's behaviour (apps/standins/provider.hpp)."""
    return ['--rider', f'test_rider {customer}@example.com cus_{customer}']


def first_final(world, limit_s=None):
    """Repeats until the answer is final; returns all answers."""
    answers = []

    def final():
        answers.append(world.phone('test_rider', timeout=CALL_LIMIT_S).book('k'))
        return answers[-1].status not in (409, 500, 503)
    wait_until('a final answer', final, limit_s)
    for answer in answers[:-1]:
        check('retry-after' in answer.headers and answer.json['retry'],
              f'an answer that is not final says so: {answer}')
    return answers


def check_the_end(world, answer, status, charges, state, reason):
    check_equal(answer.status, status, f'the answer {answer}')
    check_equal(len(world.ledger()), charges, 'charges')
    again = world.phone('test_rider').book('k')
    check_equal((again.status, again.body, again.replayed), (answer.status, answer.body, status != 502), 'the repeat')
    check_equal(world.rows('SELECT state FROM rides'), [(state,)], 'the state of the ride')
    check_equal(world.rows('SELECT reason FROM pawl_attention'), [(reason,)] if reason else [], 'the attention list')
    charge = world.rows('SELECT stripe_charge_id FROM rides')[0][0]
    check_equal(charge, world.ledger()[0]['id'] if state == 'booked' else None, 'the charge on record')
    check_equal(len(world.ledger()), charges, 'charges after the repeat')


def ride(settings, row, limit_s=None):
    customer, answers_wanted, charges, state, reason = row
    with World(settings.bin, QUICK + rider(customer)) as world:
        world.start_server()
        answers = first_final(world, limit_s)
        check(re.fullmatch(answers_wanted, ' '.join(str(answer.status) for answer in answers)),
              f'the answers {answers}, expected {answers_wanted}')
        check_the_end(world, answers[-1], answers[-1].status, charges, state, reason)
        for kind in ('charge', 'error', 'decline'):
            check(all(len(line['key']) == 64 for line in world.ledger(kind)), f'the keys at the provider: {kind}')
        if state == 'booked':
            world.settle()
            check_equal(len(world.mails()), 1, 'receipts')


def never_up(settings):
    """A permanent 503 only means "try again": no charge, no refusal, and no entry on the attention list."""
    with World(settings.bin, QUICK + rider('503')) as world:
        world.start_server()
        for _ in range(5):
            answer = world.phone('test_rider').book('k')
            check(answer.status in (409, 503), f'while the provider is down: {answer}')
            check(answer.type in ('provider-unavailable', 'in-progress') and answer.json['retry'],
                  f'it says so: {answer}')
        wait_until('the completer to have tried', lambda: world.count('pawl_idempotency_keys', 'completer_runs > 0'))
        check_equal((len(world.ledger()), world.count('pawl_attention')), (0, 0), 'charges, requests for a person')
        check_equal(world.rows('SELECT status, recovery_point FROM pawl_idempotency_keys'), [('open', 'ride_created')],
                    'the key')


def down_then_up(settings):
    """The completer finishes all requests of the outage after the provider is up again."""
    with World(settings.bin, QUICK, provider_options=['--down']) as world:
        world.start_server()
        for i in range(10):
            check_equal(world.phone().book(f'k-{i}').status, 503, 'while it is down')
        check_equal(len(world.ledger()), 0, 'charges while it is down')
        faults(world, down=False)
        world.settle()
        check_equal((len(world.ledger()), world.count('rides', "state = 'booked'")), (10, 10), 'charges, booked rides')
        for i in range(10):
            answer = world.phone().book(f'k-{i}')
            check(answer.status == 201 and answer.replayed, f'the answer waits: {answer}')
        check_equal(len(world.ledger()), 10, 'charges')


def declines_for_a_while(settings):
    """A refusal is final; a new try is a new request with a new key."""
    with World(settings.bin, QUICK, provider_options=['--decline']) as world:
        world.start_server()
        refused = world.phone().book('k')
        check_equal((refused.status, refused.is_problem), (402, True), 'a declined card')
        faults(world, decline=False)
        again = world.phone().book('k')
        check((again.status, again.replayed, again.body) == (402, True, refused.body), f'the repeat: {again}')
        check_equal(world.phone().book('new').status, 201, 'with a new key')
        check_equal((len(world.ledger()), len(world.ledger('decline'))), (1, 1), 'charges, declined')
        check_equal(sorted(state for state, in world.rows('SELECT state FROM rides')), ['booked', 'refused'], 'rides')


def dies_after_booking(settings):
    """The provider books, dies before it answers, and comes back: a repeat finds the charge by its key."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '3000']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            world.kill_provider()
            answer = first.result()
            check_equal((answer.status, answer.type), (503, 'provider-unavailable'), 'when the connection is cut')
        world.provider_options = []
        world.start_provider()
        wait_until('the ride', lambda: world.phone().book('k').status == 201)
        check_equal(len(world.ledger()), 1, 'charges')
        check_equal(world.count('rides', f"stripe_charge_id = '{world.ledger()[0]['id']}'"), 1,
                    'rides with that charge')


def hangs(settings):
    """The provider hangs: other requests are served, and its own finish when it continues."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        world.provider.send_signal(signal.SIGSTOP)
        for i in range(20):
            world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, f'k-{i}')
        wait_until('all to wait', lambda: world.count('pawl_idempotency_keys', "recovery_point = 'ride_created'") == 20)
        check_equal(world.phone().get('/rides').status, 200, 'a list of rides')
        check_equal(world.phone().put_user('new@example.com').status, 201, 'a request without a foreign call')
        check_equal((world.phone().book('k-7').status, world.phone().book('k-7').type), (409, 'in-progress'),
                    'a repeat')
        first_leases = world.rows('SELECT min(lease_until) FROM pawl_idempotency_keys')[0][0]
        wait_until('the leases to be renewed',
                   lambda: world.rows('SELECT min(lease_until) FROM pawl_idempotency_keys')[0][0] > first_leases)
        world.provider.send_signal(signal.SIGCONT)
        world.settle()
        check_equal((len(world.ledger()), world.count('rides', "state = 'booked'")), (20, 20), 'charges, booked rides')
        check_equal(world.count('pawl_idempotency_keys', 'attempt > 1'), 0, 'take-overs: a lease is renewed during its call')


def one_call_at_a_time(settings):
    """More requests than calls allowed at once: they wait their turn, and each succeeds."""
    with World(settings.bin, [*QUICK, '--calls-max', '1'], provider_options=['--delay-ms', '50']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda i: world.phone().book(f'k-{i}'), range(16)))
        world.settle()
        for i in range(16):
            check_equal(world.phone().book(f'k-{i}').status, 201, f'k-{i} in the end')
        check_equal((len(world.ledger()), len({line['key'] for line in world.ledger()})), (16, 16),
                    'charges, their keys')


HALF = http(200, {'id': 'ch_half'}, length=500)
ERROR = {'error': {'type': 'api_error', 'message': 'Try again.'}}
# The provider's answer: the client's status meanwhile, and whether that is final. None closes without a byte.
STRANGE = {
    'no byte': (None, 503), 'noise': (b'\x00\xff\x13 not HTTP at all\r\n\r\n', 503),
    'a line of SMTP': (b'220 mail.example.com ESMTP\r\n', 503), 'half a status line': (b'HTTP/1.', 503),
    'headers without an end': (b'HTTP/1.1 200 OK\r\nContent-Type: appl', 503), 'half a body': (HALF, 503),
    'a success that is not JSON': (http(200, b'<html>Welcome</html>'), 503),
    'a success without an id': (http(200, {'object': 'charge'}), 503),
    'a success whose id is a number': (http(200, {'id': 7}), 503), 'an empty success': (http(200, b''), 503),
    'a success of 8 MiB': (http(200, b' ' * 2**23 + b'{"id": "ch_8"}'), 503),
    'a broken chunk': (b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n', 503),
    'a 500': (http(500, ERROR), 503), 'a 500 that is not JSON': (http(500, b'oops'), 503),
    'a 502 of a proxy': (http(502, b'<html/>'), 503), 'a 409': (http(409, ERROR), 503),
    'a 429': (http(429, ERROR), 503), 'a 401': (http(401, ERROR), 503), 'a 403': (http(403, ERROR), 503),
    'a 500 it repeats': (http(500, ERROR, ['Idempotent-Replayed: true']), 502), 'a 400': (http(400, ERROR), 502),
    'a 404': (http(404, ERROR), 502), 'a 404 of a proxy': (http(404, b'not here'), 503),
    'a 408 of a load balancer': (http(408, b'<html/>'), 503),
    'a redirect': (http(302, b'', ['Location: /v1/elsewhere']), 503),
    'a 204': (b'HTTP/1.1 204 No Content\r\n\r\n', 503),
}
NOT_MADE = {'a 429', 'a 401', 'a 403'}   # These prove that no charge was made: a call may be repeated without a key.


def strange(settings, names):
    """Invalid answers, or answers of other programs: neither a charge nor a refusal; the same key is tried again."""
    with World(settings.bin, QUICK + rider('strange'), judged=False) as world, StrangeProvider(None) as provider:
        world.stripe = provider.port
        world.start_server()
        for n, name in enumerate(names):
            provider.answer, status = STRANGE[name]
            key = f'k-{n}'
            phone = world.phone('test_rider', timeout=CALL_LIMIT_S)
            answer = wait_until(name, lambda: (lambda a: a if a.status != 409 else None)(phone.book(key)))
            check_equal(answer.status, status, f'{name}: {answer}')
            check_equal(answer.type, 'provider-unavailable' if status == 503 else 'needs-attention', f'{name}')
            check_equal({path for path, _, _ in provider.requests}, {'/v1/charges'}, f'{name}: the path of its calls')
            provider.answer = CHARGED.replace(b'ch_strange', b'ch_str%04d' % n)
            if status == 503:
                wait_until(f'{name}: then a charge', lambda: phone.book(key).status == 201)
            check_equal(len({(own, body) for own, (_, _, body) in zip(provider.keys(), provider.requests)}), 1,
                        f'{name}: different calls for one ride')
            check(len(provider.keys()[0]) == 64, f'{name}: the key {provider.keys()[0]}')
            if status == 502:
                check_equal(len(provider.requests), 1, f'{name}: calls before a person has decided')
                check_equal(phone.book(key).status, 502, f'{name}: the repeat')
            provider.requests.clear()
        stuck = sum(1 for name in names if STRANGE[name][1] == 502)
        check_equal(world.rows("SELECT count(*) FROM pawl_attention WHERE reason = 'stuck'"), [(stuck,)],
                    'the attention list')
        check_equal(world.count('rides', "state = 'booked'"), len(names) - stuck, 'booked rides')


def strange_and_without_keys(settings, names):
    """The same for a provider without keys: called once, unless it is certain that no charge was made."""
    options = [*QUICK, '--charge-once', *rider('strange')]
    with World(settings.bin, options, judged=False) as world, StrangeProvider(None) as provider:
        world.stripe = provider.port
        world.start_server()
        for n, name in enumerate(names):
            provider.answer, _ = STRANGE[name]
            key = f'k-{n}'
            phone = world.phone('test_rider', timeout=CALL_LIMIT_S)
            check_equal(phone.book(key).status, 503 if name in NOT_MADE else 502, f'{name}: the answer')
            if name in NOT_MADE:
                provider.answer = CHARGED.replace(b'ch_strange', b'ch_str%04d' % n)
                wait_until(f'{name}: then a charge', lambda: phone.book(key).status == 201)
            else:
                check_equal((phone.book(key).status, phone.book(key).type), (502, 'needs-attention'),
                            f'{name}: the repeat')
                check_equal(len(provider.requests), 1, f'{name}: calls')
            check_equal(set(provider.keys()), {None}, f'{name}: keys sent')
            provider.requests.clear()
        check_equal(world.count('pawl_attention'), len([name for name in names if name not in NOT_MADE]),
                    'the attention list')


def nobody_listens(settings):
    """A refused connection is proof that nothing was sent: also without keys it is tried again."""
    with World(settings.bin, [*QUICK, '--charge-once']) as world:
        real, world.stripe = world.stripe, free_port()
        world.start_server()
        for _ in range(3):
            answer = world.phone().book('k')
            check(answer.status in (409, 503), f'while connections are refused: {answer}')
        check_equal(world.count('pawl_attention'), 0, 'requests for a person')
        check_equal(world.stop_server(), 0, 'the exit code')
        world.stripe = real
        world.start_server()
        wait_until('the ride', lambda: world.phone().book('k').status == 201)
        check_equal(len(world.ledger()), 1, 'charges')


def refused_after_a_charge(settings):
    """Issue 16, number 15: the provider charged, the server died, the provider went away. The refused connection of the retry
    proves nothing about the first call, and no text may suggest that it does."""
    with World(settings.bin, ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '3600000']) as world:
        world.start_server(fault='engine.call.after:1:kill9')
        try:
            world.phone().book('k')
        except OSError:
            pass
        wait_until('the server to die', world.dead)
        check_equal(len(world.ledger()), 1, 'charges')
        world.kill_provider()
        world.start_server()
        wait_until('the retry', lambda: world.phone().book('k').status == 503)
        shown = json.loads(world.pawl_command('keys', 'show', '--key', 'k', '--json').stdout)
        told = f'an earlier call may have been made at {shown["called_at"]}; this try '
        check(told in shown['error'], f'"{told}" in {shown["error"]}')
        wait_until('the log to say so', lambda: told in world.log())   # It is written a moment later.
        world.start_provider()
        wait_until('the ride', lambda: world.phone().book('k').status == 201)
        check_equal(len(world.ledger()), 1, 'charges in the end')


def another_provider(settings, option):
    """Issue 16, number 20: charged at one provider, then a restart with another: it must not be charged there too."""
    with World(settings.bin, ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '3600000']) as world, \
            StrangeProvider(CHARGED) as other:
        world.start_server(fault='engine.call.after:1:kill9')
        try:
            world.phone().book('k')
        except OSError:
            pass
        wait_until('the server to die', world.dead)
        check_equal(len(world.ledger()), 1, 'charges at the first')
        first = world.stripe
        if option == 'url':
            world.stripe = other.port
            world.start_server()
        else:
            world.start_server('--stripe-account', 'acct_other')
        # With other servers the lease of the dead one must end first.
        answer = wait_until('the repeat', lambda: next((a for a in [world.phone().book('k')] if a.status != 409), None))
        check_equal((answer.status, answer.type), (502, 'needs-attention'), f'the repeat: {answer}')
        check_equal((len(other.requests), len(world.ledger())), (0, 1), 'calls of the repeat')
        (one,) = json.loads(world.pawl_command('attention', 'list', '--json').stdout)
        check_equal(one['reason'], 'elsewhere', 'the reason')
        check('PAWL0018' in one['detail'] and f'http://127.0.0.1:{first}' in one['call_target'], f'the called provider: {one}')
        world.pawl_command('keys', 'settle', '--key', 'k', '--as', 'happened', '--result', 'Charge', '--note', 'seen',
                           '--value', json.dumps({'id': world.ledger()[0]['id']}))
        wait_until('the ride', lambda: world.phone().book('k').status == 201)


def memory(settings, called_at):
    """After 20 h Stripe may have forgotten the first call: a person decides, to avoid a second charge (F7)."""
    with World(settings.bin, ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms',
                              '3600000']) as world:
        world.start_server()
        world.kill_provider()
        check_equal(world.phone().book('k').status, 503, 'the first try')
        check_equal(world.stop_server(), 0, 'the exit code')
        world.change("UPDATE pawl_idempotency_keys SET called_at = ?", called_at)
        world.start_provider()
        world.start_server()
        answer = world.phone().book('k')
        check_equal((answer.status, answer.type), (502, 'needs-attention'), f'a repeat after 20 h: {answer}')
        check_equal(world.rows('SELECT reason FROM pawl_attention'), [('forgotten',)], 'the attention list')
        check_equal(len(world.ledger()), 0, 'charges')


def basic_authentication(settings):
    """The form of the examples for curl in Stripe's documentation was 401."""
    with World(settings.bin, judged=False) as world:
        def charge(authorization):
            sent = {'Authorization': authorization, 'Content-Type': 'application/x-www-form-urlencoded'}
            return Phone(world.stripe).send('POST', '/v1/charges', 'amount=2000&currency=usd&customer=cus_jane', sent, key='k')

        def basic(words):
            return base64.b64encode(words).decode()
        first = charge('Bearer sk_test_1')
        check_equal(first.status, 200, f'a bearer token: {first}')
        for scheme in ('Basic', 'basic', 'BASIC'):
            again = charge(f'{scheme} {basic(b"sk_test_1:")}')
            check_equal((again.status, again.json['id']), (200, first.json['id']), f'{scheme}: the same account')
        check_equal(charge(f'Basic {basic(b"sk_test_2:")}').json['id'] == first.json['id'], False, 'another key')
        for wrong in ('', 'Basic', 'Basic ', f'Basic {basic(b":sk_test_1")}', 'Basic c2tf*', f'Digest {basic(b"sk_test_1:")}'):
            check_equal(charge(wrong).status, 401, wrong)


def cases(settings):
    # Customer, the answers up to the last, charges, the ride's state, the reason for the attention list.
    table = {
        'an honest charge': ('honest', '201', 1, 'booked', None),
        'a declined card: the refusal is the answer': ('declined', '402', 0, 'refused', None),
        'a slow answer': ('slow', '201', 1, 'booked', None),
        '503 once: repeated under the same key': ('503once', '503 (409 |503 )*201', 1, 'booked', None),
        '429 once: repeated': ('429once', '503 (409 |503 )*201', 1, 'booked', None),
        'a stored 500 that was no charge: to a person': ('500', '503 (409 |503 )*502', 0, 'booking', 'stuck'),
        'a stored 500 that was a charge: to a person': ('charged500', '503 (409 |503 )*502', 1, 'booking', 'stuck'),
        'a charge that is booked late': ('late', '201', 1, 'booked', None),
        'it forgets the key, and is not asked twice': ('forgets', '201', 1, 'booked', None),
    }
    found = {name: lambda row=row: ride(settings, row) for name, row in table.items()}
    names = sorted(STRANGE)
    found |= {
        'down for ever': lambda: never_up(settings),
        'down, then up: the completer': lambda: down_then_up(settings),
        'it declines, then no more': lambda: declines_for_a_while(settings),
        'it dies after booking': lambda: dies_after_booking(settings),
        'it hangs': lambda: hangs(settings),
        'one call at a time': lambda: one_call_at_a_time(settings),
        'strange answers': lambda: strange(settings, names),
        'strange answers, without keys': lambda: strange_and_without_keys(settings, names),
        'nobody listens, without keys': lambda: nobody_listens(settings),
        'refused after a charge: an earlier call may have been made': lambda: refused_after_a_charge(settings),
        'a restart with another provider': lambda: another_provider(settings, 'url'),
        'a restart with another account': lambda: another_provider(settings, 'account'),
        'its memory is over': lambda: memory(settings, '2020-01-01T00:00:00.000Z'),
        'the first call was in the future': lambda: memory(settings, '2099-01-01T00:00:00.000Z'),
    }
    if settings.everything:   # These wait for the time-out of a call, 25 s.
        found['charged, but the first answer never comes'] = lambda: ride(
            settings, ('once', '503 (409 |503 )*201', 1, 'booked', None), 90)
    return [('provider: ' + name, run) for name, run in found.items()] + [
        ('form: the stand-in takes the key of basic authentication', lambda: basic_authentication(settings))]
