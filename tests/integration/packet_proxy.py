"""A TCP proxy before an SFTP server: it cuts connections at a packet, or lets one packet arrive late."""
import socket
import struct
import threading
import time

PACKET = 1448   # Bytes: what a segment of Ethernet carries.


class PacketProxy:
    """Thread-safe; as a context manager it ends itself. Each new connection asks `plan` what happens to it:

      None         nothing
      ('cut', n)   it is reset at its n-th packet, counted in both directions
      ('late', n)  the client is cut off at its n-th own packet, which the server gets `late_s` later, when the client has gone
    """

    def __init__(self, port, late_s=0.4):
        self.target, self.late_s = port, late_s
        self.plan = lambda: None
        self.cuts = self.late = self.connections = 0
        self.packets = []   # Of each connection that has ended: both directions, and the client's own.
        self.sockets, self.threads = [], []
        self.listening = socket.create_server(('127.0.0.1', 0), backlog=64)
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listening.close()
        for one in self.sockets:
            one.close()

    def wait_late(self):
        """Returns when every late packet has arrived."""
        for thread in list(self.threads):
            thread.join()

    def _accept(self):
        while True:
            try:
                client, _ = self.listening.accept()
                server = socket.create_connection(('127.0.0.1', self.target))
            except OSError:
                if self.listening.fileno() < 0:
                    return
                client.close()   # The server is down, so the proxy refuses too.
                continue
            self.connections += 1
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets += [client, server]
            Passing(self, client, server, self.plan()).start()


class Passing:
    """One connection."""

    def __init__(self, proxy, client, server, plan):
        self.proxy, self.client, self.server = proxy, client, server
        self.plan = plan or (None, 0)
        self.lock = threading.Lock()
        self.count = self.own = 0
        self.ended = False

    def start(self):
        for source, target in ((self.client, self.server), (self.server, self.client)):
            thread = threading.Thread(target=self._pass, args=[source, target], daemon=True)
            self.proxy.threads.append(thread)
            thread.start()

    def _pass(self, source, target):
        try:
            while part := source.recv(PACKET):
                what = self._count(source is self.client)
                if what == 'cut':
                    self._reset(self.client, self.server)
                    return
                if what == 'late':
                    self._reset(self.client)
                    time.sleep(self.proxy.late_s)
                    self.server.sendall(part)
                    time.sleep(self.proxy.late_s)   # The server acts before it sees the end.
                    return
                target.sendall(part)
        except OSError:
            pass
        finally:
            self._end(source, target)

    def _count(self, from_client):
        with self.lock:
            self.count += 1
            self.own += from_client
            kind, at = self.plan
            if kind == 'cut' and self.count == at:
                self.proxy.cuts += 1
                return 'cut'
            if kind == 'late' and from_client and self.own == at:
                self.proxy.late += 1
                return 'late'
            return None

    @staticmethod
    def _reset(*ends):
        for end in ends:
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def _end(self, source, target):
        if self.plan[0] == 'late' and source is self.server:
            return   # Only the other direction's thread ends the server's side.
        with self.lock:
            if not self.ended:
                self.ended = True
                self.proxy.packets.append((self.count, self.own))
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
