"""The form of the attack corpus: the bytes of a request, the expected answers, and the marker request that follows.

Each request of a group breaks or probes a MUST of RFC 9112 or RFC 9110, which the group names. In its bytes, @@@ is the
number of the request, so that each has its own key. A valid request follows, the marker: a server that
misplaces the end of a request gives the marker a wrong answer, or none.
"""
import collections
import json

from malformed_requests import GOOD_JSON, HOST, TOKEN, TYPE

LINE = b'POST /rides HTTP/1.1\r\n'
KEY = b'Idempotency-Key: a-@@@\r\n'
SIZE = len(GOOD_JSON)
CODED = b'Transfer-Encoding: chunked\r\n'
CHUNKS = b'%x\r\n' % SIZE + GOOD_JSON + b'\r\n0\r\n\r\n'
OTHER_JSON = json.dumps({'origin_lat': 1.5, 'origin_lon': 2.5, 'target_lat': 3.5, 'target_lon': 4.5}).encode()

# statuses: the expected statuses of each answer in order, as sets, without the marker's.
# marker: it is answered too, and its ride is booked; otherwise the connection ends before it.
# booked: how many rides the request itself books, each under a key that begins with a-@@@.
Due = collections.namedtuple('Due', 'statuses marker booked')
Attack = collections.namedtuple('Attack', 'name sent due')
# must: the RFC's rule, with its section. seen_by_h11: whether h11 checks this at all.
Group = collections.namedtuple('Group', 'name section must attacks seen_by_h11')


def refused(*statuses):
    """One answer, then the connection ends; the request has no effect and later bytes are not read."""
    return Due((set(statuses),), False, 0)


def kept(*statuses):
    """Only its meaning is wrong, so the connection continues."""
    return Due((set(statuses),), True, 0)


def then(*statuses):
    """Several answers in order, then the connection ends."""
    return Due(tuple({status} for status in statuses), False, statuses.count(201))


BOOKED = Due(({201},), True, 1)   # A valid request.
BOOKED_THEN_END = Due(({201},), False, 1)
CUT = Due((), False, 0)   # Incomplete: no answer is due, for the marker neither.
BAD = refused(400)


def key_of(number):
    return f'a-{number:03d}'


def marker(number):
    return (LINE + HOST + TOKEN + b'Idempotency-Key: marker-%d\r\nConnection: close\r\n' % number + TYPE
            + b'Content-Length: %d\r\n\r\n' % SIZE + GOOD_JSON)


def sent_bytes(attack, number):
    """The request with the marker after it, unless it is cut off."""
    sent = attack.sent.replace(b'@@@', b'%03d' % number)
    return sent if attack.due == CUT else sent + marker(number)


def post(fields=b'', body=GOOD_JSON, line=LINE, host=HOST, key=KEY, content_type=TYPE, length=None):
    """A whole request, valid except for the given parts."""
    length = b'Content-Length: %d\r\n' % len(body) if length is None else length
    return line + host + TOKEN + key + content_type + fields + length + b'\r\n' + body


def coded(body=CHUNKS, fields=CODED, line=LINE):
    """The same with a chunked body."""
    return post(fields, body, line=line, length=b'')


def get(target, fields=b'', method=b'GET'):
    return method + b' ' + target + b' HTTP/1.1\r\n' + HOST + TOKEN + fields + b'\r\n'


def shown(text):
    """A printable name for bytes."""
    return text.decode('latin-1').encode('unicode_escape').decode()[:60]


def each(due, make, values, what=''):
    """An attack for each value."""
    return [Attack(f'{what}{shown(value)}', make(value), due) for value in values]
