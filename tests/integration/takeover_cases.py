"""A server is killed under load: how soon the others, or its next start on SQLite, have done what it held; with the leases of
production."""
import collections
import concurrent.futures
import json
import socket
import statistics
import time

from lost_jobs import keep_lost_jobs, lost_jobs
from nodes_cases import SLOW, Riders, check_all
from world import KILLED, Node, World, check, check_equal, wait_until

# Where it dies: with requests in calls, with jobs claimed, and with jobs at work.
POINTS = ('engine.call.before:40:kill9', 'queue.take.after:20:kill9', 'worker.call.before:20:kill9')
WITHIN_S = 3
AFTER_START_S = 1
HELD = """
    SELECT 'key ' || k.id FROM pawl_idempotency_keys AS k
    WHERE k.status = 'open' AND k.server_id = {server} AND k.lease_until IS NOT NULL
    UNION ALL SELECT 'job ' || j.id FROM pawl_jobs AS j WHERE j.state = 'running' AND j.server_id = {server}"""
LEFT = """
    SELECT 'key ' || k.id FROM pawl_idempotency_keys AS k WHERE k.status <> 'finished'
    UNION ALL SELECT 'job ' || j.id FROM pawl_jobs AS j"""


def texts(world, query):
    return {text for (text,) in world.rows(query)}


def servers(world):
    return texts(world, "SELECT id::text FROM pawl_servers")


def takeover(settings, point):
    """(seconds until the last of its keys and jobs was done, these)."""
    with World(settings.bin, provider_options=['--delay-ms', '200']) as world:
        world.start_nodes(1)
        others = servers(world)
        dying = Node(world, 2)
        world.nodes.append(dying)
        dying.start(fault=point)
        dying.wait()
        (server,) = servers(world) - others
        keep_lost_jobs(world)
        with Riders(world, settings.seed, count=16, timeout=2):
            wait_until('the death', lambda: dying.process.poll() is not None)
            died = time.monotonic()
            check_equal(dying.process.returncode, KILLED, 'how it ended')
            held = texts(world, HELD.format(server=server))
            wait_until('its keys and jobs to be done', lambda: not held & texts(world, LEFT), 60 * SLOW)
            took = time.monotonic() - died
        world.settle()
        (left,) = json.loads(world.pawl_command('servers', 'list', '--json').stdout)
        check_equal((left['keys'], left['jobs'], left['host']), (0, 0, socket.gethostname()), 'what the living server holds')
        check('server_ended' in world.nodes[0].log(), 'the end is logged')
        check_all(world, world.count('pawl_idempotency_keys'), lost_jobs(world))
        return took, held


def one_death(settings, point):
    took, held = takeover(settings, point)
    check(held, 'the server held keys or jobs')
    check(took < WITHIN_S * SLOW, f'what it held ({len(held)}) was done after {took:.2f} s')


def twenty_deaths(settings):
    runs = [takeover(settings, POINTS[i % len(POINTS)]) for i in range(20)]
    times = sorted(took for took, _ in runs)
    print(f'takeover: {statistics.median(times):.2f} s, worst {times[-1]:.2f} s, of {len(runs)} deaths;'
          f' held {sorted(len(held) for _, held in runs)}', flush=True)
    check(times[-1] < WITHIN_S * SLOW, f'{times}')


def a_restart(settings, point):
    """(seconds from the first answer of the next server until the last key and job was done, their number); no client repeats."""
    with World(settings.bin, provider_options=['--delay-ms', '200']) as world:
        check(world.start_server(fault=point), 'it starts')
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(rides_until_death, world, name) for name in range(8)]
            world.server.wait()
            for one in asked:
                one.result()
        check_equal(world.server.returncode, KILLED, 'how it ended')
        left = len(texts(world, LEFT))
        world.start_server()
        started = time.monotonic()
        wait_until('its keys and jobs to be done', lambda: not texts(world, LEFT), 60 * SLOW)
        took = time.monotonic() - started
        charges = collections.Counter(line['key'] for line in world.ledger())
        check_equal(sorted(charges.values()), [1] * world.count('rides'), 'charges by key')
        return took, left


def rides_until_death(world, name):
    for i in range(1_000):
        try:
            world.phone().book(f'rider-{name}-{i}')
        except OSError:
            return


def restarts(settings):
    runs = [a_restart(settings, POINTS[i % len(POINTS)]) for i in range(20 if settings.mode == 'long' else 3)]
    times = sorted(took for took, _ in runs)
    print(f'takeover: {statistics.median(times):.2f} s after the start, worst {times[-1]:.2f} s, of {len(runs)} deaths;'
          f' left {sorted(left for _, left in runs)}', flush=True)
    check(all(left for _, left in runs), 'each death left keys or jobs')
    check(times[-1] < (AFTER_START_S + 0.2) * SLOW, f'{times}')


def cases(settings):
    if World.database == 'sqlite':
        return [('takeover: restarts', lambda: restarts(settings))]
    if settings.mode == 'long':
        return [('takeover: twenty deaths', lambda: twenty_deaths(settings))]
    return [(f'takeover: death at {point}', lambda point=point: one_death(settings, point)) for point in POINTS]
