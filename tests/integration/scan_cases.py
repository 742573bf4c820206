"""Injection: wapiti over every parameter that a form or a link can carry, and our own payloads for the rest: path
segments, PUT and DELETE, JSON, the key. No SQL is ever built from input: tools/tidy checks that."""
import contextlib
import http.server
import json
import subprocess
import threading
import time
import urllib.parse

from malformed_requests import FIELDS, GOOD
from phone import HERE_TO_THERE
from world import WAIT_S, World, check, check_equal

DATABASES = ('sqlite',)   # The database does not matter here.
MODULES = 'sql,blindsql,exec,crlf,xss,permanentxss,file,redirect'
PAYLOADS = ["'", '"', "1'--", "1' OR '1'='1", "1 OR 1=1", "1); DROP TABLE rides; --", "1'; DELETE FROM users; --",
            "1 AND (SELECT 1 FROM pg_sleep(5))", "1'||pg_sleep(5)||'", "1; SELECT pg_sleep(5)--", "1 UNION SELECT 1,2,3,4,5,6,7,8,9,10,11",
            "1' UNION SELECT sql FROM sqlite_master--", "1 AND randomblob(500000000)", "$1", "${1}", "%s", "?", ":id", "@id", "\\'", "\\",
            "%27%20OR%201=1",
            "\u02bc OR 1=1", "1\x00'", "0x31", "1e1", "1;ls", "$(sleep 5)", "`sleep 5`", "|sleep 5", "; ping -c 5 127.0.0.1",
            "a\r\nX-Injected: 1",
            "../../../../etc/passwd", "file:///etc/passwd", "<script>alert(1)</script>", "{{7*7}}", "__proto__", "*", "'%'",
            "x' AND 1=CAST('a' AS int)--"]
SAYS_TOO_MUCH = ('sqlite', 'postgres', 'syntax', 'SELECT', 'root:x:', 'statement', 'X-Injected', 'psql', 'SQL')


def page(port):
    """Links to every route of the server that a browser can request, which excludes PUT and DELETE."""
    to = f'http://127.0.0.1:{port}'
    links = [f'{to}/rides?before=5&limit=3', f'{to}/rides/1?x=y', f'{to}/idempotency-keys/k?x=y', f'{to}/livez?x=y']
    fields = ''.join(f'<input type="text" name="{name}" value="{GOOD[name]}">' for name in FIELDS)
    form = lambda action, more: f'<form method="post" action="{to}{action}">{more}<input type="submit"></form>'
    key = lambda value: f'<input type="hidden" name="idempotency_key" value="{value}">'
    links.append('/echo?q=x')
    body = ''.join(f'<a href="{link}">x</a>' for link in links) + form('/rides', fields + key('wapiti-1')) + form('/rides/1/refund',
                                                                                                                  key('wapiti-2'))
    return f'<html><body>{body}</body></html>'.encode()


@contextlib.contextmanager
def served(body):
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            """/echo has a planted hole: finding it proves that wapiti works."""
            path, _, query = self.path.partition('?')
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(urllib.parse.unquote_plus(query).encode() if path == '/echo' else body)

        def log_message(self, *_):
            """Nothing."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def wapiti(settings):
    with World(settings.bin, judged=False) as world:
        world.start_server('--access-log', f'{world.folder}/access')
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        report = f'{world.folder}/report.json'
        with served(page(world.port)) as port:
            done = subprocess.run(['wapiti', '-u', f'http://127.0.0.1:{port}/', '--scope', 'punk', '-m', MODULES, '-f', 'json', '-o', report,
                                   '-H', 'Authorization: Bearer test_jane', '--no-bugreport', '--flush-session', '-v', '0', '-t', '6',
                                   '--max-attack-time', '40', '--store-session', f'{world.folder}/session', '--store-config',
                                   f'{world.folder}/config'],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
        check_equal(done.returncode, 0, f'the exit code of wapiti: {done.stdout[-600:]} {done.stderr[-600:]}')
        with open(report, encoding='utf-8') as file:
            found = [item | {'kind': kind} for kind, items in json.load(file)['vulnerabilities'].items() for item in items]
        planted = [item for item in found if item['path'] == '/echo']
        check(planted, f'it finds the planted hole: {found}')
        check_equal([item for item in found if item not in planted], [], 'findings')
        world.settle()
        check_equal(world.stop_server(), 0, 'the exit code')
        with open(f'{world.folder}/access', encoding='utf-8') as file:
            asked = [json.loads(line) for line in file]
        routes = {line['route'] for line in asked if line['method'] in ('GET', 'POST')}
        wanted = {'/rides', '/rides/{id}', '/rides/{id}/refund', '/idempotency-keys/{key}'}
        check(wanted <= routes, f'its routes: {routes}')
        check(len(asked) > 300, f'it asked {len(asked)} times')
        check_equal([line for line in asked if line['status'] >= 500], [], 'server errors')


def of_our_own(settings):
    with World(settings.bin, judged=False) as world:
        world.start_server()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        users = world.count('users')
        wrong, made = [], set()
        for payload in PAYLOADS:
            quoted = urllib.parse.quote(payload, safe='')
            for what, method, path, body, key in [
                    ('a ride', 'GET', f'/rides/{quoted}', None, None), ('a ride', 'DELETE', f'/rides/{quoted}', None, None),
                    ('a ride', 'POST', f'/rides/{quoted}/refund', None, 'r'), ('a key', 'GET', f'/idempotency-keys/{quoted}', None, None),
                    ('a user', 'PUT', f'/users/{quoted}', None, None), ('a user', 'PUT', f'/users/{quoted}@example.com', None, None),
                    ('a query', 'GET', f'/rides?before={quoted}', None, None), ('a query', 'GET', f'/rides?limit={quoted}', None, None),
                    *[('a field', 'POST', '/rides', HERE_TO_THERE | {name: payload}, 'f') for name in FIELDS],
                    ('a name', 'POST', '/rides', HERE_TO_THERE | {payload: 1}, 'n'),
                    *([('the header', 'POST', '/rides', HERE_TO_THERE, payload)] if payload.isascii() and payload.isprintable() else [])]:
                began = time.monotonic()
                answer = world.phone().send(method, path, body, key=key)
                took = time.monotonic() - began
                text = f'{answer.headers} {answer.body.decode()}'.replace(json.dumps(payload, ensure_ascii=False)[1:-1], '')
                if (answer.status >= 500 or took > WAIT_S / 5 or 'x-injected' in answer.headers
                        or any(word in text for word in SAYS_TOO_MUCH) and answer.status >= 400):
                    wrong.append(f'{payload!r} as {what} of {method}: {answer} after {took:.1f} s')
                if what == 'the header' and answer.status == 201:
                    made.add(payload)
                if what == 'a user' and answer.status == 201:
                    users += 1
        check(not wrong, f'{len(wrong)} failed:\n' + '\n'.join(wrong))
        world.settle()
        check(len(made) > 10, f'keys that are allowed: {made}')
        # Each allowed key must be stored unchanged.
        keys = {key for (key,) in world.rows('SELECT idempotency_key FROM pawl_idempotency_keys')}
        check_equal(keys - {'r'}, made | {'first'}, 'keys')   # 1e1 is a number: of an unknown ride.
        check_equal((world.count('rides'), world.count('users')), (len(made) + 1, users), 'rides, users')


def cases(settings):
    found = [('scan: payloads of our own on every parameter', lambda: of_our_own(settings))]
    # Its package comes only with `tools/install full`.
    return found + ([('scan: wapiti on every form and link', lambda: wapiti(settings))] if settings.everything else [])
