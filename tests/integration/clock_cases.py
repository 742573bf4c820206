"""The clock of a server's process is stepped while rides are under way: by days, by minutes, and made to run fast.

Uses libfaketime, which reads the time from a file at each call. The monotonic clock does not change, as
when a machine's clock is set. On PostgreSQL leases use the database's clock, which is not stepped.
"""
import concurrent.futures
import glob
import json
import os
import time

from kill_cases import QUICK, SLOW
from never_cases import Doubtful
from world import World, check, check_equal, wait_until

LIBRARY = (glob.glob('/usr/lib/*/faketime/libfaketimeMT.so.1') or [None])[0]
STEPS = ['+3d', '-3d', '+10m', '-10m', '+0 x100', '+0']
HELD_S = 1.0 * SLOW   # How long each time lasts.


class FakeClock:
    """The clock of processes with its environment."""

    def __init__(self, world):
        self.path = os.path.join(world.folder, 'clock')
        self.set('+0')
        self.environment = {'LD_PRELOAD': LIBRARY, 'FAKETIME_TIMESTAMP_FILE': self.path, 'FAKETIME_NO_CACHE': '1',
                            'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                            'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}

    def set(self, step):
        """Replaces the file, so that no process reads a partial time."""
        with open(self.path + '.new', 'w', encoding='ascii') as file:
            file.write(step)
        os.rename(self.path + '.new', self.path)


def stepped_in_rides(settings):
    """Rides are in the call at each step; clients repeat their keys, on PostgreSQL also at a server with a true clock."""
    # A lease long enough for a machine that stalls for a second: only the clock must end leases here.
    options = ['--lease-ms', str(int(4000 * SLOW)), *QUICK[2:]]
    with World(settings.bin, options, provider_options=['--delay-ms', str(int(600 * SLOW))]) as world:
        clock = FakeClock(world)
        world.environment = clock.environment
        world.start_server()
        ports = [world.phone()]
        if world.database == 'postgres':
            world.start_nodes(1)
            ports.append(world.nodes[0].phone())
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for i, step in enumerate(STEPS):
                names = [f'step-{i}-{n}' for n in range(4)]
                rides = [pool.submit(settled, ports[n % len(ports)], name) for n, name in enumerate(names)]
                # Their answers are delayed.
                wait_until('the charges', lambda i=i: len(world.ledger()) >= 8 * i + 4)
                clock.set(step)
                rides += [pool.submit(settled, ports[-1], name) for name in names]   # Duplicates.
                rides += [pool.submit(settled, ports[0], f'within-{name}') for name in names]
                until = time.monotonic() + HELD_S
                wait_until('the step to last', lambda until=until: time.monotonic() > until)
                for ride in rides:
                    ride.result()
        if world.database == 'sqlite':
            world.history.mark('retention-over')   # A key is kept for three days only.
            wait_until('all keys to be settled', lambda: world.unsettled() == 0)
            clock.set('+4d')   # Jobs staged in the future are due then, and not before.
        world.settle()
        check_equal(world.count('pawl_attention'), 0, 'keys that wait for a person')
        # A call that would begin late in its lease is given back, which is logged; no lease ends early. Like lines are counted.
        def given_back():
            logs = world.log() + ''.join(node.log() for node in world.nodes)
            return sum(('"key_id"' in line) + json.loads(line).get('repeated', 0)
                       for line in logs.split('\n') if '"attempt_refused"' in line)
        repeats = int(world.rows('SELECT coalesce(sum(attempt - 1), 0) FROM pawl_idempotency_keys')[0][0])
        wait_until(f'lines or counts of {repeats} attempts that were given back', lambda: given_back() >= repeats, 30 * SLOW)
        keys = 8 * len(STEPS)
        check_equal((len(world.ledger()), world.count('rides')), (keys, keys), 'charges and rides')
        check(not world.dead(), 'the server lives')


def settled(phone, key):
    return wait_until(f'{key} to be final', lambda: next((a for a in [phone.book(key)] if a.final or a.status == 410), None), 30 * SLOW)


def another_time_after_death(settings, step):
    """Killed in the call, and started again at another time: charged once, or put on the attention list; never charged twice."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', str(int(1000 * SLOW))]) as world:
        clock = FakeClock(world)
        world.environment = clock.environment
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            lost = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            world.kill_server()
            check(isinstance(lost.exception(), OSError), 'the client gets no answer')
        clock.set(step)
        wait_until('it to start', world.start_server)   # With an hour in 36 s, the first connection may take too long.
        told = wait_until('the answer', lambda: next((a for a in [world.phone().book('k')] if a.final or a.status == 502), None))
        # By the server's clock the first call is too long ago, or in the future: the provider may have forgotten its key
        # (docs/design.md part 4).
        asked = step in ('+3d', '-3d', '-10m')
        check_equal(told.status, 502 if asked else 201, f'with the clock at {step}: {told}')
        if asked:
            Doubtful(world, None).settle('happened', '--result', 'Charge', '--value', json.dumps({'id': world.ledger()[0]['id']}))
        final = wait_until('the ride', lambda: next((a for a in [world.phone().book('k')] if a.final), None))
        check_equal((final.status, final.json['charge']), (201, world.ledger()[0]['id']), 'the answer, with the charge')
        if 'x' in step:   # A busy machine would lose a job's lease, 15 ms, again and again. Later than the fast clock may have come.
            clock.set('+1d')
        world.settle()
        check_equal((len(world.ledger()), world.count('rides')), (1, 1), 'charges and rides')


def cases(settings):
    if not LIBRARY:
        print('the cases of stepped clocks need faketime (tools/install full) and are left out', flush=True)
        return []
    steps = STEPS[:-1] if settings.everything else [settings.random.choice(STEPS[:-1])]
    return [('clock: stepped while rides are under way', lambda: stepped_in_rides(settings)),
            *((f'clock: at {step} after a death in the call', lambda step=step: another_time_after_death(settings, step)) for step in steps)]
