"""A server with configurable answers: bytes that are not an answer, half an answer, or none."""
import json
import socket
import threading


def http(status, body, headers=(), length=None):
    """An answer as bytes; `length` replaces its real length."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f'HTTP/1.1 {status} x', 'Content-Type: application/json',
            f'Content-Length: {len(body) if length is None else length}']
    return '\r\n'.join([*head, *headers, '', '']).encode() + body


CHARGED = http(200, {'id': 'ch_strange', 'object': 'charge'})


class StrangeProvider:
    """Listens on loopback. Answers each request with `answer` (or what it makes of the path) and closes; None: closes without a byte.

    With `first`, the first requests get these instead, one each.
    """

    def __init__(self, answer, first=()):
        self.answer, self.first = answer, list(first)
        self.requests = []   # (path, headers, body) of each whole request.
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.close()

    def keys(self):
        return [headers.get('idempotency-key') for _, headers, _ in self.requests]

    def _serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._take, args=[connection], daemon=True).start()

    def _take(self, connection):
        with connection:
            try:
                request = self._read(connection)
                if request is None:
                    return
                self.requests.append(request)
                answer = self.first.pop(0) if self.first else self.answer
                if callable(answer):
                    answer = answer(request[0])
                if answer is not None:
                    connection.sendall(answer)
            except OSError:
                pass   # The server may have closed early.

    @staticmethod
    def _read(connection):
        received = b''
        while b'\r\n\r\n' not in received:
            part = connection.recv(65536)
            if not part:
                return None
            received += part
        head, _, body = received.partition(b'\r\n\r\n')
        first, *lines = head.decode().split('\r\n')
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(':') for line in lines)}
        while len(body) < int(headers.get('content-length', 0)):
            part = connection.recv(65536)
            if not part:
                return None
            body += part
        return first.split(' ')[1], headers, body
