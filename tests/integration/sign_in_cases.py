"""Signing in and out, and settings that a server refuses at its start (issue 16, number 10)."""
import http.client
import json
import os
import stat
import urllib.parse

from kill_cases import QUICK
from phone import HERE_TO_THERE
from world import WAIT_S, World, check, check_equal, wait_until


class Visitor:
    """A minimal browser: one cookie, and forms."""

    def __init__(self, port, **headers):
        self.port, self.cookie, self.headers = port, None, headers

    def send(self, method, path, form=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=WAIT_S)
        headers = {'Accept': 'text/html'} | self.headers | ({'Cookie': self.cookie} if self.cookie else {})
        body = None
        if form is not None:
            body, headers['Content-Type'] = urllib.parse.urlencode(form), 'application/x-www-form-urlencoded'
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer
        finally:
            connection.close()

    def sign_in(self, token='test_jane', email='jane@example.com'):
        answer = self.send('POST', '/sign-in', {'email': email, 'token': token})
        if answer.status == 303:
            self.cookie = answer.headers['Set-Cookie'].split(';')[0]
        return answer

    def rides(self):
        return self.send('GET', '/rides').status


def throttled(settings):
    """Ten wrong tokens a minute for an account from an address; right ones do not count, and are not refused where they were right."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server()
        for _ in range(30):
            check_equal(Visitor(world.port).sign_in().status, 303, 'a sign-in with the right token')
        for n in range(10):
            check_equal(Visitor(world.port).sign_in('wrong').status, 401, f'wrong token {n}')
        refused = Visitor(world.port).sign_in('wrong')
        check_equal(refused.status, 429, 'wrong token 10')
        check(1 <= int(refused.headers['Retry-After']) <= 6, f'Retry-After: {refused.headers["Retry-After"]}')
        check_equal(Visitor(world.port).sign_in().status, 303, 'a right token, as before')
        check_equal(Visitor(world.port).sign_in('test_joe', 'joe@example.com').status, 303, 'another rider from the same address')
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a request with a bearer token')


def behind_a_proxy(client):
    return {'X-Forwarded-For': client}


def nobody_else_is_locked_out(settings):
    """Ten wrong tokens for joe gave 429 to everybody behind the proxy, and to joe from anywhere."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server('--trusted-proxies', '192.0.2.99,127.0.0.1')

        def sign_in(client, token='wrong', rider='joe'):
            return Visitor(world.port, **behind_a_proxy(client)).sign_in(token, f'{rider}@example.com')
        for n in range(10):
            check_equal(sign_in('203.0.113.1').status, 401, f'wrong token {n}')
        refused = sign_in('203.0.113.1', 'test_joe')
        check_equal(refused.status, 429, 'the eleventh try of one who never signed in there, whatever its token')
        check(1 <= int(refused.headers['Retry-After']) <= 6, f'Retry-After: {refused.headers["Retry-After"]}')
        check_equal(sign_in('203.0.113.2', 'test_joe').status, 303, 'joe from elsewhere')
        check_equal(sign_in('203.0.113.1', 'test_jane', 'jane').status, 303, 'another rider from there')
        for n in range(11):
            sign_in(f'2001:db8:0:1::{n + 1:x}', rider='jane')
        check_equal(sign_in('2001:db8:0:1:ffff::', 'test_jane', 'jane').status, 429, 'another address of that IPv6 network')
        check_equal(sign_in('2001:db8:0:2::1', 'test_jane', 'jane').status, 303, 'another IPv6 network')
        for _ in range(12):
            check(sign_in('203.0.113.2').status in (401, 429), 'a wrong token')
        check_equal(sign_in('203.0.113.2', 'test_joe').status, 303, 'joe, whose token was right there before')
        check_equal(sign_in('203.0.113.2', 'test_joe ').status, 429, 'a guess there')


def only_a_trusted_proxy_names_the_client(settings):
    """Access log and rides have the client's address; what a client writes into the headers by itself changes nothing."""
    said = {'X-Forwarded-For': '8.8.8.8, 203.0.113.7'}
    for proxies, expected in (('127.0.0.0/8', '203.0.113.7'), ('192.0.2.1', '127.0.0.1'), (None, '127.0.0.1')):
        with World(settings.bin, [*QUICK], judged=False) as world:
            log = os.path.join(world.folder, 'access.log')
            world.start_server('--access-log', log, *(['--trusted-proxies', proxies] if proxies else []))
            check_equal(world.phone().send('POST', '/rides', HERE_TO_THERE, headers=said, key='k').status, 201, 'a ride')
            check_equal(world.rows("SELECT DISTINCT origin_ip FROM audit_records"), [(expected,)], f'the origin, with {proxies}')
            check_equal(world.phone().send('GET', '/rides', headers={'Forwarded': 'for="[2001:db8::1]:80"'}).status, 200, 'a query')
            check_equal(world.phone().send('GET', '/nowhere', headers={'Forwarded': 'for=unknown'}).status, 404, 'a refusal')
            check_equal(world.stop_server(), 0, 'the exit code')
            with open(log, encoding='utf-8') as file:
                clients = [line['client'] for line in map(json.loads, file) if line['status'] != 200 or line['route'] == '/rides']
            named = proxies == '127.0.0.0/8'
            check_equal(clients, [expected, '2001:db8::1' if named else '127.0.0.1', '127.0.0.1'], f'clients of the log, with {proxies}')


def ended_on_the_server(settings):
    """A cookie that was copied before the sign-out is invalid after it, also after a restart; other sessions stay valid."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server()
        laptop, phone = Visitor(world.port), Visitor(world.port)
        check_equal((laptop.sign_in().status, phone.sign_in().status), (303, 303), 'sign-ins')
        thief = Visitor(world.port)
        thief.cookie = laptop.cookie
        check_equal((thief.rides(), phone.rides()), (200, 200), 'before the sign-out')
        check_equal(laptop.send('POST', '/sign-out', {}).status, 303, 'the sign-out')
        check_equal((thief.rides(), phone.rides()), (401, 200), 'after the sign-out')
        wait_until('the session in the database', lambda: world.count('ended_sessions') == 1)
        world.kill_server()
        world.start_server()
        check_equal((thief.rides(), phone.rides()), (401, 200), 'after a restart')


def ended_on_all_servers(settings):
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_nodes(2)
        here, there = (Visitor(node.port) for node in world.nodes)
        check_equal(here.sign_in().status, 303, 'the sign-in')
        there.cookie = here.cookie
        check_equal(there.rides(), 200, 'on the other server')
        check_equal(here.send('POST', '/sign-out', {}).status, 303, 'the sign-out')
        wait_until('the other server to refuse the session', lambda: there.rides() == 401)


def refused_at_the_start(settings):
    """Each error says what to do, and shows no token."""
    with World(settings.bin) as world:
        def tokens(text):
            path = os.path.join(world.folder, 'tokens')
            with open(path, 'w', encoding='ascii', newline='') as file:
                file.write(text)
            os.chmod(path, 0o600)
            return path
        beyond = ['--listen', f'0.0.0.0:{world.port}']
        for name, options, text, told in (
                ('a short token', beyond, 'test_jane jane@example.com\n', 'line 1 of the tokens file'),
                ('CR and LF', [], 'test_jane jane@example.com\ntest_joe joe@example.com\r\n', 'line 2 of the tokens file'),
                ('no address', [], '\ntest_jane jane\n', 'line 2 of the tokens file'),
                ('a short token behind a proxy', ['--site', 'https://rides.example'], 'test_jane jane@example.com\n', 'at least 16'),
                ('Stripe in clear', ['--stripe-url', 'http://192.0.2.1:1'], None, '--stripe-plain-http'),
                ('a proxy that is no address', ['--trusted-proxies', 'proxy.example'], None, 'proxy.example'),
                ('all the world as proxies', ['--trusted-proxies', '0.0.0.0/0'], None, '0.0.0.0/0'),
                ('a word behind the mail server', ['--smtp-url', 'smtp://192.0.2.1?tls=maybe'], None, '?tls=off')):
            more = ['--tokens', tokens(text)] if text else []
            command = world.server_command()
            for option, value in zip(options[::2], options[1::2]):
                if option in command:
                    at = command.index(option)
                    del command[at:at + 2]
            done = world.rides_command(*command, *options, *more, check_status=2,
                                       environment={'STRIPE_API_KEY': 'sk_test_refused'})
            check(told in done.stderr and 'test_j' not in done.stderr, f'{name}: {done.stderr}')


def headers_from_a_file(settings):
    """The command line of `pawl request`, which all users can see, has no token."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server()
        path = os.path.join(world.folder, 'headers')
        with open(path, 'w', encoding='ascii') as file:
            file.write('Authorization: Bearer test_jane\n\nX-Other: 1\n')
        os.chmod(path, stat.S_IRUSR)
        url = f'http://127.0.0.1:{world.port}/rides'
        world.rides_command('request', 'GET', url, '--header', '@' + path, program='pawl')
        for text, told in (('Authorization Bearer test_jane\n', 'line 1 of'), ('A: b\nC: test_jane\r\n', 'line 2 of')):
            os.chmod(path, 0o600)
            with open(path, 'w', encoding='ascii', newline='') as file:
                file.write(text)
            done = world.rides_command('request', 'GET', url, '--header', '@' + path, program='pawl', check_status=2)
            check(told in done.stderr and 'test_jane' not in done.stderr, done.stderr)
        done = world.rides_command('request', 'GET', url, '--header', '@/no/such/file', program='pawl', check_status=2)
        check("can't read the file /no/such/file" in done.stderr, done.stderr)


def cases(settings):
    found = {'wrong tokens are throttled': throttled, 'a sign-out ends the session on the server': ended_on_the_server,
             'an unsafe server does not start': refused_at_the_start, 'headers from a file': headers_from_a_file}
    if World.database != 'sqlite':
        found['a sign-out ends the session on all servers'] = ended_on_all_servers
    right = {'wrong tokens behind a proxy lock nobody else out': nobody_else_is_locked_out,
             'only a trusted proxy names the client': only_a_trusted_proxy_names_the_client}
    return [(f'{subject}: {name}', lambda run=run: run(settings))
            for subject, some in (('sign-in', found), ('right', right)) for name, run in some.items()]
