"""Canaries: secrets that a client or the operator gives to the server. None may appear in a log or an error, and each is
stored only in its expected tables."""
import collections
import json
import os
import re

from attack import LINE, coded, get, post
from kill_cases import QUICK
from malformed_requests import FORM, GOOD_FORM, GOOD_JSON, HOST, TYPE
from phone import HERE_TO_THERE, Phone
from ports import free_port
from raw import answers_in, exchanged
from world import KILLED, World, check, check_equal, wait_until

KEYS = {'pawl_idempotency_keys'}
# Each canary, and the tables where it may be. No canary's number contains another's.
WHERE = {
    'token': set(), 'old-token': set(), 'basic': set(), 'cookie': set(), 'api-key': set(), 'proxy-token': set(), 'agent': set(),
    'key': KEYS, 'kept-key': KEYS, 'dead-key': KEYS, 'crashed-key': KEYS, 'bad-key': set(), 'asked-key': set(), 'form-key': KEYS,
    'card': set(), 'cvc': set(), 'password': set(), 'query': set(), 'field': set(), 'path': set(), 'type': set(), 'host': set(),
    'line': set(), 'trailer': set(), 'extension': set(), 'fragment': set(), 'broken-body': set(), 'xml': set(), 'method': set(),
    'stripe-secret': set(),
    # In Rocket Rides an address is a name: of the rider who asks, whose requests and jobs contain it, and of a created user.
    # The stand-in for Stripe makes ids of customers of their addresses.
    'mailbox': {'users', 'pawl_idempotency_keys', 'pawl_dead_jobs', 'pawl_key_references'}, 'unsure': {'users', 'pawl_idempotency_keys'},
    'made': {'users'}, 'unmade': set(),
}
CANARIES = {name: f'canary{n:02}{os.urandom(6).hex()}' for n, name in enumerate(WHERE)}
# For numbers in a body: the digits of a card in the place of a coordinate.
CARD_NUMBER = '41.42424242424'
OPERATOR = 'token-of-an-operator'
TABLES_OF_NUMBER = {'pawl_idempotency_keys', 'rides', 'audit_records'}
c = collections.namedtuple('Texts', [name.replace('-', '_') for name in WHERE])(*CANARIES.values())


def b(text):
    return text.encode()


def malformed():
    """Requests that are refused, with a secret in or beside the wrong part."""
    token = b'Authorization: Bearer test_jane\r\n'
    card = b'{"card": "' + b(c.card) + b'", "cvc": "' + b(c.cvc) + b'"}'
    return [
        post(body=GOOD_JSON[:-1] + b', "card": "' + b(c.card) + b'"}'), post(body=GOOD_JSON[:-1] + b', "' + b(c.field) + b'": 1}'),
        post(body=card), post(body=b'{"password": "' + b(c.password)), post(body=b(c.broken_body)), post(body=b'["' + b(c.cvc) + b'"]'),
        post(body=GOOD_JSON.replace(b'47.61', b'"' + b(c.card) + b'"')), post(body=GOOD_JSON[:-1] + b', "a": "' + b(c.cvc) + b'\xff"}'),
        post(body=b'<card>' + b(c.xml) + b'</card>', content_type=b'Content-Type: application/xml\r\n'),
        post(content_type=b'Content-Type: text/' + b(c.type) + b'\r\n'), post(key=b'Idempotency-Key: ' + b(c.bad_key) + b',b\r\n'),
        post(line=b'POST /rides?password=' + b(c.query) + b' HTTP/1.1\r\n'), get(b'/rides?before=' + b(c.query)),
        get(b'/rides?limit=1&limit=' + b(c.query)), get(b'/rides/' + b(c.path)), get(b'/' + b(c.path)), get(b'/rides#' + b(c.fragment)),
        get(b'/idempotency-keys/' + b(c.asked_key)), get(b'/rides', method=b(c.method)), get(b'/rides/%ff' + b(c.path)),
        post(host=b'Host: ' + b(c.host) + b'@localhost\r\n'), post(b(c.line) + b'\r\n'), post(b'X: ' + b(c.line) + b'\x01\r\n'),
        post(length=b'Content-Length: ' + b(c.line) + b'\r\n'), post(b'Transfer-Encoding: ' + b(c.line) + b'\r\n'),
        coded(b'1;' + b(c.extension) + b'=\x01\r\n'), coded(b'0\r\n' + b(c.trailer) + b' : x\r\n\r\n'), coded(b(c.extension) + b'\r\n'),
        (LINE + HOST + b'Authorization: Bearer ' + b(c.old_token) + b'\r\n\r\n'),
        (LINE + HOST + b'Authorization: Basic ' + b(c.basic) + b'\r\nProxy-Authorization: Bearer ' + b(c.proxy_token) + b'\r\n\r\n'),
        LINE + HOST + token + TYPE + b'Content-Length: 5\r\n\r\n' + b(c.card)[:5] + b(c.broken_body) + b'\r\n\r\n',
        post(content_type=FORM, key=b'', body=GOOD_FORM + b'&idempotency_key=a%2C' + b(c.bad_key)),
        post(content_type=FORM, key=b'', body=GOOD_FORM + b'&' + b(c.field) + b'=1&idempotency_key=x'),
        b'PUT /users/' + b(c.unmade) + b' HTTP/1.1\r\n' + HOST + token + b'Content-Length: 0\r\n\r\n']


class Canaries:
    """Causes every kind of log line, and keeps the answers."""

    def __init__(self, world):
        self.world, self.errors = world, []

    def ask(self, status, token, path, body=None, key=None, method='POST', headers=()):
        answer = self.world.phone(token).send(method, path, body, dict(headers), key)
        check(answer.status in (status if isinstance(status, tuple) else (status,)), f'{method} {path}: {answer}')
        if answer.status >= 400:
            self.errors.append(f'{answer.headers} {answer.body}')
        return answer

    def book(self, status, key, token='test_jane', headers=(), **changes):
        return self.ask(status, token, '/rides', HERE_TO_THERE | changes, key, headers=headers)

    def succeed(self):
        secrets = {'Cookie': c.cookie, 'X-Api-Key': c.api_key, 'User-Agent': c.agent}.items()
        self.book(201, c.key, c.token, secrets)
        self.book(201, c.key, c.token, secrets)
        self.book(422, c.key, c.token, origin_lat=1)
        self.book(402, 'declined', 'test_poor')
        self.book(201, 'number', origin_lat=float(CARD_NUMBER))
        self.ask(201, 'test_jane', '/rides', (GOOD_FORM + b'&idempotency_key=' + b(c.form_key)).decode(),
                 headers={'Content-Type': 'application/x-www-form-urlencoded'}.items())
        self.ask(200, c.token, f'/idempotency-keys/{c.key}', method='GET')
        self.ask(404, 'test_joe', f'/idempotency-keys/{c.key}', method='GET')
        self.ask(201, 'test_jane', f'/users/{c.made}@example.com', method='PUT')

    def refuse(self):
        for sent in malformed():
            for answer in answers_in(exchanged(self.world.port, sent, True)):
                check(400 <= answer.status < 500 or answer.status == 501, f'{sent!r}: {answer}')
                self.errors.append(f'{answer.headers} {answer.body}')

    def fail(self):
        """The provider is down, or repeats a stored error; the application's code throws; a mailbox does not exist."""
        self.world.kill_provider()
        self.book(503, c.kept_key)
        self.world.start_provider()
        wait_until('the ride', lambda: self.book((201, 409, 503), c.kept_key).status == 201)
        self.book((500, 502, 503), 'unsure', 'test_unsure')
        # On a busy machine the completer may be at it: 409.
        wait_until('a repeat', lambda: self.book((409, 500, 502, 503), 'unsure', 'test_unsure').status != 409)
        wait_until('the attention list', lambda: self.world.count('pawl_attention'))
        self.book(201, c.dead_key, 'test_mailbox')
        wait_until('the dead letter', self.world.queue.dead)

    def break_rules(self):
        """An application's bug that the database reports: PostgreSQL's message contains the row."""
        if self.world.store.name == 'postgres':
            self.world.change(f"ALTER TABLE users ADD CONSTRAINT bug CHECK (email NOT LIKE '{c.unmade}%')")
            self.world.change('ALTER TABLE rides ADD CONSTRAINT bug CHECK (origin_lat <> 42.4242424242424)')
        else:
            self.world.change("CREATE TRIGGER bug_in_users BEFORE INSERT ON users WHEN NEW.email LIKE '" + c.unmade
                              + "%' BEGIN SELECT RAISE(ABORT, 'a bug'); END")
            self.world.change("CREATE TRIGGER bug_in_rides BEFORE INSERT ON rides WHEN NEW.origin_lat = 42.4242424242424 "
                              "BEGIN SELECT RAISE(ABORT, 'a bug'); END")
        self.ask(500, 'test_jane', f'/users/{c.unmade}@example.com', method='PUT')
        check('request_refused' in self.world.log(), 'the log says so')
        self.book(500, 'broken', origin_lat=42.4242424242424)

    def crash(self):
        self.world.stop_server()
        self.world.start_server(*loud(self.world), fault='engine.call.after:1:kill9')
        try:
            self.world.phone(c.token).book(c.crashed_key)
        except OSError:
            pass
        wait_until('the death', self.world.dead)
        check_equal(self.world.server.returncode, KILLED, 'how it ended')
        self.world.start_server(*loud(self.world))
        wait_until('the ride', lambda: self.book((201, 409, 503), c.crashed_key, c.token).status == 201)


def loud(world):
    """All logs: the server's, which has one level, and the access log; and the operator's listener with its page."""
    return '--access-log', f'{world.folder}/access', '--operate', f'127.0.0.1:{world.operate}', '--operators', f'{world.folder}/operators'


def tables(world):
    """Each table with its contents, as text."""
    if world.store.name == 'postgres':
        names = [name for (name,) in world.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")]
        return {name: '\n'.join(row[0] for row in world.rows(f'SELECT t::text AS t FROM {name} AS t')) for name in names}
    names = [name for (name,) in world.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: '\n'.join(str(row) for row in world.rows(f'SELECT * FROM {name}')) for name in names}


def in_any_form(text):
    """The text, and its form in a column of bytes."""
    return re.compile(re.escape(text) + '|' + text.encode().hex(), re.IGNORECASE)


def seen_by_operators(world):
    """Metrics, time lines, and each page, which names the requests by their keys and accounts, and shows nothing else of clients."""
    phone = Phone(world.operate, token=OPERATOR)
    ids = [id for (id,) in world.rows('SELECT id FROM pawl_idempotency_keys')]
    jobs = [id for (id,) in world.rows('SELECT id FROM pawl_dead_jobs')]
    paths = ['/', '/keys?limit=500', '/attention', '/queues', '/jobs', '/dead', '/providers', '/flow', '/servers', '/audit',
             *(f'/keys/{id}' for id in ids), *(f'/dead/{id}' for id in jobs)]
    answers = {path: phone.get('/api' + path) for path in paths}
    check_equal({answer.status for answer in answers.values()}, {200}, f'statuses: { {p: a.status for p, a in answers.items()} }')
    page = '\n'.join(answer.body.decode() for answer in answers.values())
    names = [text for name, text in CANARIES.items() if name.endswith('key') or WHERE[name] & {'users'}]
    for text in names:
        page = page.replace(text, '')
    timelines = [world.rides_command('keys', 'timeline', str(id), '--database', world.url, '--json').stdout for id in ids]
    return {'the metrics': phone.get('/metrics').body.decode(), 'the page': page, 'the time lines': '\n'.join(timelines)}


def in_no_log(settings):
    mailbox = f'{c.mailbox}@refused.example'
    options = [*QUICK, '--retry-after-ms', '100', '--rider', f'{c.token} jane@example.com', '--rider', f'test_mailbox {mailbox}',
               '--rider', f'test_unsure 500{c.unsure}@example.com']
    with World(settings.bin, options) as world:
        world.environment = {'STRIPE_API_KEY': 'sk_test_' + c.stripe_secret}
        world.operate = free_port()
        with open(f'{world.folder}/operators', 'w', encoding='utf-8', opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f'vic viewer {OPERATOR}\n')
        world.start_server(*loud(world))
        canaries = Canaries(world)
        for live in (canaries.succeed, canaries.refuse, canaries.fail, canaries.crash, canaries.break_rules):
            live()
        for command in (['keys', 'list'], ['attention', 'list'], ['queues'], ['doctor']):
            world.rides_command(*command, '--database', world.url, check_status=None)
        shown = seen_by_operators(world)
        check_equal(world.stop_server(), 0, 'the exit code')
        with open(f'{world.folder}/access', encoding='utf-8') as file:
            told = {'the log': world.log(), 'the access log': file.read(), 'errors that clients got': '\n'.join(canaries.errors)} | shown
        check(all(len(text) > 500 for text in told.values()), f'the logs are not empty: { {k: len(v) for k, v in told.items()} }')
        # The logs name accounts, which are addresses here, in a field of their own alone.
        for place in ('the log', 'the access log'):
            told[place] = re.sub(r'"account":"[^"]*"', '"account":""', told[place])
        # The error names the wrong field.
        told['errors that clients got'] = told['errors that clients got'].replace(c.field, '')
        wrong = []
        secrets = dict(CANARIES) | {'a number': CARD_NUMBER, 'a number of what broke': '42.4242424242424'}
        for name, text in secrets.items():
            for place, said in told.items():
                wrong += [f'{name} is in {place}: ...{line[-400:]}' for line in said.split('\n') if in_any_form(text).search(line)][:1]
        check(not wrong, f'{len(wrong)} secrets leaked:\n' + '\n'.join(wrong))
        stored = tables(world)
        lies = {name: {table for table, text in stored.items() if in_any_form(secret).search(text)} for name, secret in CANARIES.items()}
        wrong = {name: sorted(found) for name, found in lies.items() if found != WHERE[name]}
        check(not wrong, f'tables with a canary that are not as expected: {json.dumps(wrong)}')
        found = {table for table, text in stored.items() if CARD_NUMBER in text}
        check_equal(found, TABLES_OF_NUMBER, 'tables with the number of a body')


def cases(settings):
    return [('canary: in no log, in no error, and only in their tables', lambda: in_no_log(settings))]
