"""The external queue fails while the server runs: no job is lost, and no effect on our data is doubled."""
import random
import threading
import time

from kill_cases import QUICK, SLOW, Day
from world import World, check, check_equal, wait_until

OUTAGES = {'sample': 2, 'full': 5, 'long': 30}   # For a Redis; outages of Kafka's brokers take longer.


class Outages(threading.Thread):
    """Stops and restarts the queue `times` times, at random intervals."""

    def __init__(self, day, random, count, longest_s):
        super().__init__()
        self.day, self.random, self.count, self.longest_s = day, random, count, longest_s
        self.failed = None

    def run(self):
        queue = self.day.world.queue
        try:
            for _ in range(self.count):
                time.sleep(self.random.uniform(0.05, 0.8) * SLOW)
                queue.go_away()
                self.day.outages += 1
                time.sleep(self.random.uniform(0.05, self.longest_s))
                queue.come_back()
        except Exception as error:   # Raised again in the waiting thread.
            self.failed = error

    def join_well(self):
        self.join()
        if self.failed:
            raise self.failed


def days_under_outages(settings, queue, count, longest_s, seed):
    with World(settings.bin, QUICK, queue=queue) as world:
        day = Day(world)
        day.start()
        outages = Outages(day, random.Random(seed), count, longest_s)
        outages.start()
        days = 0
        while outages.is_alive():
            day.live(days)
            days += 1
        outages.join_well()
        day.live(days)
        day.check_all(days + 1)
        check_equal(day.outages, count, 'outages')


def it_is_away_at_the_start(settings, queue):
    word = {'redis': 'queue_unreachable', 'kafka': 'PAWL0020'}
    with World(settings.bin, QUICK, queue=queue) as world:
        world.queue.go_away()
        day = Day(world)
        day.start()
        check_equal(world.phone().book('k').status, 201, 'a ride while the queue is away')
        wait_until('the outage in the log', lambda: word[world.queue.name] in world.log(), 30 * SLOW)
        check_equal(world.count('pawl_staged_jobs'), 2, 'jobs that wait in the database')
        check_equal(world.phone().book('k').status, 201, 'a repeat')
        world.queue.come_back()
        day.wait('the receipt', lambda: len(world.mails()) == 1)
        day.wait('the points', lambda: day.points() == 20)
        wait_until('no staged jobs', lambda: world.count('pawl_staged_jobs') == 0)


def it_throws_jobs_away(settings):
    """A Redis that evicts keys is refused at the start, with the setting to change."""
    with World(settings.bin, QUICK, queue='redis') as world:
        world.queue.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
        check(not world.start_server(), 'the server does not start')
        log = world.log('serve')
        for word in ('PAWL0011', 'allkeys-lru, and must be noeviction'):
            check(word in log, f'{word} in {log[-600:]}')
        world.queue.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
        day = Day(world)
        day.start()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        day.wait('the receipt', lambda: len(world.mails()) == 1)


def it_hangs_past_every_limit(settings):
    """A push without an answer is in doubt: it is sent again, and its jobs are there once."""
    with World(settings.bin, QUICK, queue='redis') as world:
        day = Day(world)
        day.start()
        check_equal(world.phone().booked('before').status, 201, 'a ride')
        wait_until('its jobs to be done', lambda: world.queue.waiting() == 0 and len(world.mails()) == 1)
        world.queue.hang()
        day.outages += 1
        began = time.monotonic()
        for i in range(5):
            check_equal(world.phone().book(f'k-{i}').status, 201, 'a ride while Redis hangs')
        check(time.monotonic() - began < 5 * SLOW, 'rides do not wait for the queue')
        wait_until('the enqueuer to give up', lambda: '"service":"enqueuer"' in world.log(), 30 * SLOW)
        world.queue.go_on()
        day.wait('the points', lambda: day.points() == 6 * 20)
        day.wait('all to be done', lambda: world.queue.waiting() == 0)
        receipts = [mail['message_id'] for mail in world.mails()]
        check_equal(len(set(receipts)), 6, 'receipts by id')
        check_equal(world.queue.dead(), 0, 'dead jobs')


def cases(settings):
    count = OUTAGES[settings.mode]
    brokers = max(1, count // 3)
    found = []
    for _ in range(2 if settings.everything else 1):
        seed = settings.random.randrange(10**6)
        found.append((f'outage: Redis is killed and restarted {count} times, seed {seed}',
                      lambda seed=seed: days_under_outages(settings, 'redis', count, 1.5 * SLOW, seed)))
    seed = settings.random.randrange(10**6)
    # Up to longer than the session time-out of a silent member.
    found.append((f'outage: the brokers of kafka go down and up {brokers} times, seed {seed}',
                  lambda: days_under_outages(settings, 'kafka', brokers, 9 * SLOW, seed)))
    found += [(f'outage: {queue} is away when the server starts', lambda queue=queue: it_is_away_at_the_start(settings, queue))
              for queue in ('redis', 'kafka')]
    found.append(('outage: a Redis that throws jobs away is refused', lambda: it_throws_jobs_away(settings)))
    found.append(('outage: Redis hangs past every limit', lambda: it_hangs_past_every_limit(settings)))
    return found
