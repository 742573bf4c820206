"""Limits of a queue over three servers, of which some are killed: never exceeded, and no partition starves."""
import collections
import os
import select
import socket
import subprocess
import threading
import time

from nodes_cases import SLOW
from world import WAIT_S, NotSo, World, check, check_equal, end, wait_until


class Recorder:
    """What jobs connect to while they run. A killed server's jobs end with its connections."""

    def __init__(self, lasts):
        self.lasts = lasts
        self.lock = threading.Lock()
        self.begun = []                          # (time, tenant)
        self.running = collections.Counter()     # By tenant.
        self.most = self.most_of_one = 0
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                job, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.job, args=(job,), daemon=True).start()

    def job(self, job):
        with job:
            tenant = job.makefile().readline().strip()
            with self.lock:
                self.begun.append((time.monotonic(), tenant))
                self.running[tenant] += 1
                self.most = max(self.most, self.running.total())
                self.most_of_one = max(self.most_of_one, self.running[tenant])
            select.select([job], [], [], self.lasts)   # Readable: the server is dead.
            with self.lock:
                self.running[tenant] -= 1

    def close(self):
        self.listener.close()


class Servers:
    """Processes of tests/integration/limits_server.cpp. A SQLite file has one."""

    def __init__(self, world, port, running_max=0, partition_max=0, per_second=0, burst=1):
        self.program = os.path.join(os.path.dirname(world.rides), 'limits_server')
        if not os.access(self.program, os.X_OK):
            raise NotSo(f'there is no program {self.program}; build it: cmake --build --preset dev --target limits_server')
        self.world = world
        self.limits = [str(value) for value in (port, running_max, partition_max, per_second, burst)]
        self.processes = []

    def stage(self, tenant, count):
        done = subprocess.run([self.program, self.world.url, 'stage', tenant, str(count)], capture_output=True, text=True, timeout=WAIT_S)
        check_equal(done.returncode, 0, f'the exit code, with {done.stderr}')

    def start(self):
        for _ in range(3 if self.world.database == 'postgres' else 1):
            self.start_one()

    def start_one(self):
        process = subprocess.Popen([self.program, self.world.url, *self.limits], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        check_equal(process.stdout.readline(), 'started\n', 'what the server says')

    def kill_one(self):
        process = self.processes.pop(0)
        process.kill()
        process.wait()
        process.stdout.close()

    def close(self):
        for process in self.processes:
            end(process)
            process.stdout.close()


def worked(world, stage, running, lasts, deaths=0, **limits):
    """The recorder, once all jobs are done."""
    recorder = Recorder(lasts)
    servers = Servers(world, recorder.port, **limits)
    try:
        total = 0
        for tenant, count in stage:
            servers.stage(tenant, count)
            total += count
        servers.start()
        for death in range(deaths):
            wait_until('jobs to be at work', lambda at=(death + 1) * total // (deaths + 1): len(recorder.begun) >= at, running)
            servers.kill_one()
            servers.start_one()
        wait_until('all jobs to be done', lambda: world.count('pawl_jobs') == 0, running)
        check(len(recorder.begun) >= total, f'{len(recorder.begun)} of {total} jobs began')
        return recorder
    finally:
        servers.close()
        recorder.close()


def running_and_partitions(settings, deaths):
    """A tenant with many jobs, staged first, and ten with ten jobs each."""
    many = 2_000 if settings.mode == 'long' else 300
    small = [f'tenant-{n}' for n in range(10)]
    with World(settings.bin, judged=False) as world:
        stage = [('big', many), *((tenant, 10) for tenant in small)]
        recorder = worked(world, stage, 120 * SLOW, 0.02, deaths, running_max=5, partition_max=2)
        check(recorder.most <= 5, f'{recorder.most} jobs ran at once')
        check(recorder.most_of_one <= 2, f'{recorder.most_of_one} jobs of a tenant ran at once')
        check(recorder.most >= 2, 'jobs ran at once')
        order = [tenant for _, tenant in recorder.begun]
        last = max(max(i for i, of in enumerate(order) if of == tenant) for tenant in small)
        of_big = order[:last].count('big')
        print(f'limits: when the last of 100 jobs of ten tenants began, {of_big} of {many} of the big one had; most at once'
              f' {recorder.most} of 5, of a tenant {recorder.most_of_one} of 2; {deaths} deaths', flush=True)
        # In fair turns it has ten, as each of the others.
        check(of_big <= 30 + 10 * deaths, f'{of_big} jobs of the big tenant began before the last of the others')


def rate(settings, deaths):
    """Twenty jobs a second after a burst of five; a job is recorded a little after it was claimed."""
    jobs, per_second, burst = (1_000, 20, 5) if settings.mode == 'long' else (100, 20, 5)
    late = 0.3 * SLOW
    with World(settings.bin, judged=False) as world:
        recorder = worked(world, [('one', jobs)], 120 * SLOW, 0.01, deaths, per_second=per_second, burst=burst)
        times = [at for at, _ in recorder.begun]
        exceeded = 0
        for first, began in enumerate(times):
            for last in range(first, len(times)):
                if last - first + 1 > burst + per_second * (times[last] - began + late):
                    exceeded = max(exceeded, last - first + 1)
        check(not exceeded, f'{exceeded} jobs began too fast')
        took, least = times[-1] - times[0], (jobs - burst) / per_second
        print(f'limits: {len(times)} jobs at {per_second}/s and bursts of {burst} began within {took:.2f} s, at the rate {least:.2f} s;'
              f' {deaths} deaths', flush=True)
        check(least - late <= took, f'all began within {took} s')
        check(took <= 1.5 * least + 3 * SLOW * (1 + deaths), f'all began within {took} s: the rate is not used')


def cases(settings):
    deaths = 5 if settings.mode == 'long' else 2
    return [('limits: at once, and of a partition', lambda: running_and_partitions(settings, 0)),
            ('limits: at once, and of a partition, with deaths', lambda: running_and_partitions(settings, deaths)),
            ('limits: rate', lambda: rate(settings, 0)),
            ('limits: rate, with deaths', lambda: rate(settings, deaths))]
