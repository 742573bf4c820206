"""Malformed bodies, queries and paths by family, in the form of malformed_requests.py."""
import json

from malformed_requests import (BAD, BAD_TYPE, FIELDS, FORM, GOOD, GOOD_FORM, GOOD_JSON, HOST, LARGE, LINE, NO_METHOD,
                                NO_ROUTE, TOKEN, TYPE, key, whole)


def with_field(text):
    """A valid body with one more field, whose name or value is malformed."""
    return GOOD_JSON[:-1] + b', ' + text + b'}'


def with_value(text, field='origin_lat'):
    """A body with one invalid value."""
    return GOOD_JSON.replace(json.dumps({field: GOOD[field]})[1:-1].encode(), b'"%s": %s' % (field.encode(), text))


def json_syntax():
    bodies = [b' ', b'{', b'}', b'[', b']', b'"', b'nul', b'null', b'true', b'1', b'"x"', b'[]', b'[1]', b'{}', b'{,}',
              b'{"a"}', b'{"a":}', b'{"a":1,}', b'{a:1}', b"{'a':1}", b'{1:1}', b'{null:1}', b'{"a" 1}', b'{"a"::1}',
              b'{"a":1 "b":2}', b'{"a":1;"b":2}', b'// a\n{}', b'{/* a */}', b'{"a":[1,]}', b'{"a":[,1]}', b'{"a":[1}',
              b'{"a":{]}', b'\x00', b'{}\x00', b'{"a":"\x00"}', b'<ride/>', b'origin_lat=1']
    bodies += [GOOD_JSON + b'x', GOOD_JSON + GOOD_JSON, GOOD_JSON + b',', GOOD_JSON + b'\x00', GOOD_JSON[:-1],
               GOOD_JSON[1:], b'[' + GOOD_JSON + b']', json.dumps(GOOD_JSON.decode()).encode(),
               GOOD_JSON.replace(b':', b'='), GOOD_JSON.replace(b',', b''), GOOD_JSON.replace(b'"', b"'")]
    bodies += [with_value(value) for value in (b'NaN', b'nan', b'Infinity', b'-Infinity', b'inf', b'+1', b'.5', b'1.',
                                               b'-', b'--1', b'01', b'-01', b'0x10', b'1e', b'1e+', b'1_000', b'1,5',
                                               b'1e400', b'-1e400', b'1e-400', b'1e99999999999', b'9' * 400, b'1' * 30,
                                               b'0b1', b'1f', b'')]
    return [(body[:60], whole(body=body), BAD) for body in bodies]


def json_texts():
    """Escapes, encodings, duplicate names, depth."""
    texts = [b'"\\ud800"', b'"\\udc00"', b'"\\ude00\\ud83d"', b'"\\ud83d\\ud83d"', b'"\\ud83dx"', b'"\\ud83d\\u0041"',
             b'"\\u0000"', b'"\\x41"', b'"\\u12"', b'"\\u12G4"', b'"\\"', b'"\\U00000041"', b'"\\a"', b'"a\nb"',
             b'"a\tb"', b'"\x01"', b'"\x1f"', b'"\xff"', b'"\x80"', b'"\xc0\x80"', b'"\xc1\xbf"', b'"\xe0\x80\x80"',
             b'"\xed\xa0\x80"', b'"\xed\xbf\xbf"', b'"\xf0\x80\x80\x80"', b'"\xf4\x90\x80\x80"',
             b'"\xf8\x88\x80\x80\x80"', b'"\xc3"', b'"\xe2\x82"', b'"\xf0\x9f\x98"', b'"caf\xe9"']
    found = []

    def add(why, *bodies):   # Each has an unknown field, too: errors of the text come first.
        found.extend((body[:12] + b'...' + body[-40:], whole(body=body), BAD, why) for body in bodies)

    for text in texts:
        add('Is not JSON|Is not UTF-8|U\\+0000', with_field(b'"note": ' + text), with_field(text + b': 1'))
    add('appears twice', with_field(b'"origin_lat": 47.61'), with_field(b'"origin_lat": 1'),
        with_field(b'"origin\\u005flat": 1'), with_field(b'"a": {"b": 1, "b": 1}'),
        with_field(b'"a": [{"b": 1, "b": 2}]'), with_field(b'"a": 1, "a": 1'), with_field(b'"": 1, "": 1'))
    add('Is not JSON|Is not UTF-8', b'\xef\xbb\xbf' + GOOD_JSON, GOOD_JSON.decode().encode('utf-16-le'),
        GOOD_JSON.decode().encode('utf-16-be'), GOOD_JSON.decode().encode('utf-16'),
        GOOD_JSON.decode().encode('utf-32'), b'\x1f\x8b\x08' + GOOD_JSON)
    for depth in (33, 1_000, 100_000):
        add('deeper than 32', with_field(b'"a": ' + b'[' * depth + b']' * depth),
            with_field(b'"a": ' + b'{"a":' * depth + b'1' + b'}' * depth), b'[' * depth)
    return found


def fields():
    found = []
    add = lambda body: found.append((body[:90], whole(body=body), BAD))
    for name in FIELDS:
        most = 90 if name.endswith('lat') else 180
        add(json.dumps({field: value for field, value in GOOD.items() if field != name}).encode())
        for value in (None, True, '47.61', '', [], [47.61], {}, {'value': 1}, most + 1, -most - 1, most + 0.001, 1e308):
            add(json.dumps(GOOD | {name: value}).encode())
        add(json.dumps({field.upper() if field == name else field: value for field, value in GOOD.items()}).encode())
    for unknown in ('user_id', 'amount', '', ' origin_lat', 'origin_lat ', 'origin.lat', '__proto__', 'key_id',
                    'a' * 5000, 'ö'):
        add(json.dumps(GOOD | {unknown: 1}).encode())
    add(with_field(b','.join(b'"n%d": 1' % i for i in range(80_000))))
    add(with_field(b'"a": [' + b'1,' * 400_000 + b'1]'))
    return found


def content_types():
    headers = HOST + TOKEN + key(0)
    types = [b'text/plain', b'text/json', b'application/xml', b'multipart/form-data; boundary=a',
             b'application/octet-stream', b'application/jsonx', b'application', b'json', b'*/*', b'', b';',
             b'application/json, text/plain', b'application /json', b'application/x-www-form-urlencode',
             b'"application/json"', b'application/json+xml', b'image/png']
    found = [(value, whole(headers=headers + b'Content-Type: ' + value + b'\r\n'), BAD_TYPE) for value in types]
    found.append((b'none', whole(headers=headers), BAD_TYPE))
    found.append((b'two', whole(headers=headers + TYPE + TYPE), BAD))
    found.append((b'JSON and form', whole(headers=headers + TYPE + FORM), BAD))
    found.append((b'JSON said to be a form', whole(headers=headers + FORM), BAD))
    found.append((b'a form said to be JSON', whole(headers=headers + TYPE, body=GOOD_FORM), BAD))
    found.append((b'no body', whole(headers=headers + TYPE, body=b''), BAD))
    found.append((b'no body and no type', whole(headers=headers, body=b''), BAD))
    return found


def forms_and_queries():
    headers = HOST + TOKEN + key(0)
    fields_ = [b'%', b'%1', b'%zz', b'%g0', b'%u0041', b'a=%', b'a=%f', b'a=%00', b'%00=1', b'a=%ff', b'a=%c0%80',
               b'a=%ed%a0%80', b'\xff=1', b'a=\xc3', b'=1', b'=', b'&', b'', b'a', b'origin_lat=1', b'origin_lat',
               b'a=1&a=1', b'&'.join(b'n%d=1' % i for i in range(101)), b'origin_lat.value=1', b'origin_lat[]=1', b';',
               b'&' * 10 + b'y']
    found = [(b'form: ' + text[:40], whole(headers=headers + FORM, body=GOOD_FORM + b'&' + text),
              BAD) for text in fields_]
    found.append((b'form: with semicolons', whole(headers=headers + FORM, body=GOOD_FORM.replace(b'&', b';')), BAD))
    for value in (b'', b'NaN', b'inf', b'+1', b'%2B1', b'0x1p3', b'1%20', b'%201', b'1e400', b'91', b'-91', b'4%37.',
                  b'true', b'null', b'1;1'):
        body = GOOD_FORM.replace(b'origin_lat=47.61', b'origin_lat=' + value)
        found.append((b'form: origin_lat=' + value, whole(headers=headers + FORM, body=body), BAD))
    for text in (b'a=1', b'%', b'%zz', b'a=%ff', b'a=%00', b'=1', b'&', b'origin_lat=47.61', b'?', b'a',
                 b'%6frigin_lat=1'):
        found.append((b'query: ' + text, whole(b'POST /rides?' + text + b' HTTP/1.1\r\n', headers + TYPE), BAD))
    for text in (b'limit=0', b'limit=101', b'limit=-1', b'limit=x', b'limit=', b'limit', b'limit=1.5',
                 b'limit=1&limit=1', b'limit=99999999999', b'limit=1%00', b'before=x', b'before=',
                 b'before=9223372036854775808', b'after=1', b'limit=+1', b'LIMIT=1', b'limit=%31%', b'limit=0x1'):
        found.append((b'GET /rides?' + text, b'GET /rides?' + text + b' HTTP/1.1\r\n' + HOST + TOKEN + b'\r\n', BAD))
    return found


def paths_and_methods():
    headers = HOST + TOKEN + b'Idempotency-Key: k-0\r\nContent-Length: 0\r\n\r\n'
    found = []
    add = lambda line, due: found.append((line, line + b' HTTP/1.1\r\n' + headers, due))
    for path in (b'/%', b'/rides/%', b'/rides/%zz', b'/rides/%4', b'/rides/%00', b'/rides/%ff', b'/rides/%c0%af',
                 b'/rides/1%', b'/users/%@b', b'/rides/%u0031'):
        add(b'GET ' + path, BAD)
    for ride in (b'x', b'1.5', b'-', b'+1', b'01', b'0x1', b'1%20', b'%201', b'9223372036854775808',
                 b'99999999999999999999', b'1;a=b', b'1,2', b'NaN', b'null', b'%D9%A1', b"1'--", b'*', b'..', b'%2e%2e',
                 b'1%0a', b'1%2F2'):
        add(b'GET /rides/' + ride, BAD)
        add(b'POST /rides/' + ride + b'/refund', BAD)
    for email in (b'jane', b'@', b'@b', b'a@', b'a%20b@c', b'a%0a@b', b'%C3%B6@b', b'a' * 255 + b'@b', b'a%7F@b'):
        add(b'PUT /users/' + email, BAD)
    for path in (b'//', b'//rides', b'/rides/', b'/Rides', b'/ride', b'/rides/1/', b'/rides/1/refunds',
                 b'/rides/1/refund/', b'/rides//refund', b'/users', b'/users/', b'/users/a@b/c', b'/rides/../rides',
                 b'/./rides', b'/rides%20', b'/rides%2F1%2Frefund', b'/rides%2f1/refund', b'/etc/passwd', b'/livez/',
                 b'/rides;a=b'):
        add(b'POST ' + path, NO_ROUTE)
    add(b'POST *', BAD)
    add(b'GET *', BAD)   # Before, it was served as / once there was a page.
    for line in (b'PUT /rides', b'PATCH /rides', b'DELETE /rides', b'POST /rides/1', b'PUT /rides/1',
                 b'POST /rides/1%2Frefund', b'GET /rides/1/refund', b'DELETE /rides/1/refund', b'POST /users/a@b',
                 b'GET /users/a@b', b'POST /', b'OPTIONS /rides', b'TRACE /rides', b'CONNECT /rides', b'post /rides',
                 b'BREW /rides', b'POST /livez'):
        add(line, NO_ROUTE if line.endswith(b'livez') else NO_METHOD)
    return found


def sizes():
    head = LINE + HOST + TOKEN + key(0) + TYPE
    coded = b'Transfer-Encoding: chunked\r\n\r\n'
    mebibyte = 2**20
    padded = lambda size: GOOD_JSON + b' ' * (size - len(GOOD_JSON))
    chunk = b'10000\r\n' + b' ' * 0x10000 + b'\r\n'
    found = [(b'1 MiB and a byte', whole(body=padded(mebibyte + 1)), LARGE),
             (b'8 MiB', whole(body=padded(8 * mebibyte)), LARGE)]
    for size in (mebibyte + 1, 2**31, 2**32, 2**53, 10**18 - 1):
        found.append((b'only said to be %d bytes' % size, head + b'Content-Length: %d\r\n\r\n' % size, LARGE))
    found.append((b'chunks of more than 1 MiB', head + coded + chunk * 17 + b'0\r\n\r\n', LARGE))
    found.append((b'chunks of more than 1 MiB, without an end', head + coded + chunk * 20, LARGE))
    found.append((b'a chunk said to be 2 MiB', head + coded + b'200000\r\n', LARGE))
    found.append((b'a chunk said to be 2^60 bytes', head + coded + b'1000000000000000\r\n', LARGE))
    found.append((b'1 MiB of spaces', whole(body=b' ' * mebibyte), BAD))
    found.append((b'1 MiB of brackets', whole(body=b'[' * mebibyte), BAD))
    found.append((b'a text of 1 MiB', whole(body=b'"' + b'a' * (mebibyte - 2) + b'"'), BAD))
    found.append((b'a number of 1 MiB', whole(body=b'9' * mebibyte), BAD))
    found.append((b'1 MiB of escapes', whole(body=(b'{"a":"' + b'\\u0041' * (mebibyte // 6))[:mebibyte - 2] + b'"}'),
                  BAD))
    found.append((b'a form of 1 MiB', whole(headers=HOST + TOKEN + key(0) + FORM, body=b'a=1&' * (mebibyte // 4)), BAD))
    return found
