"""Kafka's consumer group on a real broker, with servers on PostgreSQL: members stop, die and hang, partitions move and are added."""
import collections
import json
import time

import kafka_broker
from kafka_cases import cluster, unless_missing, with_topics
from nodes_cases import LONGER_THAN_LEASES_S, QUICK, SLOW, Riders
from world import World, check, check_equal, wait_until

DATABASES = ('postgres',)
PARTITIONS, GROWN = 3, 6
CALM_S = 15   # Members that have just joined ask for partitions anyway.
RETRY_MS = 200   # Of QUICK.
FOREIGN_POINTS = 1_000
NEW_PARTITIONS_S = 20   # After a refresh of the metadata, 10 s, and the forming of the group.
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


def partitions_grow(settings):
    """An operator adds partitions to the queue and its retry topic under load. Other programs, which know them first, write there
    at once; Pawl reads them within the time of docs/howto/kafka.md, and pushes to them itself."""
    with cluster() as kafka, World(settings.bin, QUICK, queue=with_topics(kafka)) as world:
        world.start_nodes(2)
        queue, group = world.queue.topic, world.queue.group
        retry = f'{queue}__{group}__retry_{RETRY_MS}'
        wait_until('the retry topic', lambda: retry in kafka.topics())
        user, = world.rows('SELECT min(id) FROM users')[0]
        with Riders(world, settings.seed, count=8, timeout=3) as riders:
            riders.go_on(10)
            time.sleep(CALM_S)
            grown, new, before = time.monotonic(), range(PARTITIONS, GROWN), kafka.rebalances(f'{group}.default')
            for topic in (queue, retry):
                kafka.grow_topic(topic, GROWN)
                for partition in new:
                    job = f'{topic}-{partition}'
                    tried = {} if topic == queue else {'retry_topic-attempts': b'\0\0\0\2'}
                    kafka.write(topic, partition, job, json.dumps({'user': user, 'points': FOREIGN_POINTS}),
                                {'ce_id': job, 'ce_type': 'add_points', **tried})
            # The first record of each: under load some later one is always unread.
            read = lambda topic: min(kafka.committed(f'{group}.default', topic, new).values()) >= 1
            wait_until('the new partitions to be read', lambda: read(queue) and read(retry), NEW_PARTITIONS_S * SLOW)
            read_s = time.monotonic() - grown
            wait_until('own jobs in them', lambda: kafka.records(queue, new) > len(new), NEW_PARTITIONS_S * SLOW)
            used_s = time.monotonic() - grown
            riders.go_on(20)
        rides = len(riders.finals)
        points = 20 * rides + FOREIGN_POINTS * 2 * len(new)
        check_equal(riders.wrong, [], 'wrong answers')
        world.settle()
        wait_until('all points', lambda: world.rows('SELECT sum(points) FROM users')[0][0] == points, 120 * SLOW)
        wait_until('the receipts of all rides', lambda: len(receipts(world)) == rides, 120 * SLOW)
        twice = sum(count - 1 for count in receipts(world).values())
        rebalances = kafka.rebalances(f'{group}.default') - before
        print(f'    {rides} rides; new partitions read after {read_s:.1f} s, used after {used_s:.1f} s, '
              f'{kafka.records(queue, new)} records in them, {rebalances} rebalances, {twice} receipts more than once', flush=True)
        check(rebalances > 0, 'rebalances in the log of the broker')
        # What a member works on when it loses a partition, another member may do again.
        check(twice <= rebalances * 2 * WORKERS, f'{twice} receipts more than once')
        wait_until('all offsets to be committed', lambda: not any(kafka.unread(f'{group}.default', queue).values()))
        check_equal(world.queue.dead(), 0, 'dead letters')
        check_equal(world.rows('SELECT sum(points) FROM users')[0][0], points, 'points')


def receipts(world):
    return collections.Counter(mail['message_id'] for mail in world.mails())


def cases(settings):
    if not settings.everything:
        return []
    instead = unless_missing(settings, 'real kafka', kafka_broker.missing)
    if instead is not None:
        return instead
    return [('real kafka: members leave, die and hang', lambda: rebalances(settings)),
            ('real kafka: topics get more partitions', lambda: partitions_grow(settings))]
