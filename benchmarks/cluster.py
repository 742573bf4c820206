"""The benches' own PostgreSQL."""
import glob
import os
import subprocess

from measuring import ROOT
from processes import Failed, free_port

SETTINGS = ('shared_buffers=1GB', 'max_wal_size=8GB', 'checkpoint_timeout=30min')


def binaries():
    """The folder of the newest server's programs."""
    found = sorted(glob.glob('/usr/lib/postgresql/*/bin/pgbench'), key=lambda path: int(path.split('/')[4]))
    if not found:
        raise Failed('PostgreSQL is not installed')
    return os.path.dirname(found[-1])


class Cluster:
    """A durable PostgreSQL in the scratch folder."""

    def __init__(self, folder, settings=(), under=''):
        self.port = free_port()
        with open(os.path.join(folder, 'postgres.log'), 'wb') as log:
            self.process = subprocess.Popen(
                [os.path.join(ROOT, 'tools', 'postgres'), 'run', os.path.join(folder, 'cluster'), '--port', str(self.port),
                 '--durable', f'--under={under}', *(f'--set={name}' for name in (*SETTINGS, *settings))], stdout=log, stderr=log)
        self.url('postgres')
        subprocess.run([os.path.join(ROOT, 'tools', 'postgres'), 'url', '--port', str(self.port)], check=True,
                       stdout=subprocess.DEVNULL)

    def url(self, database):
        return f'postgres://pawl@127.0.0.1:{self.port}/{database}'

    def sql(self, database, text):
        done = subprocess.run([os.path.join(binaries(), 'psql'), '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d',
                               self.url(database)], input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f'psql: {done.stderr}')
        return done.stdout.strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(2)
        self.process.wait()
