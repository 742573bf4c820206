"""The queues that a world's jobs may go through: their URLs, contents and failures."""
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.parse

from ports import free_port


class Embedded:
    """The database itself."""
    name = 'embedded'
    options = ()
    tables = ('pawl_jobs',)   # Must be empty at the end of a day.
    patience_s = 20

    def __init__(self, world):
        self.world = world

    def waiting(self):
        """Jobs that are neither done nor dead."""
        return sum(self.world.count(table) for table in self.tables)

    def dead(self):
        return self.world.count('pawl_dead_jobs')

    def letters(self):
        """The dead letters of the queue, as operators see them."""
        told = self.world.rides_command('dlq', 'export', '--database', self.world.url, *self.options).stdout
        return [json.loads(line) for line in told.splitlines()]

    def close(self):
        """It ends with the database."""


class Redis(Embedded):
    """A redis-server of the world's own, which persists what it has acknowledged."""
    name = 'redis'
    tables = ('pawl_jobs', 'pawl_staged_jobs')

    def __init__(self, world):
        super().__init__(world)
        self.folder = tempfile.mkdtemp(prefix='pawl-redis-')
        self.port = free_port()
        self.process = self.line = None
        self.lock = threading.Lock()
        self.start()

    @property
    def url(self):
        return f'redis://127.0.0.1:{self.port}'

    @property
    def options(self):
        return ('--queue', self.url)

    def start(self):
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            self.process = subprocess.Popen(
                ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--dir', self.folder, '--save', '',
                 '--appendonly', 'yes', '--appendfsync', 'always'], stdout=log, stderr=log)
        from world import wait_until
        wait_until('redis-server', self.answers)

    def answers(self):
        try:
            return self.ask('PING') == 'PONG'
        except OSError:
            return False

    def go_away(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def come_back(self):
        self.start()

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def ask(self, *words):
        """One command. Not every Python has a Redis module."""
        return self.ask_raw(*(str(word).encode() for word in words))

    def ask_raw(self, *sent):
        """The same of words as bytes."""
        with self.lock:
            if self.line is None:
                self.line = socket.create_connection(('127.0.0.1', self.port), 10).makefile('rwb')
            try:
                self.line.write(b'*%d\r\n' % len(sent) + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in sent))
                self.line.flush()
                return self._answer()
            except OSError:
                self.line = None
                raise

    def _answer(self):
        line = self.line.readline()
        if not line.endswith(b'\r\n'):
            raise OSError('redis-server has ended')
        kind, rest = line[:1], line[1:-2]
        if kind == b'-':
            raise (OSError if rest.startswith(b'LOADING') else RuntimeError)(rest.decode())
        if kind == b'$':
            return None if rest == b'-1' else self.line.read(int(rest) + 2)[:-2].decode()
        if kind == b'*':
            return [self._answer() for _ in range(int(rest))]
        return int(rest) if kind == b':' else rest.decode()

    def waiting(self):
        places = (('LLEN', 'queue:default'), ('HLEN', 'pawl:work:default'), ('ZCARD', 'schedule'), ('ZCARD', 'retry'))
        return super().waiting() + sum(self.ask(*place) for place in places)

    def dead(self):
        return super().dead() + self.ask('ZCARD', 'dead')

    def close(self):
        if self.process.poll() is None:
            self.go_on()
            self.go_away()
        shutil.rmtree(self.folder, ignore_errors=True)


class Kafka(Embedded):
    """A mock cluster of librdkafka in a process of the world's own: its contents end with it."""
    name = 'kafka'
    tables = ('pawl_jobs', 'pawl_staged_jobs')
    patience_s = 90   # After each death a group is formed again, and its brokers need time.

    def __init__(self, world):
        super().__init__(world)
        program = os.path.join(os.path.dirname(world.rides), 'mock_cluster')
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.brokers = self.process.stdout.readline().strip()

    @property
    def url(self):
        # A killed member keeps its partitions for its session time-out.
        return f'kafka://{self.brokers}?group=rides&session.timeout.ms=6000'

    @property
    def options(self):
        return ('--queue', self.url)

    def dead(self):
        return super().dead() + len(self.letters())

    def go_away(self):
        self.tell_brokers('down')

    def come_back(self):
        self.tell_brokers('up')

    def tell_brokers(self, what):
        for broker in (1, 2, 3):
            self.process.stdin.write(f'{what} {broker}\n')
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
            if answer != 'NO_ERROR':
                raise RuntimeError(f'mock_cluster answered to {what} {broker}: {answer}')

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class OnRealKafka(Kafka):
    """Real brokers (kafka_broker.py), which several worlds may share: each world has topics and groups of its own."""
    numbers = itertools.count(1)

    def __init__(self, world, brokers, user=None, may=True):
        """user: (name, password) for brokers that ask; may: whether the access rules allow it its topics and groups."""
        Embedded.__init__(self, world)
        self.brokers, self.user = brokers, user
        self.prefix = f'w{os.getpid()}-{next(self.numbers)}'
        self.group = self.prefix + '-rides'
        if user and may:
            self.allow()

    def allow(self):
        self.brokers.allow_queue(self.prefix, self.group)

    @property
    def topic(self):
        return self.prefix + '.default'

    def make_topics(self, retry_ms=(100,), **settings):
        """As an operator makes them beforehand (docs/howto/kafka.md); settings: of the queue's topic."""
        own = f'{self.topic}__{self.group}__'
        self.brokers.make_topic(self.topic, **settings)
        for wait in retry_ms:
            self.brokers.make_topic(f'{own}retry_{wait}')
        self.brokers.make_topic(own + 'dlq', 1)

    @property
    def url(self):
        parameters = {'group': self.group, 'session.timeout.ms': 6000, **self.brokers.parameters(self.user)}
        return f'kafka://{self.brokers.bootstrap}/{self.prefix}?' + urllib.parse.urlencode(parameters)

    def go_away(self):
        for node in self.brokers.nodes:
            self.brokers.kill(node)

    def come_back(self):
        for node in self.brokers.nodes:
            self.brokers.restart(node, wait=False)
        self.brokers.wait(self.brokers.nodes)

    def close(self):
        """The brokers are the case's or the run's."""


QUEUES = {'embedded': Embedded, 'redis': Redis, 'kafka': Kafka}
