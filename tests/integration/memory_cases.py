"""How much memory clients can use: bodies that are announced, sent except for a byte, and never ended."""
import re
import socket

from raw import answers_in, exchanged
from stall_cases import asked, check_no_stall
from world import WAIT_S, World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # The database does not matter here.
MIB = 1024 * 1024
TOKEN = b'Authorization: Bearer test_jane\r\nIdempotency-Key: held\r\n'


def head(line, length, fields=b''):
    return line + b' HTTP/1.1\r\nHost: a\r\n' + fields + b'Content-Length: %d\r\n\r\n' % length


def memory(world, what='VmRSS'):
    """In MiB; VmHWM is the peak."""
    with open(f'/proc/{world.server.pid}/status', encoding='ascii') as file:
        return int(re.search(what + r':\s+(\d+) kB', file.read()).group(1)) / 1024


def held(port, count, sent):
    """Opens `count` connections and sends the same bytes on each; a refused one may be cut off."""
    raws = []
    for _ in range(count):
        raws.append(socket.create_connection(('127.0.0.1', port), timeout=WAIT_S))
        try:
            raws[-1].sendall(sent)
        except (BrokenPipeError, ConnectionResetError):
            pass
    return raws


def statuses(raws):
    """The status of the answer on each."""
    found = []
    for raw in raws:
        received = b''
        with raw:
            raw.settimeout(WAIT_S)
            try:
                while part := raw.recv(65536):
                    received += part
            except OSError:
                pass
        found += [answer.status for answer in answers_in(received)[:1]]
    return found


def without_credentials(settings):
    """Issue 16, number 5: open routes accept 16 KiB, or no body at all; memory is freed after the grace."""
    with World(settings.bin, judged=False) as world:
        world.start_server('--body-grace-ms', '1500', '--connections-per-address-max', '0')
        for line, length, status in [(b'POST /sign-in', MIB, 413), (b'POST /sign-in', 16 * 1024 + 1, 413), (b'GET /livez', 1, 413),
                                     (b'HEAD /livez', 1, 413), (b'GET /pages.css', 1, 413), (b'GET /livez', 0, 200)]:
            answer = answers_in(exchanged(world.port, head(line, length)))[0]
            check_equal(answer.status, status, f'{line} with {length} bytes: {answer}')
            if status == 413 and not line.startswith(b'HEAD'):
                check_equal(answer.type, 'body-too-large', f'its type: {answer}')
        before = memory(world)
        count = 1000 if settings.everything else 300
        large = held(world.port, count, head(b'POST /sign-in', MIB) + b'a' * 100)
        check_equal(set(statuses(large)), {413}, 'answers to bodies of 1 MiB')
        small = held(world.port, count, head(b'POST /sign-in', 16 * 1024) + b'a' * (16 * 1024 - 1))
        check(asked(world.port) < WAIT_S / 4, 'a newcomer is answered')
        check_equal(set(statuses(small)), {408}, 'answers to bodies that do not end')
        grown = memory(world, 'VmHWM') - before
        check(grown < 30 + count / 10, f'{count} connections without credentials cost {grown:.0f} MiB')
        check_no_stall(world)


def with_credentials(settings):
    """All bodies together have a limit, past which new ones get 503; slow ones end soon, even if most bytes came fast."""
    with World(settings.bin, judged=False) as world:
        world.start_server('--bodies-max', str(32 * MIB), '--body-grace-ms', '10000')
        before = memory(world)
        count = 300 if settings.everything else 150
        raws = held(world.port, count, head(b'POST /rides', MIB, TOKEN) + b' ' * (MIB - 1))
        answer = answers_in(exchanged(world.port, head(b'POST /rides', MIB, TOKEN)))[0]
        check_equal((answer.status, answer.type, answer.json['retry'], answer.headers.get('retry-after')), (503, 'overloaded', True, '1'),
                    f'one more: {answer}')
        check(asked(world.port) < WAIT_S / 4, 'a newcomer is answered')
        found = statuses(raws)
        check(found.count(408) <= 32 and found.count(503) >= count / 2 and set(found) <= {408, 503}, f'answers: {sorted(found)}')
        grown = memory(world, 'VmHWM') - before
        check(grown < 32 + count / 4, f'{count} bodies of 1 MiB cost {grown:.0f} MiB')
        wait_until('a ride to be booked', lambda: world.phone().book('after-all').status == 201)


def cases(settings):
    return [('memory: bodies without credentials', lambda: without_credentials(settings)),
            ('memory: bodies with credentials', lambda: with_credentials(settings))]
