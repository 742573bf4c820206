"""The least work of jobs on Redis: redis-benchmark with the queue's own scripts, on the same kind of server.

A job is pushed, taken and finished (and marked before a call); Redis runs one command at a time, so the times
add up. Each is measured alone, in the server's largest batches.
"""
import os
import re
import subprocess
import time

from measuring import ROOT
from processes import Failed, free_port

PUSHED_AT_ONCE, TAKEN_AT_ONCE = 100, 256
JOBS = 20_000   # With one client each write waits for the disk.
DUE_MOVED, BYTES_MOVED, PASSED_OVER = 100, 16 << 20, 1_000   # Limits of a take, as in redis_queue.cpp.
LAST_RETRY_LIST = 5
NO_LIMITS = (0, 0, 1)   # Running max, microseconds for a token, burst.
WEEK_MS, LEASE_MS = 7 * 24 * 3_600_000, 60_000
PAYLOAD = ('{"class":"bench_noop","args":[{"number":123456,"poison":false}],"retry":true,"queue":"default",'
           '"jid":"__rand_int__","created_at":1795317854.249,"enqueued_at":1795317854.280}')
HELD = ('pawl:work:default', 'pawl:leases:default')
# 12 digits each, which redis-benchmark draws below JOBS: some are drawn twice, which costs less.
DRAWN = '__rand_int__'


def scripts():
    """The server's own, by name."""
    with open(os.path.join(ROOT, 'src', 'queue', 'redis', 'scripts.hpp'), encoding='utf-8') as file:
        found = re.findall(r'Script (\w+)\{\s*"redis \w+",\s*R"\((.*?)\)"', file.read(), re.DOTALL)
    return dict(found)


class RedisServer:
    """It syncs before it answers, and does not evict: the settings that Pawl requires."""

    def __init__(self, folder):
        self.port = free_port()
        self.process = subprocess.Popen(
            ['redis-server', '--port', str(self.port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes',
             '--appendfsync', 'always'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            if self._cli('PING').stdout.strip() == 'PONG':
                return
            time.sleep(0.02)
        raise Failed('redis-server did not start')

    @property
    def url(self):
        return f'redis://127.0.0.1:{self.port}'

    def _cli(self, *words, given=None):
        return subprocess.run(['redis-cli', '-p', str(self.port), *words], input=given, capture_output=True, text=True, check=False)

    def ask(self, *words):
        done = self._cli(*words)
        if done.returncode != 0:
            raise Failed(f'redis-cli {words[0]}: {done.stderr.strip()}')
        return done.stdout.strip()

    def rate(self, clients, count, *command, at_once=1):
        """Rate of a command, per second."""
        done = subprocess.run(
            ['redis-benchmark', '-p', str(self.port), '-c', str(clients), '-n', str(count), '-P', str(at_once), '-r', str(JOBS), '-q',
             '--csv', *command],
            capture_output=True, text=True, check=False)
        # After the command: the rate, and six latencies.
        found = re.search(r'"([\d.]+)"(?:,"[\d.]+"){6}$', done.stdout.strip())
        if done.returncode != 0 or not found or 'rror' in done.stdout + done.stderr:
            raise Failed(f'redis-benchmark {command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}')
        return float(found.group(1))

    def close(self):
        self.process.terminate()
        self.process.wait()


class RedisFloor:
    def __init__(self, redis):
        self.redis = redis
        self.sums = None

    def rate(self, part, case, seen, seconds):
        del seen, seconds   # The number of jobs is fixed, not the time.
        if part == 'stage':
            return None   # The database has this part.
        self.sums = {name: self.redis.ask('SCRIPT', 'LOAD', text) for name, text in scripts().items()}
        steps = [self.push, self.take, self.finish] + ([self.call] if case.handler == 'call' else [])
        return 1 / sum(1 / step(case.workers) for step in steps)

    def push(self, clients):
        jobs = [word for _ in range(PUSHED_AT_ONCE) for word in ('default', DRAWN, PAYLOAD)]
        count = min(JOBS // PUSHED_AT_ONCE, 100 * clients)
        return PUSHED_AT_ONCE * self.script('push', clients, count, ('pawl:pushed', 'queues'), '', WEEK_MS, 0, *jobs)

    def take(self, clients):
        keys = ('queue:default', 'schedule', 'retry', 'pawl:claims', *HELD, 'queues', 'pawl:rate:default', 'queue:default')
        count = int(self.redis.ask('LLEN', 'queue:default')) // TAKEN_AT_ONCE
        return TAKEN_AT_ONCE * self.script('take', clients, count, keys, '', LEASE_MS, TAKEN_AT_ONCE, DUE_MOVED, BYTES_MOVED,
                                           PASSED_OVER, 'default', LAST_RETRY_LIST, *NO_LIMITS, 'all')

    def hold(self):
        """Jobs under tokens that redis-benchmark can draw."""
        self.redis.ask('DEL', *HELD)
        text = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('ZADD', KEYS[2], 1, ARGV[1])"
        self.redis.rate(1, JOBS, 'EVAL', text, '2', *HELD, DRAWN, PAYLOAD, at_once=500)

    def finish(self, clients):
        self.hold()
        return self.script('finish', clients, min(JOBS // 2, 1_000 * clients), HELD[::-1], DRAWN)

    def call(self, clients):
        self.hold()
        return self.script('call', clients, min(JOBS // 2, 1_000 * clients), HELD[::-1], DRAWN, PAYLOAD)

    def script(self, name, clients, count, keys, *arguments):
        return self.redis.rate(clients, count, 'EVALSHA', self.sums[name], str(len(keys)), *keys, *map(str, arguments))
