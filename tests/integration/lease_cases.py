"""Leases of real processes: a paused holder, a killed holder, and several that compete for one lease.

The holder of these cases checks nothing before it writes, like a program that was paused between its check and its write:
only the fence keeps its writes out. Times are of the monotonic clock, which all processes here share.
"""
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import threading
import time

from queues import Redis
from stores import SqliteFile
from world import WAIT_S, NotSo, World, check, check_equal, end, wait_until

SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
TTL_S = 1.5 * SLOW
# Time beyond the ttl: a waiter polls every 250 ms, and each step takes time on a loaded machine.
MARGIN_S = 1.0 * SLOW
NAME = 'nightly report'


class Holder:
    """A process of tests/integration/lease_holder.cpp, and its output."""

    def __init__(self, world, leases, *what):
        program = os.path.join(os.path.dirname(world.rides), 'lease_holder')
        if not os.access(program, os.X_OK):
            raise NotSo(f'there is no program {program}; build it: cmake --build --preset dev --target lease_holder')
        self.log = os.path.join(world.folder, f'holder-{next(world.holders)}.log')
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen([program, world.url, leases, NAME, str(int(TTL_S * 1000)), *map(str, what)],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        self.events, self.lock = [], threading.Lock()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.lock:
                self.events.append((event['event'], event['number'], event['at']))

    def said(self, name):
        """(number, time) of each line."""
        with self.lock:
            return [(number, at) for event, number, at in self.events if event == name]

    def wait(self, name, limit_s=None, times=1):
        """Waits for `count` lines; returns the first ones."""
        def found():
            if self.process.poll() not in (None, 0, -signal.SIGKILL):
                with open(self.log, encoding='utf-8') as file:
                    raise NotSo(f'a holder ended with {self.process.returncode}: {file.read()[-600:]}')
            return len(self.said(name)) >= times and self.said(name)[0]
        return wait_until(f'a holder to say {name}', found, limit_s)

    def ended_well(self):
        check_equal(self.process.wait(WAIT_S), 0, 'the exit code of a holder')
        self.reader.join()

    def close(self):
        end(self.process)
        self.reader.join()
        self.process.stdout.close()


class Leases:
    """A database with the guarded table, the leases' backend, and the processes of a case."""

    def __init__(self, settings, place):
        self.settings, self.place = settings, place

    def __enter__(self):
        self.world = World(self.settings.bin, judged=False)
        self.world.holders = itertools.count(1)
        self.redis = Redis(self.world) if self.place == 'redis' else None
        self.all = []
        made = self.start('make', leases='database')
        made.ended_well()
        return self

    def __exit__(self, *_):
        for holder in self.all:
            holder.close()
        if self.redis:
            self.redis.close()
        self.world.close()

    def start(self, *what, leases=None):
        self.all.append(Holder(self.world, leases or (self.redis.url if self.redis else 'database'), *what))
        return self.all[-1]

    def pause(self, holder):
        """Pauses the holder outside of a transaction: with the file's lock held, no process could write."""
        for _ in range(100):
            holder.process.send_signal(signal.SIGSTOP)
            if self.is_free():
                return
            holder.process.send_signal(signal.SIGCONT)
        raise NotSo('it was in a transaction at every pause')

    def is_free(self):
        if not isinstance(self.world.store, SqliteFile):
            return True
        database = sqlite3.connect(self.world.store.path, timeout=0.2, isolation_level=None)
        try:
            database.execute('BEGIN IMMEDIATE')
            database.execute('ROLLBACK')
            return True
        except sqlite3.OperationalError:
            return False
        finally:
            database.close()

    def written(self):
        return [epoch for (epoch,) in self.world.rows('SELECT epoch FROM guarded ORDER BY id')]


def paused_holder_is_refused(settings, place):
    with Leases(settings, place) as leases:
        zombie = leases.start('hold')
        old, _ = zombie.wait('held')
        zombie.wait('wrote', times=3)
        leases.pause(zombie)
        heir = leases.start('hold')
        new, _ = heir.wait('held')
        check(new > old, f'epochs grow: {old}, {new}')
        heir.wait('wrote', times=3)
        zombie.process.send_signal(signal.SIGCONT)
        seen, _ = zombie.wait('fenced_off')
        check_equal(seen, new, 'the epoch that refused it')
        zombie.ended_well()
        check_equal(zombie.said('is_held'), [(0, zombie.said('is_held')[0][1])], 'is_held of the old holder')
        check_equal(len(zombie.said('lost')), 1, 'reports of the loss')
        heir.wait('wrote', times=len(heir.said('wrote')) + 3)
        epochs = leases.written()
        check_equal(epochs, sorted(epochs), 'the written epochs, in order')
        check_equal(set(epochs), {old, new}, 'the epochs that wrote')


def dead_holder_is_followed(settings, place):
    with Leases(settings, place) as leases:
        dead = leases.start('hold')
        dead.wait('held')
        heir = leases.start('hold')
        renewed = time.monotonic() + 2.5 * TTL_S
        wait_until('two ttls to pass', lambda: time.monotonic() > renewed, 3 * TTL_S + WAIT_S)
        check_equal(heir.said('held'), [], 'leases that another got meanwhile')
        dead.process.kill()
        dead.process.wait()
        killed = time.monotonic()
        _, at = heir.wait('held')
        check(at - killed <= TTL_S + MARGIN_S,
              f'the lease outlived its holder by {at - killed:.2f} s, at most {TTL_S:.2f} and {MARGIN_S:.2f} s for the look')
        print(f'    lease of {TTL_S:.2f} s in {place} on {World.database}: taken {at - killed:.2f} s after its holder was killed')


def no_two_at_once(settings, place):
    seconds = 10 if settings.everything else 4
    with Leases(settings, place) as leases:
        holders = [leases.start('contend', seconds) for _ in range(4)]
        for holder in holders:
            holder.process.wait(WAIT_S + seconds + 60)
            holder.ended_well()
        turns = sorted((at, until, epoch) for holder in holders
                       for (epoch, at), (_, until) in zip(holder.said('begin'), holder.said('end')))
        check(len(turns) >= 8, f'only {len(turns)} turns')
        for (_, until, one), (at, _, other) in zip(turns, turns[1:]):
            check(until <= at, f'epoch {other} began {until - at:.4f} s before epoch {one} ended')
            check(one < other, f'epoch {other} came after {one}')
        check(all(holder.said('begin') for holder in holders), 'each holder had turns')


def cases(settings):
    places = ('database', 'redis')
    return [(f'lease: {what}, in {"Redis" if place == "redis" else "the database"}', lambda of=of, place=place: of(settings, place))
            for place in places
            for what, of in [('a paused holder wakes and is refused', paused_holder_is_refused),
                             ('a dead holder is followed within its ttl', dead_holder_is_followed),
                             ('no two hold it at once', no_two_at_once)]]
