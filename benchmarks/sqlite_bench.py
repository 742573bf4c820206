"""./bench sqlite: rides and replays a second over HTTP on SQLite, each beside its floor in the same run."""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, 'build', 'release', 'bin')
SCRATCH = os.path.join(ROOT, 'build', 'bench')   # On the same disk as the sources, not on a tmpfs.
PORT, STRIPE, SMTP = 9480, 9481, 9482


class Sizes:
    def __init__(self, quick):
        self.seconds = 1.5 if quick else 4
        self.runs = 1 if quick else 3
        self.floor_rides = 8_000 if quick else 30_000
        self.keys = [10_000] if quick else [10_000, 1_000_000]


def wait_for(url, process):
    for _ in range(200):
        if process.poll() is not None:
            sys.exit(f'bench: {process.args[1]} ended with {process.returncode}; is port {PORT} to {SMTP} free?')
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=1).read()
            return
        time.sleep(0.05)
    sys.exit(f'bench: nothing answers at {url}')


@contextlib.contextmanager
def running(*command, url, log):
    with open(log, 'w', encoding='utf-8') as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        wait_for(url, process)
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def provider(folder, delay_ms):
    with running(f'{BIN}/rides', 'provider', '--listen', f'127.0.0.1:{STRIPE}', '--smtp', f'127.0.0.1:{SMTP}',
                 '--ledger', f'{folder}/ledger', '--mails', f'{folder}/mails', '--no-ledger-sync',
                 '--delay-ms', str(delay_ms), url=f'http://127.0.0.1:{STRIPE}/_test/ledger', log=f'{folder}/provider.log') as process:
        yield process


@contextlib.contextmanager
def server(folder, workers):
    with running(f'{BIN}/rides', 'serve', '--listen', f'127.0.0.1:{PORT}', '--database', f'sqlite:{folder}/rides.db',
                 '--stripe-url', f'http://127.0.0.1:{STRIPE}', '--smtp-url', f'smtp://127.0.0.1:{SMTP}',
                 '--workers', str(workers), url=f'http://127.0.0.1:{PORT}/livez', log=f'{folder}/serve.log') as process:
        yield process


def load(clients, kind, seconds, prefix):
    done = subprocess.run([f'{BIN}/bench_load', '--port', str(PORT), '--clients', str(clients), '--kind', kind,
                           '--seconds', str(seconds), '--prefix', prefix], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'bench: the load had errors: {done.stdout}{done.stderr}')
    return json.loads(done.stdout)


def peak_mb(process):
    with open(f'/proc/{process.pid}/status', encoding='utf-8') as file:
        return int(re.search(r'VmHWM:\s+(\d+)', file.read()).group(1)) / 1024


def cpu_s(process):
    with open(f'/proc/{process.pid}/stat', encoding='utf-8') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def prefilled(folder, keys):
    """A database of the server's with so many settled keys in it."""
    if not keys:
        return
    subprocess.run([f'{BIN}/rides', 'migrate', '--database', f'sqlite:{folder}/rides.db'], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['sqlite3', f'{folder}/rides.db'], input=prefill_script(keys), text=True, check=True)
    subprocess.run(['sqlite3', f'{folder}/rides.db', 'PRAGMA wal_checkpoint(TRUNCATE)'], check=True, stdout=subprocess.DEVNULL)


def prefill_script(keys):
    with open(os.path.join(ROOT, 'benchmarks', 'prefill.sql'), encoding='utf-8') as file:
        return file.read().replace(':keys', str(keys))


def batch_of(folder):
    """Works a commit, as the server counted them from its start to its end."""
    with open(f'{folder}/serve.log', encoding='utf-8') as file:
        stopped = next(json.loads(line) for line in file if '"event":"stopped"' in line)
    return int(stopped['works']) / max(1, int(stopped['commits']))


def floor(batch, sizes, keys, folder_name='floor'):
    """Rides a second of the bare loop, at so many transactions a commit."""
    folder = os.path.join(SCRATCH, folder_name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    more = []
    if keys:
        script = os.path.join(folder, 'prefill.sql')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(prefill_script(keys))
        more = ['--prefill', script]
    rides = max(500, min(sizes.floor_rides, int(sizes.floor_rides * batch / 16)))
    with provider(folder, 0):
        done = subprocess.run([f'{BIN}/bench_floor', '--folder', folder, '--stripe-url', f'http://127.0.0.1:{STRIPE}',
                               '--batch', str(max(1, round(batch))), '--rides', str(rides), *more], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'bench: the floor failed: {done.stderr}')
    shutil.rmtree(folder)
    return json.loads(done.stdout)['rate_per_s']


def one_run(clients, delay_ms, keys, workers, sizes):
    """One server from its start to its end under one load."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        prefilled(folder, keys)
        with provider(folder, delay_ms) as bank, server(folder, workers) as process:
            load(clients, 'rides', 0.5, 'warm-')
            before = cpu_s(process), cpu_s(bank)
            found = load(clients, 'rides', sizes.seconds, 'k-')
            found |= {'memory_mb': peak_mb(process), 'server_cpu_s': cpu_s(process) - before[0],
                      'provider_cpu_s': cpu_s(bank) - before[1]}
        found['batch'] = batch_of(folder)
        found['floor_per_s'] = floor(found['batch'], sizes, keys)
        return found


def median_run(runs):
    return sorted(runs, key=lambda run: run['rate_per_s'])[len(runs) // 2] | {
        'ratio': statistics.median(run['rate_per_s'] / run['floor_per_s'] for run in runs),
        'memory_mb': max(run['memory_mb'] for run in runs)}


def measure_rides(sizes, report):
    loads = [(1, 0), (16, 0), (64, 0), (256, 0), (1, 50), (16, 50), (64, 50), (256, 50), (1000, 50)]
    for clients, delay_ms in loads:
        runs = [one_run(clients, delay_ms, 0, 0, sizes) for _ in range(sizes.runs)]
        report('rides', clients, delay_ms, median_run(runs))
    report('rides with their jobs', 64, 0, median_run([one_run(64, 0, 0, 4, sizes) for _ in range(sizes.runs)]))
    for keys in sizes.keys:
        runs = [one_run(64, 0, keys, 0, sizes) for _ in range(sizes.runs)]
        report(f'rides, {keys:,} keys before'.replace(',', ' '), 64, 0, median_run(runs))


def measure_commits(sizes, report):
    """What group commit is worth: the same statements with a commit for each phase, one after the other."""
    runs = []
    for _ in range(sizes.runs):
        found = one_run(64, 0, 0, 0, sizes)
        runs.append(found | {'floor_per_s': floor(1, sizes, 0)})
    report('rides / a commit a phase', 64, 0, median_run(runs))


def measure_replays(sizes, report):
    """A replay's floor is what an empty handler answers."""
    for clients in (1, 16, 64, 256):
        runs = []
        for _ in range(sizes.runs):
            with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
                with provider(folder, 0), server(folder, 0) as process:
                    load(64, 'rides', 1.5, 'k-')
                    before = cpu_s(process)
                    found = load(clients, 'replays', sizes.seconds, 'k-')
                    found |= {'memory_mb': peak_mb(process), 'server_cpu_s': cpu_s(process) - before, 'provider_cpu_s': 0.0, 'batch': 0}
                    found['floor_per_s'] = load(clients, 'empty', sizes.seconds, '')['rate_per_s']
            runs.append(found)
        report('replays', clients, 0, median_run(runs))


def fsync_us(folder):
    """What a durable write costs here: the median of fdatasync after 4 KiB."""
    path = os.path.join(folder, 'sync')
    took = []
    with open(path, 'wb', buffering=0) as file:
        for _ in range(200):
            file.write(b'x' * 4096)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    os.remove(path)
    return statistics.median(took) * 1e6


HEADER = ['what', 'clients', 'delay ms', 'per s', 'p50 ms', 'p99 ms', 'floor per s', 'ratio', 'batch', 'MB', 'cpu s: load', 'server', 'bank']


def line(cells):
    widths = [30, 7, 8, 9, 8, 8, 11, 6, 6, 6, 11, 7, 6]
    return '  '.join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width) for i, (cell, width) in enumerate(zip(cells, widths)))


def run(given):
    sizes = Sizes(given.quick)
    os.makedirs(SCRATCH, exist_ok=True)
    print(f'{os.cpu_count()} processors, fdatasync of 4 KiB {fsync_us(SCRATCH):.0f} us, medians of {sizes.runs} runs of '
          f'{sizes.seconds} s. Load, server and bank share the processors; the floor of rides has one to itself.\n', flush=True)
    print(line(HEADER), flush=True)
    rows = []

    def report(name, clients, delay_ms, found):
        rows.append({'name': name, 'clients': clients, 'delay_ms': delay_ms}
                    | {key: round(found[key], 3) for key in ('rate_per_s', 'p50_ms', 'p99_ms', 'floor_per_s', 'ratio', 'memory_mb', 'batch')})
        print(line([name, clients, delay_ms, f'{found["rate_per_s"]:.0f}', f'{found["p50_ms"]:.2f}', f'{found["p99_ms"]:.2f}',
                    f'{found["floor_per_s"]:.0f}', f'{found["ratio"]:.2f}', f'{found["batch"]:.1f}', f'{found["memory_mb"]:.0f}',
                    f'{found["cpu_s"]:.1f}', f'{found["server_cpu_s"]:.1f}', f'{found["provider_cpu_s"]:.1f}']), flush=True)

    only = given.only
    for name, measure in {'rides': measure_rides, 'commits': measure_commits, 'replays': measure_replays}.items():
        if not only or only == name:
            measure(sizes, report)
    if given.json:
        with open(given.json, 'w', encoding='utf-8') as file:
            json.dump(rows, file, indent=1)
    return 0
