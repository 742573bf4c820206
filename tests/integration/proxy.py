"""A TCP proxy before PostgreSQL that breaks connections as networks do: at a message, at random, or after a COMMIT."""
import random
import socket
import struct
import threading


class Proxy:
    """Listens on loopback and passes everything on to the port. Thread-safe; as a context manager it ends itself.

    Its settings can be changed at any time:
      chance      probability that the connection is reset at a message, in either direction (0 to 1)
      swallow     a number of COMMITs whose answers do not arrive: the server has carried them out, the client is reset
      silent      no message is passed on any more, and no connection is closed
    """

    def __init__(self, port, seed=0):
        self.target = port
        self.random = random.Random(seed)
        self.chance, self.swallow, self.silent = 0.0, 0, False
        self.resets, self.swallowed = 0, 0
        self.lock = threading.Lock()
        self.pairs = []
        self.listening = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.close()
        for pair in self.pairs:
            for end in pair:
                end.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
                server = socket.create_connection(('127.0.0.1', self.target))
            except OSError:
                if self.listening.fileno() < 0:
                    return
                client.close()   # The database is down, so the proxy refuses too.
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.pairs.append((client, server))
            connection = Connection(self, client, server)
            threading.Thread(target=connection.pass_on, args=[client, server, True], daemon=True).start()
            threading.Thread(target=connection.pass_on, args=[server, client, False], daemon=True).start()

    def may_reset(self):
        with self.lock:
            if self.random.random() >= self.chance:
                return False
            self.resets += 1
            return True

    def may_swallow(self):
        with self.lock:
            if self.swallow <= 0:
                return False
            self.swallow -= 1
            return True


class Connection:
    """The two directions of one connection."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.committing = False   # A COMMIT whose answer must be swallowed is being passed on.
        self.commits = set()   # Names of the client's prepared COMMIT statements.

    def pass_on(self, source, target, from_client):
        first = from_client
        buffered = b''
        try:
            while True:
                part = source.recv(65536)
                if not part:
                    break
                buffered += part
                while True:
                    size = self._size(buffered, first)
                    if size is None or len(buffered) < size:
                        break
                    message, buffered, first = buffered[:size], buffered[size:], False
                    if not self._message(message, target, from_client):
                        return
        except OSError:
            pass
        finally:
            self._close(source, target)

    @staticmethod
    def _size(buffered, first):
        """The size of the next message: a type and a length, except for a client's first."""
        head = 0 if first else 1
        if len(buffered) < head + 4:
            return None
        return head + struct.unpack('!I', buffered[head:head + 4])[0]

    def _message(self, message, target, from_client):
        """Passes one on; False if the connection was reset instead."""
        if self.proxy.silent:
            return True
        if from_client and self._commits(message):
            self.committing = self.committing or self.proxy.may_swallow()
        if not from_client and self.committing:
            if message[:1] == b'Z':   # ReadyForQuery: the server has carried it out.
                self.proxy.swallowed += 1
                return self._reset()
            return True
        if self.proxy.chance and self.proxy.may_reset():
            return self._reset()
        target.sendall(message)
        return True

    def _commits(self, message):
        """True for a Bind of COMMIT; notes a Parse of it: name, then text, each followed by a zero."""
        if message[:1] == b'P':
            name, text = message[5:].split(b'\0')[:2]
            if text == b'COMMIT':
                self.commits.add(name)
        # The portal's name, then the statement's.
        return message[:1] == b'B' and message[5:].split(b'\0')[1] in self.commits

    def _reset(self):
        """A reset instead of a close: bytes that the other side has not read are lost."""
        for end in (self.client, self.server):
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            except OSError:
                pass
        return False

    def _close(self, *ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RD)   # Wakes the other direction's thread without sending a byte.
            except OSError:
                pass
            end.close()
