"""Attacks on the limits of a body, on the bytes after it, and on its contents."""
from attack import (BAD, BOOKED, BOOKED_THEN_END, CHUNKS, CODED, CUT, KEY, LINE, SIZE, Attack, Due, Group, coded, each, get,
                    kept, post, refused, then)
from malformed_requests import GOOD_JSON, HOST, TOKEN, TYPE

# A whole request, hidden in another. Its key has an unexpected prefix, so that a booking of it is detected.
HIDDEN = (LINE + HOST + TOKEN + b'Idempotency-Key: hidden-@@@\r\n' + TYPE + b'Content-Length: %d\r\n\r\n' % SIZE + GOOD_JSON)


def length(value):
    return b'Content-Length: ' + value + b'\r\n'


def lengths():
    n = b'%d' % SIZE
    found = each(BAD, lambda value: post(length=length(value)), [
        b'', b' ', b'+' + n, b'-' + n, b'-0', b'-1', n + b'.0', n + b'e0', n + b'_0', b'0x%x' % SIZE, b'0o5', b'0b1', n + b';q=1', n + b' ' + n,
        n + b',' + n, n + b', ' + n, n + b',0', b'0,' + n, b',' + n, n + b',', b'"' + n + b'"', b'\x0b' + n, b'\xa0' + n,
        b'\xef\xbc\x95', n + b'\x00', n + b'a', b'a' + n, b'NaN', b'chunked', b'%d' % (2**64 + SIZE), b'%d' % (2**128 + SIZE), b'9' * 4000])
    found += each(refused(400, 413), lambda value: post(length=length(value)),
                  [b'1048577', b'%d' % 2**31, b'%d' % (2**32 + SIZE), b'%d' % 2**53, b'%d' % (2**63 - 1), b'%d' % (2**63 + SIZE)], 'huge: ')
    for name, two in [('the same twice', length(n) * 2), ('three times', length(n) * 3), ('then 0', length(n) + length(b'0')),
                      ('0 first', length(b'0') + length(n)), ('then one less', length(n) + length(b'%d' % (SIZE - 1))),
                      ('in another case', length(n) + b'content-length: 0\r\n'), ('in capitals', b'CONTENT-LENGTH: 0\r\n' + length(n)),
                      ('far apart', length(n) + b'X: y\r\n' * 60 + length(b'0')), ('and an empty one', length(n) + length(b''))]:
        found.append(Attack('two lengths: ' + name, post(length=two), BAD))
    found += each(BOOKED, lambda value: post(length=length(value)), [n, b'0' + n, b'0' * 10 + n, b' \t' + n + b' \t'], 'that is allowed: ')
    # RFC 9112 6.3: the body is empty, and the next request follows.
    found.append(Attack('none, and no body', post(length=b'', body=b''), kept(400)))
    found.append(Attack('none, and a body', post(length=b''), Due(({400}, {400}), False, 0)))
    return found


def lengths_that_lie():
    """The body ends where the length says: the rest counts as another request, which is malformed."""
    too_short = [Attack(f'{by} bytes too short', post(length=length(b'%d' % (SIZE - by))), Due(({400}, {400}), False, 0)) for by in (1, 2, 40)]
    too_long = [Attack(f'{by} bytes too long', post(length=length(b'%d' % (SIZE + by))), Due(({400}, {400, 405}), False, 0)) for by in (1, 5,
                                                                                                                                        40)]
    found = too_short + too_long
    found.append(Attack('0, and a request for a body', post(length=length(b'0'), body=HIDDEN),
                        Due(({400}, {201}), True, 0)))   # Its sender says so: two requests, the first without a body.
    found.append(Attack('a request in the body', post(body=HIDDEN), kept(400)))
    found.append(Attack('a request in a string of the body', post(body=b'{"a": "' + HIDDEN.replace(b'"', b'\\"') + b'"}'), kept(400)))
    found.append(Attack('a request in the body of a GET', get(b'/rides', length(b'%d' % len(HIDDEN))) + HIDDEN, kept(400, 415)))
    found.append(Attack('a request in a query', post(line=b'POST /rides?x=%0d%0a%0d%0aPOST HTTP/1.1\r\n'), kept(400)))
    return found


def codings():
    both = lambda *fields: post(b''.join(fields), CHUNKS, length=b'')
    found = [Attack('a length, then chunks', both(length(b'%d' % SIZE), CODED), BAD),
             Attack('chunks, then a length', both(CODED, length(b'5')), BAD),
             Attack('chunks, and length 0', both(CODED, length(b'0')), BAD), Attack('chunks, and no number', both(CODED, length(b'x')), BAD),
             Attack('chunks far from a length', both(CODED, b'X: y\r\n' * 60, length(b'5')), BAD),
             Attack('length, and chunks in another case', both(length(b'5'), b'transfer-encoding: CHUNKED\r\n'), BAD),
             Attack('length, and a coding that is not served', both(length(b'5'), b'Transfer-Encoding: x\r\n'), refused(400, 501)),
             Attack('chunked twice', both(CODED, CODED), BAD),
             Attack('identity, then chunked', both(b'Transfer-Encoding: identity\r\n', CODED), refused(501)),
             Attack('chunked, then identity', both(CODED, b'Transfer-Encoding: identity\r\n'), refused(501)),
             Attack('in HTTP/1.0', coded(line=b'POST /rides HTTP/1.0\r\n'), BAD),
             Attack('in HTTP/1.0 with a length', post(CODED + length(b'5'), CHUNKS, length=b'', line=b'POST /rides HTTP/1.0\r\n'), BAD),
             Attack('of a GET', get(b'/rides', CODED) + b'0\r\n\r\n', kept(200))]
    found += each(refused(400, 501), lambda value: coded(fields=b'Transfer-Encoding: ' + value + b'\r\n'), [
        b'', b'identity', b'gzip', b'deflate', b'compress', b'x', b'cow', b'xchunked', b'chunkedx', b'chunke', b'chu nked', b'chunked chunked',
        b'chunked, chunked', b'chunked,chunked', b'gzip, chunked', b'chunked, gzip', b'identity, chunked', b'chunked, identity', b'x, chunked',
        b',chunked', b'chunked,', b' , chunked', b'chunked;', b'chunked;q=1', b'chunked; a=b', b'"chunked"', b"'chunked'", b'[chunked]',
        b'\x0bchunked', b'\x0cchunked', b'chunked\x0b', b'\x00chunked', b'chunked\x00', b'\xa0chunked', b'\xffchunked', b'chunked\x01',
        b'ch\xc3\xbcnked', b'chunked#', b'chunked/1.0', b'=chunked', b'%63hunked'], 'Transfer-Encoding: ')
    found += each(BOOKED, lambda value: coded(fields=b'Transfer-Encoding:' + value + b'\r\n'),
                  [b'chunked', b' chunked ', b'\tchunked\t', b' CHUNKED', b' ChUnKeD'], 'that is allowed:')
    found += each(BOOKED, lambda te: coded(fields=CODED + b'TE: ' + te + b'\r\n'), [b'chunked', b'trailers', b'gzip'], 'TE: ')
    return found


def chunk_sizes():
    sized = lambda size, data=GOOD_JSON: coded(size + b'\r\n' + data + b'\r\n0\r\n\r\n')
    n = b'%x' % SIZE
    found = each(BAD, sized, [
        b'', b' ' + n, b'\t' + n, b'0x' + n, b'+' + n, b'-' + n, b'-0', n + b'g', b'g', n + b',', n + b'.', n + b'_', n + b' ' + n, n + b'\x00',
        n + b'h', b'"' + n + b'"', b'$' + n, b'%' + n, b'\xef\xbc\x95', n + b'\x0b', n + b'\xa0', b'1' + b'0' * 16, b'1' + b'0' * 15 + n,
        b'F' * 17, b'F' * 40, b'1' + b'0' * 200], 'size ')
    found += each(refused(400, 413), sized, [b'F' * 16, b'F' * 15, b'8' + b'0' * 15, b'7' + b'F' * 15, b'FFFFFFFF', b'100001', b'80000000'],
                  'huge size ')
    found += each(BOOKED, sized, [n, b'0' + n, b'0' * 8 + n], 'an allowed size ')
    found += each(BOOKED, lambda size: sized(size, GOOD_JSON.ljust(0xAB)), [b'ab', b'AB', b'aB'], 'an allowed size ')
    for by, due in ((1, BAD), (2, BAD), (-1, BAD), (-2, BAD), (-50, BAD)):
        found.append(Attack(f'the size is {by} off', sized(b'%x' % (SIZE + by)), due))
    return found


def chunk_lines():
    n = b'%x' % SIZE
    body = lambda text: coded(text)
    found = []
    for name, text in [('LF after the size', n + b'\n' + GOOD_JSON + b'\r\n0\r\n\r\n'),
                       ('CR after the size', n + b'\r' + GOOD_JSON + b'\r\n0\r\n\r\n'),
                       ('no CRLF after the data', n + b'\r\n' + GOOD_JSON + b'0\r\n\r\n'),
                       ('LF after the data', n + b'\r\n' + GOOD_JSON + b'\n0\r\n\r\n'),
                       ('CR after the data', n + b'\r\n' + GOOD_JSON + b'\r0\r\n\r\n'),
                       ('LF CR after the data', n + b'\r\n' + GOOD_JSON + b'\n\r0\r\n\r\n'),
                       ('two bytes for the CRLF', n + b'\r\n' + GOOD_JSON + b'xx0\r\n\r\n'),
                       ('an empty line more', n + b'\r\n' + GOOD_JSON + b'\r\n\r\n0\r\n\r\n'),
                       ('LF after the last size', CHUNKS[:-4] + b'\n\r\n'), ('LF for the last line', CHUNKS[:-2] + b'\n'),
                       ('LF LF at the end', CHUNKS[:-4] + b'\n\n'),
                       ('CR CR LF at the end', CHUNKS[:-2] + b'\r\r\n'), ('the last size twice', CHUNKS[:-2] + b'0\r\n\r\n'),
                       ('a last size of -0', CHUNKS[:-5] + b'-0\r\n\r\n')]:
        found.append(Attack(name, body(text), BAD))
    found += each(BOOKED, lambda last: body(CHUNKS[:-5] + last + b'\r\n\r\n'), [b'0', b'00', b'0000000', b'0;a=b'], 'an allowed last size ')
    found.append(Attack('a byte a chunk', body(b''.join(b'1\r\n%c\r\n' % c for c in GOOD_JSON) + b'0\r\n\r\n'), BOOKED))
    found.append(Attack('a request in the data', coded(b'%x\r\n' % len(HIDDEN) + HIDDEN + b'\r\n0\r\n\r\n'), kept(400)))
    found.append(Attack('a request behind a last size of its own', coded(b'%x\r\n' % SIZE + GOOD_JSON + b'\r\n0\r\n\r\n' + HIDDEN),
                        Due(({201}, {201}), True, 1)))
    return found


def extensions():
    of = lambda text: coded(b'%x' % SIZE + text + b'\r\n' + GOOD_JSON + b'\r\n0\r\n\r\n')
    found = each(BOOKED, of, [b';a', b';a=b', b';a="b"', b';a="b;c"', b';a;b;c', b';a="\\""', b'; a = b', b';' + b'a' * 1000], 'allowed: ')
    found += each(BAD, of, [b';\n', b';a\nb', b';a\rb', b';a\x00b', b';a="b\r\n"', b';a=b\x01', b';\x7f', b';a="\n"', b';a=(b)', b';a=b c',
                            b';=b', b';a="b'],
                  'not allowed: ')
    found += [Attack('200 KiB of one', of(b';' + b'a' * 200 * 1024), refused(400, 413, 431)),
              Attack('behind 1,000 zeros', coded(b'0' * 1000 + b'%x\r\n' % SIZE + GOOD_JSON + b'\r\n0\r\n\r\n'), BOOKED),
              Attack('behind each byte 1,000 zeros', coded(b''.join(b'%s1\r\n%c\r\n' % (b'0' * 1000, c) for c in GOOD_JSON) + b'0\r\n\r\n'),
                     refused(400, 413, 431)),
              Attack('behind each byte 10 KiB', coded(b''.join(b'1;%s\r\n%c\r\n' % (b'a' * 10240, c) for c in GOOD_JSON) + b'0\r\n\r\n'),
                     refused(400, 413, 431))]
    return found


def trailers():
    of = lambda text: coded(CHUNKS[:-2] + text + b'\r\n')
    found = each(BOOKED, of, [b'X: y\r\n', b'X:\r\n', b'X: y\r\nZ: z\r\n', b'Host: evil\r\n',
                              b'Idempotency-Key: hidden-@@@\r\n', b'Authorization: Bearer test_joe\r\n', b'Connection: close\r\n',
                              b'Content-Type: text/plain\r\n',
                              b'Content-Encoding: gzip\r\n'], 'looked at by nobody: ')
    found += each(BAD, of, [b'Content-Length: 5\r\n', b'Transfer-Encoding: chunked\r\n', b'content-length: 0\r\n'], 'of the frame: ')
    found += each(BAD, of, [b'X\r\n', b' X: y\r\n', b'X : y\r\n', b': y\r\n', b'X: \x00\r\n', b'X: a\nb\r\n', b'X: a\rb\r\n', b'X(: y\r\n',
                            b'X: y\r\n z\r\n',
                            b'X: \x01\r\n', b'\xff: y\r\n'], 'malformed: ')
    found += [Attack('100 KiB of them', of(b'X: y\r\n' * 17_000), refused(400, 413, 431)),
              Attack('one of 100 KiB', of(b'X: ' + b'y' * 100_000 + b'\r\n'), refused(400, 413, 431))]
    return found


def cuts():
    whole, chunked = post(), coded()
    found = [Attack(f'after {at} bytes', whole[:at], CUT) for at in (1, 4, 12, 20, 21, 60, 100, len(whole) - SIZE - 2, len(whole) - SIZE,
                                                                     len(whole) - 1)]
    return found + [Attack(f'chunks, {at} bytes before the end', chunked[:-at], CUT) for at in (1, 2, 3, 4, 5, 6, 7, 30, SIZE + 8)]


def behind_errors():
    """A valid request follows each, then the marker."""
    bad = {'a malformed line': b'POST\r\n\r\n', 'no Host': post(host=b''), 'two lengths': post(length=length(b'5') * 2),
           'a coding': coded(fields=b'Transfer-Encoding: x\r\n'),
           'LF': b'GET /rides HTTP/1.1\n\n', 'a method': get(b'/rides', method=b'BREW'), 'a path': get(b'/nowhere'),
           'a version': b'GET / HTTP/7.7\r\n\r\n',
           'a token': get(b'/rides').replace(b'test_jane', b'nobody'), 'a large body': post(length=length(b'2000000')),
           'a line too long': b'GET /' + b'a' * 9000 + b' HTTP/1.1\r\n\r\n',
           'too many headers': get(b'/rides', b'X: y\r\n' * 150), 'a bad chunk': coded(b'x\r\n')}
    due = {'a coding': 501, 'a method': 405, 'a path': 404, 'a version': 505, 'a token': 401, 'a large body': 413,
           'a line too long': 414, 'too many headers': 431}
    found = []
    for name, request in bad.items():
        status = due.get(name, 400)
        found.append(Attack(f'{name}: first', request + HIDDEN, refused(status)))
        found.append(Attack(f'{name}: after a valid request', post() + request + HIDDEN, then(201, status)))
    found.append(Attack('connection continues after requests with a wrong meaning', post(body=b'{') * 10, Due(({400},) * 10, True, 0)))
    found.append(Attack('100 at once', b''.join(get(b'/rides/%d' % n) for n in range(100)), Due(({404, 200},) * 100, True, 0)))
    return found


def expectations():
    of = lambda value, **more: post(b'Expect: ' + value + b'\r\n', **more)
    found = each(BOOKED, of, [b'100-continue', b'100-Continue', b'100-CONTINUE'], 'Expect: ')
    found += each(Due(({201, 417},), True, 1), of, [b'', b'x', b'200-ok', b'100-continue, x', b'100-continued', b'100'], 'another: ')
    found += [Attack('twice', post(b'Expect: 100-continue\r\n' * 2), BOOKED),
              Attack('in HTTP/1.0', of(b'100-continue', line=b'POST /rides HTTP/1.0\r\n'), BOOKED_THEN_END),
              Attack('and a body too large', of(b'100-continue', length=length(b'2000000')), refused(413)),
              Attack('and a bad length', of(b'100-continue', length=length(b'x')), BAD),
              Attack('and no body', of(b'100-continue', length=length(b'0'), body=b''), kept(400)),
              Attack('and no token', of(b'100-continue').replace(b'test_jane', b'nobody'), refused(401)),
              Attack('and chunks', coded(fields=CODED + b'Expect: 100-continue\r\n'), BOOKED),
              Attack('of a GET', get(b'/rides', b'Expect: 100-continue\r\n'), kept(200))]
    return found


def keys():
    of = lambda value: post(key=b'Idempotency-Key: ' + value + b'\r\n')
    found = each(kept(400), of, [b'', b'""', b'"', b'a-@@@,b', b'"a-@@@", "b"', b'a-@@@;p', b'a-@@@; p=1', b'("a-@@@" "b")',
                                 b'a-@@@ b', b'"a-@@@', b'a-@@@"', b'"a\\"@@@"',
                                 b'"a" "@@@"', b'a-@@@\xff', b'"a-@@@\xc3\xb6"', b'a' * 256, b'"' + b'a' * 256 + b'"', b'a-@@@,', b',a-@@@',
                                 b'a\t@@@'], 'Idempotency-Key: ')
    for name, two in [('two lines', KEY * 2), ('two, one in another case', KEY + b'IDEMPOTENCY-KEY: b\r\n'),
                      ('two, one empty', KEY + b'Idempotency-Key:\r\n'),
                      ('one quoted, one not', KEY + b'Idempotency-Key: "a-@@@"\r\n'),
                      ('two far apart', KEY + b'X: y\r\n' * 50 + b'Idempotency-Key: b\r\n'),
                      ('with an underscore', b'Idempotency_Key: a-@@@\r\n'), ('of another name', b'X-Idempotency-Key: a-@@@\r\n')]:
        found.append(Attack(name, post(key=two), kept(400)))
    found += each(BOOKED, of, [b'"a-@@@"', b'"a-@@@";p=1', b'a-@@@-?1', b'a-@@@-1.5', b'a-@@@:x=:', b"a-@@@'--", b'a-@@@%00', b'a-@@@../..',
                               b'a-@@@(b)', b'a-@@@<b>', b'a-@@@${b}', b' \ta-@@@ \t'],
                  'that is allowed: ')
    return found


def contents():
    found = each(kept(400), lambda more: post(body=GOOD_JSON[:-1] + b', ' + more + b'}'), [
        b'"__proto__": {"admin": true}', b'"constructor": {"prototype": {}}', b'"origin_lat": 1', b'"ORIGIN_LAT": 1', b'"origin_lat\\u0000": 1',
        b'"$where": "1"',
        b'"@type": "x"', b'"toString": 1', b'"": 1', b'"a": ' + b'[' * 40 + b']' * 40, b'"a": "\\ud800"', b'"a": 1e9999',
        b'"a": 123456789012345678901234567890',
        b'"user": 1', b'"customer": "cus_joe"', b'"amount": 0', b'"id": 1', b'"idempotency_key": "x"'], 'one more: ')
    found += each(kept(400), lambda value: post(body=GOOD_JSON.replace(b'47.61', value)), [
        b'"47.61"', b'null', b'true', b'[47.61]', b'{"$gt": 0}', b'1e400', b'-0x1', b'NaN', b'47.61.1', b"47.61'--", b'91', b'-91', b'1e2',
        b'9007199254740993'], 'for a number: ')
    found += each(kept(400, 415), lambda value: post(content_type=b'Content-Type: ' + value + b'\r\n'), [
        b'text/plain', b'text/json', b'application/xml', b'multipart/form-data; boundary=x', b'application/json, text/plain',
        b'application/jsonx', b'application/ json',
        b'application/x-www-form-urlencoded', b'*/*', b'json'], 'Content-Type: ')
    found += each(kept(400, 415), lambda coding: post(b'Content-Encoding: ' + coding + b'\r\n'),
                  [b'gzip', b'br', b'deflate', b'identity, gzip', b'x'], 'Content-Encoding: ')
    found += each(BOOKED, lambda value: post(content_type=b'Content-Type: ' + value + b'\r\n'),
                  [b'APPLICATION/JSON', b'application/json;charset=utf-8', b'application/json ; a=b'],
                  'an allowed Content-Type: ')
    found.append(Attack('two Content-Types', post(b'Content-Type: text/plain\r\n'), kept(400)))
    return found


GROUPS = [
    Group('Content-Length', 'RFC 9112 6.2, 6.3 (5)', 'an invalid one, and unequal ones, are refused with 400 and the connection ends', lengths,
          True),
    Group('lengths that lie', 'RFC 9112 6.3, 11.2', 'a body is as long as it says, and what is in it is no request', lengths_that_lie, True),
    Group('Transfer-Encoding', 'RFC 9112 6.1, 6.3 (3, 4), 7', 'with a length, in HTTP/1.0 or not at the end: refused, and the connection ends',
          codings, True),
    Group('sizes of chunks', 'RFC 9112 7.1', 'hexadecimal digits; a recipient must anticipate large ones and not overflow', chunk_sizes, True),
    Group('lines of chunks', 'RFC 9112 7.1', 'each size, chunk and the end are followed by CRLF', chunk_lines, True),
    Group('chunk extensions', 'RFC 9112 7.1.1', 'a recipient must ignore those it does not know, and limit their size', extensions, True),
    Group('trailers', 'RFC 9112 7.1.2, RFC 9110 6.5.1', 'they are not merged into the headers', trailers, True),
    Group('incomplete ones', 'RFC 9112 8', 'an incomplete request is not carried out', cuts, True),
    Group('behind an error', 'RFC 9112 9.3.2, 9.6', 'answers in order; nothing is read behind the last', behind_errors, True),
    Group('Expect', 'RFC 9110 10.1.1', 'case does not count; HTTP/1.0 has none; 100 or a final answer', expectations, True),
    Group('Idempotency-Key', 'draft-ietf-httpapi-idempotency-key-header-07 2.1', 'one string item', keys, False),
    Group('contents', 'RFC 8259, RFC 9110 8.3, 8.4', 'what is not asked for, not of the type, or coded is refused', contents, False),
]
