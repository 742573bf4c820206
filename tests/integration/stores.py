"""The databases of a world: their URLs, contents, and changes by a person or a bad deploy."""
import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import libpq
from ports import free_port

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools')
TIMEOUT_S = 20 * float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))


def alive(pid):
    """Zombies count as ended."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


class NoTables(Exception):
    """The tables are missing: the server was killed before it created them."""


class SqliteFile:
    """A file in the world's folder."""
    name = 'sqlite'

    def __init__(self, world):
        self.world = world

    @property
    def path(self):
        return os.path.join(self.world.data, 'rides.db')

    @property
    def url(self):
        return f'sqlite:{self.path}'

    def rows(self, query, *arguments):
        """Reads while the server runs; after a kill the reader recovers the WAL."""
        database = sqlite3.connect(f'file:{self.path}', uri=True, timeout=TIMEOUT_S)
        try:
            return database.execute(query, arguments).fetchall()
        except sqlite3.OperationalError as error:
            if 'no such table' in str(error):
                raise NoTables(str(error)) from error
            raise
        finally:
            database.close()

    def change(self, statement, *arguments):
        database = sqlite3.connect(self.path, timeout=TIMEOUT_S)
        try:
            with database:
                database.execute(statement, arguments)
        finally:
            database.close()

    def break_table(self, table, when, what):
        self.change(f"CREATE TRIGGER bug BEFORE {when} ON {table} BEGIN SELECT RAISE(ABORT, '{what}'); END")

    def mend_table(self):
        self.change('DROP TRIGGER bug')

    def close(self):
        """Removed with the world's folder."""


class PostgresDatabase:
    """Its own database on the server of this run."""
    name = 'postgres'
    cluster = None
    numbers = itertools.count(1)

    def __init__(self, world):
        if world.cluster:
            self.cluster = world.cluster
        self.database = f'world_{os.getpid()}_{next(self.numbers)}'
        self._on('postgres', f'CREATE DATABASE {self.database}')

    @property
    def url(self):
        return f'{self.cluster.url("")}{self.database}'

    def _on(self, database, statement):
        try:
            return libpq.execute(self.cluster.url(database), statement, TIMEOUT_S)
        except libpq.PostgresError as error:
            if 'does not exist' in str(error) and 'relation' in str(error):
                raise NoTables(str(error)) from error
            raise

    @staticmethod
    def _with(statement, arguments):
        for argument in arguments:
            statement = statement.replace('?', "'" + str(argument).replace("'", "''") + "'", 1)
        return statement

    def rows(self, query, *arguments):
        ((found,),) = self._on(self.database, f'SELECT json_agg(found) FROM ({self._with(query, arguments)}) AS found')
        return [tuple(row.values()) for row in json.loads(found)] if found else []

    def change(self, statement, *arguments):
        self._on(self.database, self._with(statement, arguments))

    def break_table(self, table, when, what):
        self.change(f"CREATE FUNCTION bug() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{what}'; END $$;"
                    f'CREATE TRIGGER bug BEFORE {when} ON {table} FOR EACH ROW EXECUTE FUNCTION bug()')

    def mend_table(self):
        self.change('DROP FUNCTION bug() CASCADE')

    def close(self):
        self._on('postgres', f'DROP DATABASE {self.database} WITH (FORCE)')


def memory_folder():
    """Of files that need not outlive the machine: in memory, if there is enough; None: the usual one."""
    memory = '/dev/shm'
    return memory if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4e9 else None


class Cluster:
    """A PostgreSQL server started by tools/postgres; as a context manager, stopped at its end."""

    def __init__(self, *settings):
        self.folder = tempfile.mkdtemp(prefix='pawl-pg-', dir=memory_folder())
        self.port = free_port()
        self.settings = settings
        self.process = None

    def url(self, database='postgres'):
        return f'postgres://pawl@127.0.0.1:{self.port}/{database}'

    def server_pids(self):
        """The server and its children."""
        with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children', encoding='ascii') as file:
            return [self.process.pid, *map(int, file.read().split())]

    def kill(self):
        """kill -9 of the whole server, as in a machine's crash; returns when its last process has ended.

        A child that starts meanwhile would survive, and the next server refuses to start beside such an orphan.
        """
        self.process.send_signal(signal.SIGSTOP)
        pids = self.server_pids()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        while any(map(alive, pids)):
            time.sleep(0.005)

    def stop_at_once(self):
        """An immediate stop: no checkpoint, the next start recovers."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def start(self):
        with open(self.folder + '.log', 'ab') as log:
            self.process = subprocess.Popen([os.path.join(TOOLS, 'postgres'), 'run', self.folder, '--port', str(self.port),
                                             *self.settings], stdout=log, stderr=log)
        subprocess.run([os.path.join(TOOLS, 'postgres'), 'url', '--port', str(self.port)], check=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        """Its standby has everything then."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.remove(self.folder + '.log')


STORES = {'sqlite': SqliteFile, 'postgres': PostgresDatabase}
