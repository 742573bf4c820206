"""On PostgreSQL a server is paused at any point of its background work, and wakes when another server has done that work.

The background work: it completes a ride whose server died after the charge, and runs its jobs. The points are
those that such a server reaches (PAWL_FAULT_LOG), with each commit; nodes_cases.py pauses servers during requests.
"""
import collections
import os

from lost_jobs import jobs_at_work
from nodes_cases import QUICK, booked, check_all
from world import KILLED, WAIT_S, Node, World, check, check_equal, wait_until

DATABASES = ('postgres',)
COMMITS = 'postgres.commit.'


class Dropped:
    """A ride without a live server, and a server that is not started yet."""

    def __init__(self, settings):
        self.settings = settings

    def __enter__(self):
        self.world = World(self.settings.bin, [*QUICK, '--complete-after-ms', '200']).__enter__()
        dead, server = self.world.nodes = [Node(self.world, number) for number in (1, 2)]
        dead.start(fault='engine.call.after:1:kill9')
        dead.wait()
        try:
            check(False, f'the server survived the request: {dead.phone().book("k")}')
        except OSError:
            check_equal(dead.process.wait(WAIT_S), KILLED, 'how it ended')
        return self.world, server

    def __exit__(self, *how):
        return self.world.__exit__(*how)


def reached(settings):
    """How often one server reaches each point, from its start to its stop."""
    with Dropped(settings) as (world, node):
        log = os.path.join(world.folder, 'faults')
        node.start(fault_log=log)
        node.wait()
        world.settle()
        check_equal(node.stop(), 0, 'the exit code')
        check_all(world, 1)
        with open(log, encoding='utf-8') as file:
            return collections.Counter(file.read().split('\n')[:-1])


def stopped_at(settings, point, hit):
    with Dropped(settings) as (world, zombie):
        zombie.start(fault=f'{point}:{hit}:stop')
        zombie.wait_paused()
        at_work = jobs_at_work(world)
        other = Node(world, 3)
        world.nodes.append(other)
        other.start()
        other.wait()
        world.settle()
        final = booked(other, 'k')
        zombie.wake()
        zombie.wait()
        wait_until('the same answer from the woken server', lambda: booked(zombie, 'k').body == final.body)
        check_equal(zombie.stop(), 0, 'the exit code')
        check_all(world, 1, at_work)


def hits_of(settings, point, count):
    """Chooses hits of a point; for a commit all or some, as each is for other statements. The first is the server's start, and once
    kept every other server from starting for an hour."""
    if settings.mode == 'long':
        return range(1, min(count, 40) + 1)
    some = 6 if point.startswith(COMMITS) else 1
    return sorted({1, *settings.random.sample(range(1, count + 1), min(some, count))})


def cases(settings):
    points = sorted(reached(settings).items())
    if not settings.everything:
        points = sorted(settings.random.sample(points, 3))
    return [(f'zombies: it stops at {point}, hit {hit} of {count}', lambda point=point, hit=hit: stopped_at(settings, point, hit))
            for point, count in points for hit in hits_of(settings, point, count)]
