"""Malformed requests. Each gets a clear answer if one is due; no row is created, and the server keeps running."""
import concurrent.futures
import random
import re
import socket
import struct
import time

import malformed_bodies
import malformed_requests
from malformed_requests import GOOD_JSON, HOST, LINE, SMUGGLED, STATUS, TOKEN, TYPE, key, whole
from phone import parse
from raw import exchanged
from world import WAIT_S, NotSo, World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # The database does not matter here.
FAMILIES = {
    'request lines': malformed_requests.request_lines,
    'header lines': malformed_requests.header_lines,
    'framing, with a request smuggled behind': malformed_requests.framing,
    'credentials': malformed_requests.credentials,
    'keys': malformed_requests.keys,
    'JSON syntax and numbers': malformed_bodies.json_syntax,
    'JSON texts, names and depth': malformed_bodies.json_texts,
    'fields of a ride': malformed_bodies.fields,
    'content types': malformed_bodies.content_types,
    'forms and queries': malformed_bodies.forms_and_queries,
    'paths and methods': malformed_bodies.paths_and_methods,
    'sizes': malformed_bodies.sizes,
}


def check_answer(name, received, due, why=''):
    answer = parse(received)
    check(answer is not None, f'{name!r}: no answer, {due} is due')
    check_equal((answer.status, answer.type), (STATUS[due], due), f'{name!r}: {answer}')
    check_equal(len(re.findall(rb'HTTP/1\.1 \d\d\d ', received)), 1, f'{name!r}: answers on the connection')
    problem = answer.json
    check_equal((problem['status'], problem['retry']), (answer.status, False), f'{name!r}: the problem: status and retry')
    check(re.search(why, problem.get('detail', '')), f'{name!r}: the detail says {why}: {problem}')
    check(problem['title'] and problem['title'][0].isupper(), f'{name!r}: a title: {problem}')
    check_equal(answer.headers.get('cache-control'), 'no-store', f'{name!r}: Cache-Control')
    check('idempotency-expires' not in answer.headers, f'{name!r}: not a final answer: {answer.headers}')
    if answer.status == 405:
        check(answer.headers.get('allow'), f'{name!r}: Allow is there')
    if answer.status == 401:
        check_equal(answer.headers.get('www-authenticate'), 'Bearer realm="Rocket Rides"', f'{name!r}: how to ask')


def check_no_rows(world, what):
    for table in ('pawl_key_registry', 'pawl_idempotency_keys', 'rides', 'audit_records', 'pawl_jobs', 'pawl_attention'):
        check_equal(world.count(table), 0, f'rows of {table} after {what}')
    check_equal(world.count('users'), 3, f'users after {what}')   # The users that the server starts with.


def check_it_lives(world, n=1):
    """It serves a valid request, and its log has no failure."""
    check(not world.dead(), f'the server lives: {world.log()[-600:]}')
    answer = world.phone().book(f'good-{n}')
    check_equal(answer.status, 201, f'a good request: {answer}')
    # The tests' own PostgreSQL does not sync, of which a server warns: PAWL0009.
    log = world.log().replace('PAWL0009', '')
    for word in ('PAWL', 'internal', 'runtime error', 'Sanitizer'):
        check(word not in log, f'{word} in the log: {log[-600:]}')


def family(settings, name):
    with World(settings.bin, judged=False) as world:
        world.start_server()
        wrong = []
        for what, sent, due, *why in FAMILIES[name]():
            try:
                check_answer(what[:90], exchanged(world.port, sent), due, *why)
                check(not world.dead(), f'{what!r}: the server lives')
            except NotSo as error:
                wrong.append(str(error))
        check(not wrong, f'{len(wrong)} failed:\n' + '\n'.join(wrong))
        check_no_rows(world, name)
        check_it_lives(world)


def at_least_250_different(settings):
    all_of_them = [sent for make in FAMILIES.values() for _, sent, *_ in make()]
    check(len(set(all_of_them)) >= 250, f'malformed requests: {len(set(all_of_them))}')
    check_equal(len(all_of_them), len(set(all_of_them)), 'different ones among them')


def truncated(settings):
    """A valid request cut off anywhere, by a close or by a reset: it is not carried out and gets no answer."""
    good = whole()
    size = len(GOOD_JSON) - 32
    chunked = LINE + HOST + TOKEN + key(0) + TYPE + b'Transfer-Encoding: chunked\r\n\r\n'
    chunked += b'20\r\n' + GOOD_JSON[:32] + b'\r\n%x\r\n' % size + GOOD_JSON[32:] + b'\r\n0\r\n\r\n'
    with World(settings.bin, judged=False) as world:
        world.start_server()
        for request in (good, chunked):
            for at in range(0, len(request), 3):
                check_equal(exchanged(world.port, request[:at]), b'', f'an answer to {request[:at]!r}')
            for at in range(0, len(request), 7):
                with socket.create_connection(('127.0.0.1', world.port)) as raw:
                    raw.sendall(request[:at])
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))   # close() is a reset.
        check_no_rows(world, 'requests that were cut off')
        for n, request in enumerate((good, chunked)):
            answer = parse(exchanged(world.port, request.replace(b'k-0', b'w-%d' % n)))
            check_equal(answer.status, 201, f'the same, whole: {answer}')
        check_it_lives(world)


def dribbled(port, head, drops):
    """Sends the head, then a byte now and then; the answer and the seconds until it came."""
    began = time.monotonic()
    with socket.create_connection(('127.0.0.1', port), timeout=0.5) as raw:
        raw.sendall(head)
        received = b''
        while time.monotonic() - began < WAIT_S:
            try:
                part = raw.recv(65536)
                if not part:
                    return parse(received), time.monotonic() - began
                received += part
            except socket.timeout:
                if drops and not received:
                    raw.sendall(drops[:1])
                    drops = drops[1:]
    raise NotSo(f'{head!r} got no answer')


def slow(settings):
    """A slow request gets 408 at its limit; many slow ones do not delay others."""
    body_head = LINE + HOST + TOKEN + key(0) + TYPE + b'Content-Length: 500\r\n\r\n'
    chunk_head = LINE + HOST + TOKEN + key(0) + TYPE + b'Transfer-Encoding: chunked\r\n\r\n'
    shapes = [('headers that stop', LINE + HOST, b'', 10), ('a line that stops', b'POST /ri', b'', 10),
              ('headers in drops', LINE, b'X-A: ' + b'a' * 100, 10), ('a line in drops', b'P', b'OST /rides' * 20, 10),
              ('a body that stops', body_head + b'{"a', b'', 5), ('no body', body_head, b'', 5),
              ('a body in drops', body_head, b' ' * 100, 5), ('a chunk that stops', chunk_head + b'100\r\nabc', b'', 5),
              ('no chunk', chunk_head, b'', 5), ('chunks in drops', chunk_head, b'1\r\n \r\n' * 20, 5)]
    with World(settings.bin, judged=False) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(len(shapes) * 4) as pool:
            tasks = [(name, limit, pool.submit(dribbled, world.port, head, drops))
                     for name, head, drops, limit in shapes * 4]
            served = 0
            while not all(task.done() for _, _, task in tasks):
                began = time.monotonic()
                check_equal(world.phone().get('/rides').status, 200, 'another, meanwhile')
                check(time.monotonic() - began < WAIT_S / 10, 'another is served at once')
                served += 1
                wait_until('a moment', lambda: time.monotonic() - began > 0.1)
            check(served > 10, f'others served meanwhile: {served}')
            for name, limit, task in tasks:
                answer, seconds = task.result()
                check(answer is not None, f'{name}: no answer')
                check_equal((answer.status, answer.type), (408, 'request-time-out'), f'{name}: {answer}')
                check(limit - 1 < seconds < limit + WAIT_S / 2,
                      f'{name}: after {seconds:.1f} s, the limit is {limit} s')
        check_no_rows(world, 'slow requests')
        check_it_lives(world)


def too_large_while_it_comes(settings):
    """413 comes although the client is still sending, and without waiting for the rest."""
    with World(settings.bin, judged=False) as world:
        world.start_server()
        head = LINE + HOST + TOKEN + key(0) + TYPE
        chunk = b'10000\r\n' + b' ' * 0x10000 + b'\r\n'
        for what, sent in [('by its length', head + b'Content-Length: 100000000\r\n\r\n' + b' ' * 1000),
                           ('by its length, and Expect',
                            head + b'Content-Length: 100000000\r\nExpect: 100-continue\r\n\r\n'),
                           ('by its chunks', head + b'Transfer-Encoding: chunked\r\n\r\n' + chunk * 17)]:
            with socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S) as raw:
                raw.sendall(sent)
                received = b''
                while part := raw.recv(65536):   # To the end of the answer; our side stays open.
                    received += part
                check_answer(what, received, 'body-too-large')
        check_no_rows(world, 'bodies too large')
        check_it_lives(world)


def on_one_connection(settings):
    """If only its meaning is malformed, the connection continues with the next request."""
    bad = [whole(body=b'{'), whole(body=b'{}'), whole(headers=HOST + TOKEN + TYPE),
           whole(headers=HOST + TOKEN + TYPE + b'Idempotency-Key: a,b\r\n'),
           whole(headers=HOST + TOKEN + key(0) + b'Content-Type: text/plain\r\n')]
    with World(settings.bin, judged=False) as world:
        world.start_server()
        received = exchanged(world.port, b''.join(bad) * 5 + SMUGGLED)
        statuses = [int(part[:3]) for part in received.split(b'HTTP/1.1 ')[1:]]
        check_equal(statuses, [400, 400, 400, 400, 415] * 5 + [201], 'the answers, in order')
        check_equal(world.count('pawl_key_registry'), 1, 'keys')
        check_it_lives(world)


def after_a_head(settings):
    """An answer to HEAD has no body; the problem of the next request has one."""
    with World(settings.bin, judged=False) as world:
        world.start_server()
        head = b'HEAD /rides HTTP/1.1\r\n' + HOST + TOKEN + b'\r\n'
        received = exchanged(world.port, head * 2 + b'GET /rides HTTP/1.1\r\nX\r\n\r\n')
        check_equal(re.findall(rb'HTTP/1\.1 (\d\d\d) ', received), [b'200', b'200', b'400'], 'the answers')
        check_answer('after two HEADs', received[received.rindex(b'HTTP/1.1 400'):], 'request-invalid')


LIKELY = b'\x00\t\n\r ",:;{}[]\\%0-9eE\x7f\x80\xff'   # Bytes with a meaning in some syntax.


def mutated(settings):
    """A valid request with a few random changes: refused or carried out, never a server error."""
    chance = random.Random(settings.seed)
    with World(settings.bin, judged=False) as world:
        world.start_server()
        done = 0
        for n in range(1500 if settings.everything else 500):
            request = bytearray(whole(headers=HOST + TOKEN + b'Idempotency-Key: m-%d\r\n' % n + TYPE))
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(request))
                change = chance.randrange(3)
                if change == 0:
                    request[at] = chance.choice(LIKELY + bytes([chance.randrange(256)]))
                elif change == 1:
                    del request[at:at + chance.randint(1, 8)]
                else:
                    request[at:at] = bytes(chance.choices(range(256), k=chance.randint(1, 8)))
            received = exchanged(world.port, bytes(request))
            answer = parse(received)
            check(not world.dead(), f'the server lives after {bytes(request)!r}')
            done += answer is not None and answer.status == 201 and not answer.replayed
            check(answer is None or answer.status < 500 or answer.status in (501, 505),
                  f'{bytes(request)!r} got {answer}')
            check(answer is None or answer.status < 400 or answer.is_problem,
                  f'{bytes(request)!r} got an answer that is not a problem: {answer}')
        world.settle()
        check_equal(world.count('pawl_key_registry'), done, f'keys, with seed {settings.seed}: one for each request done')
        check_equal(len(world.ledger()), done, 'charges')
        check_it_lives(world)


def cases(settings):
    found = {name: lambda name=name: family(settings, name) for name in FAMILIES}
    found |= {
        'at least 250 different requests': lambda: at_least_250_different(settings),
        'requests cut off anywhere': lambda: truncated(settings),
        'slow headers and bodies': lambda: slow(settings),
        'too large, while it is still coming': lambda: too_large_while_it_comes(settings),
        'many on one connection, then a good one': lambda: on_one_connection(settings),
        'behind a HEAD': lambda: after_a_head(settings),
        'a good request changed by chance': lambda: mutated(settings),
    }
    return [('malformed: ' + name, run) for name, run in found.items()]
