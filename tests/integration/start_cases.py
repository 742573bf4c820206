"""The work of ./run: tools/serve starts all processes of Rocket Rides, and Ctrl-C ends all of them."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile

from phone import Phone
from ports import free_port
from stores import TOOLS
from world import WAIT_S, World, check, check_equal, wait_until

PORTS = ('PAWL_PORT', 'PAWL_STRIPE_PORT', 'PAWL_SMTP_PORT', 'PAWL_POSTGRES_PORT')
START_S = 6 * WAIT_S   # Includes the creation of a cluster.


def descendants(pid):
    """Its child processes, recursively."""
    found = []
    try:
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/children', encoding='ascii') as file:
                for child in file.read().split():
                    found += [int(child), *descendants(child)]
    except FileNotFoundError:
        pass   # It has ended meanwhile, like a shell's own commands.
    return found


def is_alive(pid):
    """Zombies count as ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class Start:
    """A folder for tools/serve's data, free ports, and the process while it runs, which has a terminal of its own."""

    def __init__(self, settings):
        self.rides = os.path.join(os.path.abspath(settings.bin), 'rides')
        self.folder = tempfile.mkdtemp(prefix='pawl-start-')
        os.chmod(self.folder, 0o755)   # PostgreSQL's user must enter it.
        self.environment = os.environ | {'PAWL_DATA': self.folder, 'TZ': 'UTC'} | {name: str(free_port()) for name in PORTS}
        self.process, self.started = None, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def begin(self, database):
        with open(os.path.join(self.folder, 'told'), 'wb') as told:
            # As a terminal does: our parent may ignore Ctrl-C, as with nohup and a shell's &.
            self.process = subprocess.Popen(['env', '--default-signal=HUP,INT,QUIT', os.path.join(TOOLS, 'serve'), self.rides,
                                             '--database', database],
                                            env=self.environment, stdout=told, stderr=told, start_new_session=True)

    def told(self):
        with open(os.path.join(self.folder, 'told'), encoding='utf-8') as file:
            return file.read()

    def start(self, database):
        """Returns when it reports that it serves."""
        self.begin(database)

        def ready():
            check(self.process.poll() is None, f'it ended with {self.process.returncode}: {self.told()}')
            return 'Stop with Ctrl-C' in self.told()
        wait_until('tools/serve to be ready', ready, START_S)
        self.started = descendants(self.process.pid)

    def refused(self, database):
        """(exit code, output)"""
        self.begin(database)
        return self.process.wait(START_S), self.told()

    def ctrl_c(self):
        """As a terminal does: to all foreground processes."""
        os.killpg(self.process.pid, signal.SIGINT)
        check_equal(self.process.wait(WAIT_S + 20), 130, 'the exit code')
        self.wait_all_ended()

    def wait_all_ended(self):
        check(len(self.started) >= 2, f'its processes: {self.started}')
        wait_until(f'the end of all of {self.started}', lambda: not any(map(is_alive, self.started)))

    def phone(self):
        return Phone(int(self.environment['PAWL_PORT']))

    def log(self, name):
        with open(os.path.join(self.folder, name + '.log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def charges(self):
        with open(os.path.join(self.folder, 'ledger.jsonl'), encoding='utf-8') as file:
            return [line for line in map(json.loads, file) if line['kind'] == 'charge']


def check_server_ended_first(server, database):
    """The server stopped cleanly each time."""
    told = [json.loads(line) for line in server.split('\n') if line.startswith('{')]
    check_equal([line['event'] for line in told], ['started', 'stopping', 'stopped'] * 2, 'the events in the server log')
    asked = [line[:23].replace(' ', 'T') + 'Z' for line in database.split('\n') if 'fast shutdown request' in line]
    ended = [line['ts'] for line in told if line['event'] == 'stopped']
    check(len(asked) == 2 and all(before <= after for before, after in zip(ended, asked)),
          f'the server ended at {ended}, PostgreSQL was asked to at {asked}')


def twice(settings):
    """Books a ride and stops all; after the next start the ride is known."""
    with Start(settings) as start:
        start.start(World.database)
        first = start.phone().book('morning')
        check_equal(first.status, 201, f'the ride: {first}')
        start.ctrl_c()
        start.start(World.database)
        again = start.phone().book('morning')
        check((again.status, again.body, again.replayed) == (201, first.body, True), f'the same, replayed: {again}')
        check_equal(len(start.charges()), 1, 'charges')
        start.ctrl_c()
        if World.database == 'postgres':
            log = start.log('postgres')
            check_equal(log.count('database system is shut down'), 2, 'clean ends of PostgreSQL')
            check_server_ended_first(start.log('rides'), log)


def killed(settings):
    with Start(settings) as start:
        start.start(World.database)
        first = start.phone().book('morning')
        start.process.kill()
        start.process.wait()
        start.wait_all_ended()
        start.start(World.database)
        again = start.phone().book('morning')
        check((again.status, again.body, again.replayed) == (201, first.body, True), f'the same, replayed: {again}')
        start.ctrl_c()


def with_a_url(settings):
    """Its password is not printed, and no database is started."""
    with World(settings.bin) as world, Start(settings) as start:
        start.start(world.url.replace('pawl@', 'pawl:secret_word@'))
        check('secret_word' not in start.told(), f'it prints the password: {start.told()}')
        check(not os.path.exists(os.path.join(start.folder, 'postgres')), 'a cluster was created')
        check_equal(start.phone().book('morning').status, 201, 'the ride')
        check_equal(world.count('rides'), 1, 'rides in the database of the URL')
        start.ctrl_c()
        check_equal(world.count('rides'), 1, 'rides in the database of the URL, which still runs')


def errors_are_told(settings):
    with Start(settings) as start:
        status, told = start.refused('mysql')
        check(status == 2 and '--database is mysql' in told, f'an unknown database: {status} {told}')
        status, told = start.refused(f'postgres://pawl:secret_word@127.0.0.1:{free_port()}/rides')
        check(status == 1 and 'PAWL0008' in told and 'refused' in told, f'no database listens: {status} {told}')
        check('secret_word' not in told, f'it prints the password: {told}')
        with socket.create_server(('127.0.0.1', int(start.environment['PAWL_POSTGRES_PORT']))):
            status, told = start.refused('postgres')
        check(status == 1 and 'in use' in told, f'the port is taken: {status} {told}')
        with World(settings.bin) as world:
            start.environment['PAWL_POSTGRES_PORT'] = str(world.store.cluster.port)
            status, told = start.refused('postgres')
        check(status == 1 and 'PAWL_POSTGRES_PORT' in told, f'another PostgreSQL is there: {status} {told}')
        if os.geteuid() == 0:
            start.environment['PAWL_POSTGRES_PORT'] = str(free_port())
            os.chmod(start.folder, 0o700)
            status, told = start.refused('postgres')
            check(status == 1 and 'may not enter' in told, f'an inaccessible folder: {status} {told}')
        done = subprocess.run([os.path.join(TOOLS, '..', 'run'), '--database', 'mysql'], capture_output=True, text=True,
                              check=False)
        check(done.returncode == 2 and '--database is mysql' in done.stderr, f'./run refuses it before a build: {done}')


def cases(settings):
    found = {'a ride outlives Ctrl-C': twice, 'who is killed leaves no process': killed}
    if World.database == 'postgres':
        found |= {'on the database of a URL': with_a_url, 'what is wrong is told': errors_are_told}
    return [('start: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
