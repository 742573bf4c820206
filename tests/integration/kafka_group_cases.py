"""Kafka's consumer group on a real broker, with three servers on PostgreSQL: members stop, die and hang, and partitions move."""
import collections
import time

import kafka_broker
from kafka_cases import cluster, unless_missing, with_topics
from nodes_cases import LONGER_THAN_LEASES_S, QUICK, SLOW, Riders
from world import World, check, check_equal, wait_until

DATABASES = ('postgres',)
SESSION_S = 6    # Of the group's members (queues.py).
WORKERS = 16


def rebalances(settings):
    """Jobs with a transaction have one effect, all mails are sent, and only members that died or hung send one twice."""
    rounds = 3 if settings.mode == 'long' else 1
    with cluster() as kafka, World(settings.bin, QUICK, queue=with_topics(kafka)) as world:
        world.start_nodes(3)
        ill = 0
        with Riders(world, settings.seed, count=8, timeout=3) as riders:
            riders.go_on(10)
            for _ in range(rounds):
                for node in world.nodes:   # Each leaves the group and comes back.
                    node.restart()
                    riders.go_on(10)
                for node in world.nodes[:2]:   # The group notices the death after its session.
                    node.kill()
                    ill += 1
                    riders.go_on(10)
                    node.start()
                    node.wait()
                    riders.go_on(10)
                hung = world.nodes[2]   # It loses its partitions, wakes up, and may write nothing more to them.
                hung.pause()
                ill += 1
                time.sleep(SESSION_S + LONGER_THAN_LEASES_S)
                hung.wake()
                riders.go_on(10)
        rides = len(riders.finals)
        check_equal(riders.wrong, [], 'wrong answers')
        world.settle()
        check_equal(world.count('rides'), rides, 'rides')
        check_equal(len({line['key'] for line in world.ledger()}), rides, 'charges by key')
        wait_until('the points of all rides', lambda: world.rows('SELECT sum(points) FROM users')[0][0] == 20 * rides, 120 * SLOW)
        wait_until('the receipts of all rides', lambda: len(receipts(world)) == rides, 120 * SLOW)
        twice = sum(count - 1 for count in receipts(world).values())
        print(f'    {rides} rides, {kafka.records(world.queue.topic)} records, {ill} members died or hung, {twice} receipts more than once',
              flush=True)
        check(twice <= ill * WORKERS, f'{twice} receipts more than once')
        check_equal(world.queue.dead(), 0, 'dead letters')
        check_equal(world.rows('SELECT sum(points) FROM users')[0][0], 20 * rides, 'points')


def receipts(world):
    return collections.Counter(mail['message_id'] for mail in world.mails())


def cases(settings):
    if not settings.everything:
        return []
    instead = unless_missing(settings, 'real kafka', kafka_broker.missing)
    if instead is not None:
        return instead
    return [('real kafka: members leave, die and hang', lambda: rebalances(settings))]
