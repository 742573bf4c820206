"""The Kafka queue on real brokers (kafka_broker.py); the other cases use librdkafka's mock cluster.

They need Java and the broker that `tools/kafka fetch` gets, which --full calls itself; without them, the runner says that they
are missing. Most make the topics first, as production does; a worker may also create them (docs/howto/kafka.md).
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

import kafka_broker
from dead_letter_cases import ACTS, killed_outside
from kafka_broker import RealKafka
from kill_cases import QUICK, SLOW, Day, killed_at
from outage_cases import days_under_outages, it_is_away_at_the_start
from ports import free_port
from queues import OnRealKafka
from world import World, check, check_equal, wait_until

FETCH = os.path.join(kafka_broker.ROOT, 'tools', 'kafka')
RIDES = 60
WORKERS = 16   # The default.
SAMPLE = {'a ride on one broker', 'SIGKILL of the leader of three brokers in the middle of pushes'}
POINTS = ('kafka.push.before', 'kafka.push.after', 'kafka.take.after', 'kafka.finish.before', 'kafka.finish.after',
          'kafka.reschedule.before', 'kafka.reschedule.after', 'kafka.dead_letter.before', 'kafka.dead_letter.after')
DATABASES = ('sqlite',)   # It does not matter here.


@contextlib.contextmanager
def cluster(brokers=1, sasl=False, **settings):
    """Ends with the case."""
    folder = tempfile.mkdtemp(prefix='pawl-kafka-')
    try:
        with RealKafka(folder, brokers, [free_port() for _ in range(2 * brokers)], sasl,
                       {name.replace('_', '.'): value for name, value in settings.items()}, tied=True) as kafka:
            yield kafka
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def with_topics(kafka):
    """A world's queue whose topics are there before its server starts."""
    def queue(world):
        made = OnRealKafka(world, kafka)
        made.make_topics()
        return made
    return queue


def with_topics_kept_for(milliseconds):
    """The same, of a cluster, with a retention that is too short."""
    def of(kafka):
        def queue(world):
            made = OnRealKafka(world, kafka)
            made.make_topics(retention_ms=milliseconds, segment_ms=1_000)
            return made
        return queue
    return of


def a_ride(settings):
    """Its two jobs go through the broker, and are done once; the worker has created its topics."""
    with cluster() as kafka, World(settings.bin, QUICK, queue=lambda world: OnRealKafka(world, kafka)) as world:
        check_equal(kafka.topics(), {}, 'topics before')
        day = Day(world)
        day.start()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        day.wait('the receipt', lambda: len(world.mails()) == 1)
        day.wait('the points', lambda: day.points() == 20)
        wait_until('no staged jobs', lambda: world.queue.waiting() == 0)
        check_equal(kafka.records(world.queue.topic), 2, 'records of the queue')
        check_equal(world.queue.dead(), 0, 'dead letters')
        retries = [topic for topic in kafka.topics() if '__retry_' in topic]
        check(retries, f'retry topics among {sorted(kafka.topics())}')
        check_equal(sum(map(kafka.records, retries)), 0, 'records in the retry topics')
        check_equal(world.stop_server(), 0, 'the exit code')
        day.start()   # What was done does not come again.
        check_equal(world.phone().book('k2').status, 201, 'another ride')
        day.wait('its receipt', lambda: len(world.mails()) >= 2)
        day.wait('its points', lambda: day.points() == 40)
        check_equal(len(world.mails()), 2, 'receipts')


def days(settings):
    """With retries, dead letters and repeats."""
    with cluster() as kafka, World(settings.bin, QUICK, queue=with_topics(kafka)) as world:
        day = Day(world)
        day.start()
        for n in range(2):
            day.live(n)
        day.check_all(2)


class Rider(threading.Thread):
    """Books rides one after the other, each until it has a final answer."""

    def __init__(self, day, name):
        super().__init__()
        self.day, self.rides, self.failed = day, 0, None
        self.name = name

    def run(self):
        try:
            for n in range(RIDES // 2):
                answer = self.day.ask(f'{self.name}-{n}', lambda n=n: self.day.world.phone().book(f'{self.name}-{n}'))
                check_equal(answer.status, 201, 'a ride')
                self.rides += 1
        except Exception as error:   # Raised again in the waiting thread.
            self.failed = error


def the_leader_dies(settings):
    """SIGKILL of the broker that leads the topic, in the middle of pushes: another leads it, and no job is lost.

    Jobs with a transaction have one effect. If the dead broker was the group's coordinator too, the group is formed anew, once or
    twice, while mails are sent, and these are sent again, under the same id.
    """
    with cluster(3) as kafka, World(settings.bin, QUICK, queue=with_topics(kafka)) as world:
        day = Day(world)
        day.start()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        day.wait('its receipt', lambda: len(world.mails()) == 1)
        topic = world.queue.topic
        for partition, (_, in_sync) in kafka.topics()[topic].items():
            check_equal(len(in_sync), 3, f'in-sync replicas of partition {partition}')
        riders = [Rider(day, f'rider-{i}') for i in range(2)]
        for rider in riders:
            rider.start()
        wait_until('pushes', lambda: sum(rider.rides for rider in riders) >= RIDES // 3)
        leader = kafka.leader(topic)
        kafka.kill(leader)
        killed = time.monotonic()
        for rider in riders:
            rider.join()
            if rider.failed:
                raise rider.failed
        booked = 1 + RIDES
        day.wait('all jobs to be pushed', lambda: world.queue.waiting() == 0)
        day.wait('the points', lambda: day.points() == 20 * booked)
        day.wait('the receipts', lambda: len({mail['message_id'] for mail in world.mails()}) == booked)
        print(f'    {booked} rides done {time.monotonic() - killed:.1f} s after the death of broker {leader}; '
              f'{kafka.records(topic)} records, {len(world.mails())} mails', flush=True)
        check(kafka.leader(topic) != leader, 'another broker leads the topic')
        kafka.restart(leader)
        wait_until('it to be in sync again', lambda: all(
            len(in_sync) == 3 for _, in_sync in kafka.topics()[topic].values()), 60 * SLOW)
        check_equal(day.points(), 20 * booked, 'points')
        check_equal(len({mail['message_id'] for mail in world.mails()}), booked, 'receipts')
        check(len(world.mails()) <= booked + 2 * WORKERS, f'{len(world.mails())} mails: more than were in flight')
        check_equal(world.queue.dead(), 0, 'dead letters')


def outages(settings):
    with cluster() as kafka:
        days_under_outages(settings, with_topics(kafka), 2, 9 * SLOW, settings.seed)


def away_at_the_start(settings):
    with cluster() as kafka:
        it_is_away_at_the_start(settings, lambda world: OnRealKafka(world, kafka))


def under_rules(settings):
    """SASL/PLAIN, and an authorizer that at first allows nothing: the server says so, and goes on when it may."""
    with cluster(sasl=True) as kafka:
        closed = lambda world: OnRealKafka(world, kafka, kafka_broker.USER, may=False)
        with World(settings.bin, QUICK, queue=closed) as world:
            day = Day(world)
            day.start()
            check_equal(world.phone().book('k').status, 201, 'a ride that waits for its rules')
            for refusal in ('Topic authorization failed', 'Group authorization failed'):
                wait_until(f'"{refusal}" in the log', lambda refusal=refusal: any(
                    'PAWL0020' in line and refusal in line for line in world.log().split('\n')), 60 * SLOW)
            check_equal(world.count('pawl_staged_jobs'), 2, 'jobs that wait in the database')
            world.queue.allow()
            day.wait('the receipt', lambda: len(world.mails()) == 1)
            day.wait('the points', lambda: day.points() == 20)


def with_least_rules(settings):
    """Topics made by the server, retries, dead letters, and their listing, under the rules that docs/howto/kafka.md names."""
    with cluster(sasl=True) as kafka:
        with World(settings.bin, QUICK, queue=lambda world: OnRealKafka(world, kafka, kafka_broker.USER)) as world:
            day = Day(world)
            day.start()
            day.live(0)
            day.check_all(1)
            check('authorization' not in world.log(), f'no refusal in {world.log()[-600:]}')


def a_wrong_password(settings):
    with cluster(sasl=True) as kafka:
        wrong = lambda world: OnRealKafka(world, kafka, (kafka_broker.USER[0], 'wr0ng-one'), may=False)
        with World(settings.bin, QUICK, queue=wrong) as world:
            day = Day(world)
            day.start()
            check_equal(world.phone().booked('k').status, 201, 'a ride')
            wait_until('the refusal in the log', lambda: 'Authentication failed' in world.log(), 60 * SLOW)
            wait_until('the outage in the log', lambda: 'PAWL0020' in world.log(), 60 * SLOW)
            check('wr0ng-one' not in world.log(), 'the password is not in the log')


def retention(settings):
    """Kafka removes jobs that no server worked in time: the server says so, and works those that came later."""
    short = with_topics_kept_for(2_000)
    with cluster(log_retention_check_interval_ms=500) as kafka, World(settings.bin, QUICK, queue=short(kafka)) as world:
        day = Day(world)
        day.start()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        day.wait('its receipt', lambda: len(world.mails()) == 1)
        day.wait('its points', lambda: day.points() == 20)
        topic = world.queue.topic
        world.rides_command('queues', 'pause', '--reason', 'the mail server is down', '--by', 'ann', '--database', world.url)
        time.sleep(1)
        check_equal(world.phone().book('removed').status, 201, 'a ride whose jobs wait too long')
        wait_until('its jobs to be pushed', lambda: world.queue.waiting() == 0)
        check_equal(world.stop_server(), 0, 'the exit code')
        check_equal(kafka.records(topic), 4, 'records of the two rides')
        wait_until('Kafka to remove them', lambda: kafka.removed(topic) == 4, 60 * SLOW)
        world.rides_command('queues', 'resume', '--reason', 'it is up', '--by', 'ann', '--database', world.url)
        world.start_server()
        check_equal(world.phone().book('later').status, 201, 'a ride after that')
        day.wait('its receipt', lambda: len(world.mails()) == 2)
        day.wait('its points', lambda: day.points() == 40)
        wait_until('the loss in the log', lambda: world.log().count('PAWL0023') > 0, 30 * SLOW)
        lost = re.findall(rf'PAWL0023: Kafka has removed up to (\d+) records of {re.escape(topic)}\[', world.log())
        check_equal(sum(map(int, lost)), 2, f'records that it reports as removed: {lost}')


def a_death_at(settings, point):
    with cluster() as kafka:
        killed_at(settings, point, 1, with_topics(kafka))


def letters(settings, act):
    with cluster() as kafka:
        killed_outside(settings, with_topics(kafka), act)


def unless_missing(settings, what, missing):
    """None if its programs are there; --full fetches them. Otherwise the cases to run instead."""
    why = missing()
    if why and settings.everything:
        fetched = subprocess.run([FETCH, 'fetch'], capture_output=True, text=True)
        why = missing()
        if why:
            return [(f'{what}: its programs are there', lambda: check(False, f'{why}\n{fetched.stdout}{fetched.stderr}'))]
    if why:
        print(f'skipped: the cases with a {what}: {why}', flush=True)
        return []
    return None


def cases(settings):
    instead = unless_missing(settings, 'real kafka', kafka_broker.missing)
    if instead is not None:
        return instead
    found = [('real kafka: ' + name, lambda run=run: run(settings)) for name, run in {
        'a ride on one broker': a_ride,
        'days with retries and dead letters on one broker': days,
        'SIGKILL of the leader of three brokers in the middle of pushes': the_leader_dies,
        'the broker is killed and restarted': outages,
        'the broker is away when the server starts': away_at_the_start,
        'access rules that come later': under_rules,
        'SASL and the least access rules': with_least_rules,
        'a wrong password': a_wrong_password,
        'retention removes jobs': retention,
    }.items() if settings.everything or name in SAMPLE]
    if not settings.everything:
        return found
    found += [(f'real kafka: kill -9 at {point}, twice in a row', lambda point=point: a_death_at(settings, point))
              for point in POINTS]
    return found + [(f'real kafka: kill -9 of the command at each point, {act}', lambda act=act: letters(settings, act)) for act in ACTS]
