"""Log files that are renamed while the server writes them, as logrotate does (issue 16, number 11)."""
import collections
import contextlib
import http.server
import json
import os
import signal
import socket
import stat
import threading
import time

from kill_cases import QUICK, SLOW
from operator_cases import Operated
from phone import Phone
from ports import free_port
from raw import answers_in, exchanged
from world import WAIT_S, World, check, check_equal, wait_until


def lines_of(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def hang_up(process):
    process.send_signal(signal.SIGHUP)


def rotate_under_load(settings):
    """Three rotations beside clients: each answer has its line in one of the files, and no line is torn."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'access.log')
        world.start_server('--access-log', log)
        stop, asked = threading.Event(), [0] * 4

        def ask_on(i):
            while not stop.is_set():
                check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
                asked[i] += 1
        clients = [threading.Thread(target=ask_on, args=(i,)) for i in range(len(asked))]
        for client in clients:
            client.start()
        old = []
        try:
            for n in range(3):
                before = sum(asked)
                wait_until('some requests', lambda before=before: sum(asked) > before + 20)
                old.append(f'{log}.{n}')
                os.rename(log, old[-1])
                hang_up(world.server)
                wait_until('the new file', lambda: os.path.exists(log))
        finally:
            stop.set()
            for client in clients:
                client.join()
        sizes = [os.path.getsize(path) for path in old]
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query after the last rotation')
        check_equal(world.stop_server(), 0, 'the exit code')
        check_equal([os.path.getsize(path) for path in old], sizes, 'sizes of the old files, which nobody writes any more')
        queries = sum(line['route'] == '/rides' for path in (*old, log) for line in lines_of(path))
        check_equal(queries, sum(asked) + 1, 'lines of queries in all files')
        check(lines_of(log), 'the new file is empty')
        check_equal(stat.S_IMODE(os.stat(log).st_mode), 0o600, 'the mode of the new file')
        check_equal(world.log().count('"logs_reopened"'), 3, 'lines that say so')


def what_cannot_be_reopened(settings):
    """The server keeps running, and logs into the old file."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'logs', 'access.log')
        os.mkdir(os.path.dirname(log))
        world.start_server('--access-log', log)
        os.rename(os.path.dirname(log), os.path.join(world.folder, 'moved'))
        hang_up(world.server)
        wait_until('a line in the log', lambda: '"access_log_not_reopened"' in world.log())
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
        check_equal(world.stop_server(), 0, 'the exit code')
        moved = lines_of(os.path.join(world.folder, 'moved', 'access.log'))
        check(any(line['route'] == '/rides' for line in moved), 'the old file has no line of the query')


def never_ends_the_server(settings):
    """SIGHUP from start to stop, with the log on standard error; the same for the stand-in for Stripe."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server('--access-log', '-', wait=False)
        began = time.monotonic()
        while not world.answers():
            check(not world.dead(), f'a SIGHUP while it starts ended it: {world.server.returncode}')
            check(time.monotonic() - began < WAIT_S, 'it does not start')
            # Before its first line it is still the shell or the loader, which has the default action.
            if blocks_hang_up(world.server.pid):
                hang_up(world.server)
        hang_up(world.server)
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
        hang_up(world.provider)
        check_equal(world.phone('test_jane').book('k-1').status, 201, 'a ride after a SIGHUP to the stand-in')
        world.server.terminate()
        while world.server.poll() is None:
            hang_up(world.server)
            time.sleep(0.01)
        check_equal(world.server.returncode, 0, 'the exit code')


def events_of(log, name):
    return [line for line in map(json.loads, filter(None, log.split('\n'))) if line.get('event') == name]


def served(world, *more):
    """The lines of the log are JSON; the program's own line about its port is not."""
    world.start_server(*more)

    def events(name):
        lines = '\n'.join(line for line in world.log().split('\n') if line.startswith('{'))
        return events_of(lines, name)
    return events


def a_key_for_a_person(settings):
    """One line, an error, when a request needs a person. It names the key by id and hash, never by its text."""
    with World(settings.bin, [*QUICK, '--charge-once', '--rider', 'test_doubt 500@example.com']) as world:
        events = served(world)
        wait_until('the doubt', lambda: world.phone('test_doubt').book('secret-key').status == 502)
        for _ in range(3):
            check_equal(world.phone('test_doubt').book('secret-key').status, 502, 'a repeat')
        (line,) = events('attention_added')
        ((key, hash_),) = world.rows('SELECT k.id, r.hash FROM pawl_idempotency_keys AS k JOIN pawl_key_registry AS r ON r.id = k.id')
        check_equal((line['level'], line['key_id'], line['key_hash']), ('error', key, hash_[:16]), 'the line')
        check_equal((line['operation'], line['point'], line['reason'], line['account']),
                    ('book_ride', 'ride_created', 'in-doubt', '500@example.com'), 'where, why and whose')
        check(line['detail'], 'it says why')
        check('secret-key' not in world.log(), 'the log has the text of a key')


def a_dead_job(settings):
    with World(settings.bin, QUICK) as world:
        events = served(world)
        check_equal(world.phone('test_refused').book('k').status, 201, 'the ride')
        (line,) = wait_until('the line', lambda: events('job_dead'))
        check_equal((line['level'], line['kind'], line['queue'], line['failures']), ('error', 'send_receipt', 'default', 1), 'the line')
        check('refused' in line['detail'] and line['jid'], f'which, and why: {line}')


def a_provider_that_goes_and_comes_back(settings):
    """Two lines, one for each change, and the refusals are counted instead of repeated."""
    with World(settings.bin, QUICK) as world:
        events = served(world)
        world.kill_provider()
        refused = [world.phone().book(f'k{i}').status for i in range(30)]
        check_equal(set(refused), {503}, 'answers without a provider')
        (down,) = wait_until('the line', lambda: events('provider_down'))
        check('http://127.0.0.1' in down['provider'] and down['waiting'] > 1 and down['error'], f'who, how many, why: {down}')
        check(len(events('attempt_refused')) < 15, f'like lines: {len(events("attempt_refused"))} of at least 30 refusals')
        world.start_provider()
        wait_until('a ride', lambda: world.phone().book('k0').status == 201)
        (up,) = wait_until('the line', lambda: events('provider_up'))
        # The completer may have finished them all by then.
        check(isinstance(up['waiting'], int) and up['waiting'] >= 0, f'how many wait: {up}')
        world.settle()
        check_equal(world.stop_server(), 0, 'the exit code')
        lines = events('attempt_refused')
        told = sum(('key_id' in line) + line.get('repeated', 0) for line in lines)
        check(told >= 30, f'{told} refusals are written or counted, of at least 30: {lines}')


def start_and_stop(settings):
    """The first line says what runs, the last one what is left."""
    with World(settings.bin, QUICK, judged=False) as world:
        events = served(world)
        check_equal(world.phone().get('/rides').status, 200, 'a query')
        (line,) = events('started')
        check(line['version'] and line['port'] == world.port and line['workers'] > 0 and line['lease_ms'] > 0, f'settings: {line}')
        check('book_ride: started, ' in line['operations'] and 'ride_created' in line['operations'], f'recovery points: {line}')
        check(line['database'].startswith(('sqlite:', 'postgres')), f'the database: {line}')
        check_equal(world.stop_server(), 0, 'the exit code')
        (line,) = events('stopped')
        check_equal((line['keys_left'], line['jobs_left'], line['in_doubt']), (0, 0, 0), 'what is left')


def access_lines(settings):
    """From a customer's complaint to the request: by its id, its account, or the hash of its key."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'access.log')
        world.start_server('--access-log', log)
        phone = world.phone('test_jane')
        answer = phone.book('my-secret-key')
        check_equal(answer.status, 201, 'the ride')
        check_equal(phone.get('/nowhere').status, 404, 'an unknown path')
        check_equal(world.stop_server(), 0, 'the exit code')
        lines = lines_of(log)
        (ride,) = [line for line in lines if line.get('operation') == 'book_ride']
        check_equal(ride['request_id'], answer.headers['x-request-id'], 'the id of the request, which the client has, too')
        ((hash_,),) = world.rows('SELECT hash FROM pawl_key_registry')
        check_equal((ride['account'], ride['key_hash'], ride['status']), ('jane@example.com', hash_[:16], 201), 'whose, and which key')
        check(isinstance(ride['took_us'], int) and isinstance(ride['bytes'], int), f'numbers: {ride}')
        (lost,) = [line for line in lines if line['status'] == 404]
        check_equal(lost['problem'], 'not-found', 'the type of the problem')
        with open(log, encoding='utf-8') as file:
            check('my-secret-key' not in file.read(), 'the access log has a key')


class Pager(http.server.ThreadingHTTPServer):
    """Keeps the alerts that are posted to it. The first try is refused: the sender tries again."""

    def __init__(self):
        self.posts, self.alerts = 0, []
        pager = self

        class Receive(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                pager.posts += 1
                if pager.posts > 1:
                    pager.alerts.append(json.loads(body))
                self.send_response(204 if pager.posts > 1 else 500)
                self.end_headers()

            def log_message(self, format, *arguments):
                pass
        super().__init__(('127.0.0.1', 0), Receive)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


def alerts(settings):
    """A dead job is posted to the webhook and given to the command; the next alert counts the others."""
    with World(settings.bin, QUICK) as world, contextlib.closing(Pager()) as pager:
        file = os.path.join(world.folder, 'alerts')
        world.start_server('--alert-webhook', f'http://127.0.0.1:{pager.server_port}/page', '--alert-command', f'cat >> {file}')
        for key in ('k1', 'k2', 'k3', 'k4'):
            check_equal(world.phone('test_refused').book(key).status, 201, 'the ride')
        wait_until('the dead jobs', lambda: world.count('pawl_dead_jobs') == 4)
        (first,) = wait_until('the first alert', lambda: pager.alerts)[:1]
        check_equal((first['event'], first['kind'], first['failures']), ('job_dead', 'send_receipt', 1), 'what it says')
        wait_until('all to be told of', lambda: sum(1 + one.get('more', 0) for one in pager.alerts) == 4, 30 * SLOW)
        check(len(pager.alerts) <= 3, f'alerts: {pager.alerts}')
        wait_until('the command', lambda: os.path.exists(file) and len(lines_of(file)) == len(pager.alerts))
        check_equal(lines_of(file), pager.alerts, 'what the command got')
        check_equal(world.stop_server(), 0, 'the exit code')


def alerts_that_are_not_delivered(settings):
    """A pager that is away holds up no request, and makes one line in the log."""
    with World(settings.bin, QUICK) as world:
        world.start_server('--alert-webhook', f'http://127.0.0.1:{free_port()}/', '--alert-command', 'sleep 60')
        for key in ('k1', 'k2'):
            check_equal(world.phone('test_refused').book(key).status, 201, 'the ride')
        world.settle()
        wait_until('the line', lambda: '"event":"alert_not_sent"' in world.log())
        check_equal(world.stop_server(), 0, 'the exit code')


def refused_by_the_listener(settings):
    """Such a request had neither an address in the access log nor an id."""
    limits = ['--line-max', '512', '--headers-max', '2048', '--body-max', '4096', '--header-timeout-ms', '300', '--body-grace-ms', '300']
    posted = b'POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nX-Forwarded-For: 203.0.113.9\r\nX-Request-Id: mine\r\n'
    cases = [(400, b'GET / HTTP/1.1\r\n\r\n', '127.0.0.1', None), (400, b'nonsense\r\n\r\n', '127.0.0.1', None),
             (414, b'GET /' + b'a' * 900, '127.0.0.1', None), (431, b'GET / HTTP/1.1\r\nHost: ' + b'a' * 4000, '127.0.0.1', None),
             (408, b'GET / HTTP/1.1\r\nHost: a\r\n', '127.0.0.1', None),
             (505, b'GET / HTTP/2.0\r\nHost: a\r\n\r\n', '127.0.0.1', None),
             (501, b'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n', '127.0.0.1', None),
             (413, posted + b'Content-Length: 9000\r\n\r\n', '203.0.113.9', 'mine'),
             (408, posted + b'Content-Length: 90\r\n\r\n', '203.0.113.9', 'mine'),
             (400, posted + b'Transfer-Encoding: chunked\r\n\r\nx\r\n', '203.0.113.9', 'mine')]
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'access.log')
        world.start_server('--access-log', log, '--trusted-proxies', '127.0.0.1', *limits)
        expected = []
        for status, sent, client, given in cases:
            found = answers_in(exchanged(world.port, sent, ends=False))
            check_equal([answer.status for answer in found], [status], f'{sent[:60]!r}')
            (answer,) = found
            id_ = answer.headers.get('x-request-id')
            check_equal((answer.status, bool(id_)), (status, True), f'{sent[:60]!r}')
            check(given in (None, id_), f'{id_}, sent: {given}')
            expected.append((status, client, id_))
        kept = exchanged(world.port, b'GET /livez HTTP/1.1\r\nHost: a\r\nX-Request-Id: first\r\n\r\nnonsense\r\n\r\n', ends=False)
        second = answers_in(kept)[1]
        check(second.headers['x-request-id'] != 'first', 'the second request of a connection has the id of the first')
        expected.append((400, '127.0.0.1', second.headers['x-request-id']))
        check_equal(world.stop_server(), 0, 'the exit code')
        lines = [(line['status'], line['client'], line.get('request_id')) for line in lines_of(log) if line['status'] >= 400]
        check_equal(lines, expected, 'the lines of the access log')


def floods_leave_a_small_log(settings):
    """Each kind of line that somebody outside can cause is counted, and written a few times; also one whose texts are long."""
    most = 2_000   # Of each kind: 20 lines in ten seconds, and the counts of those that were held back.
    with Operated(settings, base=[*QUICK, '--rider', 'test_pays declined@example.com'], judged=False) as one:
        world = one.world
        hooks = os.path.join(world.folder, 'hooks')
        operators = os.path.join(world.folder, 'operators')
        for path, text in ((hooks, 'whsec_0123456789abcdef\n'), (operators, 'ann admin token-of-ann-0123456789\n')):
            with open(path, 'w', encoding='ascii', opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(text)
        one.start('--operators', operators, '--stripe-webhook-secrets', hooks, '--tenant-rate', '1', '--tenant-burst', '1',
                  '--connections-per-address-max', '8')
        count = 300

        def flood(send):
            for n in range(count):
                try:
                    send(n)
                except OSError:
                    pass   # The server may close it.
        app, page = Phone(world.port), Phone(one.port)
        flood(lambda n: app.send('POST', '/webhooks/stripe', b'{}', {'Stripe-Signature': f't={n},v1={"0" * 64}'}))
        flood(lambda n: app.get('/rides'))
        flood(lambda n: Phone(world.port, token='x' * 8_000).get('/rides'))
        form = {'Content-Type': 'application/x-www-form-urlencoded', 'Authorization': ''}
        flood(lambda n: page.send('POST', '/sign-in', f'token=wrong-{n}', form))
        flood(lambda n: Phone(one.port, token=f'wrong-{n}' + 'x' * 8_000).get('/api/keys'))
        flood(lambda n: exchanged(world.port, b'GET /' + b'\xff' * 100 + b'\r\n\r\n', ends=False))
        os.unlink(operators)
        flood(lambda n: Phone(one.port, token=f'wrong-{n}').get('/api/keys'))
        with contextlib.ExitStack() as stack:
            for _ in range(50):
                stack.enter_context(contextlib.closing(socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S)))
            wait_until('refused connections', lambda: 'connections_of_address' in world.log())
        counts = {dict(labels)['event']: value for (name, labels), value in one.metrics().items() if name == 'pawl_log_events_total'}
        for event, least in (('webhook_refused', count), ('operator_refused', 2 * count), ('quota_exceeded', 1)):
            check(counts.get(event, 0) >= least, f'{event}: {counts}')
        lines = [line for line in world.log().split('\n') if line.startswith('{')]
        check(len(lines) < 300 and sum(map(len, lines)) < 50 * most, f'{len(lines)} lines, {sum(map(len, lines))} bytes')
        check(max(map(len, lines)) < 5_000, 'a line is long')
        check_equal(world.stop_server(), 0, 'the exit code')


def floods_of_a_provider(settings):
    """Declined cards, and calls that fail: counted, and a few lines of each."""
    with Operated(settings, base=[*QUICK], judged=False, provider_options=['--decline']) as one:
        one.start()
        world = one.world

        def book_all(kind, status):
            for n in range(60):
                check_equal(world.phone().book(f'{kind}-{n}').status, status, f'{kind} {n}')
        book_all('declined', 402)
        world.kill_provider()
        book_all('down', 503)

        def counted(event):
            return sum(value for (name, labels), value in one.metrics().items()
                       if name == 'pawl_log_events_total' and dict(labels)['event'] == event)
        check_equal(counted('card_declined'), 60, 'declined cards that are counted')
        check(counted('attempt_refused') >= 60, 'failed calls that are counted')
        check_equal(world.stop_server(), 0, 'the exit code')
        lines = [json.loads(line)['event'] for line in world.log().split('\n') if line.startswith('{')]
        check(len(lines) < 200, f'{len(lines)} lines: {collections.Counter(lines)}')


def blocks_hang_up(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        blocked = next(line for line in file if line.startswith('SigBlk:'))
    return int(blocked.split()[1], 16) & 1 << signal.SIGHUP - 1


def cases(settings):
    found = {'renamed under load, none of their lines are lost': rotate_under_load,
             'a missing folder is reported': what_cannot_be_reopened, 'SIGHUP never ends a server': never_ends_the_server,
             'a key for a person is an error': a_key_for_a_person, 'a dead job is an error': a_dead_job,
             'a provider is down once and up once': a_provider_that_goes_and_comes_back,
             'alerts reach the webhook and the command': alerts, 'a pager that is away': alerts_that_are_not_delivered,
             'from a complaint to the request': access_lines, 'what started and what is left': start_and_stop}
    right = {'a request that the listener refuses has its client and its id in the access log': refused_by_the_listener,
             'floods of outsiders leave a small log': floods_leave_a_small_log,
             'floods of a provider leave a small log': floods_of_a_provider}
    return [(f'{subject}: {name}', lambda run=run: run(settings))
            for subject, some in (('logs', found), ('right', right)) for name, run in some.items()]
