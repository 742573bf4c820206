"""Malformed requests by family, as bytes, each with the expected answer: the last part of the
problem's type, and sometimes its detail."""
import json

LINE = b'POST /rides HTTP/1.1\r\n'
HOST = b'Host: localhost\r\n'
TOKEN = b'Authorization: Bearer test_jane\r\n'
TYPE = b'Content-Type: application/json\r\n'
FORM = b'Content-Type: application/x-www-form-urlencoded\r\n'
FIELDS = ['origin_lat', 'origin_lon', 'target_lat', 'target_lon']
GOOD = {'origin_lat': 47.61, 'origin_lon': -122.33, 'target_lat': 47.66, 'target_lon': -122.35}
GOOD_JSON = json.dumps(GOOD).encode()
GOOD_FORM = '&'.join(f'{name}={value}' for name, value in GOOD.items()).encode()

# The expected answers, by name.
BAD, NO_KEY, BAD_KEY = 'request-invalid', 'key-missing', 'key-invalid'
NO_ROUTE, NO_METHOD, BAD_TYPE = 'not-found', 'method-not-allowed', 'type-not-supported'
LARGE, LONG, HEADERS = 'body-too-large', 'line-too-long', 'headers-too-large'
STATUS = {BAD: 400, LARGE: 413, LONG: 414, HEADERS: 431, BAD_KEY: 400, NO_KEY: 400, BAD_TYPE: 415,
          NO_ROUTE: 404, NO_METHOD: 405, 'unauthorized': 401, 'not-implemented': 501, 'version-not-supported': 505}


def key(n):
    return b'Idempotency-Key: k-%d\r\n' % n


def whole(line=LINE, headers=HOST + TOKEN + key(0) + TYPE, body=GOOD_JSON):
    """A request with the right Content-Length."""
    return line + headers + b'Content-Length: %d\r\n\r\n' % len(body) + body


# A whole valid request, as an attacker would smuggle it after a broken one.
SMUGGLED = whole(headers=HOST + TOKEN + b'Idempotency-Key: smuggled\r\n' + TYPE)


def request_lines():
    head = HOST + TOKEN + key(0) + TYPE + b'Content-Length: %d\r\n\r\n' % len(GOOD_JSON) + GOOD_JSON
    lines = [b'POST /rides', b'POST', b'/rides HTTP/1.1', b' POST /rides HTTP/1.1', b'POST  /rides HTTP/1.1',
             b'POST /rides  HTTP/1.1', b'POST /rides HTTP/1.1 ', b'POST\t/rides\tHTTP/1.1', b'POST /ri des HTTP/1.1',
             b'POST rides HTTP/1.1', b'POST http://a@localhost/rides HTTP/1.1', b'POST localhost:80 HTTP/1.1',
             b'POST /rides HTTP/1', b'POST /rides HTTP/1.', b'POST /rides http/1.1', b'POST /rides HTTP/11',
             b'POST /rides HTTP/1.10', b'POST /rides HTTQ/1.1', b'POST /rides FTP', b'POST /rides HTTP/-1.1',
             b'P(ST /rides HTTP/1.1', b'PO,ST /rides HTTP/1.1', b'"POST" /rides HTTP/1.1',
             b'P\xc3\x96ST /rides HTTP/1.1', b'POST /rides#top HTTP/1.1', b'POST /rides\x00 HTTP/1.1',
             b'POST /rides\x7f HTTP/1.1', b'POST /rides\x01 HTTP/1.1', b'POST /r\xc3\xadd\xc3\xa8s HTTP/1.1',
             b'POST /rides\r HTTP/1.1', b'POST /rides HTTP/1.1\x00', b'\x00', b':', b'\x16\x03\x01\x02\x00\x01',
             b'SSH-2.0-OpenSSH_9.2', b'EHLO localhost', b'*1\r\n$4\r\nPING']
    found = [(line, line + b'\r\n' + head, BAD) for line in lines]
    found += [(b'ends with LF', b'POST /rides HTTP/1.1\n' + head, BAD),
              (b'ends with CR', b'POST /rides HTTP/1.1\r' + head, BAD),
              (b'all with LF', (LINE + head).replace(b'\r\n', b'\n'), BAD)]
    for version in (b'HTTP/0.9', b'HTTP/2.0', b'HTTP/3.0', b'HTTP/9.9'):
        found.append((version, b'POST /rides ' + version + b'\r\n' + head, 'version-not-supported'))
    found.append((b'preface of HTTP/2', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'version-not-supported'))
    for long_one in (b'POST /' + b'a' * 8192 + b' HTTP/1.1', b'POST /rides?' + b'a' * 9000 + b' HTTP/1.1',
                     b'P' * 9000 + b' /rides HTTP/1.1', b'POST /rides ' + b'H' * 9000, b'A' * 100_000):
        found.append((long_one, long_one + b'\r\n' + head, LONG))
    return found


def header_lines():
    lines = [b'X', b': x', b' : x', b'X : x', b'X\t: x', b' X: x', b'\tX: x', b'X: a\r\n b', b'X: a\r\n\tb', b'X: a\rb',
             b'X: a\nY: b', b'X: a\r\r', b'X: \x00']
    lines += [b'X%sY: x' % bytes([c]) for c in b'(),/;<=>?@[\\]{}" \x01\x7f\xff\xc3']
    lines += [b'X: a%sb' % bytes([c]) for c in [1, 2, 7, 8, 11, 12, 14, 27, 31, 127]]
    lines += [b'Host: another', b'host: localhost', b'Host:']
    lines += [b'Content-Length : 5', b'Content-Length: -1', b'Content-Length: 5 5', b'Content-Length: x']
    found = [(line, whole(headers=HOST + TOKEN + key(0) + TYPE + line + b'\r\n'), BAD) for line in lines]
    for host in (b'a b', b'localhost, evil', b'user@localhost', b'localhost/rides', b'l\xc3\xb6calhost',
                 b'"localhost"'):
        found.append((b'Host: ' + host, whole(headers=b'Host: ' + host + b'\r\n' + TOKEN + key(0) + TYPE), BAD))
    found.append((b'no Host', whole(headers=TOKEN + key(0) + TYPE), BAD))
    found.append((b'folded at once', LINE + b' ' + HOST + whole(line=b'', headers=HOST + TOKEN + key(0) + TYPE), BAD))
    many = lambda n: b''.join(b'X-%d: x\r\n' % i for i in range(n))
    for name, headers in [(b'101 headers', many(101)), (b'5,000 headers', many(5_000)),
                          (b'one of 33 KiB', b'X: ' + b'a' * 33 * 1024 + b'\r\n'),
                          (b'33 of 1 KiB', b''.join(b'X: ' + b'a' * 1024 + b'\r\n' for _ in range(33))),
                          (b'a name of 40 KiB', b'X' * 40 * 1024 + b': x\r\n'),
                          (b'a key of 1 MiB', b'Idempotency-Key: ' + b'k' * 2**20 + b'\r\n')]:
        found.append((name, whole(headers=HOST + TOKEN + TYPE + headers), HEADERS))
    return found


def framing():
    """The end of the body is ambiguous: each is followed by a valid request, which must not be served."""
    head = LINE + HOST + TOKEN + key(0) + TYPE
    found = []

    def add(name, fields, body=b'', due=BAD):
        found.append((name, head + fields + b'\r\n' + body + SMUGGLED, due))

    size = len(GOOD_JSON)
    chunks = b'%x\r\n' % size + GOOD_JSON + b'\r\n0\r\n\r\n'
    for value in (b'-1', b'+5', b'0x10', b'5,5', b'5, 5', b'5;5', b'', b' ', b'1e3', b'5.0', b'1' * 19, b'9' * 30,
                  b'\xef\xbc\x95', b'five', b'"5"', b'5\x0b', b'18446744073709551616'):
        add(b'Content-Length: ' + value, b'Content-Length: ' + value + b'\r\n', GOOD_JSON)
    lengths = lambda *values: b''.join(b'Content-Length: %d\r\n' % value for value in values)
    add(b'two lengths, the same', lengths(size, size), GOOD_JSON)
    add(b'two lengths, not the same', lengths(size, 0), GOOD_JSON)
    coded = b'Transfer-Encoding: chunked\r\n'
    add(b'a length, then chunks', lengths(size) + coded, chunks)
    add(b'chunks, then a length', coded + lengths(len(chunks)), chunks)
    add(b'chunks, and length 0', lengths(0) + coded, chunks)
    add(b'chunked twice', coded + coded, chunks)
    add(b'chunked, then identity', coded + b'Transfer-Encoding: identity\r\n', chunks, 'not-implemented')
    for value in (b'gzip', b'gzip, chunked', b'chunked, chunked', b'chunked, gzip', b'identity', b'xchunked',
                  b'chunked;q=1', b'"chunked"', b'chunke', b'', b'chunked,', b',chunked'):
        add(b'Transfer-Encoding: ' + value, b'Transfer-Encoding: ' + value + b'\r\n', chunks, 'not-implemented')
    add(b'a coding with a control character', b'Transfer-Encoding: \x0bchunked\r\n', chunks)
    add(b'a space before the colon', b'Transfer-Encoding : chunked\r\n', chunks)
    add(b'a coding on a folded line', b'Transfer-Encoding:\r\n chunked\r\n', chunks,
        'not-implemented')   # By its first line.
    old = (head + coded + b'\r\n' + chunks + SMUGGLED).replace(b'HTTP/1.1', b'HTTP/1.0', 1)
    found.append((b'chunks in HTTP/1.0', old, BAD))
    for name, body in [
            (b'a negative size', b'-1\r\n'), (b'a size with 0x', b'0x5\r\nabcde\r\n0\r\n\r\n'),
            (b'a size of letters', b'xyz\r\n'), (b'no size', b'\r\nabc\r\n0\r\n\r\n'),
            (b'a size beyond 64 bits', b'1' + b'0' * 16 + b'\r\n' + b'a' * 100),
            (b'more data than the size', b'3\r\nabcdef\r\n0\r\n\r\n'),
            (b'no CRLF after the data', b'3\r\nabc0\r\n\r\n'), (b'LF after the size', b'3\nabc\r\n0\r\n\r\n'),
            (b'LF after the data', b'3\r\nabc\n0\r\n\r\n'), (b'a space before the size', b' 3\r\nabc\r\n0\r\n\r\n'),
            (b'a plus before the size', b'+3\r\nabc\r\n0\r\n\r\n'), (b'a sign of a comma', b'3,3\r\nabc\r\n0\r\n\r\n'),
            (b'a size with NUL', b'3\x00\r\nabc\r\n0\r\n\r\n')]:
        add(b'chunks: ' + name, coded, body)
    return found


def credentials():
    values = [b'', b'test_jane', b'Bearer', b'Bearer ', b'Bearer test_nobody', b'Bearer test_jane x',
              b'Bearer test_jan', b'Bearer TEST_JANE', b'Basic dGVzdF9qYW5l', b'Bearer "test_jane"',
              b'Bearer test_jane, Bearer test_joe', b'Token test_jane', b'Bearer ' + b't' * 8000]
    found = [(value, whole(headers=HOST + b'Authorization: ' + value + b'\r\n' + key(0) + TYPE),
              'unauthorized') for value in values]
    found.append((b'none', whole(headers=HOST + key(0) + TYPE), 'unauthorized'))
    found.append((b'two', whole(headers=HOST + TOKEN + b'Authorization: Bearer test_joe\r\n' + key(0) + TYPE),
                  'unauthorized'))
    found.append((b'none, and a bad key', whole(headers=HOST + b'Idempotency-Key: a,b\r\n' + TYPE), 'unauthorized'))
    found.append((b'none, and a bad path', whole(b'POST /nowhere HTTP/1.1\r\n', HOST + TYPE), 'unauthorized'))
    found.append((b'none, and a bad body', whole(headers=HOST + key(0) + TYPE, body=b'{'), 'unauthorized'))
    return found


def keys():
    values = [b'', b'""', b'k' * 256, b'"' + b'k' * 256 + b'"', b'a,b', b'"a", "b"', b'a, a', b',', b'a;b=1',
              b'"a";B=1', b'a;', b'"a', b'a"', b'"', b'a"b', b'"a"b"', b'"a" "b"', b'""a""', b'a\\b', b'"a\\"b"',
              b'"a\\\\b"', b'a b', b'"a b"', b'a\tb', b'" a"', b'k\xc3\xb6y', b'"k\xc3\xb6y"', b'\xff', b'k\xa0',
              b'\xe2\x80\x8b', b'"k";', b'k' * 5000, b'?1;', b':YQ==:;', b'(a b)', b"a,'b'"]
    headers = HOST + TOKEN + TYPE
    found = [(value, whole(headers=headers + b'Idempotency-Key: ' + value + b'\r\n'), BAD_KEY) for value in values]
    refund = b'POST /rides/1/refund HTTP/1.1\r\n' + HOST + TOKEN + b'%sContent-Length: 0\r\n\r\n'
    found += [(b'a refund: ' + value, refund % (b'Idempotency-Key: ' + value + b'\r\n'),
               BAD_KEY) for value in values[:8]]
    for name, two in [(b'the same twice', key(0) + key(0)), (b'two', key(0) + key(1)),
                      (b'one and an empty one', key(0) + b'Idempotency-Key:\r\n'),
                      (b'one in lower case', key(0) + b'idempotency-key: k-0\r\n')]:
        found.append((name, whole(headers=headers + two), BAD_KEY))
    found.append((b'none', whole(headers=headers), NO_KEY))
    found.append((b'none, and a bad field', whole(headers=headers, body=b'{}'), NO_KEY))
    found.append((b'none for a refund', refund % b'', NO_KEY))
    found.append((b'another name', whole(headers=headers + b'X-Idempotency-Key: k\r\n'), NO_KEY))
    form = lambda field, more=b'': whole(headers=HOST + TOKEN + FORM + more,
                                         body=GOOD_FORM + b'&idempotency_key=' + field)
    for field in (b'a%2Cb', b'a+b', b'%22', b'k%C3%B6y', b'k' * 256, b''):
        found.append((b'in a form: ' + field, form(field), BAD_KEY))
    found.append((b'in a form and a header', form(b'k', key(0)), BAD_KEY))
    found.append((b'an empty one in a form, and a header', form(b'', key(0)), BAD_KEY))
    found.append((b'twice in a form', form(b'k&idempotency_key=k'), BAD_KEY))
    found.append((b'in a query', whole(b'POST /rides?idempotency_key=k HTTP/1.1\r\n', headers), NO_KEY))
    return found
