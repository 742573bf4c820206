"""Shared by the benches: their cases, the disk, a provider for a run, and rows from runs."""
import contextlib
import os
import re
import sys
import time

import processes
from report import row_of

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, 'build', 'release', 'bin')


def cases_of(quick):
    """(name, clients, delay_ms), in the order of the table."""
    clients = (1, 64) if quick else (1, 16, 64, 256)
    cases = [('ride', n, 0) for n in clients]
    cases += [('ride', n, 50) for n in (clients if quick else clients + (1000,))]
    cases += [('ride_with_jobs', 64, 0)]
    return cases + [('replay', n, 0) for n in ((64,) if quick else (1, 64))]


class Disk:
    """The folder of the databases, and the time of a durable write there."""

    def __init__(self, folder):
        self.folder = folder
        self.kind, self.device = '?', '?'
        with open('/proc/mounts', encoding='utf-8') as mounts:
            found = [row.split() for row in mounts]
        for device, point, kind, *_ in sorted(found, key=lambda row: len(row[1])):
            if os.path.realpath(folder).startswith(point.rstrip('/') + '/'):
                self.kind, self.device = kind, device

    def syncs_per_s(self, seconds=0.5):
        """Appends 4 KiB, then fdatasync, repeatedly."""
        path = os.path.join(self.folder, 'sync.test')
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        count, began = 0, time.monotonic()
        while time.monotonic() < began + seconds:
            os.write(file, b'x' * 4096)
            os.fdatasync(file)
            count += 1
        took = time.monotonic() - began
        os.close(file)
        os.remove(path)
        return count / took

    def said(self):
        rate = self.syncs_per_s()
        real = self.kind not in ('tmpfs', 'ramfs', 'overlay') and rate < 100_000
        text = f'{self.folder}: {self.kind} on {self.device}, {rate:,.0f} fdatasync/s ({1e6 / rate:,.0f} us each)'
        return text + ('' if real else ': THIS IS NO REAL DISK, or its fsync is not real: the figures mean little')


def cpu_of(seen, before, pay, serve):
    """CPU microseconds of each process per answer, both including the warm-up."""
    answers = max(seen['answers'], 1) / 1e6
    return {'cpu_us_provider': (pay.cpu_seconds() - before[0]) / answers,
            'cpu_us_server': (serve.cpu_seconds() - before[1]) / answers,
            'cpu_us_load': seen['cpu_s'] / answers}


def tell(text, end=''):
    """Progress, on a terminal only: one line that is overwritten."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end=end, file=sys.stderr, flush=True)


def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        found = re.search(r'model name\s*: (.*)', file.read())
    return f'{os.cpu_count()} x {found.group(1) if found else "?"}'


class Rounds:
    """Runs all cases once in each round, so that a slow minute affects all cases."""

    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.run = 0
        self.providers = 0

    @contextlib.contextmanager
    def provider(self, delay_ms):
        self.providers += 1
        process, files = processes.provider(BIN, self.folder, delay_ms, self.providers * 100_000_000)
        try:
            with process:
                yield process
        finally:
            for path in files:
                if os.path.exists(path):
                    os.remove(path)

    @contextlib.contextmanager
    def service(self, url, delay_ms=0, workers=0):
        with self.provider(delay_ms) as pay, processes.server(BIN, self.folder, url, pay.ports, workers) as serve:
            yield pay, serve

    def load(self, serve, kind, clients):
        self.run += 1
        return processes.load(BIN, serve.ports[0], kind, clients, f'run{self.run}', self.given.warm_up,
                              self.given.seconds)

    def prepare_case(self, keys):
        """Before each case."""

    def measure(self, name, clients, delay_ms):
        """One run of a case: its available rows by name."""
        raise NotImplementedError

    def measure_all(self, keys, cases):
        seen = {}
        for run in range(self.given.runs):
            for name, clients, delay_ms in cases:
                tell(f'{keys:,} keys, run {run + 1} of {self.given.runs}: {name}, {clients} clients, {delay_ms} ms')
                self.prepare_case(keys)
                for row, figures in self.measure(name, clients, delay_ms).items():
                    seen.setdefault((row, clients, delay_ms), []).append(figures)
                    if figures['errors']:
                        tell('', end='\n')
                        print(figures['said'], file=sys.stderr)
        tell('')
        return [row_of({'name': name, 'keys': keys, 'clients': clients, 'delay_ms': delay_ms}, runs)
                for (name, clients, delay_ms), runs in seen.items()]
