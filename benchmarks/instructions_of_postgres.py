"""Counts PostgreSQL's own instructions of a ride, in all of its processes, by callgrind."""
import glob
import os
import re
import subprocess
import time

import processes
from cluster import Cluster
from measuring import BIN, tell
from processes import Failed

CLIENTS = 4
CONNECTIONS = 4
WARM_UP_S = 25   # Each connection prepares each statement, and PostgreSQL plans each five times.
# No work that comes when it likes.
SETTINGS = ('autovacuum=off', 'bgwriter_lru_maxpages=0', 'fsync=off')


def total_of(dump):
    """All instructions that a file of callgrind has."""
    with open(dump, encoding='utf-8', errors='replace') as file:
        return int(re.search(r'^(?:summary|totals): (\d+)', file.read(), re.MULTILINE).group(1))


class Counted(Cluster):
    """Its programs count into files beside its data, since those files belong to its user."""

    def __init__(self, folder):
        self.out = os.path.join(os.path.realpath(folder), 'cluster', 'callgrind.out')
        super().__init__(folder, SETTINGS, under=f'valgrind --tool=callgrind --trace-children=yes --callgrind-out-file={self.out}.%p')

    def _processes(self):
        """Of this server: they work in its folder."""
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                program = os.readlink(f'/proc/{pid}/exe')
                folder = os.readlink(f'/proc/{pid}/cwd')
            except OSError:
                continue   # It has ended.
            if 'callgrind' in program and folder.startswith(os.path.dirname(self.out)):
                yield pid

    def _control(self, word):
        """As the user that PostgreSQL has if root starts it: tools/postgres."""
        user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'] if os.geteuid() == 0 else []
        processes_of_it = list(self._processes())
        if not processes_of_it:
            raise Failed('no process of PostgreSQL runs under callgrind')
        done = subprocess.run([*user, 'callgrind_control', word, *processes_of_it], timeout=60, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise Failed(f'callgrind_control {word}: {done.stdout}{done.stderr}')

    def count(self, do):
        """(instructions, seconds) while do() runs. A connection that begins and ends meanwhile is not counted."""
        before = set(glob.glob(self.out + '.*.*'))
        self._control('--zero')
        began = time.monotonic()
        do()
        took = time.monotonic() - began
        self._control('--dump')
        total = 0
        for path in set(glob.glob(self.out + '.*.*')) - before:
            total += total_of(path)
        return total, took


def row_of_ride(bench, seconds):
    """The row of the table. Rounds that the server makes without requests are measured alone, and taken off."""
    with Counted(bench.folder) as database:
        url = f'{database.url("postgres")}?connections={CONNECTIONS}'
        with bench.provider(0) as pay, processes.server(BIN, bench.folder, url, pay.ports, 0) as serve:
            def load(keys, time_s):
                return processes.load(BIN, serve.ports[0], 'ride', CLIENTS, keys, 0, time_s)

            tell('PostgreSQL itself: ride')
            load('warm', WARM_UP_S)
            seen = []
            counted, took = database.count(lambda: seen.append(load('count', seconds)))
            idle, idle_s = database.count(lambda: time.sleep(10))
    answers = seen[0]['count']
    return {'name': 'ride', 'database': 'in postgres', 'instructions': round((counted - idle * took / idle_s) / answers),
            'requests': answers, 'shares': {}}
