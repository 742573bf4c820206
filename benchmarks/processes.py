"""The processes of a bench: provider, server, load. The code that starts one also ends it."""
import json
import os
import re
import signal
import socket
import subprocess
import time

NO_QUOTA = ('--tenant-in-flight', '0')   # All clients of a load belong to one tenant, whose default quota is half of the calls.
TICKS = os.sysconf('SC_CLK_TCK')


class Failed(Exception):
    """A process failed; the text has its name and last output."""


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Process:
    """A program that prints its ports on standard error, which goes to a log, and runs until SIGTERM."""

    def __init__(self, name, command, log, ports):
        self.name, self.log = name, log
        with open(log, 'w', encoding='utf-8') as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.ports = self._wait_for(ports)

    def _wait_for(self, ports):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = re.search(ports, self.text())
            if found:
                return [int(port) for port in found.groups()]
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.process.kill()
        self.process.wait()
        raise Failed(f'{self.name} did not start:\n{self.text()[-2000:]}')

    def text(self):
        with open(self.log, encoding='utf-8', errors='replace') as file:
            return file.read()

    def cpu_seconds(self):
        with open(f'/proc/{self.process.pid}/stat', encoding='utf-8') as file:
            fields = file.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak_megabytes(self):
        with open(f'/proc/{self.process.pid}/status', encoding='utf-8') as file:
            return int(re.search(r'VmHWM:\s+(\d+) kB', file.read()).group(1)) / 1024

    def stop(self):
        """Ends it by SIGTERM, and returns its log."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f'{self.name} did not end within a minute') from None
        if status != 0:
            raise Failed(f'{self.name} ended with status {status}:\n{self.text()[-2000:]}')
        return self.text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def provider(bin_dir, folder, delay_ms, first_id):
    """The stand-in for Stripe.

    Its ledger is in memory if possible, as the disk is the server's. It is empty, so
    its ids must start after those in the database."""
    shelf = '/dev/shm' if os.access('/dev/shm', os.W_OK) else folder
    ledger, mails = (os.path.join(shelf, f'pawl-bench-{os.getpid()}.{what}') for what in ('ledger', 'mails'))
    for path in (ledger, mails):
        if os.path.exists(path):
            os.remove(path)
    return Process(
        'rides provider',
        [f'{bin_dir}/rides', 'provider', '--listen', '127.0.0.1:0', '--smtp', '127.0.0.1:0', '--ledger', ledger,
         '--mails', mails, '--no-ledger-sync', '--delay-ms', str(delay_ms), '--first-id', str(first_id)],
        os.path.join(folder, 'provider.log'), r'API on port (\d+), mail on port (\d+)'), (ledger, mails)


def server(bin_dir, folder, url, ports, workers, options=NO_QUOTA):
    return Process(
        'rides serve',
        [f'{bin_dir}/rides', 'serve', '--listen', '127.0.0.1:0', '--database', url,
         '--stripe-url', f'http://127.0.0.1:{ports[0]}', '--smtp-url', f'smtp://127.0.0.1:{ports[1]}',
         '--workers', str(workers), *options],
        os.path.join(folder, 'server.log'), r'listening on port (\d+)')


def store_counts(log):
    """The server's last counts: (works, commits)."""
    for line in log.split('\n'):
        if '"event":"stopped"' in line:
            said = json.loads(line)
            return said['works'], said['commits']
    raise Failed(f'the server did not log its counts:\n{log[-2000:]}')


def run_json(command):
    """Runs a program to its end and reads the line of JSON that it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f'{os.path.basename(command[0])} ended with status {done.returncode}: {done.stderr[-2000:]}')
    result = json.loads(done.stdout)
    result['said'] = done.stderr.strip()
    return result


def load(bin_dir, port, kind, clients, keys, warm_up, seconds, options=()):
    path = '/livez' if kind == 'get' else '/rides'
    return run_json([f'{bin_dir}/bench_load', '--port', str(port), '--kind', kind, '--path', path,
                     '--clients', str(clients), '--keys', keys, '--warm-up', str(warm_up), '--seconds', str(seconds), *options])


def floor(bin_dir, database, seconds, works):
    """Rides a second of the plain loop; `works` per commit, or 'phases'."""
    return run_json([f'{bin_dir}/bench_floor_sqlite', database, str(seconds), str(works)])['rate_per_s']
