"""Signing in and out, and settings that a server refuses at its start (issue 16, number 10)."""
import http.client
import os
import stat
import urllib.parse

from kill_cases import QUICK
from world import WAIT_S, World, check, check_equal, wait_until


class Visitor:
    """A minimal browser: one cookie, and forms."""

    def __init__(self, port):
        self.port, self.cookie = port, None

    def send(self, method, path, form=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=WAIT_S)
        headers = {'Accept': 'text/html'} | ({'Cookie': self.cookie} if self.cookie else {})
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
    """Ten wrong tokens a minute, for an address and for an account; right ones do not count."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server()
        for _ in range(30):
            check_equal(Visitor(world.port).sign_in().status, 303, 'a sign-in with the right token')
        for n in range(10):
            check_equal(Visitor(world.port).sign_in('wrong').status, 401, f'wrong token {n}')
        refused = Visitor(world.port).sign_in('wrong')
        check_equal(refused.status, 429, 'wrong token 10')
        check(1 <= int(refused.headers['Retry-After']) <= 6, f'Retry-After: {refused.headers["Retry-After"]}')
        check_equal(Visitor(world.port).sign_in().status, 429, 'a right token from the same address')
        check_equal(Visitor(world.port).sign_in('test_joe', 'joe@example.com').status, 429, 'another rider from the same address')
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a request with a bearer token')


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
    return [('sign-in: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
