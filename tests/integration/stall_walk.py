"""Random walks over the state machine of a connection, by peers that are slow, do not read, close one half or reset."""
import dataclasses
import random
import socket
import struct
import threading
import time

TOKEN = b'Authorization: Bearer test_jane\r\n'
GET = b'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
HEAD = b'HEAD /rides HTTP/1.1\r\nHost: a\r\n' + TOKEN + b'\r\n'
LIST = b'GET /rides HTTP/1.1\r\nHost: a\r\n' + TOKEN + b'\r\n'
RIDE = b'{"origin_lat": 0.0, "origin_lon": 0.0, "target_lat": 0.1, "target_lon": 0.1}'


def connected(port, small_window=False, timeout=1.0):
    """With small_window the server's send buffer is full after some 100 KiB of unread bytes."""
    raw = socket.socket()
    if small_window:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    raw.settimeout(timeout)
    raw.connect(('127.0.0.1', port))
    return raw


def head_of(chance, path=b'/rides', fields=b''):
    key = b'Idempotency-Key: walk-%d\r\n' % chance.randrange(10**9)
    return b'POST ' + path + b' HTTP/1.1\r\nHost: a\r\n' + TOKEN + key + b'Content-Type: application/json\r\n' + fields


def expects(chance):
    return head_of(chance, fields=b'Content-Length: %d\r\nExpect: 100-continue\r\n\r\n' % len(RIDE))


def chunks(chance):
    head = head_of(chance, fields=b'Transfer-Encoding: chunked\r\n\r\n')
    return head + b''.join(b'%x%s\r\n%s\r\n' % (1, b';a=b' * chance.randrange(3), RIDE[n:n + 1]) for n in range(len(RIDE))) + b'0\r\n\r\n'


# May be sent in any order: whole requests, parts, and invalid bytes.
PIECES = [
    lambda chance: GET * chance.randint(1, 1000),
    lambda chance: HEAD * chance.randint(1, 100),
    lambda chance: LIST * chance.randint(1, 50),
    expects,
    lambda chance: expects(chance) + RIDE,
    lambda chance: head_of(chance, fields=b'Content-Length: %d\r\n\r\n' % len(RIDE)) + RIDE,
    lambda chance: head_of(chance, fields=b'Content-Length: 1000000\r\n\r\n') + b' ' * chance.choice([0, 1, 70_000, 500_000]),
    chunks,
    lambda chance: chunks(chance)[:-chance.randint(1, 200)],
    lambda chance: head_of(chance, path=b'/sign-in', fields=b'Content-Length: 100\r\nExpect: 100-continue\r\n\r\n'),
    lambda chance: head_of(chance, path=b'/nowhere', fields=b'Content-Length: 900000\r\n\r\n') + b'x' * chance.choice([0, 100_000]),
    lambda chance: GET[:chance.randint(1, len(GET) - 1)],
    lambda chance: b'\r\n' * chance.randint(1, 5000),
    lambda chance: b'GET /livez HTTP/1.1\r\nHost: a\r\nX: ' + b'y' * chance.choice([10, 30_000, 40_000]) + b'\r\n\r\n',
    lambda chance: bytes(chance.randrange(256) for _ in range(chance.randint(1, 300))),
    lambda chance: b'HEAD / HTTP/9.9\r\n\r\n',
    lambda chance: RIDE,
]


def reset(raw):
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    raw.close()


def act(raw, chance):
    """One step; False once the walk is over."""
    what = chance.randrange(20)
    if what < 10:
        raw.sendall(chance.choice(PIECES)(chance))
    elif what < 12:
        for byte in chance.choice(PIECES)(chance)[:chance.randint(1, 120)]:
            raw.sendall(bytes([byte]))
    elif what < 14:
        raw.recv(chance.choice([1, 100, 5000, 1_000_000]))
    elif what < 17:
        time.sleep(chance.choice([0, 0.001, 0.01, 0.1, 1.0]))
    elif what == 17:
        raw.shutdown(chance.choice([socket.SHUT_WR, socket.SHUT_RD]))
    elif what == 18:
        reset(raw)
        return False
    else:
        raw.close()
        return False
    return True


@dataclasses.dataclass
class Report:
    walks: int = 0
    steps: int = 0
    asked: int = 0
    slowest: float = 0.0


def one_walk(port, chance, report):
    try:
        raw = connected(port, small_window=chance.random() < 0.6, timeout=chance.choice([0.05, 0.5]))
    except OSError:
        return
    with raw:
        for _ in range(chance.randint(1, 30)):
            report.steps += 1
            try:
                if not act(raw, chance):
                    return
            except OSError:
                if chance.random() < 0.7:
                    return
        if chance.random() < 0.3:
            time.sleep(chance.random() * 2)   # Held until the server closes it.


def walk(port, seed, seconds, ask, walkers=12):
    """Walks of several peers at once; meanwhile ask() returns the time of a valid request. Raises exceptions of ask()."""
    report, stop = Report(), threading.Event()

    def walker(number):
        turn = 0
        while not stop.is_set():
            turn += 1
            one_walk(port, random.Random(f'{seed}-{number}-{turn}'), report)
            report.walks += 1
    threads = [threading.Thread(target=walker, args=(number,)) for number in range(walkers)]
    for thread in threads:
        thread.start()
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            report.slowest = max(report.slowest, ask())
            report.asked += 1
            time.sleep(0.02)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return report
