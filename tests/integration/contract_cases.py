"""The HTTP contract, row by row (docs/http.md)."""
import concurrent.futures
import email.utils
import json
import os
import re
import socket
import sqlite3
import threading
import time

from kill_cases import QUICK
from murphy_cases import faults
from phone import HERE_TO_THERE, Phone, raw_exchange
from world import World, check, check_equal, wait_until

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/http.md')


def problem(answer, status, kind, retry):
    """The answer is a problem of that status and type."""
    check_equal((answer.status, answer.type), (status, kind), f'the answer {answer}')
    check_equal(answer.json['status'], status, 'the status in the body')
    check_equal(answer.json['retry'], retry, 'whether to retry')
    check(answer.json['title'], 'a title')
    check_equal(answer.headers.get('cache-control'), 'no-store', 'Cache-Control')
    check_equal('retry-after' in answer.headers, retry, 'Retry-After')


def credentials(world):
    for headers in ({'Authorization': ''}, {'Authorization': 'Bearer wrong'}, {'Authorization': 'Basic dGVzdA=='},
                    {'Authorization': 'Bearer test_jane2'}):
        answer = world.phone().send('POST', '/rides', {'nonsense': 1}, headers, key='a,b')
        problem(answer, 401, 'unauthorized', False)   # Before the key or the body is checked.
        check('www-authenticate' in answer.headers, 'WWW-Authenticate')
    problem(world.phone('nobody').get('/no/such/path'), 401, 'unauthorized', False)


def first_and_repeat(world):
    first = world.phone().book('k1')
    check_equal(first.status, 201, 'the first')
    check('idempotent-replayed' not in first.headers, 'the first is not a replay')
    expires = email.utils.parsedate_to_datetime(first.headers['idempotency-expires']).timestamp() - time.time()
    check(71 * 3600 < expires < 73 * 3600, f'Idempotency-Expires is in {expires} s')
    again = world.phone().book('k1')
    check(again.replayed, 'the repeat says so')
    check_equal((again.status, again.body), (first.status, first.body), 'the repeat')
    for name in ('content-type', 'location', 'cache-control', 'idempotency-expires'):
        check_equal(again.headers.get(name), first.headers.get(name), name)
    ride = world.phone().get(first.headers['location'])
    check_equal((ride.status, ride.json['state']), (200, 'booked'), 'what Location shows')


def quoted_and_bare_are_the_same(world):
    first = world.phone().book('"k2"')
    check_equal(first.status, 201, 'quoted')
    check(world.phone().book('k2').replayed, 'bare is the same key')
    check(world.phone().book('"k2";v=1; w="a;b"').replayed, 'and its parameters are ignored')


def refused_answers_are_kept(world):
    first = world.phone('test_poor').book('k3')
    check_equal((first.status, first.is_problem), (402, True), 'a declined card')
    again = world.phone('test_poor').book('k3')
    check(again.replayed and again.body == first.body, 'the repeat gets the same refusal')


def key_reused(world):
    world.phone().book('k4')
    problem(world.phone().book('k4', origin_lat=1), 422, 'key-reused', False)
    reordered = dict(reversed(HERE_TO_THERE.items()))
    check(world.phone().send('POST', '/rides', reordered, key='k4').replayed, 'the order of members does not matter')
    spaced = json.dumps(HERE_TO_THERE, indent=4).replace('47.61', '4.761e1')
    answer = world.phone().send('POST', '/rides', spaced, {'Content-Type': 'application/json; charset=utf-8'}, key='k4')
    check(answer.replayed, 'nor do white space, the form of numbers, and the charset')
    check_equal(world.phone('test_joe').book('k4').status, 201, 'the same key of another account is another key')


def key_missing_or_invalid(world):
    problem(world.phone().send('POST', '/rides', HERE_TO_THERE), 400, 'key-missing', False)
    for key in ('', '""', 'a,b', 'a;b=1', 'a"b', 'a\\b', 'a b', 'k' * 256, '"a', 'a"', 'k\u00fc'.encode('latin-1')):
        problem(world.phone().book(key), 400, 'key-invalid', False)
    check_equal(world.phone().book('k' * 255).status, 201, '255 characters')
    double = (b'POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nIdempotency-Key: a\r\n'
              b'Idempotency-Key: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
    problem(raw_exchange(world.port, double), 400, 'key-invalid', False)


def types_of_problems(world):
    """Before, a problem's type answered 401."""
    with open(DOCUMENT, encoding='utf-8') as file:
        kinds = dict(re.findall(r'^\| `([a-z-]+)` \| ([0-9]+)[^|]*\| (?:yes|no) \|', file.read(), re.M))
    check(len(kinds) > 30, f'problems of docs/http.md: {kinds}')
    for kind, status in kinds.items():
        for headers in ({'Authorization': ''}, {'Authorization': 'Bearer wrong'}, {}):
            answer = world.phone().send('GET', f'/errors/{kind}', headers=headers)
            check_equal((answer.status, answer.json['type'], answer.json['status']), (200, f'/errors/{kind}', int(status)), kind)
            check(len(answer.json['description']) > 20, f'{answer.json}')
        page = world.phone().send('GET', f'/errors/{kind}', headers={'Authorization': '', 'Accept': 'text/html,*/*;q=0.8'})
        check(page.status == 200 and page.headers['content-type'].startswith('text/plain'), f'for a browser: {page}')
    check_equal(world.phone().send('HEAD', '/errors/key-reused', headers={'Authorization': ''}).status, 200, 'HEAD')
    problem(world.phone().send('GET', '/errors/none', headers={'Authorization': ''}), 401, 'unauthorized', False)
    problem(world.phone().send('GET', '/errors/none'), 404, 'not-found', False)


def body_forms(world):
    form = 'origin_lat=47.61&origin_lon=-122.33&target_lat=47.66&target_lon=-122.35'
    sent = {'Content-Type': 'application/x-www-form-urlencoded'}
    check_equal(world.phone().send('POST', '/rides', form, sent, key='k5').status, 201, 'a form')
    hidden = world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent)
    check_equal(hidden.status, 201, 'the key in a hidden field')
    check(world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent).replayed, 'a double click')
    problem(world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent, key='k6'), 400, 'key-invalid',
            False)
    for wrong in ({'origin_lat': 91}, {'origin_lat': '47'}, {'origin_lat': None}, {'extra': 1}):
        answer = world.phone().book('k7', **wrong)
        problem(answer, 400, 'request-invalid', False)
        check(next(iter(wrong)) in answer.json['detail'], f'it names the field: {answer.json}')
    problem(world.phone().send('POST', '/rides', '<ride/>', {'Content-Type': 'text/xml'}, key='k7'), 415,
            'type-not-supported', False)


def paths_and_methods(world):
    problem(world.phone().get('/nothing'), 404, 'not-found', False)
    answer = world.phone().send('PATCH', '/rides', HERE_TO_THERE)
    problem(answer, 405, 'method-not-allowed', False)
    check_equal(sorted(answer.headers['allow'].split(', ')), ['GET', 'HEAD', 'POST'], 'Allow')
    problem(world.phone().get('/rides/abc'), 400, 'request-invalid', False)
    check_equal(world.phone('test_joe').get('/rides/1').status, 404, "another's ride")


def natural_keys(world):
    check_equal(world.phone().put_user('ann@example.com').status, 201, 'made')
    check_equal(world.phone().put_user('ann@example.com').status, 200, 'there already')
    check_equal(world.count('audit_records', "resource_type = 'user'"), 1, 'audit rows')
    ride = world.phone().booked('k8').json['ride']
    check_equal(world.phone('test_joe').cancel(ride).status, 404, "another's ride")
    for _ in range(2):
        answer = world.phone().cancel(ride)
        check_equal((answer.status, answer.json['state']), (200, 'cancelled'), 'cancelled')
        # Issue 16, number 21: before, no answer said that a cancelled ride is not refunded.
        check(answer.json['refunded'] is False and f'ride-{ride}-refund' in answer.json['refund'], f'its money: {answer.json}')
    check_equal(world.phone().refund(ride).status, 201, 'and it can be refunded as it says')


def expired(world):
    first = world.phone().book('k9')
    world.settle()
    world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE idempotency_key = 'k9'")
    world.rides_command('reaper', '--once', '--database', world.url)
    answer = world.phone().book('k9')
    problem(answer, 410, 'key-expired', False)
    check(first.headers['location'] in answer.json['detail'], f'it names the location: {answer.json}')
    check_equal(world.count('rides', f"id = {first.json['ride']}"), 1, 'the ride is still there')


def state_of_a_key(world):
    world.phone().book('k10')
    answer = world.phone().get('/idempotency-keys/k10')
    check_equal((answer.status, answer.json), (200, {'state': 'finished'}), 'the state of a key')
    problem(world.phone('test_joe').get('/idempotency-keys/k10'), 404, 'not-found', False)
    problem(world.phone().get('/idempotency-keys/none'), 404, 'not-found', False)


def other_spellings_of_a_request(world):
    """Two requests are the same if the account, the exact key, the path, the type, and the values are."""
    first = world.phone().book('k12')
    check_equal(world.phone('test_renewed').book('k12').body, first.body, 'a new token of the same account')
    check(not world.phone().book('K12').replayed, 'another case is another key')
    form = '&'.join(f'{name}={value}' for name, value in HERE_TO_THERE.items())
    sent = {'Content-Type': 'application/x-www-form-urlencoded'}
    problem(world.phone().send('POST', '/rides', form, sent, key='k12'), 422, 'key-reused', False)
    check_equal(world.phone().send('POST', '/rides', form, sent, key='k13').status, 201, 'a form')
    shuffled = '&'.join(reversed(form.replace('.', '%2E').replace('_', '%5f').split('&')))
    check(world.phone().send('POST', '/rides', shuffled, sent, key='k13').replayed,
          'the same form, escaped and shuffled')
    ride = first.json['ride']
    check_equal(world.phone().refund(ride).status, 201, 'a refund')
    check(world.phone().send('POST', f'/rides/%3{ride}/refund', key=f'ride-{ride}-refund').replayed,
          'the same path, escaped')
    check_equal(world.phone().put_user('a%2Fb@example.com').json['email'], 'a/b@example.com',
                'an escaped slash does not separate segments')


def expired_whatever_is_asked(world):
    world.phone().book('k16')
    world.settle()
    world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE idempotency_key = 'k16'")
    world.rides_command('reaper', '--once', '--database', world.url)
    problem(world.phone().book('k16', origin_lat=1), 410, 'key-expired', False)
    check_equal(world.phone().get('/idempotency-keys/k16').json, {'state': 'expired'}, 'the state of the key')
    check_equal(world.phone('test_joe').book('k16').status, 201, "another account's key of that name")


def a_phase_that_throws(world):
    world.store.break_table('rides', 'INSERT', 'secret detail')
    for _ in range(2):
        answer = world.phone().book('k17')
        problem(answer, 500, 'internal', True)
        check(b'secret' not in answer.body, f'the text of the failure is only for operators: {answer}')
    check_equal(world.count('pawl_idempotency_keys', "status = 'open' AND error LIKE '%secret detail%'"), 1,
                'the error is stored')
    check_equal((world.count('rides'), len(world.ledger())), (0, 0), 'rides, charges')
    world.store.mend_table()
    check_equal(wait_until('the ride', lambda: final(world.phone().book('k17'))).status, 201, 'without the bug')
    check_equal((world.count('rides'), len(world.ledger())), (1, 1), 'rides, charges')


def a_point_of_another_version(world):
    world.kill_provider()
    check_equal(world.phone().book('k18').status, 503, 'stopped before the charge')
    world.change("UPDATE pawl_idempotency_keys SET recovery_point = 'sent_by_rocket'")
    # The completer may be working on the key now, and hold its lease.
    answer = wait_until('the answer', lambda: next((a for a in [world.phone().book('k18')] if a.status != 409), None))
    problem(answer, 503, 'stranded', True)
    check_equal(answer.json['code'], 'PAWL0007', 'the code')
    check_equal(world.phone().get('/idempotency-keys/k18').json['state'], 'sent_by_rocket', 'the state of the key')
    wait_until('the completer to name the point', lambda: '"event":"stranded_keys"' in world.log())
    check_equal(world.rows('SELECT status, recovery_point FROM pawl_idempotency_keys'), [('open', 'sent_by_rocket')],
                'the key')
    check('PAWL0007' in world.log(), 'the log has the code')
    # As if a version that knows the point were running again.
    world.change("UPDATE pawl_idempotency_keys SET recovery_point = 'ride_created'")
    world.start_provider()
    check_equal(wait_until('the ride', lambda: final(world.phone().book('k18'))).status, 201, 'the answer')
    check_equal((world.count('rides'), len(world.ledger())), (1, 1), 'rides, charges')


def a_database_that_is_locked(world):
    database = sqlite3.connect(f'{world.data}/rides.db')
    database.execute('BEGIN IMMEDIATE')
    answer = world.phone().book('k19')
    check_equal((answer.status, answer.json['retry'], 'retry-after' in answer.headers), (503, True, True), f'{answer}')
    check_equal(world.phone().get('/rides').status, 200, 'reads still work')
    database.rollback()
    database.close()
    check_equal(wait_until('the ride', lambda: final(world.phone().book('k19'))).status, 201, 'after it')
    check_equal((world.count('rides'), len(world.ledger())), (1, 1), 'rides, charges')


def a_client_that_goes_away_cancels_nothing(world):
    world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, 'k20')
    wait_until('it to begin', lambda: world.count('pawl_idempotency_keys'))
    world.settle()
    check(world.phone().book('k20').replayed, 'the answer waits for it')
    check_equal(len(world.ledger()), 1, 'charges')


def head_is_get_without_a_body(world):
    ride = world.phone().book('k21').headers['location']
    for path in (ride, '/rides', '/idempotency-keys/k21'):
        got, head = world.phone().get(path), world.phone().send('HEAD', path)
        check_equal((head.status, head.body, head.headers['content-length']), (200, b'', str(len(got.body))),
                    f'HEAD {path}')
        check_equal(head.headers['content-type'], got.headers['content-type'], f'HEAD {path}: Content-Type')
    check_equal(world.phone().send('HEAD', '/rides/999').status, 404, 'HEAD of nothing')


def limits_to_the_byte(world):
    """Requests at a limit are served; one more is refused (malformed_cases.py goes far beyond)."""
    login = b'Host: a\r\nAuthorization: Bearer test_jane\r\n'

    def line_of(size):
        return b'GET /livez?' + b'a' * (size - len(b'GET /livez? HTTP/1.1')) + b' HTTP/1.1\r\n' + login + b'\r\n'
    check_equal(raw_exchange(world.port, line_of(8192)).status, 200, 'a line of 8 KiB')
    problem(raw_exchange(world.port, line_of(8193)), 414, 'line-too-long', False)
    many = lambda count: b'GET /rides HTTP/1.1\r\n' + login + b'X: y\r\n' * (count - 2) + b'\r\n'
    check_equal(raw_exchange(world.port, many(100)).status, 200, '100 headers')
    problem(raw_exchange(world.port, many(101)), 431, 'headers-too-large', False)
    text = json.dumps(HERE_TO_THERE)
    json_type = {'Content-Type': 'application/json'}
    check_equal(world.phone().send('POST', '/rides', text.ljust(2**20), json_type, key='k22').status, 201,
                'a body of 1 MiB')
    problem(world.phone().send('POST', '/rides', text.ljust(2**20 + 1), json_type, key='k23'), 413, 'body-too-large',
            False)
    for depth, why in ((31, 'is missing'), (32, 'deeper than 32')):   # The enclosing object is a level, too.
        answer = world.phone().send('POST', '/rides', '{"a":' + '[' * depth + ']' * depth + '}', json_type, key='k24')
        problem(answer, 400, 'request-invalid', False)
        check(why in answer.json['detail'], f'{depth + 1} levels: {answer.json}')


def an_early_refusal_is_drained(world):
    """The answer comes while the body is still being sent, and no reset destroys it; the connection ends after 2 s."""
    head = b'POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nContent-Length: 1000000\r\n\r\n'
    with socket.create_connection(('127.0.0.1', world.port), timeout=10) as raw:
        raw.sendall(head)
        wait_until('the answer', lambda: raw.recv(1, socket.MSG_PEEK))
        for _ in range(10):
            raw.sendall(b'x' * 50_000)
        received = b''
        while part := raw.recv(65536):
            received += part
        check(received.startswith(b'HTTP/1.1 401 '), f'the answer: {received[:100]!r}')
        began = time.monotonic()

        def over():
            try:
                return raw.send(b'x') == 0
            except OSError:
                return True
        wait_until('the server to close the connection', over)
        check(time.monotonic() - began < 6, 'it does not read for ever')


def keep_alive_and_pipelining(world):
    one = (b'GET /rides/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\n\r\n')
    with socket.create_connection(('127.0.0.1', world.port), timeout=10) as raw:
        raw.sendall(one * 5)
        received = b''
        while received.count(b'HTTP/1.1 ') < 5:
            part = raw.recv(65536)
            check(part, f'five answers on one connection, not {received!r}')
            received += part
    old = raw_exchange(world.port, b'GET /livez HTTP/1.0\r\n\r\n')
    check_equal((old.status, old.headers.get('connection', 'close')), (200, 'close'), 'HTTP/1.0')


def continue_is_answered(world):
    head = (b'POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nIdempotency-Key: k11\r\n'
            b'Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n')
    body = json.dumps(HERE_TO_THERE).encode()
    with socket.create_connection(('127.0.0.1', world.port), timeout=10) as raw:
        raw.sendall(head % len(body))
        check(raw.recv(100).startswith(b'HTTP/1.1 100 '), '100 Continue')
        raw.sendall(body)
        check(raw.recv(65536).startswith(b'HTTP/1.1 201 '), '201')
    refused = raw_exchange(world.port, (head % 5_000_000))   # Too large: refused before the body is sent.
    problem(refused, 413, 'body-too-large', False)


def access_log(world):
    world.stop_server()   # Its log lines are written at the latest now.
    with open(f'{world.folder}/access', encoding='utf-8') as file:
        lines = [json.loads(line) for line in file.read().split('\n')[:-1]]
    check(any(line['status'] == 201 and line['route'] == '/rides' and line['method'] == 'POST' for line in lines),
          'a ride in the access log')
    check(any(line.get('replayed') for line in lines), 'a replay in the access log')
    check(not any('test_jane' in json.dumps(line) for line in lines), 'no credentials in the access log')


def final(answer):
    return answer if answer.status not in (409, 500, 503) else None


def needs_a_person(settings):
    """502, not final, without Retry-After; after the settlement the same key has the answer."""
    with World(settings.bin, [*QUICK, '--charge-once', '--rider', 'test_doubt charged500@example.com']) as world:
        world.start_server()
        phone = world.phone('test_doubt')
        for _ in range(2):
            problem(phone.book('k'), 502, 'needs-attention', False)
        check_equal(phone.get('/idempotency-keys/k').json, {'state': 'needs-attention'}, 'the state of the key')
        value = json.dumps({'id': world.ledger()[0]['id']})
        world.rides_command('keys', 'settle', '--key', 'k', '--as', 'happened', '--result', 'Charge', '--value', value,
                            '--note', 'seen at the bank', '--database', world.url)
        wait_until('it to be carried out', lambda: world.unsettled() == 0)
        answer = phone.book('k')
        check_equal((answer.status, answer.replayed), (201, True), 'the answer')
        check_equal(len(world.ledger()), 1, 'charges')


def stopping_while_the_provider_hangs(settings):
    """SIGTERM waits for requests in flight within the drain time, then exits with 0; the next start finishes them."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '60000']) as world:
        world.start_server('--drain-s', '5')
        check('"event":"drain_too_short"' in world.log(), 'a warning of a drain shorter than a call')
        world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, 'k')
        wait_until('the charge', world.ledger)
        began = time.monotonic()
        check_equal(world.stop_server(), 0, 'the exit code')
        check(time.monotonic() - began < 20, f'it took {time.monotonic() - began:.0f} s')
        stopped = json.loads(world.log().splitlines()[-1])
        key = world.rows('SELECT id FROM pawl_idempotency_keys')[0][0]
        check_equal((stopped['in_doubt'], stopped['in_doubt_keys']), (1, str(key)), 'the keys left in doubt')
        faults(world, delay_ms=0)
        world.start_server()
        check_equal(wait_until('the ride', lambda: final(world.phone().book('k'))).status, 201, 'after the restart')
        check_equal(len(world.ledger()), 1, 'charges')


def in_progress(settings):
    """A second request is refused meanwhile; the key's state can be read; a client that goes away cancels nothing."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '700']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            answer = world.phone().book('k')
            problem(answer, 409, 'in-progress', True)
            check_equal(answer.headers['retry-after'], '1', 'Retry-After')
            problem(world.phone().book('k', origin_lat=1), 422, 'key-reused', False)
            problem(world.phone().send('POST', '/rides', {}, key='k'), 400, 'request-invalid', False)
            state = world.phone().get('/idempotency-keys/k').json['state']
            check_equal(state, 'ride_created', 'the state of a key at work')
            check_equal(first.result().status, 201, 'the first')


def a_refund_is_asked_for_by_who_may(world):
    """Before, any rider could refund any ride of any tenant, or claim its key for ever."""
    ride, other = (world.phone().booked(key).json['ride'] for key in ('r1', 'r2'))
    strangers = [world.phone(token) for token in ('test_joe', 'test_elsewhere', 'test_away')]
    unknown = world.phone().refund(4711)
    check_equal(unknown.status, 404, 'an unknown ride')
    own = strangers[0].booked('r3').json['ride']
    for stranger in strangers:
        told = stranger.refund(ride)
        check_equal((told.status, told.body), (404, unknown.body), f'a ride of another: {told}')
        taken = stranger.send('POST', f'/rides/{own}/refund', key=f'ride-{ride}-refund')
        check(taken.status in (404, 422), f'its key for a ride of their own: {taken}')
    wrong = world.phone().send('POST', f'/rides/{ride}/refund', key='r4')
    check_equal((wrong.status, wrong.json['detail']), (422, f'The Idempotency-Key must be ride-{ride}-refund.'), 'another key')
    check_equal(world.count('pawl_idempotency_keys', "operation = 'refund_ride'"), 0, 'claimed keys')
    check_equal(len(world.ledger('refund')), 0, 'refunds')
    check_equal((world.phone().refund(ride).status, world.phone('test_support').refund(other).status), (201, 201),
                'the rider, and support')
    for stranger in strangers:
        told = stranger.refund(ride)
        check_equal((told.status, told.body), (404, unknown.body), f'the state of the refund: {told}')
    check_equal(len(world.ledger('refund')), 2, 'refunds')


def a_refund_too_early(settings):
    """Before, a refund requested while the ride was being booked was refused for ever."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        faults(world, down=True)
        check_equal(world.phone().book('k').status, 503, 'not booked yet')
        ride = world.rows('SELECT id FROM rides')[0][0]
        early = world.phone().refund(ride)
        check_equal((early.status, early.json['retry'], early.headers.get('retry-after')), (409, True, '1'), f'too early: {early}')
        faults(world, down=False)
        check_equal(wait_until('the ride', lambda: final(world.phone().book('k'))).status, 201, 'booked')
        check_equal(world.phone().refund(ride).status, 201, 'the same refund')
        check_equal(len(world.ledger('refund')), 1, 'refunds')


def a_key_of_the_tenant(settings):
    """A refund's key belongs to the ride: several callers get one refund; the others wait for its answer."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '500']) as world:
        world.start_server()
        ride = world.phone().booked('k').json['ride']
        phones = [world.phone(token) for token in ('test_jane', 'test_support')] * 4
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [task.result() for task in [pool.submit(phone.refund, ride) for phone in phones]]
        check_equal({(answer.status, answer.body) for answer in answers}, {(201, answers[0].body)}, 'eight at once')
        done = [answer for answer in answers if not answer.replayed]
        check_equal(len(done), 1, f'first answers: {answers}')
        first = done[0]
        check('idempotency-expires' not in first.headers, 'an answer kept for ever has no Idempotency-Expires')
        for phone in phones[:2]:
            again = phone.refund(ride)
            check((again.status, again.body, again.replayed) == (201, first.body, True), f'later: {again}')
        check_equal(len(world.ledger('refund')), 1, 'refunds')


def stopping(settings):
    """SIGTERM answers requests in flight, refuses new ones, and exits with 0."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '600']) as world:
        world.start_server()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(world.phone().book('k')))
        thread.start()
        wait_until('the charge', world.ledger)
        check_equal(world.stop_server(), 0, 'the exit code')
        thread.join()
        check(answers and answers[0].status in (201, 503), f'the request in flight is answered: {answers}')
        world.start_server()
        final = wait_until('the ride', lambda: (lambda a: a if a.status == 201 else None)(world.phone().book('k')))
        check(answers[0].status == 503 or answers[0].body == final.body, 'the same answer after the restart')
        check_equal(len(world.ledger()), 1, 'charges')


def cases(settings):
    rows = [credentials, first_and_repeat, quoted_and_bare_are_the_same, refused_answers_are_kept, key_reused,
            key_missing_or_invalid, body_forms, paths_and_methods, natural_keys, expired, state_of_a_key,
            keep_alive_and_pipelining, continue_is_answered, access_log, other_spellings_of_a_request,
            expired_whatever_is_asked, a_phase_that_throws, a_point_of_another_version, a_database_that_is_locked,
            a_client_that_goes_away_cancels_nothing, head_is_get_without_a_body, limits_to_the_byte,
            an_early_refusal_is_drained, a_refund_is_asked_for_by_who_may]

    def in_one_world(row):
        riders = ['--rider', 'test_renewed jane@example.com', '--rider', 'test_elsewhere support2@example.com elsewhere',
                  '--rider', 'test_away jane@example.com elsewhere']
        with World(settings.bin, [*QUICK, *riders], judged=False) as world:
            world.start_server('--access-log', f'{world.folder}/access')
            if row is access_log:
                first_and_repeat(world)
            row(world)
            if row is access_log:
                return
            check_equal(Phone(world.port).get('/livez').status, 200, 'the server lives')

    found = [("form: a problem's type leads to its row without credentials", lambda: in_one_world(types_of_problems))]
    found += [('contract: ' + row.__name__.replace('_', ' '), lambda row=row: in_one_world(row)) for row in rows]
    return found + [('contract: ' + case.__name__.replace('_', ' '), lambda case=case: case(settings))
                    for case in (in_progress, a_refund_too_early, a_key_of_the_tenant, needs_a_person, stopping,
                                 stopping_while_the_provider_hangs)]
