"""How python3-h11 reads the same bytes, and where Pawl may differ from it, with a reason for each difference.

h11 knows only HTTP: no path, no key, no JSON. So the comparison is about how many requests the bytes have, and whether
they end in a refusal. A difference without a reason here fails; so does a reason without a difference.
"""
import re
import sys

sys.path.append('/usr/lib/python3/dist-packages')   # Debian's; the running python3 may be another.
import h11   # noqa: E402


def seen_by_h11(sent):
    """(number of whole requests, 'refused', 'cut' or 'closed' or 'open')."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=40 * 1024)
    whole, ended = 0, False
    try:
        connection.receive_data(sent)
        while True:
            event = connection.next_event()
            if isinstance(event, h11.EndOfMessage):
                whole += 1
                connection.send(h11.Response(status_code=404, headers=[('Content-Length', '0')]))
                connection.send(h11.EndOfMessage())
                if connection.our_state is h11.MUST_CLOSE:
                    return whole, 'closed'
                connection.start_next_cycle()
            elif event is h11.NEED_DATA and not ended:
                ended = True
                connection.receive_data(b'')   # The input has ended.
            elif event is h11.PAUSED or event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
                return whole, 'open'
    except h11.RemoteProtocolError as error:
        cut = 'peer' in str(error) and 'clos' in str(error) or 'unexpectedly' in str(error)
        return whole, 'cut' if cut else 'refused'


ACCEPTS, REFUSES = 'accepts', 'refuses'
NO_PATHS = 'h11 leaves methods, paths and hosts to others; here what is not served ends the connection with 404 or 405'
NOT_A_PATH = 'stricter: a target that is neither a path, nor * nor a URI of http; an origin server needs no other'
LIMITS = 'stricter: limits on lines, fields, extensions and trailers, which h11 has only for what is not complete'
# Group, a pattern of names in it, what h11 does, and why Pawl does not. Nearly always Pawl refuses bytes that another program
# could read differently, where the RFC leaves a choice.
DIFFERENCES = [
    ('methods', 'a method of its own', ACCEPTS, NO_PATHS),
    ('request lines', r'HTTP/1.1\\n$', ACCEPTS, 'stricter: a line ends with CRLF; RFC 9112 2.2 allows LF and does not ask for it'),
    ('request lines', '^empty lines before it', REFUSES, 'RFC 9112 2.2: a server should ignore empty lines before a request'),
    ('targets', 'in the target: #', ACCEPTS, 'RFC 9112 3.2: a target has no fragment'),
    ('targets', '^(behind the path|POST)', ACCEPTS, NO_PATHS),
    ('forms of targets', '', ACCEPTS, NOT_A_PATH),
    ('versions', 'HTTP/', ACCEPTS, 'stricter: HTTP/1.0 and 1.1 are served, others are told so with 505 (RFC 9110 15.6.6)'),
    ('folded lines', '', ACCEPTS, 'RFC 9112 5.2: a server must refuse folded lines or unfold them; h11 unfolds'),
    ('bare CR, LF and NUL', '^LF', ACCEPTS, 'stricter: a line ends with CRLF; RFC 9112 2.2 allows LF and does not ask for it'),
    ('fields', '^in a value', ACCEPTS,
     'stricter: RFC 9110 5.5: control characters are invalid in a value, and may be kept only where they are safe'),
    ('sizes', '', ACCEPTS, LIMITS),
    ('Host', '^Host: ', ACCEPTS, 'RFC 9112 3.2: an invalid Host must be refused; h11 does not look into it'),
    ('Connection', 'HTTP/1.0 that stays', REFUSES, 'RFC 9112 9.3: HTTP/1.0 stays if it asks for keep-alive; h11 always closes'),
    ('Content-Length', r'(^\d+, ?\d+|the same|three times)', ACCEPTS,
     'RFC 9112 6.3 (5): a list of equal lengths may be taken for one, or refused'),
    ('lengths that lie', '^1 bytes too long', ACCEPTS, 'the same requests: the second is OST /rides, which is not served here'),
    ('Transfer-Encoding', '(length)', ACCEPTS,
     'RFC 9112 6.1: a server may refuse a request with both, or read the chunks and close; h11 reads the chunks'),
    ('Transfer-Encoding', '^in HTTP/1.0', ACCEPTS, 'RFC 9112 6.1: chunks in HTTP/1.0 are faulty framing'),
    ('lines of chunks', 'LF for the last line', ACCEPTS, 'stricter: a line ends with CRLF'),
    ('chunk extensions', 'not allowed', ACCEPTS, 'stricter: h11 passes over extensions without a look, RFC 9112 7.1.1 gives them a grammar'),
    ('chunk extensions', '^behind 1,000 zeros$', REFUSES, 'RFC 9112 7.1: a size may have any number of zeros before it; h11 reads 20 digits'),
    ('chunk extensions', 'KiB', ACCEPTS, 'RFC 9112 7.1.1: a server ought to limit their size'),
    ('trailers', 'of the frame', ACCEPTS, 'stricter: RFC 9110 6.5.1: no sender may put them there; h11 reads them as anything else'),
    ('trailers', 'malformed', ACCEPTS, 'as of header fields: folded lines and control characters are refused'),
    ('trailers', '100 KiB', ACCEPTS, LIMITS),
    ('behind an error', '^(a method|a path|a token)', ACCEPTS, NO_PATHS + ', and so does a wrong token with 401'),
    ('behind an error', '^a version', ACCEPTS, 'stricter: as above'),
    ('behind an error', '^too many headers', ACCEPTS, LIMITS),
    ('Expect', '^and no token', ACCEPTS, 'h11 knows no credentials'),
]


def reason_for(group, attack, theirs):
    for known in DIFFERENCES:
        if known[0] == group.name and known[2] == theirs and re.search(known[1], attack.name):
            return known
    return None


def difference(attack, theirs):
    """How h11 differs from the expected answers; None if it does not."""
    due = attack.due
    whole, how = theirs
    requests = len(due.statuses) + due.marker
    if not due.statuses:   # Cut off.
        return None if (whole, how) == (0, 'cut') or (whole, how) == (0, 'refused') else 'accepts'
    # The last answer of a refusal belongs to an incomplete request.
    ends_in_refusal = not due.marker and not due.statuses[-1] & {201}
    if ends_in_refusal:
        return None if how in ('refused', 'cut') and whole <= len(due.statuses) else 'accepts'
    return None if whole == requests and how in ('open', 'closed') else 'refuses'
