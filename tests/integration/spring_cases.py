"""Spring Kafka on Pawl's topics on a real broker: each continues the retries of the other, and reads the other's dead letters.

The Spring side is tests/spring/SpringRetries.java. It reads headers with Spring's own classes and converters.
"""
import json

import spring
from kafka_cases import cluster, unless_missing
from kill_cases import QUICK
from queues import OnRealKafka
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # It does not matter here.
DELAY_MS = 3_000
RIDES_POINTS = 2 * 20
WAITS = QUICK.index('--retry-after-ms') + 1
OPTIONS = [*QUICK[:WAITS], str(DELAY_MS), *QUICK[WAITS + 1:]]


class Both:
    """A server of Pawl and the two Spring applications, on one broker."""

    def __init__(self, kafka, world):
        self.world, self.queue, self.group = world, world.queue.topic, world.queue.group
        self.retry = f'{self.queue}__{self.group}__retry_{DELAY_MS}'
        self.dead = f'{self.queue}__{self.group}__dlq'
        self.prefix = world.queue.prefix
        self.orders, self.plain, self.spring_dead = (f'{self.prefix}-{name}' for name in ('orders', 'plain', 'spring-dlt'))
        world.queue.make_topics(retry_ms=(DELAY_MS,))
        for topic in (self.orders, self.plain, self.spring_dead):
            kafka.make_topic(topic, 1)
        world.start_server()
        self.user, = world.rows("SELECT min(id) FROM users")[0]
        self.spring = spring.SpringRetries(world.folder, brokers=kafka.bootstrap, queue=self.queue, retry=self.retry, dead=self.dead,
                                           delay_ms=DELAY_MS, prefix=self.prefix)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.spring.close()

    def book(self, rider):
        """Returns the ride's receipt, a job that Spring has read from the queue."""
        ride = self.world.phone(rider).book(rider)
        check_equal(ride.status, 201, 'a ride')

        def receipt():
            return next((record for record in list(self.spring.records)
                         if record['topic'] == self.queue and record['headers'].get('ce_type') == 'send_receipt'
                         and json.loads(record['value'])['ride'] == ride.json['ride']), None)
        return wait_until(f'the receipt of {rider} in the queue, read by Spring', receipt, spring.PATIENCE_S)

    def add_points(self, topic, job, points):
        self.spring.send(topic, job, 'add_points', json.dumps({'user': self.user, 'points': points}))

    def points(self):
        return self.world.rows('SELECT sum(points) FROM users')[0][0]

    def dlq(self, *words):
        return self.world.rides_command('dlq', *words, '--database', self.world.url, *self.world.queue.options)

    def letters(self):
        return {letter['jid']: letter for letter in self.world.queue.letters()}


def place(record, group):
    """The origin of a job that this group first read there."""
    return [record['topic'], record['partition'], record['offset'], record['timestamp'], 'CreateTime', group]


def forms(record, *begins):
    """The names of such headers; for numbers, also their size in bytes."""
    return {name: len(value) if not value.isprintable() else 'text' for name, value in record['headers'].items()
            if name.startswith(begins)}


def spring_continues_ours(both):
    """A job that Pawl tries again, and one that it gives up. Returns the retry."""
    job = both.book('test_later')
    check_equal((job['attempts'], job['original'], job['due']), (None, [None] * 6, None), 'headers of Spring before a failure')
    retry = both.spring.wait_for(both.retry, job['key'])
    check_equal(retry['original'], place(job, both.group), 'the origin of our retry, by Spring')
    check_equal((retry['attempts'], retry['first_seen']), (2, job['timestamp']), 'attempts and time of our retry, by Spring')
    check_equal(retry['exception'], ['pawl.JobFailed', 'the mail server said 451'], 'the exception of our retry, by Spring')
    check(DELAY_MS <= retry['due'] - retry['timestamp'] <= 1.1 * DELAY_MS, f'when our retry is due, by Spring: {retry}')
    check(retry['read_at'] >= retry['due'], f'Spring waits until then: {retry}')
    given_up = both.spring.wait_for(both.spring_dead, job['key'])
    check_equal(given_up['original'], place(job, both.group), 'the origin that Spring keeps')
    check_equal((given_up['attempts'], given_up['first_seen']), (3, job['timestamp']), "Spring's attempts after ours")

    job = both.book('test_refused')
    dead = both.spring.wait_for(both.dead, job['key'])
    check_equal(dead['original'], place(job, both.group), 'the origin of our dead letter, by Spring')
    check_equal((dead['attempts'], dead['due'], dead['first_seen']), (2, None, job['timestamp']), 'numbers of our dead letter, by Spring')
    check_equal(dead['exception'], ['pawl.JobFailed', 'the mail server refused it: 550'], 'the exception of our dead letter, by Spring')
    return retry


def we_continue_springs(both, ours):
    """A retry of Spring, its dead letter, and a record that it gave up into the queue."""
    wait_until('the points of two rides', lambda: both.points() == RIDES_POINTS)
    both.add_points(both.orders, 'order-1', 7)
    both.add_points(both.orders, 'fatal-2', 500)
    both.spring.send(both.plain, 'plain-3', 'send_receipt', ours['value'])

    retry = both.spring.wait_for(both.retry, 'order-1')
    wait_until('the points of an order that Spring could not work', lambda: both.points() == RIDES_POINTS + 7)
    check_equal((retry['original'][0], retry['attempts']), (both.orders, 2), "Spring's retry")
    families = ('kafka_original-', 'kafka_dlt-original-', 'retry_topic-')
    check_equal(forms(ours, *families), forms(retry, *families), 'names and sizes of headers in our retry and in one of Spring')

    letter = wait_until("Spring's dead letter", lambda: both.letters().get('fatal-2'))
    check_equal((letter['kind'], letter['queue']), ('add_points', 'default'), 'of a dead letter of Spring')
    check('no such order' in letter['error'], f'its error: {letter}')
    shown = json.loads(both.dlq('show', letter['id'], '--json').stdout)
    check_equal((shown['failures'], shown['args']), (1, {'user': both.user, 'points': 500}), 'its failures and arguments')
    both.dlq('merge', letter['id'], '--reason', 'there is one now', '--by', 'ann')
    wait_until('its points after a merge', lambda: both.points() == RIDES_POINTS + 507)
    merged = both.spring.wait_for(both.queue, 'fatal-2')
    check_equal((merged['original'][0], merged['original'][5]), (both.orders, f'{both.prefix}-fails'), 'its origin after a merge')

    given_up = both.spring.wait_for(both.queue, 'plain-3')
    retry = both.spring.wait_for(both.retry, 'plain-3')
    names = [name for name in given_up['headers'] if name.startswith('kafka_dlt-original-')]
    check_equal(len(names), 6, f'headers of its origin: {names}')
    check_equal((retry['original'][0], retry['original'][5]), (both.plain, f'{both.prefix}-plain'), 'the origin of our retry of it')
    for name in names:
        kept = name if name.endswith('group') else name.replace('dlt-', '')
        check_equal(retry['headers'].get(kept), given_up['headers'][name], f'{kept} in our retry of a record from Spring')
    check(not [name for name in retry['headers'] if 'stacktrace' in name], f'no stack trace of another failure: {list(retry["headers"])}')
    wait_until('its mail', lambda: any('plain-3' in mail['message_id'] for mail in both.world.mails()))


def run(settings):
    with cluster() as kafka, World(settings.bin, OPTIONS, queue=lambda world: OnRealKafka(world, kafka)) as world:
        with Both(kafka, world) as both:
            ours = spring_continues_ours(both)
            we_continue_springs(both, ours)


def cases(settings):
    if not settings.everything:
        return []
    instead = unless_missing(settings, 'spring kafka', spring.missing)
    if instead is not None:
        return instead
    return [('real kafka: Spring Kafka and Pawl continue retries of each other', lambda: run(settings))]
