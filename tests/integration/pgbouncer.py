"""PgBouncer in transaction mode before a PostgreSQL: its clients share a few connections, each for one transaction."""
import os
import shutil
import socket
import subprocess
import tempfile
import time

import libpq
from ports import free_port
from stores import TIMEOUT_S

PROGRAM = shutil.which('pgbouncer', path=os.environ.get('PATH', '') + ':/usr/sbin') or '/usr/sbin/pgbouncer'
# Debian's defaults except for these: no ignore_startup_parameters, no server_reset_query (unused in this mode).
INI = """
[databases]
* = host=127.0.0.1 port={target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
admin_users = pawl
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = 300
{more}
"""


class PgBouncer:
    """Listens on loopback, as an unprivileged user; as a context manager it starts, and ends itself. more: lines of its settings."""

    def __init__(self, port, pool=4, more=''):
        self.folder = tempfile.mkdtemp(prefix='pawl-pgbouncer-')
        self.port = free_port()
        self.pool, self.process = pool, None
        self._write('users', '"pawl" ""\n')
        self._write('ini', INI.format(target=port, port=self.port, folder=self.folder, pool=pool, more=more))
        if os.geteuid() == 0:
            shutil.chown(self.folder, 'postgres')

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='ascii') as file:
            file.write(text)

    def start(self):
        """Returns when it answers."""
        user = ['--reuid=postgres', '--regid=postgres', '--clear-groups'] if os.geteuid() == 0 else []
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            self.process = subprocess.Popen(['setpriv', *user, '--pdeathsig=KILL', '--', PROGRAM, f'{self.folder}/ini'],
                                            stdout=log, stderr=log)
        end = time.monotonic() + TIMEOUT_S
        while not self._listens():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f'PgBouncer does not start: {self.log()}')
            time.sleep(0.02)

    def _listens(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), 1).close()
            return True
        except OSError:
            return False

    def log(self):
        with open(os.path.join(self.folder, 'log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """SIGTERM: it drops all clients, even within a transaction."""
        self.process.terminate()
        self.process.wait()

    def url(self, database):
        return f'postgres://pawl@127.0.0.1:{self.port}/{database}'

    def told(self, database, statement):
        """The rows of an answer from it, or from PostgreSQL, as texts."""
        return libpq.execute(self.url(database), statement, TIMEOUT_S)

    def server_connections(self, database):
        """Number of its connections to PostgreSQL for the database."""
        return sum(row[2] == database for row in self.told('pgbouncer', 'SHOW SERVERS'))

    def reconnect(self, database):
        """Its connections to PostgreSQL end, as each does after server_lifetime; its clients stay."""
        self.told('pgbouncer', 'RECONNECT')
        self.told('pgbouncer', f'WAIT_CLOSE {database}')
