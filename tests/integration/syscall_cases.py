"""The n-th write or sync of the database's files fails, for every n: SQLite's own test method, applied to the whole server.

strace fails one call of each thread, and counts only those on the database's files. disk_cases.py is about a disk that
fails for longer: full until space is freed, or broken between a charge and its record.
"""
import collections
import os
import re
import shutil

from kill_cases import QUICK
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)
ERRORS = ('ENOSPC', 'EIO')
IN_FULL = 4   # Calls of each kind, spread over the run.
CALL = re.compile(r'^(\d+) +(pwrite64|write|fdatasync|fsync|ftruncate|fallocate)\(.*?(\(INJECTED\))?$', re.MULTILINE)


def traced(world, inject=()):
    """The server is our child; strace runs beside it (-D), and ends with it."""
    files = [part for suffix in ('', '-wal', '-shm', '-journal') for part in ('-P', world.store.path + suffix)]
    calls = 'pwrite64,write,fdatasync,fsync,ftruncate,fallocate'
    return ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', log_of(world), *files, '-e', f'trace={calls}', *inject]


def log_of(world):
    return os.path.join(world.folder, 'strace')


def seen(world):
    """(thread, call, whether it failed) of each."""
    with open(log_of(world), encoding='utf-8', errors='replace') as file:
        return [(thread, call, bool(failed)) for thread, call, failed in CALL.findall(file.read())]


class Rides:
    """The same requests each time, one after the other: booked, declined, refunded; each until its answer is final."""

    def __init__(self, world):
        self.world, self.told = world, {}

    def live(self):
        for name, send in (('k-1', lambda: self.world.phone().book('k-1')), ('k-2', lambda: self.world.phone('test_poor').book('k-2')),
                           ('refund', lambda: self.world.phone().refund(self.told['k-1'].json['ride'])),
                           ('k-3', lambda: self.world.phone('test_joe').book('k-3'))):
            self.told[name] = wait_until(f'{name} to be final', lambda send=send: self.final(send()))

    @staticmethod
    def final(answer):
        if answer.final:
            return answer
        check(answer.status in (409, 503) and 'retry-after' in answer.headers, f'only a retry is allowed: {answer}')
        return None


def fails_at(settings, call, error, n):
    with World(settings.bin, QUICK) as world:
        world.wrapper = traced(world, ('-e', f'inject={call}:error={error}:when={n}'))
        rides = Rides(world)
        if world.start_server():
            rides.live()
            world.settle()
            check(not world.dead(), f'the server lives: {world.log()[-400:]}')
            world.kill_server()
        else:   # It may give up before it serves, with a reason.
            check_equal(world.server.returncode, 1, 'the exit code')
            check(re.search('disk|full|I/O', world.log()), f'the log has the reason: {world.log()[-400:]}')
        failed = [which for _, which, injected in seen(world) if injected]
        check(failed, f'no {call} was the {n}th: {collections.Counter(which for _, which, _ in seen(world))}')
        world.wrapper = []
        durable = {} if not rides.told else dict(world.rows("SELECT idempotency_key, response_status FROM pawl_idempotency_keys"
                                                            " WHERE status = 'finished'"))
        for name, answer in rides.told.items():
            key = name if name != 'refund' else f'ride-{rides.told["k-1"].json["ride"]}-refund'
            check_equal(durable.get(key), answer.status, f'the durable row of {name}, as answered')
        check(world.start_server(), f'it starts again: {world.log()[-400:]}')
        again = Rides(world)
        again.live()
        world.settle()
        for name, answer in rides.told.items():
            check_equal((again.told[name].status, again.told[name].body), (answer.status, answer.body), f'the repeat of {name}')
        check_equal([len(world.ledger(kind)) for kind in ('charge', 'refund')], [2, 1], 'charges, refunds')
        check_equal(world.count('rides'), 3, 'rides')


def reached(settings):
    """For each call, its count in the thread that makes it most often."""
    if not shutil.which('strace'):
        print('the cases of failing system calls need strace (tools/install full) and are left out', flush=True)
        return {}
    with World(settings.bin, QUICK) as world:
        world.wrapper = traced(world)
        check(world.start_server(), f'it starts under strace: {world.log()[-400:]}')
        Rides(world).live()
        world.settle()
        world.kill_server()
        counts = collections.Counter((call, thread) for thread, call, _ in seen(world))
    most = collections.Counter()
    for (call, _), count in counts.items():
        most[call] = max(most[call], count)
    return most


def spread(settings, count):
    """Chooses among `count` calls. The last few belong to background rounds, whose number varies."""
    sure = max(1, count - 3)
    some = {'sample': 1, 'full': IN_FULL}.get(settings.mode, sure)
    if some >= sure:
        return range(1, sure + 1)
    step = sure / some
    return sorted({min(sure, 1 + int((i + settings.random.random()) * step)) for i in range(some)})


def cases(settings):
    return [(f'disk: {call} number {n} of {count} fails with {error}', lambda call=call, error=error, n=n: fails_at(settings, call, error, n))
            for call, count in sorted(reached(settings).items()) for error in ERRORS for n in spread(settings, count)]
