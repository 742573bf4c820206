"""The form of the attack corpus: what is sent, what it must come to, and the marker that is sent behind it.

Each request of a group breaks or probes a MUST of RFC 9112 or RFC 9110, which the group names. In what is sent, @@@ is the
number of the request, so that each has a key of its own. Behind it comes a whole and good request, the marker: whoever
takes the end of one request for the beginning of another answers it as somebody else's, or not at all.
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

# statuses: of each answer that is due in order, as a set; the marker's is not among them.
# marker: it is answered too, and its ride is booked; else the connection ends before it.
# booked: how many rides the request itself books, each under a key of its own that begins with a-@@@.
Due = collections.namedtuple('Due', 'statuses marker booked')
Attack = collections.namedtuple('Attack', 'name sent due')
# must: what the RFC says, with its section. seen_by_h11: whether h11 reads at all what the group is about.
Group = collections.namedtuple('Group', 'name section must attacks seen_by_h11')


def refused(*statuses):
    """One answer, and the end: nothing behind it is read, nothing of it is done."""
    return Due((set(statuses),), False, 0)


def kept(*statuses):
    """It is wrong in its meaning alone, so the connection stays in step."""
    return Due((set(statuses),), True, 0)


def then(*statuses):
    """Several answers, one behind the other, and the end."""
    return Due(tuple({status} for status in statuses), False, statuses.count(201))


BOOKED = Due(({201},), True, 1)           # It is as it should be.
BOOKED_THEN_END = Due(({201},), False, 1)
CUT = Due((), False, 0)                   # It ends before its end: no answer is due, and none of a marker.
BAD = refused(400)


def key_of(number):
    return f'a-{number:03d}'


def marker(number):
    return (LINE + HOST + TOKEN + b'Idempotency-Key: marker-%d\r\nConnection: close\r\n' % number + TYPE
            + b'Content-Length: %d\r\n\r\n' % SIZE + GOOD_JSON)


def sent_bytes(attack, number):
    """With the marker behind it, unless it is cut off."""
    sent = attack.sent.replace(b'@@@', b'%03d' % number)
    return sent if attack.due == CUT else sent + marker(number)


def post(fields=b'', body=GOOD_JSON, line=LINE, host=HOST, key=KEY, content_type=TYPE, length=None):
    """A whole request, good but for what is given."""
    length = b'Content-Length: %d\r\n' % len(body) if length is None else length
    return line + host + TOKEN + key + content_type + fields + length + b'\r\n' + body


def coded(body=CHUNKS, fields=CODED, line=LINE):
    """The same in chunks."""
    return post(fields, body, line=line, length=b'')


def get(target, fields=b'', method=b'GET'):
    return method + b' ' + target + b' HTTP/1.1\r\n' + HOST + TOKEN + fields + b'\r\n'


def shown(text):
    """A name for what can't be printed."""
    return text.decode('latin-1').encode('unicode_escape').decode()[:60]


def each(due, make, values, what=''):
    """An attack for each value."""
    return [Attack(f'{what}{shown(value)}', make(value), due) for value in values]
