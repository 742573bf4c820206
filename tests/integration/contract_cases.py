"""The HTTP contract, row by row (docs/http.md)."""
import concurrent.futures
import email.utils
import json
import socket
import sqlite3
import threading
import time

from kill_cases import QUICK
from phone import HERE_TO_THERE, Phone, raw_exchange
from world import World, check, check_equal, wait_until


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
        problem(answer, 401, 'unauthorized', False)   # Before the key or the body is looked at.
        check('www-authenticate' in answer.headers, 'WWW-Authenticate')
    problem(world.phone('nobody').get('/no/such/path'), 401, 'unauthorized', False)


def first_and_repeat(world):
    first = world.phone().book('k1')
    check_equal(first.status, 201, 'the first')
    check('idempotent-replayed' not in first.headers, 'the first is no replay')
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


def body_forms(world):
    form = 'origin_lat=47.61&origin_lon=-122.33&target_lat=47.66&target_lon=-122.35'
    sent = {'Content-Type': 'application/x-www-form-urlencoded'}
    check_equal(world.phone().send('POST', '/rides', form, sent, key='k5').status, 201, 'a form')
    hidden = world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent)
    check_equal(hidden.status, 201, 'the key in a hidden field')
    check(world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent).replayed, 'a double click')
    problem(world.phone().send('POST', '/rides', form + '&idempotency_key=k6', sent, key='k6'), 400, 'key-invalid', False)
    for wrong in ({'origin_lat': 91}, {'origin_lat': '47'}, {'origin_lat': None}, {'extra': 1}):
        answer = world.phone().book('k7', **wrong)
        problem(answer, 400, 'request-invalid', False)
        check(next(iter(wrong)) in answer.json['detail'], f'it names the field: {answer.json}')
    problem(world.phone().send('POST', '/rides', '<ride/>', {'Content-Type': 'text/xml'}, key='k7'), 415,
            'type-not-served', False)


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
    ride = world.phone().book('k8').json['ride']
    check_equal(world.phone('test_joe').cancel(ride).status, 404, "another's ride")
    for _ in range(2):
        answer = world.phone().cancel(ride)
        check_equal((answer.status, answer.json['state']), (200, 'cancelled'), 'cancelled')


def expired(world):
    first = world.phone().book('k9')
    world.settle()
    database = sqlite3.connect(f'{world.data}/rides.db', timeout=20)
    database.execute("UPDATE idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE idempotency_key = 'k9'")
    database.commit()
    database.close()
    world.rides_command('reaper', '--once', '--database', f'sqlite:{world.data}/rides.db')
    answer = world.phone().book('k9')
    problem(answer, 410, 'key-expired', False)
    check(first.headers['location'] in answer.json['detail'], f'it says where to look: {answer.json}')
    check_equal(world.count('rides', f"id = {first.json['ride']}"), 1, 'the ride is still there')


def state_of_a_key(world):
    world.phone().book('k10')
    answer = world.phone().get('/idempotency-keys/k10')
    check_equal((answer.status, answer.json), (200, {'state': 'finished'}), 'the state of a key')
    problem(world.phone('test_joe').get('/idempotency-keys/k10'), 404, 'not-found', False)
    problem(world.phone().get('/idempotency-keys/none'), 404, 'not-found', False)


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
    world.stop_server()   # Its lines are written at the latest now.
    with open(f'{world.folder}/access', encoding='utf-8') as file:
        lines = [json.loads(line) for line in file.read().split('\n')[:-1]]
    check(any(line['status'] == 201 and line['route'] == '/rides' and line['method'] == 'POST' for line in lines),
          'a ride in the access log')
    check(any(line.get('replayed') for line in lines), 'a replay in the access log')
    check(not any('test_jane' in json.dumps(line) for line in lines), 'no credentials in the access log')


def in_progress(settings):
    """Refused while another is at work; the state can be asked for; a client that goes away cancels nothing."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '700']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            answer = world.phone().book('k')
            problem(answer, 409, 'in-progress', True)
            check_equal(answer.headers['retry-after'], '1', 'Retry-After')
            state = world.phone().get('/idempotency-keys/k').json['state']
            check_equal(state, 'ride_created', 'the state of a key at work')
            check_equal(first.result().status, 201, 'the first')


def attached(settings):
    """A refund's repeat waits for the running one and gets its answer, once it is there."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '500']) as world:
        world.start_server()
        ride = world.phone().book('k').json['ride']
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [task.result() for task in [pool.submit(world.phone().refund, ride) for _ in range(8)]]
        check({answer.status for answer in answers} <= {201, 409}, f'{answers}')
        check_equal(len(world.ledger('refund')), 1, 'refunds')


def stopping(settings):
    """SIGTERM answers what is in hand, refuses what is new, and exits with 0."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '600']) as world:
        world.start_server()
        answers = []
        thread = threading.Thread(target=lambda: answers.append(world.phone().book('k')))
        thread.start()
        wait_until('the charge', world.ledger)
        check_equal(world.stop_server(), 0, 'the exit code')
        thread.join()
        check(answers and answers[0].status in (201, 503), f'the request in hand is answered: {answers}')
        world.start_server()
        final = wait_until('the ride', lambda: (lambda a: a if a.status == 201 else None)(world.phone().book('k')))
        check(answers[0].status == 503 or answers[0].body == final.body, 'the same answer after the restart')
        check_equal(len(world.ledger()), 1, 'charges')


def cases(settings):
    rows = [credentials, first_and_repeat, quoted_and_bare_are_the_same, refused_answers_are_kept, key_reused,
            key_missing_or_invalid, body_forms, paths_and_methods, natural_keys, expired, state_of_a_key,
            keep_alive_and_pipelining, continue_is_answered, access_log]

    def in_one_world(row):
        with World(settings.bin, QUICK) as world:
            world.start_server('--access-log', f'{world.folder}/access')
            if row is access_log:
                first_and_repeat(world)
            row(world)
            if row is access_log:
                return
            check_equal(Phone(world.port).get('/livez').status, 200, 'the server lives')

    found = [('contract: ' + row.__name__.replace('_', ' '), lambda row=row: in_one_world(row)) for row in rows]
    return found + [('contract: ' + case.__name__.replace('_', ' '), lambda case=case: case(settings))
                    for case in (in_progress, attached, stopping)]
