"""kill -9 at every fault point that a day at Rocket Rides reaches, twice in a row; then all results must be right.

The points are not listed here: a first day runs with PAWL_FAULT_LOG, and the points that it reached are the ones to kill
at. A point in the sources that no day reaches is a failure, too.
"""
import collections
import concurrent.futures
import os
import re
import tempfile
import time

from phone import HERE_TO_THERE
from queues import QUEUES
from stores import STORES, NoTables
from world import KILLED, NotSo, World, check, check_equal, wait_until

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src')
SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
QUICK = ['--lease-ms', str(int(1500 * SLOW)), '--phase-deadline-ms', str(int(450 * SLOW)), '--complete-after-ms', '100',
         '--job-lease-ms', str(int(1500 * SLOW)), '--job-timeout-ms', str(int(1000 * SLOW)),
         '--retry-after-ms', '100,100,100,100,100,100',
         '--rider', 'test_unsure 503once@example.com', '--rider', 'test_refused no@refused.example',
         '--rider', 'test_later late@later.example', '--rider', 'test_poor declined@example.com']
TRIES_MAX = 200
DAYS_MAX = 4
BOOKED = 6   # Rides of a day: plain, other, unsure, refused, later, dropped.


class Day:
    """One day at Rocket Rides. Every request is repeated under its key, over any number of deaths, until it is final."""

    def __init__(self, world, faults=()):
        self.world = world
        self.faults = list(faults)   # One for each start of the server; after them, none.
        self.deaths = 0
        self.outages = 0   # Of the queue: work at that time may be repeated.
        self.at_work = set()   # Jobs that were running at a death: their mail may be sent twice.
        self.finals = {}

    def start(self):
        while not self.world.start_server(fault=self.faults.pop(0) if self.faults else None):
            self.note_death()

    def note_death(self):
        check_equal(self.world.server.returncode, KILLED, f'how the server ended: {self.world.log()[-600:]}')
        self.deaths += 1
        try:
            self.at_work |= {jid for (jid,) in self.world.rows("SELECT jid FROM pawl_jobs WHERE state = 'running'")}
        except NoTables:
            pass

    def re_execute(self):
        """Starts the server again if it is dead."""
        if self.world.server.poll() is not None:
            self.note_death()
            self.start()

    def ask(self, name, send):
        """Sends until the answer is final; the first and all later final answers under a name are the same."""
        for _ in range(TRIES_MAX):
            self.re_execute()
            try:
                answer = send()
            except OSError:
                wait_until('the server to die or answer', lambda: self.world.dead() or self.world.answers())
                continue
            if answer.status not in (409, 500, 502, 503):
                first = self.finals.setdefault(name, (answer.status, answer.body))
                check_equal((answer.status, answer.body), first, f'a repeat of {name}')
                return answer
            then = time.monotonic() + 0.02
            wait_until('a moment later', lambda: time.monotonic() > then)
        raise NotSo(f'{name} has no final answer after {TRIES_MAX} tries: {answer}')

    def wait(self, what, condition):
        """Like wait_until, but restarts the server after deaths."""
        def alive_and_true():
            self.re_execute()
            try:
                return condition()
            except OSError:
                return False
        wait_until(what, alive_and_true, self.world.queue.patience_s * SLOW)

    def live(self, n):
        phone, joe, support = (self.world.phone(token) for token in ('test_jane', 'test_joe', 'test_support'))
        book = lambda who, key: self.ask(key, lambda: who.book(key))
        plain = book(phone, f'plain-{n}')
        check_equal(plain.status, 201, 'a plain ride')
        book(phone, f'plain-{n}')
        other = book(joe, f'other-{n}')
        ride, free = plain.json['ride'], other.json['ride']
        self.ask(f'refund 1 {ride}', lambda: phone.refund(ride, 500))
        self.ask(f'refund 1 {ride}', lambda: support.refund(ride, 500))
        self.ask(f'refund {ride}', lambda: phone.refund(ride))
        self.ask(f'refund {ride}', lambda: support.refund(ride))
        self.ask(f'cancel {free}', lambda: joe.cancel(free))
        self.wait('the new user', lambda: phone.put_user(f'new-{n}@example.com').status == 200)
        check_equal(book(self.world.phone('test_poor'), f'poor-{n}').status, 402, 'a declined card')
        book(self.world.phone('test_unsure'), f'unsure-{n}')
        book(self.world.phone('test_refused'), f'refused-{n}')
        book(self.world.phone('test_later'), f'later-{n}')
        self.drop(f'dropped-{n}')
        self.wait('all keys to be settled', lambda: self.world.unsettled() == 0)
        try:
            self.wait('all jobs to be done', lambda: self.jobs_done(n + 1))
        except NotSo as error:
            raise NotSo(f'{error}: {self.left(n + 1)}') from None
        book(phone, f'dropped-{n}')

    def jobs_done(self, days):
        """Checks jobs by their effects, as not every queue can be inspected; where it can, it must be empty."""
        receipts = {mail['message_id'] for mail in self.world.mails()}
        return (self.world.queue.waiting() == 0 and len(receipts) == 5 * days and self.points() == 20 * BOOKED * days
                and self.world.queue.dead() == days)

    def left(self, days):
        receipts = collections.Counter(mail['message_id'] for mail in self.world.mails())
        queue = self.world.queue
        return (f'{queue.waiting()} wait, {len(receipts)} of {5 * days} receipts, {self.points()} of {20 * BOOKED * days} points, '
                f'{queue.dead()} of {days} dead: {queue.letters()}; the log: {self.world.log()[-1500:]}')

    def points(self):
        return self.world.rows('SELECT sum(points) FROM users')[0][0]

    def drop(self, key):
        """Sends a request and disconnects; sends it again only if it was not started."""
        begun = lambda: self.world.count('pawl_idempotency_keys', f"idempotency_key = '{key}'")

        def sent_and_begun():
            self.re_execute()
            try:
                self.world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, key)
                wait_until('it to begin', lambda: begun() or self.world.dead(), 5 * SLOW)
            except (OSError, NotSo):
                pass
            return begun()
        wait_until(f'{key} to begin', sent_and_begun)

    def check_all(self, days):
        """No effect is doubled or lost, and no work is left."""
        world = self.world
        charges = collections.Counter(line['key'] for line in world.ledger() if line['kind'] == 'charge')
        check_equal(sorted(charges.values()), [1] * (BOOKED * days), 'charges by key')
        check_equal(sorted(line['amount'] for line in world.ledger('refund')), [500] * days + [1500] * days, 'refunds')
        states = dict(world.rows('SELECT state, count(*) FROM rides GROUP BY state'))
        check_equal(states, {'refunded': days, 'cancelled': days, 'refused': days, 'booked': 4 * days}, 'rides')
        check_equal(world.unsettled(), 0, 'unsettled keys')
        check_equal(world.queue.waiting(), 0, 'jobs left')
        check_equal(world.queue.dead(), days, 'dead jobs: the refused mails')
        check_equal(world.count('users', "email LIKE 'new-%'"), days, 'users made')
        check_equal(world.count('audit_records', "resource_type = 'user'"), days, 'audit rows of them')
        check_equal(self.points(), 20 * BOOKED * days, 'points, one for each dollar')
        mails = collections.Counter(mail['message_id'].strip('<>').split('@')[0] for mail in world.mails())
        check_equal(len(mails), 5 * days, 'receipts by Message-ID')
        # At most one repeat for each kill, with the same id; where it is known which jobs were running, only those. On a busy
        # machine a mail server may take longer than a job may: that try failed, but its mail may have been sent.
        troubles = self.deaths + self.outages
        log = world.log().split('\n')
        for jid, count in mails.items():
            told = [line for line in log if jid in line]
            in_doubt = sum('"job_failed"' in line and '451' not in line or '"job_lost"' in line for line in told)
            # A Kafka job that was moved to its retry topic when its worker died is in both topics (docs/howto/kafka.md): the
            # next death may repeat both. Seen once: four receipts after two deaths.
            copies = 2 if world.queue.name == 'kafka' and any('"job_failed"' in line for line in told) else 1
            check(count <= copies * (1 + troubles) + in_doubt,
                  f'{jid}: {count} receipts, {copies} copies, {troubles} troubles, {in_doubt} tries in doubt: {told}')
        twice = {jid for jid, count in mails.items() if count > 1}
        if world.queue.name == 'embedded':
            check(twice <= self.at_work, f'receipts sent twice that no kill explains: {twice - self.at_work}')
        check(troubles or not twice, f'receipts sent twice without a kill: {twice}')


def reached(bin_folder, queue='embedded'):
    """Runs a day without a death; returns how often each point was reached."""
    with World(bin_folder, QUICK, queue=queue) as world:
        log = os.path.join(world.folder, 'faults')
        day = Day(world)
        world.start_server(fault_log=log)
        day.live(0)
        check_equal(world.stop_server(), 0, 'the exit code')
        day.check_all(1)
        with open(log, encoding='utf-8') as file:
            return collections.Counter(file.read().split('\n')[:-1])


def killed_at(settings, point, hit, queue='embedded'):
    with World(settings.bin, QUICK, queue=queue) as world:
        day = Day(world, [f'{point}:{hit}:kill9', f'{point}:1:kill9'])
        day.start()
        days = 0
        while day.deaths < 2 and days < DAYS_MAX:   # A point near the end of a day is reached again on the next.
            day.live(days)
            days += 1
        day.live(days)
        day.check_all(days + 1)
        check_equal(day.deaths, 2, 'deaths')
        world.check_invariants()


def reaped(bin_folder, faults=(), log=None):
    """Old keys are reaped in spite of deaths: their registry rows stay, and a late repeat gets 410."""
    with World(bin_folder, QUICK) as world:
        day = Day(world, ['', *faults])
        day.start()
        for i in range(3):
            day.ask(f'old-{i}', lambda i=i: world.phone().book(f'old-{i}'))
        world.settle()
        world.stop_server()
        world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z'")
        if log:
            world.start_server(fault_log=log)
        else:
            day.start()
        day.wait('the old keys to go', lambda: world.count('pawl_idempotency_keys') == 0)
        wanted = len(faults)
        day.wait('the deaths', lambda: day.deaths == wanted)
        for i in range(3):
            day.wait('410', lambda i=i: world.phone().book(f'old-{i}').status == 410)
        check_equal(len(world.ledger()), 3, 'charges')
        check_equal(world.count('pawl_key_registry', "state = 'expired'"), 3, 'expired keys in the registry')


def reached_by_reaper(bin_folder):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'faults')
        reaped(bin_folder, log=log)
        with open(log, encoding='utf-8') as file:
            return collections.Counter(file.read().split('\n')[:-1])


def in_sources():
    found = set()
    for folder, _, files in os.walk(SOURCES):
        for name in files:
            if name.endswith('.cpp') and not name.endswith('_test.cpp'):
                with open(os.path.join(folder, name), encoding='utf-8') as file:
                    found |= set(re.findall(r'PAWL_FAULT\("([^"]+)"\)', file.read()))
    return found


def all_points_are_reached(*counters):
    # The outbox runs in callers of Rocket Rides: tests/outbox kills it. Rocket Rides has no periodic job: periodic_cases.py kills a
    # server that has one. Nor has it SFTP: payouts_cases.py.
    others = ('outbox.', 'scheduler.', 'sftp.', *(f'{name}.' for name in STORES if name != World.database))
    never = {point for point in in_sources() if not point.startswith(others)} - set().union(*counters)
    check(not never, f'fault points that no day reaches: {sorted(never)}; live them in a case')


def cases_of_queue(settings, queue, day):
    """Only the points that concern jobs; the others are covered with the embedded queue."""
    points = sorted(point for point in day if point.startswith(('enqueuer.', 'worker.', f'{queue}.')))
    # A day with Kafka is long.
    some = {'sample': 3, 'full': 8 if queue == 'kafka' else len(points)}.get(settings.mode, len(points))
    points = sorted(settings.random.sample(points, some))
    # The queue does not depend on the database: with the second one, the last hit is enough.
    first = -1 if settings.mode == 'full' and World.database == 'postgres' else 0
    return [(f'kill -9 with {queue}: {point}, hit {hit} of {day[point]}, twice in a row',
             lambda point=point, hit=hit: killed_at(settings, point, hit, queue))
            for point in points for hit in hits_for(settings, day[point])[first:]]


def hits_for(settings, count):
    """Which of a point's hits to kill at."""
    if settings.mode == 'long':
        return range(1, count + 1)
    if settings.mode == 'full':
        return sorted({1, (count + 1) // 2, count})
    return [settings.random.randint(1, count)]


def cases(settings):
    import dead_letter_cases
    import jobs_cases
    import never_cases
    import router_cases
    with concurrent.futures.ThreadPoolExecutor() as pool:   # Each has a world of its own.
        day = pool.submit(reached, settings.bin)
        reaping = pool.submit(reached_by_reaper, settings.bin)
        doubt = pool.submit(never_cases.reached, settings.bin)
        letters = pool.submit(dead_letter_cases.reached, settings.bin)
        outside = {queue: pool.submit(reached, settings.bin, queue) for queue in QUEUES if queue != 'embedded'}
    day, reaping, doubt, letters = (rehearsal.result() for rehearsal in (day, reaping, doubt, letters))
    outside = {queue: rehearsal.result() for queue, rehearsal in outside.items()}
    died_at = {point for queue in dead_letter_cases.OUTSIDE for act in dead_letter_cases.ACTS
               for point in dead_letter_cases.points_outside(queue, act)}
    died_at |= {point for act in jobs_cases.STEERS for point in jobs_cases.steering_points(act)}
    died_at |= {*router_cases.ASKING, *router_cases.NEXT_CALL}
    found = [('kill -9: every fault point of the sources is reached',
              lambda: all_points_are_reached(day, reaping, doubt, letters, died_at, *outside.values()))]
    for queue, its_day in outside.items():
        found += cases_of_queue(settings, queue, its_day)
    points = sorted(day)
    if settings.mode == 'sample':
        points = sorted(settings.random.sample(points, 8))
    for point in points:
        for hit in hits_for(settings, day[point]):
            found.append((f'kill -9: {point}, hit {hit} of {day[point]}, twice in a row',
                          lambda point=point, hit=hit: killed_at(settings, point, hit)))
    for point in sorted(name for name in reaping if name.startswith(('reaper.', f'{World.database}.'))):
        found.append((f'kill -9 while reaping: {point}, twice in a row',
                      lambda point=point: reaped(settings.bin, [f'{point}:1:kill9', f'{point}:1:kill9'])))
    return found
