"""More than 200 malformed requests: a clear 4xx with a problem body, no row, and the server lives."""
import json

from kill_cases import QUICK
from phone import HERE_TO_THERE, Phone, raw_exchange
from world import NotSo, World, check, check_equal, wait_until

GOOD = json.dumps(HERE_TO_THERE).encode()
AUTH = b'Authorization: Bearer test_jane\r\n'
KEY = b'Idempotency-Key: k\r\n'
JSON = b'Content-Type: application/json\r\n'


def request(body=GOOD, line=b'POST /rides HTTP/1.1', host=b'Host: a\r\n', auth=AUTH, key=KEY, kind=JSON, length=None,
            more=b''):
    """A request that is right but for what is given."""
    sized = b'Content-Length: %d\r\n' % len(body) if length is None else length
    return line + b'\r\n' + host + auth + key + kind + sized + more + b'\r\n' + body


def request_lines():
    for line in [b'', b'POST', b'POST /rides', b'POST /rides HTTP/1.1 x', b' POST /rides HTTP/1.1', b'POST  /rides HTTP/1.1',
                 b'POST\t/rides\tHTTP/1.1', b'POST rides HTTP/1.1', b'POST http://a/rides HTTP/1.1', b'P\x01ST /rides HTTP/1.1',
                 b'PO(ST /rides HTTP/1.1', b'POST /ri des HTTP/1.1', b'POST /ri\x7fdes HTTP/1.1', b'POST /ri\xc3\xa9des HTTP/1.1',
                 b'POST /rides#x HTTP/1.1', b'POST /rides HTTP/2.0', b'POST /rides HTTP/1.2', b'POST /rides HTTP/9.9',
                 b'POST /rides http/1.1', b'POST /rides HTTP/1', b'POST /rides HTTP/11', b'POST /rides XTTP/1.1',
                 b'POST /rides HTTP/1.1\x00', b'POST /' + b'a' * 8200 + b' HTTP/1.1', b'A' * 9000, b'\x16\x03\x01\x02\x00\x01',
                 b'PRI * HTTP/2.0', b'GET /%zz HTTP/1.1', b'GET /% HTTP/1.1', b'GET /%0 HTTP/1.1', b'GET /rides/%00 HTTP/1.1',
                 b'GET /rides/%ff%fe HTTP/1.1', b'GET /rides?%zz=1 HTTP/1.1', b'GET /rides?limit=1&limit=2 HTTP/1.1',
                 b'GET /rides?limit=%ff HTTP/1.1', b'GET /rides?limit=0 HTTP/1.1', b'GET /rides?limit=101 HTTP/1.1',
                 b'GET /rides?limit=x HTTP/1.1', b'GET /rides?other=1 HTTP/1.1', b'GET /rides/ HTTP/1.1',
                 b'GET //rides HTTP/1.1', b'GET /rides/../rides HTTP/1.1', b'GET /rides/99999999999999999999 HTTP/1.1',
                 b'GET /rides/-0x1 HTTP/1.1', b'GET /rides/1.5 HTTP/1.1', b'BREW /rides HTTP/1.1']:
        yield line[:40], request(line=line) if line.startswith((b'POST', b'P')) else request(b'', line, length=b'', kind=b'')


def headers():
    for name, more in {
        'no colon': b'Broken\r\n', 'no name': b': x\r\n', 'space before the colon': b'X : y\r\n',
        'tab in a name': b'X\ty: z\r\n', 'folded': b'X: y\r\n z\r\n', 'folded by a tab': b'X: y\r\n\tz\r\n',
        'NUL in a value': b'X: a\x00b\r\n', 'bell in a value': b'X: a\x07b\r\n', 'DEL in a value': b'X: \x7f\r\n',
        'bare LF': b'X: y\nZ: w\r\n', 'bare CR': b'X: y\rZ: w\r\n', 'a name of brackets': b'(X): y\r\n',
        'a name beyond ASCII': b'\xc3\xa9: y\r\n', 'a second Host': b'Host: b\r\n',
        'a second Content-Length': b'Content-Length: 5\r\n', 'a second Content-Type': b'Content-Type: text/plain\r\n',
        'both lengths': b'Transfer-Encoding: chunked\r\n', 'an unknown coding': b'Transfer-Encoding: gzip\r\n',
        'two codings': b'Transfer-Encoding: gzip, chunked\r\n', 'chunked, hidden by a tab': b'Transfer-Encoding:\tchunked\r\n',
        'chunked in capitals': b'TRANSFER-ENCODING: CHUNKED\r\n', 'a coding in quotes': b'Transfer-Encoding: "chunked"\r\n',
        '33 KiB of headers': b'X: ' + b'y' * 33_000 + b'\r\n', '300 headers': b'X: y\r\n' * 300,
        '3,000 headers': b'X: y\r\n' * 3000,
    }.items():
        yield name, request(more=more)
    yield 'no Host', request(host=b'')
    yield 'no credentials', request(auth=b'')
    for value in (b'-1', b'+5', b'0x10', b'1e2', b'5,5', b'5 5', b'', b'99999999999999999999', b'1.0', b'\xd9\xa1'):
        yield f'Content-Length: {value!r}', request(length=b'Content-Length: ' + value + b'\r\n')
    yield 'no length at all', request(b'', length=b'')
    yield 'HTTP/1.0 with a coding', request(line=b'POST /rides HTTP/1.0', length=b'Transfer-Encoding: chunked\r\n')


def chunked(body):
    return request(body, length=b'Transfer-Encoding: chunked\r\n')


def chunks():
    for name, body in {
        'a size that is none': b'xyz\r\nabc\r\n0\r\n\r\n', 'a negative size': b'-5\r\nabcde\r\n0\r\n\r\n',
        'an empty size': b'\r\nabc\r\n0\r\n\r\n', 'a size beyond all numbers': b'FFFFFFFFFFFFFFFFF\r\nabc\r\n',
        'a size in 0x': b'0x5\r\nabcde\r\n0\r\n\r\n', 'a chunk longer than said': b'3\r\nabcdef\r\n0\r\n\r\n',
        'a size with a sign': b'+3\r\nabc\r\n0\r\n\r\n', 'a size before a space': b'3 3\r\nabc\r\n0\r\n\r\n',
        'chunks of 2 MiB': b'200000\r\n' + b'x' * 0x200000 + b'\r\n0\r\n\r\n', 'no JSON in chunks': b'3\r\nabc\r\n0\r\n\r\n',
        'a bare LF after the size': b'3\nabc\r\n0\r\n\r\n',
    }.items():
        yield name, chunked(body)


def keys():
    for value in (b'', b' ', b'""', b'"', b'"a', b'a"', b'a b', b'a,b', b'a, b', b'"a", "b"', b'a;x=1', b'"a";x', b'a\\b',
                  b'"a\\"b"', b'a\tb', b'\xc3\xa9', b'"\xc3\xa9"', b'\xff', b'k' * 256, b'"' + b'k' * 256 + b'"',
                  b'k' * 5000, b'a"b', b'"a"b"', b'?1;', b':YQ==:;', b'(a b)', b'a\\', b"a,'b'"):
        yield f'the key {value[:30]!r}', request(key=b'Idempotency-Key: ' + value + b'\r\n')
    yield 'no key', request(key=b'')
    yield 'two keys', request(key=KEY + KEY)
    yield 'two keys in two spellings', request(key=KEY + b'idempotency-key: k\r\n')


def bodies():
    for name, body in {
        'nothing': b'', 'a space': b' ', 'no JSON': b'hello', 'a number': b'1', 'null': b'null', 'an array': b'[]',
        'an array of it': b'[' + GOOD + b']', 'a text': b'"x"', 'true': b'true', 'an open brace': b'{', 'an open text': b'{"a',
        'a comma at the end': GOOD[:-1] + b',}', 'two documents': GOOD + GOOD, 'something after it': GOOD + b'x',
        'a comment': b'/* x */' + GOOD, 'single quotes': GOOD.replace(b'"', b"'"), 'names without quotes': b'{origin_lat: 1}',
        'an empty object': b'{}', 'a BOM': b'\xef\xbb\xbf' + GOOD, 'UTF-16': GOOD.decode().encode('utf-16'),
        'UTF-32': GOOD.decode().encode('utf-32'), 'a NUL after it': GOOD + b'\x00', 'cut in the middle': GOOD[:30],
        'a byte that is no UTF-8': GOOD[:-1] + b', "x": "\xff"}', 'an overlong slash': GOOD[:-1] + b', "x": "\xc0\xaf"}',
        'a surrogate in UTF-8': GOOD[:-1] + b', "x": "\xed\xa0\x80"}', 'a lone surrogate': GOOD[:-1] + b', "x": "\\ud800"}',
        'a lone low surrogate': GOOD[:-1] + b', "\\udc00": 1}', 'beyond Unicode': GOOD[:-1] + b', "x": "\xf5\x80\x80\x80"}',
        'a control character': GOOD[:-1] + b', "x": "\x01"}', 'a raw new line': GOOD[:-1] + b', "x": "\n"}',
        'an unknown escape': GOOD[:-1] + b', "x": "\\x41"}', 'a name twice': GOOD[:-1] + b', "origin_lat": 1}',
        'a name twice, escaped': GOOD[:-1] + b', "\\u006frigin_lat": 1}', 'an unknown name': GOOD[:-1] + b', "x": 1}',
        '33 arrays deep': b'{"x":' + b'[' * 33 + b']' * 33 + b'}', '100,000 arrays deep': b'[' * 100_000,
        '100,000 objects deep': b'{"a":' * 100_000, 'a list of a million': b'[' + b'1,' * 400_000 + b'1]',
    }.items():
        yield f'the body: {name}', request(body)


def values():
    for value in ('NaN', '-NaN', 'Infinity', '-Infinity', 'nan', '1e400', '-1e400', '01', '+1', '.5', '5.', '1e', '1e+', '0x10',
                  '1_000', '"47.6"', '""', 'true', 'null', '[]', '[47]', '{}', '90.0001', '-90.0001', '1e3', '-1e300',
                  '9' * 400, '1' + '0' * 30, '0.1' + '1' * 40 + 'x', '--1', '1-', '1 2', "'1'"):
        yield f'origin_lat: {value[:30]}', request(GOOD.replace(b'47.61', value.encode()))
    for name in HERE_TO_THERE:
        less = {key: value for key, value in HERE_TO_THERE.items() if key != name}
        yield f'without {name}', request(json.dumps(less).encode())
        yield f'{name} in capitals', request(json.dumps(less | {name.upper(): 1}).encode())


def forms():
    kind = b'Content-Type: application/x-www-form-urlencoded\r\n'
    good = b'origin_lat=47.61&origin_lon=-122.33&target_lat=47.66&target_lon=-122.35'
    for body in (b'', b'&', b'=', b'=1', b'origin_lat', good + b'&origin_lat=1', good + b'&x=1', good.replace(b'47.61', b'%zz'),
                 good.replace(b'47.61', b'%'), good.replace(b'47.61', b'%4'), good.replace(b'47.61', b'%ff'), good.replace(b'47.61', b'%00'),
                 good.replace(b'47.61', b''), good.replace(b'47.61', b'4+7'), good.replace(b'47.61', b'NaN'), good.replace(b'47.61', b'inf'),
                 good.replace(b'47.61', b'0x1p3'), good.replace(b'47.61', b'1e400'), good.replace(b'47.61', b' 1'), good.replace(b'&', b';'),
                 good.replace(b'origin_lat', b'origin_lat[]'), good + b'&idempotency_key=other', good + b'&' * 10 + b'y', GOOD):
        yield f'the form {body[:40]!r}', request(body, kind=kind)


def kinds():
    for kind in (b'', b'Content-Type:\r\n', b'Content-Type: text/plain\r\n', b'Content-Type: application/xml\r\n',
                 b'Content-Type: multipart/form-data; boundary=x\r\n', b'Content-Type: application/jsonx\r\n',
                 b'Content-Type: json\r\n', b'Content-Type: application\r\n', b'Content-Type: */*\r\n',
                 b'Content-Type: application/json, text/plain\r\n',
                 b'Content-Type: text/html; x="application/json"\r\n'):
        yield f'{kind!r}', request(kind=kind)
    yield 'a body over 1 MiB', request(b'x' * (1024 * 1024 + 1))
    yield 'a body said to be 1 TiB', request(b'x', length=b'Content-Length: 1099511627776\r\n')


FAMILIES = {'request lines': request_lines, 'headers': headers, 'chunks': chunks, 'keys': keys, 'bodies': bodies,
            'values': values, 'forms': forms, 'types and sizes': kinds}
ALSO_CLEAR = (501, 505)   # An unknown coding or version: not the client's numbers, but its fault all the same.


def refused(world, name, sent):
    """Why this answer is not what it should be, or nothing."""
    answer = raw_exchange(world.port, sent, timeout=4)
    if answer is None:
        return f'{name}: no answer'
    if not (400 <= answer.status < 500 or answer.status in ALSO_CLEAR):
        return f'{name}: {answer.status} {answer.body[:100]!r}'
    if not answer.is_problem or answer.json.get('status') != answer.status or not answer.json.get('title'):
        return f'{name}: no problem body: {answer}'
    return None


def family(settings, make):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        wrong = [why for why in (refused(world, name, sent) for name, sent in make()) if why]
        check(not wrong, '\n'.join(wrong))
        check_equal([world.count(table) for table in ('key_registry', 'idempotency_keys', 'rides', 'jobs', 'attention')],
                    [0] * 5, 'rows')
        check(not world.dead(), 'the server lives')
        check_equal(world.phone().book('k').status, 201, 'and the key is still free')


def broken_off(settings):
    """Clients that go away in the middle of anything leave nothing behind."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        whole = request()
        for length in range(0, len(whole), 3):
            raw_exchange(world.port, whole[:length], timeout=5, half_close=True)
        check_equal(world.count('key_registry'), 0, 'rows')
        check_equal(Phone(world.port).get('/livez').status, 200, 'the server lives')


def slow_client(settings):
    """A head that does not come in 10 s is 408; so is a body slower than 1 KiB/s."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        for name, sent in {'a head that stops': request()[:60], 'a body that stops': request()[:-5]}.items():
            answer = raw_exchange(world.port, sent, timeout=25)
            check(answer is not None and answer.status == 408 and answer.is_problem, f'{name}: {answer}')
        check_equal(world.count('key_registry'), 0, 'rows')


def random_bytes(settings):
    """Noise, and good requests with a few bytes changed: never a crash, never a 5xx, a row only if it was good."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        whole = request(key=b'Idempotency-Key: noise\r\n')
        for _ in range(400):
            sent = bytearray(whole)
            for _ in range(settings.random.randint(1, 4)):
                sent[settings.random.randrange(len(sent))] = settings.random.randrange(256)
            answer = raw_exchange(world.port, bytes(sent), timeout=0.3, half_close=True)
            if answer is not None and answer.status in (500, 502, 503):
                raise NotSo(f'{bytes(sent)!r}: {answer}')
        for _ in range(50):
            raw_exchange(world.port, settings.random.randbytes(200), timeout=0.3, half_close=True)
        check(not world.dead(), 'the server lives')
        wait_until('the keys to settle', lambda: world.unsettled() == 0)
        check_equal(len(world.ledger()), world.count('rides'), 'charges, one for each ride')


def cases(settings):
    count = sum(1 for make in FAMILIES.values() for _ in make())
    found = [(f'malformed ({count} in all): {name}', lambda make=make: family(settings, make))
             for name, make in FAMILIES.items()]
    found.append(('malformed: broken off at every third byte', lambda: broken_off(settings)))
    found.append(('malformed: random bytes', lambda: random_bytes(settings)))
    if settings.everything:
        found.append(('malformed: slow clients', lambda: slow_client(settings)))
    return found
