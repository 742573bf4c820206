"""Attacks on the request line and the header fields."""
from attack import (BAD, BOOKED, BOOKED_THEN_END, CODED, LINE, SIZE, Attack, Group, each, get, post, refused)
from malformed_requests import HOST

LENGTH = b'Content-Length: %d' % SIZE
SEPARATORS = [bytes([c]) for c in b'(),/:;<=>?@[\\]{}"']
CONTROLS = [bytes([c]) for c in (0, 1, 7, 8, 11, 12, 14, 27, 31, 127)]
HIGH = [b'\x80', b'\xa0', b'\xff', b'\xc3\xa4', b'\xe2\x80\x8b']


def on_line(line):
    return post(line=line + b'\r\n')


def methods():
    found = each(BAD, lambda c: on_line(b'PO' + c + b'ST /rides HTTP/1.1'), SEPARATORS + CONTROLS + HIGH, 'in the method: ')
    found += each(BAD, lambda c: on_line(c + b'POST /rides HTTP/1.1'), [b' ', b'\t', b'\r', b'\n', b'\xef\xbb\xbf'], 'before it: ')
    found += each(refused(404, 405), lambda m: on_line(m + b' /rides HTTP/1.1'),
                  [b'post', b'Post', b'POSTS', b'POS', b'X', b'!#$%&\'*+-.^_`|~', b'TRACE', b'TRACK', b'DEBUG', b'PROPFIND',
                   b'OPTIONS', b'PATCH', b'M' * 200], 'a method of its own: ')
    return found


def lines():
    found = each(BAD, lambda c: on_line(b'POST' + c + b'/rides' + c + b'HTTP/1.1'),
                 [b'\t', b'\x0b', b'\x0c', b'\r', b'  ', b' \t', b'\xa0', b'\x00', b'+', b''], 'between its words: ')
    found += each(BAD, lambda line: line + post(line=b''), [
        b'POST /rides HTTP/1.1\n', b'POST /rides HTTP/1.1\r', b'POST /rides HTTP/1.1\n\r', b'POST /rides HTTP/1.1\r\r\n',
        b'POST /rides HTTP/1.1 \r\n', b'POST /rides HTTP/1.1\t\r\n', b'POST /rides HTTP/1.1\x00\r\n',
        b'POST /rides\r\n HTTP/1.1\r\n', b'POST /rides HTTP/1.1 HTTP/1.1\r\n', b'POST /rides POST /rides HTTP/1.1\r\n',
        b'\x00\r\n', b'HTTP/1.1 200 OK\r\n', b'POST\r\n', b'/rides\r\n', b'HTTP/1.1\r\n', b'POST HTTP/1.1\r\n'])
    found += each(BOOKED, lambda before: before + post(), [b'\r\n', b'\r\n\r\n', b'\r\n' * 20], 'empty lines before it: ')
    found += each(BAD, lambda before: before + post(), [b'\n', b'\n\n', b'\r\n\n', b'\r', b'\n\r\n'], 'bad empty lines before it: ')
    return found


def targets():
    found = each(BAD, lambda c: on_line(b'POST /rides' + c + b' HTTP/1.1'), CONTROLS + HIGH + [b'#', b'#top', b' x', b'?a b'],
                 'in the target: ')
    # Characters that neither URIs nor routes have: refused like an unknown path.
    found += each(refused(400, 404, 405), lambda c: on_line(b'POST /rides' + c + b' HTTP/1.1'),
                  [bytes([c]) for c in b'"<>\\^`{|}'] + [b'//', b'/', b';a=b', b'/.', b'/..', b'/./', b'/%2e'], 'behind the path: ')
    found += each(refused(400, 404), on_line, [b'POST //rides HTTP/1.1', b'POST /RIDES HTTP/1.1', b'POST /./rides HTTP/1.1',
                                               b'POST /x/../rides HTTP/1.1', b'POST \\rides HTTP/1.1', b'POST /rides%00 HTTP/1.1'])
    return found


def target_forms():
    found = each(refused(400, 404, 405), on_line,
                 [b'POST * HTTP/1.1', b'GET * HTTP/1.1', b'OPTIONS * HTTP/1.1', b'POST ** HTTP/1.1', b'POST *rides HTTP/1.1',
                  b'CONNECT localhost:80 HTTP/1.1', b'CONNECT /rides HTTP/1.1', b'POST localhost HTTP/1.1',
                  b'POST localhost:80 HTTP/1.1', b'POST rides HTTP/1.1', b'POST ./rides HTTP/1.1', b'POST ?a=b HTTP/1.1',
                  b'POST @localhost/rides HTTP/1.1', b'POST :80/rides HTTP/1.1', b'POST /rides:80 HTTP/1.1'])
    found += each(BAD, on_line,
                  [b'POST http:/rides HTTP/1.1', b'POST http:rides HTTP/1.1', b'POST http:///rides HTTP/1.1',
                   b'POST http://a b/rides HTTP/1.1', b'POST http://user@localhost/rides HTTP/1.1', b'POST http:\\\\localhost/rides HTTP/1.1',
                   b'POST http://:80/rides HTTP/1.1', b'POST http://localhost:port/rides HTTP/1.1', b'POST ws://localhost/rides HTTP/1.1',
                   b'POST http://localhost\\@other/rides HTTP/1.1', b'POST http://localhost/rides#a HTTP/1.1', b'POST http:// HTTP/1.1',
                   b'POST file:///etc/passwd HTTP/1.1', b'POST ftp://localhost/rides HTTP/1.1', b'POST javascript:alert(1) HTTP/1.1',
                   b'POST //localhost:port/ HTTP/1.1 x'])
    return found


def absolute_forms():
    return each(BOOKED, on_line,
                [b'POST http://localhost/rides HTTP/1.1', b'POST HTTP://localhost/rides HTTP/1.1',
                 b'POST https://localhost/rides HTTP/1.1', b'POST http://localhost:80/rides HTTP/1.1',
                 b'POST http://another.example/rides HTTP/1.1'])


def versions():
    found = each(BAD, lambda version: on_line(b'POST /rides ' + version), [
        b'HTTP/1.10', b'HTTP/1.01', b'HTTP/01.1', b'HTTP/11', b'HTTP/1.', b'HTTP/.1', b'HTTP/1,1', b'HTTP/1.1.', b'HTTP/1.x',
        b'HTTP/x.1', b'HTTP/+1.1', b'HTTP/1.-1', b'HTTP/ 1.1', b'HTTP /1.1', b'HTTP/', b'HTTP', b'http/1.1', b'Http/1.1',
        b'HTTPS/1.1', b'HTTP/1.1x', b'xHTTP/1.1', b'HTTP\\1.1', b'HTTP/1.\xef\xbc\x91', b'ICY/1.1', b'RTSP/1.0', b'SIP/2.0'])
    found += each(refused(505), lambda version: on_line(b'POST /rides ' + version),
                  [b'HTTP/0.9', b'HTTP/0.0', b'HTTP/2.0', b'HTTP/3.0', b'HTTP/9.9'])
    found += each(BOOKED, lambda version: on_line(b'POST /rides ' + version), [b'HTTP/1.2', b'HTTP/1.9'], 'served as 1.1: ')
    found.append(Attack('the preface of HTTP/2', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', refused(505)))
    found += each(BAD, lambda line: line + b'\r\n' + HOST + b'\r\n', [b'GET /rides', b'GET /livez', b'GET /'], 'as in HTTP/0.9: ')
    return found


VALUES = {b'Content-Length': b'%d' % SIZE, b'Transfer-Encoding': b'chunked', b'Idempotency-Key': b'a-x', b'Host': b'localhost',
          b'Authorization': b'Bearer test_jane', b'X-Other': b'x'}
SPACES = {'a space': b' ', 'a tab': b'\t', 'two spaces': b'  ', 'VT': b'\x0b', 'NUL': b'\x00', 'CR': b'\r'}


def before_the_colon():
    return [Attack(f'{what} behind {name.decode()}', post(name + space + b': ' + value + b'\r\n'), BAD)
            for name, value in VALUES.items() for what, space in SPACES.items()]


def folded():
    found = []
    for name, value in VALUES.items():
        for fold in (b'\r\n ', b'\r\n\t', b'\r\n \r\n '):
            found.append(Attack(f'{name.decode()} folded by {fold!r}', post(b'X-A: b' + fold + name + b': ' + value + b'\r\n'), BAD))
        # The first line of a coding is checked first, and an empty coding is not supported.
        due = refused(400, 501) if name == b'Transfer-Encoding' else BAD
        found.append(Attack(f'the value of {name.decode()} folded', post(name + b':\r\n ' + value + b'\r\n', length=b''), due))
    found += each(BAD, lambda line: LINE + line + post(line=b''), [b' \r\n', b'\t\r\n', b' X: y\r\n', b'\tHost: a\r\n'], 'as the first line: ')
    return found


def line_ends():
    found = []
    for end, name in ((b'\r', 'CR'), (b'\n', 'LF'), (b'\x00', 'NUL'), (b'\n\r', 'LF CR'), (b'\r\r\n', 'CR CR LF')):
        for hidden in (b'Content-Length: 0', CODED.strip(), b'Idempotency-Key: hidden', b'X: y'):
            found.append(Attack(f'{name}, then {hidden.decode()}', post(b'X-A: b' + end + hidden + b'\r\n'), BAD))
        found.append(Attack(f'{name} as the empty line', post().replace(b'\r\n\r\n', b'\r\n' + end, 1), BAD))
    found.append(Attack('LF throughout', post().replace(b'\r\n', b'\n'), BAD))
    return found


def fields():
    found = each(BAD, lambda c: post(b'X' + c + b'Y: z\r\n'), SEPARATORS[:4] + SEPARATORS[5:] + HIGH + CONTROLS[1:], 'in a name: ')
    found += each(BAD, lambda c: post(b'X: y' + c + b'z\r\n'), CONTROLS, 'in a value: ')
    found += each(BAD, lambda line: post(line + b'\r\n'), [b': x', b':', b'X', b'Content-Length', b'GET / HTTP/1.1'], 'a line ')
    found += each(BOOKED, lambda line: post(line + b'\r\n'),
                  [b'X:', b'X: ', b'X:\t', b'X:y', b'X: a\tb', b'X: \xff\xfe', b"!#$%&'*+-.^_`|~09: x", b'Content_Length: 5',
                   b'X-Transfer-Encoding: chunked', b'Transfer_Encoding: chunked', b'X-HTTP-Method-Override: DELETE',
                   b'X-Original-URL: /users/x', b'X-Forwarded-Host: evil', b'Content-Length-: 0'], 'that is allowed: ')
    return found


def sizes():
    many = lambda n: b''.join(b'X-%d: y\r\n' % i for i in range(n))
    return [Attack('a name of 33 KiB', post(b'X' * 33 * 1024 + b': y\r\n'), refused(431)),
            Attack('a value of 33 KiB', post(b'X: ' + b'y' * 33 * 1024 + b'\r\n'), refused(431)),
            Attack('a value of 1 MiB', post(b'X: ' + b'y' * 2**20 + b'\r\n'), refused(431)),
            Attack('200 fields', post(many(200)), refused(431)), Attack('20,000 fields', post(many(20_000)), refused(431)),
            Attack('20,000 folded lines', post(b'X: y\r\n' + b' z\r\n' * 20_000), refused(400, 431)),
            Attack('a target of 8 KiB', on_line(b'POST /rides?' + b'a' * 8192 + b' HTTP/1.1'), refused(414)),
            Attack('a target of 1 MiB', on_line(b'POST /' + b'a' * 2**20 + b' HTTP/1.1'), refused(414)),
            Attack('a method of 9 KiB', on_line(b'P' * 9 * 1024 + b' /rides HTTP/1.1'), refused(414)),
            Attack('a line without an end', b'P' * 100_000, refused(414)),
            Attack('90 fields', post(many(90)), BOOKED)]


def hosts():
    of = lambda value: post(host=b'Host: ' + value + b'\r\n')
    found = each(BAD, of, [b'a b', b'a\tb', b'a/b', b'a?b', b'a#b', b'a@b', b'user:pass@localhost', b'http://localhost', b'a\\b',
                           b'"a"', b'<a>', b'a^b', b'a`b', b'{a}', b'a|b', b'a\x01b', b'a\xff', b'l\xc3\xb6calhost', b'%', b'%zz', b'a%2',
                           b'localhost:port', b'localhost:8a', b'localhost:-1', b'a:1:2', b'[::1', b'::1', b'[]', b'[::g]', b'a]', b'[a]:b',
                           b'localhost, evil', b'localhost:80, evil:80'], 'Host: ')
    found += [Attack('no Host', post(host=b''), BAD), Attack('two Hosts', post(host=HOST + HOST), BAD),
              Attack('two Hosts, one empty', post(host=HOST + b'Host:\r\n'), BAD),
              Attack('two Hosts, in two cases', post(host=HOST + b'hOST: evil\r\n'), BAD),
              Attack('a Host far behind another', post(b'X: y\r\n' * 50 + b'Host: evil\r\n'), BAD),
              Attack('two Hosts in HTTP/1.0', post(host=HOST + HOST, line=b'POST /rides HTTP/1.0\r\n'), BAD)]
    found += each(BOOKED, of, [b'', b'localhost', b'LOCALHOST:80', b'localhost:', b'127.0.0.1', b'[::1]', b'[::1]:8080', b'a%41',
                               b'evil.example', b'a-b_c.~d'], 'an allowed Host: ')
    return found


def connections():
    of = lambda value: post(b'Connection: ' + value + b'\r\n')
    old = lambda fields=b'', host=HOST: post(fields, line=b'POST /rides HTTP/1.0\r\n', host=host)
    found = each(BOOKED_THEN_END, of, [b'close', b'CLOSE', b'keep-alive, close', b'close, keep-alive', b'x,close', b'close ,x', b' close '],
                 'Connection: ')
    found.append(Attack('close in a second line', post(b'Connection: keep-alive\r\nConnection: close\r\n'), BOOKED_THEN_END))
    found += each(BOOKED, of, [b'keep-alive', b'', b'x', b'closed', b'Idempotency-Key', b'Content-Length', b'Host', b'Transfer-Encoding',
                               b'Upgrade'], 'Connection: ')
    found += each(BOOKED, lambda u: post(b'Connection: Upgrade\r\nUpgrade: ' + u + b'\r\n'), [b'h2c', b'websocket', b'TLS/1.0', b'HTTP/2.0'],
                  'Upgrade: ')
    found += [Attack('HTTP/1.0', old(), BOOKED_THEN_END), Attack('HTTP/1.0 without a Host', old(host=b''), BOOKED_THEN_END),
              Attack('HTTP/1.0 that stays', old(b'Connection: keep-alive\r\n'), BOOKED),
              Attack('HTTP/1.0 and close', old(b'Connection: close\r\n'), BOOKED_THEN_END)]
    return found


def escapes():
    keys = [b'%', b'%2', b'%zz', b'%g0', b'%0', b'%00', b'a%00b', b'%u002f', b'%c0%af', b'%c0%80', b'%ed%a0%80', b'%f4%90%80%80', b'%ff',
            b'%e2%82', b'%%32%35', b'%-1', b'% 20', b'%2%30']
    found = each(BAD, lambda path: get(b'/idempotency-keys/' + path), keys, 'of a key: ')
    found += each(BAD, lambda path: get(b'/rides/' + path), [b'%', b'%00', b'%c0%af', b'%zz'], 'of a ride: ')
    return found


GROUPS = [
    Group('methods', 'RFC 9112 3.1, RFC 9110 5.6.2', 'a method is a token, and case counts', methods, True),
    Group('request lines', 'RFC 9112 3, 2.2', 'words are parted by one SP; a line ends with CRLF; no white space before the first', lines,
          True),
    Group('targets', 'RFC 9112 3.2', 'no white space, no control character, no fragment in a target; an invalid one is not corrected',
          targets, True),
    Group('forms of targets', 'RFC 9112 3.2.1 to 3.2.4', 'origin-form is a path; authority-form is of CONNECT, * of OPTIONS', target_forms,
          True),
    Group('absolute-form', 'RFC 9112 3.2.2', 'a server must accept it', absolute_forms, True),
    Group('versions', 'RFC 9112 2.3', 'HTTP-version is case-sensitive, one digit each', versions, True),
    Group('space before the colon', 'RFC 9112 5.1', 'a server must refuse it with 400', before_the_colon, True),
    Group('folded lines', 'RFC 9112 5.2, 2.2', 'a server must refuse or unfold them', folded, True),
    Group('bare CR, LF and NUL', 'RFC 9110 5.5, RFC 9112 2.2', 'a recipient must refuse them or put SP there', line_ends, True),
    Group('fields', 'RFC 9110 5.1, 5.5', 'a name is a token, a value has no control characters', fields, True),
    Group('sizes', 'RFC 9110 5.4, RFC 9112 3', '4xx for what is larger than one wishes to process', sizes, True),
    Group('Host', 'RFC 9112 3.2', '400 for none, more than one, and an invalid one', hosts, True),
    Group('Connection', 'RFC 9112 9.3, 9.6, RFC 9110 7.6.1, 7.8', 'close ends it behind the answer; HTTP/1.0 stays only if asked', connections,
          True),
    Group('escapes in paths', 'RFC 3986 2.1, RFC 9110 4.2.3', 'a % has two hexadecimal digits behind it; no NUL, and UTF-8', escapes, False),
]
