"""The rider's side: complete and broken HTTP requests."""
import http.client
import json
import socket
import time

HERE_TO_THERE = {'origin_lat': 47.61, 'origin_lon': -122.33, 'target_lat': 47.66, 'target_lon': -122.35}


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def type(self):
        """The last part of a problem's type: in-progress."""
        return self.json.get('type', '').rsplit('/', 1)[-1] if self.is_problem else ''

    @property
    def is_problem(self):
        return self.headers.get('content-type', '').startswith('application/problem+json')

    @property
    def replayed(self):
        return self.headers.get('idempotent-replayed') == 'true'

    @property
    def final(self):
        """Final: a repeat gets the same."""
        if self.status in (409, 503, 500, 502):
            return False
        return 'idempotency-expires' in self.headers or self.status < 400

    def __repr__(self):
        return f'<{self.status} {self.body[:200]!r}>'


class Phone:
    """One rider. Each request has its own connection; an answer that did not come is an OSError.

    Requests with a key, and their answers, go into the history, if there is one.
    """

    def __init__(self, port, token='test_jane', timeout=20, history=None):
        self.port, self.token, self.timeout, self.history = port, token, timeout, history

    def send(self, method, path, body=None, headers=None, key=None):
        sent = {'Authorization': f'Bearer {self.token}'} | (headers or {})
        if key is not None:
            sent['Idempotency-Key'] = key
        if isinstance(body, dict):
            body = json.dumps(body)
            sent.setdefault('Content-Type', 'application/json')
        call = self._began(method, path, body, key)
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=self.timeout)
        try:
            connection.request(method, path, body, sent)
            got = connection.getresponse()
            answer = Answer(got.status, got.getheaders(), got.read())
            if call:
                self.history.ended(call, answer)
            return answer
        except http.client.HTTPException as error:
            raise OSError(f'{type(error).__name__}: {error}') from error
        finally:
            connection.close()

    def _began(self, method, path, body, key, hung_up=False):
        if self.history is None or not isinstance(key, str):
            return None   # No server accepts such bytes as a key.
        return self.history.began(self.token, key.strip('"'), method, path, body, hung_up)

    def get(self, path):
        return self.send('GET', path)

    def book(self, key, **changes):
        return self.send('POST', '/rides', HERE_TO_THERE | changes, key=key)

    def booked(self, key, **changes):
        """For the set-up of a case: as a client does, it repeats the ride under its key while the answer says so."""
        for _ in range(100):
            answer = self.book(key, **changes)
            if not (answer.is_problem and answer.json.get('retry')):
                break
            time.sleep(0.1)
        return answer

    def refund(self, ride, amount=None, n=1):
        """All that is left, or the n-th refund of an amount."""
        if amount is None:
            return self.send('POST', f'/rides/{ride}/refund', key=f'ride-{ride}-refund')
        return self.send('POST', f'/rides/{ride}/refund', {'amount': amount}, key=f'ride-{ride}-refund-{n}')

    def book_trip(self, key, **changes):
        return self.send('POST', '/trips', HERE_TO_THERE | changes, key=key)

    def pick_up(self, trip):
        return self.send('POST', f'/trips/{trip}/pick-up', key=f'trip-{trip}-pick-up')

    def cancel(self, ride):
        return self.send('DELETE', f'/rides/{ride}')

    def put_user(self, email):
        return self.send('PUT', f'/users/{email}')

    def send_and_hang_up(self, method, path, body, key):
        """Sends a whole request and goes away before the answer."""
        text = json.dumps(body)
        self._began(method, path, text, key, hung_up=True)
        with socket.create_connection(('127.0.0.1', self.port), timeout=self.timeout) as raw:
            raw.sendall(f'{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n'
                        f'Idempotency-Key: {key}\r\nContent-Type: application/json\r\n'
                        f'Content-Length: {len(text)}\r\n\r\n{text}'.encode())


def raw_exchange(port, sent, timeout=10, half_close=False):
    """Sends raw bytes; returns what came until the server closed or the time-out."""
    received = b''
    with socket.create_connection(('127.0.0.1', port), timeout=timeout) as raw:
        try:
            raw.sendall(sent)
            if half_close:
                raw.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass   # The server may answer and close while we still send.
        try:
            while True:
                part = raw.recv(65536)
                if not part:
                    break
                received += part
                if complete(received):
                    break
        except (socket.timeout, ConnectionResetError):
            pass
    return parse(received)


def complete(received):
    head, end, body = received.partition(b'\r\n\r\n')
    if not end:
        return False
    for line in head.split(b'\r\n')[1:]:
        name, _, value = line.partition(b':')
        if name.lower() == b'content-length':
            return len(body) >= int(value)
    return False


def parse(received):
    """The first answer in the bytes, or None."""
    head, end, body = received.partition(b'\r\n\r\n')
    if not end:
        return None
    first, *lines = head.decode('latin-1').split('\r\n')
    headers = [tuple(part.strip() for part in line.split(':', 1)) for line in lines]
    length = dict((name.lower(), value) for name, value in headers).get('content-length')
    return Answer(int(first.split(' ')[1]), headers, body[:int(length)] if length else body)
