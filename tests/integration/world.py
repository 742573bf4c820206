"""One world of real processes: the stand-in for Stripe, Rocket Rides, and a folder with their files."""
import itertools
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import history_check
from history import History, save
from phone import Phone
from ports import free_port
from queues import QUEUES
from stores import STORES

WAIT_S = 20 * float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
KILLED = -signal.SIGKILL


def case_name():
    """The thread's name as a file name; the runner names each thread after its case."""
    return re.sub(r'[^a-z0-9.]+', '-', threading.current_thread().name.lower()).strip('-')[:100]


# Customers of the test riders, as in a tokens file: most cases are about the charge alone. Every other rider's customer is made
# by the stand-in at its first ride (customer_cases.py).
RIDERS = ['--rider', 'test_jane jane@example.com cus_jane', '--rider', 'test_joe joe@example.com cus_joe']


class NotSo(AssertionError):
    """A failed check of a case."""


class Lacks(Exception):
    """A case needs what this machine has not: with --sample it is skipped by name, and else it fails."""


def needs_program(name, package=None):
    if shutil.which(name) is None:
        raise Lacks(f'{name} is not installed: apt-get install {package or name}')


def open_terminal():
    """The two ends of a pseudo-terminal."""
    try:
        return pty.openpty()
    except OSError as error:
        raise Lacks(f'no pseudo-terminal ({error}): mount /dev/pts') from error


def check(truth, claim):
    if not truth:
        raise NotSo(claim)


def check_equal(found, expected, what):
    if found != expected:
        raise NotSo(f'{what}: {found!r}, expected {expected!r}')


def wait_until(what, condition, limit_s=None):
    """The first true value of condition(); NotSo after the limit. Asks less often the longer it waits: the cases share two cores."""
    began, limit_s = time.monotonic(), limit_s or WAIT_S
    while True:
        found = condition()
        if found:
            return found
        waited = time.monotonic() - began
        if waited > limit_s:
            raise NotSo(f'waited {limit_s:.0f} s for {what} without success')
        time.sleep(min(0.1, max(0.01, waited / 10)))


def wait_paused(process, name):
    def paused():
        with open(f'/proc/{process.pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'T'
    wait_until(f'{name} to be paused', paused)


def end(process):
    """Kills a process in any state."""
    if process and process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


class Node:
    """One of several servers on a world's database, with a port and a log of its own."""

    def __init__(self, world, number):
        self.world, self.name, self.port = world, f'node-{number}', free_port()
        self.process = None

    def start(self, *more, fault=None, fault_log=None):
        """Returns at once; see wait()."""
        said = {'PAWL_FAULT_AT': fault, 'PAWL_FAULT_LOG': fault_log}
        self.process = self.world.start_process(self.name, self.world.server_command(*more, port=self.port),
                                                {name: value for name, value in said.items() if value})

    def wait(self):
        """Waits until it answers."""
        def ready():
            check(self.process.poll() is None, f'{self.name} ended with {self.process.returncode}: {self.log()[-400:]}')
            return self.world.livez(self.port)
        wait_until(f'{self.name} to answer', ready)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.process.wait(WAIT_S + 20)

    def restart(self, fault=None):
        """After a clean stop; returns when it answers."""
        check_equal(self.stop(), 0, f'the exit code of {self.name}, whose log ends with {self.log()[-600:]!r}')
        self.start(fault=fault)
        self.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.wait_paused()

    def wait_paused(self):
        """Also when a planted fault stops it."""
        wait_paused(self.process, self.name)

    def wake(self):
        self.process.send_signal(signal.SIGCONT)

    def phone(self, token='test_jane', timeout=WAIT_S):
        return Phone(self.port, token, timeout, self.world.history)

    def log(self):
        return self.world.log(self.name)


class World:
    """Starts a case's processes and ends all of them. Only phone(), charges() and the like are thread-safe.

    The phones' requests and answers are recorded, and checked at the end (history_check.py) if the case itself passed.
    """

    database = 'sqlite'   # A key of stores.STORES; the runner sets it.
    histories = None   # The folder for histories, from --save.
    numbers = itertools.count(1)

    def __init__(self, bin_folder, options=None, folder=None, provider_options=None, cluster=None, queue='embedded',
                 judged=True):
        self.rides = os.path.join(os.path.abspath(bin_folder), 'rides')
        self.folder = folder or tempfile.mkdtemp(prefix='pawl-world-')
        self.data = self.folder   # The database's folder; a case may put it on another file system.
        self.options = list(options or [])
        self.provider_options = list(provider_options or [])
        self.port, self.stripe, self.smtp = free_port(), free_port(), free_port()
        self.provider = self.server = None
        self.nodes = []   # For a case with several servers; self.server is not among them.
        self.environment = {}   # For the server.
        self.wrapper = []   # The command that runs it: strace and its options.
        self.cluster = cluster   # The case's own PostgreSQL, or the run's.
        self.riders = RIDERS   # Of the server; [] for a case on riders that Stripe does not know.
        self.store = STORES[self.database](self)
        self.queue = queue(self) if callable(queue) else QUEUES[queue](self)
        self.server_url = None   # The server's database URL, if not url.
        self.history = History()
        self.judged = judged   # False if requests bypass the phones, or the ledger does not have all bookings.

    def __enter__(self):
        try:
            self.start_provider()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind=None, *_):
        try:
            events = self.history.with_effects(self._lines('ledger'))
            if self.histories and self.history.events:
                save(os.path.join(self.histories, f'{next(self.numbers):05}-{case_name()}.jsonl'), events)
            if self.judged and kind is None:
                self.judge(events)
        finally:
            self.close()

    @staticmethod
    def judge(events):
        found = history_check.violations(events)
        check(not found, f'{len(found)} violations in {history_check.summary(events)}:\n' + '\n'.join(map(str, found[:5])))

    # Processes.

    def start_process(self, name, arguments, environment=None):
        wrapper = self.wrapper if name == 'serve' else []
        with open(os.path.join(self.folder, name + '.log'), 'ab') as log:
            return subprocess.Popen([*wrapper, self.rides, *arguments], stdout=log, stderr=log,
                                    env=os.environ | (environment or {}))

    def start_provider(self, *more):
        self.provider = self.start_process('provider', [
            'provider', '--listen', f'127.0.0.1:{self.stripe}', '--smtp', f'127.0.0.1:{self.smtp}',
            '--ledger', f'{self.folder}/ledger', '--mails', f'{self.folder}/mails', *self.provider_options, *more])
        wait_until('the stand-in for Stripe', lambda: self._answers(self.provider, self.stripe, '/_test/ledger'))

    def server_command(self, *more, port=None):
        return ['serve', '--listen', f'127.0.0.1:{port or self.port}', '--database', self.server_url or self.url,
                '--stripe-url', f'http://127.0.0.1:{self.stripe}',
                *([] if '--smtp-url' in self.options else ['--smtp-url', f'smtp://127.0.0.1:{self.smtp}']),
                *([] if '--settle-after-s' in self.options else ['--settle-after-s', '0']),   # The cases do not wait for 30 s.
                *([] if '--tokens' in self.options else self.riders), *self.queue.options, *self.options, *more]

    def start_server(self, *more, fault=None, fault_log=None, wait=True):
        """Starts the server; with wait, returns whether it answers (a planted fault may kill it first)."""
        environment = dict(self.environment)
        if fault:
            environment['PAWL_FAULT_AT'] = fault
        if fault_log:
            environment['PAWL_FAULT_LOG'] = fault_log
        self.server = self.start_process('serve', self.server_command(*more), environment)
        if not wait:
            return True
        wait_until('the server', lambda: self.dead() or self._answers(self.server, self.port, '/livez'))
        return not self.dead()

    def _answers(self, process, port, path):
        if process is not None and process is self.provider and process.poll() is not None:
            raise NotSo(f'the process ended with {process.returncode}: {self.log("provider")[-400:]}')
        try:
            return Phone(port, timeout=2).get(path).status == 200
        except OSError:
            return False

    def start_nodes(self, count, *more):
        """Starts all at once, possibly on an empty database; returns when all answer."""
        self.nodes += [Node(self, len(self.nodes) + i + 1) for i in range(count)]
        for node in self.nodes:
            node.start(*more)
        for node in self.nodes:
            node.wait()

    def livez(self, port):
        return self._answers(None, port, '/livez')

    def answers(self):
        return self._answers(self.server, self.port, '/livez')

    def dead(self):
        return self.server.poll() is not None

    def kill_server(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def stop_server(self):
        """SIGTERM; the exit code."""
        self.server.terminate()
        return self.server.wait(WAIT_S + 20)

    def kill_provider(self):
        self.provider.send_signal(signal.SIGKILL)
        self.provider.wait()

    def close(self):
        for process in (*(node.process for node in self.nodes), self.server, self.provider):
            end(process)
        self.queue.close()
        self.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Observations.

    def phone(self, token='test_jane', timeout=WAIT_S):
        return Phone(self.port, token, timeout, self.history)

    def log(self, name='serve'):
        with open(os.path.join(self.folder, name + '.log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def _lines(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding='utf-8') as file:
                return [json.loads(line) for line in file.read().split('\n')[:-1] if line]
        except FileNotFoundError:
            return []

    def ledger(self, kind='charge'):
        return [line for line in self._lines('ledger') if line['kind'] == kind]

    def mails(self):
        return self._lines('mails')

    def rows(self, query, *arguments):
        return self.store.rows(query, *arguments)

    def change(self, statement, *arguments):
        """Changes rows directly, to simulate passed time or a bad deploy."""
        if 'expires_at' in statement:
            self.history.mark('retention-over')
        self.store.change(statement, *arguments)

    @property
    def url(self):
        """The URL of the database."""
        return self.store.url

    def count(self, table, where='1 = 1'):
        return self.rows(f'SELECT count(*) FROM {table} WHERE {where}')[0][0]

    def unsettled(self):
        return self.count('pawl_idempotency_keys', "status <> 'finished'")

    def settle(self, limit_s=WAIT_S):
        """Waits until the server has finished all work."""
        wait_until('all keys to be settled', lambda: self.unsettled() == 0, limit_s)
        wait_until('all jobs to be done', lambda: self.queue.waiting() == 0, limit_s)

    def rides_command(self, *arguments, check_status=0, environment=None, program='rides'):
        done = subprocess.run([os.path.join(os.path.dirname(self.rides), program), *arguments], capture_output=True, text=True,
                              timeout=WAIT_S + 40, env=os.environ | (environment or {}))
        if check_status is not None and done.returncode != check_status:
            raise NotSo(f'{program} {" ".join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}')
        return done

    def pawl_command(self, *arguments, check_status=0):
        """Runs the stand-alone program, with the database and the queue in its environment."""
        where = {'PAWL_DATABASE': self.url} | ({'PAWL_QUEUE': self.queue.url} if self.queue.options else {})
        return self.rides_command(*arguments, check_status=check_status, environment=where, program='pawl')

    def check_invariants(self):
        """No stored row breaks an invariant."""
        broken = json.loads(self.pawl_command('check', '--json', check_status=None).stdout)
        check(not broken, f'broken invariants: {broken}')
