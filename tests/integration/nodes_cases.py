"""Several servers on one PostgreSQL database: the promises of one server hold for three, even if one dies, hangs or restarts."""
import collections
import concurrent.futures
import json
import os
import random
import threading
import time

from lost_jobs import jobs_at_work, keep_lost_jobs, lost_jobs
from never_cases import Doubtful
from race_cases import at_once
from world import KILLED, WAIT_S, NotSo, World, check, check_equal, wait_until

DATABASES = ('postgres',)
SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))


def ms(milliseconds):
    return str(int(milliseconds * SLOW))


QUICK = ['--lease-ms', ms(1500), '--phase-deadline-ms', ms(500), '--job-lease-ms', ms(3000), '--job-timeout-ms', ms(2000),
         '--retry-after-ms', '200,200,200,200,200,200']
NEVER = 600_000   # For --complete-after-ms: only clients continue dropped requests.
LONGER_THAN_LEASES_S = 3.3 * SLOW
LONG_LEASE_MS = 5000   # For cases that look at what a paused node holds.
# Points where an attempt may be paused. Before the claim's commit only the client knows of it.
POINTS = ['engine.claim.before', 'engine.phase.after', 'engine.claim.after', 'engine.call.before', 'engine.call.after',
          'engine.keep.before', 'engine.keep.inside', 'engine.keep.after', 'engine.answer.before', 'http.response.before']
# The same for a worker.
JOB_POINTS = ['queue.take.before', 'queue.take.after', 'worker.call.before', 'worker.call.after', 'worker.tx.inside',
              'queue.finish.before', 'queue.finish.after']


def several(settings, delay_ms, *more, lease_ms=1500, complete_after_ms=200, kind=World):
    return kind(settings.bin, ['--lease-ms', ms(lease_ms), *QUICK[2:], '--complete-after-ms', str(complete_after_ms), *more],
                 provider_options=['--delay-ms', str(int(delay_ms))])


def booked(node, key, limit_s=None):
    """The final answer at a node."""
    def ask():
        answer = node.phone().book(key)
        check(answer.status in (201, 409, 503), f'{node.name} says {answer}')
        return answer if answer.status == 201 else None
    return wait_until(f'{key} at {node.name}', ask, limit_s)


def check_all(world, keys, at_work=()):
    """One of each for each key, consistent, and no work left. at_work: jobs whose mail may come twice."""
    world.settle()
    charges = collections.Counter(line['key'] for line in world.ledger())
    check_equal(sorted(charges.values()), [1] * keys, 'charges by key')
    check_equal(world.count('pawl_idempotency_keys', "status = 'finished'"), keys, 'finished keys')
    check_equal(world.count('rides'), keys, 'rides')
    agree = world.rows("SELECT r.stripe_charge_id AS ride, k.response_body::json->>'charge' AS told FROM rides AS r"
                       " JOIN pawl_idempotency_keys AS k ON k.id = r.idempotency_key_id WHERE r.state = 'booked'")
    ids = sorted(line['id'] for line in world.ledger())
    check_equal(sorted(ride for ride, _ in agree), ids, 'charges in the rides, and in the ledger')
    check_equal(sorted(told for _, told in agree), ids, 'charges in the answers, and in the ledger')
    check_equal(world.count('audit_records', "action = 'created' AND resource_type = 'ride'"), keys, 'audit rows of rides')
    check_equal(world.rows('SELECT sum(points) FROM users')[0][0], 20 * keys, 'points')
    check_equal(world.count('pawl_dead_jobs'), 0, 'dead jobs')
    mails = collections.Counter(mail['message_id'].strip('<>').split('@')[0] for mail in world.mails())
    check_equal(len(mails), keys, 'receipts by Message-ID')
    repeated = {jid for jid, count in mails.items() if count > 1} - set(at_work)
    said = [line for node in world.nodes for line in node.log().split('\n') if any(jid in line for jid in repeated)]
    # A worker says so if it may have sent a mail, or could not record that it has: a commit beyond its deadline, on a busy machine.
    odd = {jid for jid in repeated
           if not any(jid in line and ('the mail may be sent' in line or '"event":"job_lost"' in line) for line in said)}
    # A log holds back more than 20 like lines in 10 s, and counts them.
    held_back = sum(json.loads(line).get('repeated', 0) for node in world.nodes for line in node.log().split('\n')
                    if '"event":"job_failed"' in line or '"event":"job_lost"' in line)
    check(len(odd) <= held_back, f'receipts sent twice without a reason: {odd}, {said}; lines held back: {held_back}')
    return mails


class Riders:
    """Clients who book one ride after the other, each under keys of its own, at any node until the answer is final.

    An impatient one asks another node when one is silent for a second; a patient one uses the same keys as one of
    them, and waits: it gets the answer of a node that was paused during the request.
    """

    def __init__(self, world, seed, count=64, patient=0, timeout=WAIT_S):
        self.world, self.seed, self.lock = world, seed, threading.Lock()
        self.enough, self.given_up = threading.Event(), threading.Event()
        self.finals = {}   # By key: (status, body), the same for all clients.
        self.last = {}     # By key: the last answer or error that was not final.
        self.wrong = []
        self.lost = collections.Counter()     # Requests without an answer, by kind of error.
        self.at_work = set()
        self.pool = concurrent.futures.ThreadPoolExecutor(count + patient)
        timeouts = [timeout] * count + [WAIT_S] * patient
        self.lives = [self.pool.submit(self.live, i % count, random.Random(f'{seed} {i}'), one) for i, one in enumerate(timeouts)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.enough.set()
        if kind:
            self.given_up.set()
            for node in self.world.nodes:   # Paused nodes are not waited for.
                node.kill()
        self.pool.shutdown()
        for life in () if kind else self.lives:
            life.result()

    def live(self, name, chance, timeout):
        n = 0
        while not self.enough.is_set():
            self.ride(f'rider-{name}-{n}', chance, timeout)
            n += 1
            self.enough.wait(chance.random() * 0.5)   # Pauses, as riders make.

    def ride(self, key, chance, timeout):
        end = time.monotonic() + 2 * WAIT_S
        while not self.told(key, chance.choice(self.world.nodes), timeout) and not self.given_up.is_set():
            if time.monotonic() > end:
                raise NotSo(f'{key} has no final answer; the last: {self.last.get(key)}; requests without one: {dict(self.lost)}')
            time.sleep(chance.random() * 0.1)

    def told(self, key, node, timeout):
        """Whether it is final."""
        try:
            answer = node.phone(timeout=timeout).book(key)
        except OSError as error:
            with self.lock:
                self.lost[type(error).__name__ if error.errno else str(error)] += 1
                self.last[key] = error
            return False
        if answer.status in (409, 429, 503):   # All are one account: on a busy machine it may have too many in flight.
            with self.lock:
                self.last[key] = answer
            return False
        with self.lock:
            first = self.finals.setdefault(key, (answer.status, answer.body))
            if answer.status != 201 or first != (answer.status, answer.body):
                self.wrong.append(f'{key} at {node.name}: {answer}, and at first {first}')
        return True

    def go_on(self, rides):
        """Waits until so many more are settled."""
        wanted = len(self.finals) + rides
        wait_until(f'{rides} rides', lambda: len(self.finals) >= wanted or self.wrong, 2 * WAIT_S)
        check_equal(self.wrong, [], 'wrong answers')

    def note_jobs(self):
        self.at_work |= jobs_at_work(self.world)

    def check_all(self):
        check_equal(self.wrong, [], 'wrong answers')
        check_all(self.world, len(self.finals), self.at_work)
        for key in random.Random(self.seed).sample(sorted(self.finals), 5):
            for node in self.world.nodes:
                again = booked(node, key)
                check(again.replayed and (again.status, again.body) == self.finals[key], f'{key} at {node.name}: {again}')


def one_key(settings, delay_ms, kind=World):
    with several(settings, delay_ms, kind=kind) as world:
        world.start_nodes(3)
        for i in range(5):
            answers = at_once(64, lambda n, key=f'k-{i}': world.nodes[n % 3].phone().book(key))
            check({answer.status for answer in answers} <= {201, 409}, f'statuses {[a.status for a in answers]}')
            finals = {answer.body for answer in answers if answer.status == 201}
            check_equal(len(finals), 1, f'different final answers: {finals}')
        check_all(world, 5)


def one_user(settings, kind=World):
    """With a natural key there is no key row; only the application's own unique index decides."""
    with several(settings, 0, kind=kind) as world:
        world.start_nodes(3)
        for i in range(20):
            answers = at_once(24, lambda n, email=f'new-{i}@example.com': world.nodes[n % 3].phone().put_user(email))
            statuses = collections.Counter(answer.status for answer in answers)
            check_equal(set(statuses) | {503}, {200, 201, 503}, f'statuses: {[a for a in answers if a.status >= 400]}')
            check_equal(statuses[201], 1, f'creations: {statuses}')
        check_equal(world.count('users', "email LIKE 'new-%'"), 20, 'users')
        check_equal(world.count('audit_records', "resource_type = 'user'"), 20, 'audit rows of them')


def nodes_die(settings, seed, kind=World):
    with several(settings, 100, kind=kind) as world:
        world.start_nodes(3)
        keep_lost_jobs(world)
        with Riders(world, seed) as riders:
            for node in world.nodes:
                riders.go_on(50)
                node.kill()
                riders.note_jobs()
                riders.go_on(50)
                node.start()
                node.wait()
            riders.go_on(50)
        wait_until('the dead nodes to be noticed', lambda: world.count('pawl_servers') == 3)
        riders.at_work |= lost_jobs(world)
        riders.check_all()


FINISHED = "SELECT id, md5(k::text) AS content FROM pawl_idempotency_keys AS k WHERE status = 'finished'"
BOOKED = "SELECT id, md5(r::text) AS content FROM rides AS r WHERE state = 'booked'"


def nodes_hang(settings, seed, kind=World):
    """Each is paused for longer than its leases: other nodes have taken over its work when it wakes."""
    with several(settings, 300, kind=kind) as world:
        world.start_nodes(3)
        keep_lost_jobs(world)
        done = {FINISHED: {}, BOOKED: {}}
        with Riders(world, seed, count=24, patient=12, timeout=1) as riders:
            for node in world.nodes:
                riders.go_on(30)
                node.pause()
                over = time.monotonic() + LONGER_THAN_LEASES_S
                wait_until('the leases to end', lambda over=over: time.monotonic() > over)
                riders.go_on(1)
                for query, rows in done.items():
                    rows.update(world.rows(query))
                node.wake()
            riders.go_on(50)
        riders.at_work = lost_jobs(world)
        riders.check_all()
        for query, rows in done.items():
            now = dict(world.rows(query))
            check_equal([id for id in rows if now.get(id) != rows[id]], [], f'rows that changed after their end: {query}')
        check(world.count('pawl_idempotency_keys', 'attempt > 1') > 0, 'some attempts were lost to another node')


def rows_of(world, key):
    """All rows of a request."""
    whole = f"FROM pawl_idempotency_keys AS k JOIN rides AS r ON r.idempotency_key_id = k.id WHERE k.idempotency_key = '{key}'"
    return world.rows(f'SELECT to_json(k) AS key, to_json(r) AS ride {whole}')


def attempt_of(world, key):
    (row,) = world.rows(f"SELECT attempt, recovery_point FROM pawl_idempotency_keys WHERE idempotency_key = '{key}'")
    return row


class Sleeper:
    """A request whose node is paused in the middle of it, and the answer when the node wakes."""

    def __init__(self, world, key):
        self.world, self.key, self.node = world, key, world.nodes[0]
        self.answer = None
        self.client = threading.Thread(target=self.ask)
        self.client.start()

    def ask(self):
        try:
            self.answer = self.node.phone(timeout=3 * WAIT_S).book(self.key)
        except OSError as error:
            self.answer = error

    def wake(self):
        self.node.wake()
        self.client.join()
        return self.answer

    def check_harmless(self, final):
        """Wakes it: the rows stay unchanged, and its client gets the same answer as others."""
        before = rows_of(self.world, self.key)
        check_equal(len(before), 1, 'rides of the key')
        self.check_same(self.wake(), final)
        booked(self.node, f'{self.key}-next')   # The node still works.
        check_equal(rows_of(self.world, self.key), before, 'the rows after the wake')
        self.check_same(self.node.phone().book(self.key), final)

    @staticmethod
    def check_same(answer, final):
        check(not isinstance(answer, OSError), f'an answer comes: {answer!r}')
        check(answer.status in (409, 503) or (answer.status, answer.body) == (final.status, final.body),
              f'the woken node answers {answer}, but before it was {final}')


def charged_and_paused(world, key):
    """The provider is slow: the charge is in its ledger, but its answer is delayed."""
    sleeper = Sleeper(world, key)
    wait_until('the charge', world.ledger)
    sleeper.node.pause()
    check_equal(attempt_of(world, key), (1, 'ride_created'), 'attempt and point, before the charge is recorded')
    return sleeper


def paused_after_charge(settings, by_client):
    """Another node records the charge: by the client's retry, or by the completer."""
    with several(settings, 1000 * SLOW, lease_ms=LONG_LEASE_MS, complete_after_ms=NEVER if by_client else 200) as world:
        world.start_nodes(3)
        sleeper = charged_and_paused(world, 'k')
        if by_client:
            ((until,),) = world.rows('SELECT lease_until::text FROM pawl_idempotency_keys')
            first = world.nodes[1].phone().book('k')
            ((held,),) = world.rows(f"SELECT clock_timestamp() < '{until}'")
            check(first.status == 409 or not held, f'busy until the lease ends: {first}')
            final = booked(world.nodes[1], 'k')
        else:
            world.settle()
            final = booked(world.nodes[1], 'k')
            check(final.replayed, f'the completer made it: {final}')
        check_equal(attempt_of(world, 'k'), (2, 'finished'), 'attempt and point')
        sleeper.check_harmless(final)
        check_all(world, 2)


def woken_while_another_calls(settings):
    """Its result is valid, but must not be kept: another node has the key."""
    with several(settings, 1500 * SLOW, complete_after_ms=NEVER) as world:
        world.start_nodes(3)
        sleeper = charged_and_paused(world, 'k')
        retry = concurrent.futures.ThreadPoolExecutor(1).submit(booked, world.nodes[1], 'k')
        wait_until('the second attempt', lambda: attempt_of(world, 'k') == (2, 'ride_created'))
        answer = sleeper.wake()
        check_equal(attempt_of(world, 'k'), (2, 'ride_created'), 'attempt and point, as the woken node answers')
        check_equal((answer.status, answer.type), (409, 'in-progress'), 'its answer of its client')
        final = retry.result()
        Sleeper.check_same(booked(world.nodes[0], 'k'), final)
        check_equal(attempt_of(world, 'k'), (2, 'finished'), 'attempt and point')
        check_all(world, 1)


def paused_at(settings, points):
    """Exactly there, by a planted fault."""
    with several(settings, 0, complete_after_ms=NEVER) as world:
        world.start_nodes(3)
        for i, point in enumerate(points):
            node = world.nodes[0]
            node.restart(fault=f'{point}:1:stop')
            sleeper = Sleeper(world, f'k-{i}')
            node.wait_paused()
            sleeper.check_harmless(booked(world.nodes[1 + i % 2], f'k-{i}'))
        check_all(world, 2 * len(points))


def workers_die(settings):
    """A node dies after it sent a receipt and before it marked the job; its other workers may be anywhere."""
    with several(settings, 0) as world:
        world.start_nodes(3, '--workers', '0')
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda i: booked(world.nodes[i % 3], f'k-{i}'), range(100)))
        check_equal((world.count('pawl_jobs', "state = 'ready'"), len(world.mails())), (200, 0), 'jobs that wait, receipts')
        for node in world.nodes:
            check_equal(node.stop(), 0, 'the exit code')
        keep_lost_jobs(world)
        first, *others = world.nodes
        first.start(fault='worker.call.after:20:kill9')
        wait_until('its first receipt', world.mails)   # Otherwise the others might send all.
        for node in others:
            node.start()
        check_equal(first.process.wait(WAIT_S), KILLED, 'how the node ended')
        at_work = jobs_at_work(world)   # Their leases may end before the node is noticed.
        world.settle()
        mails = check_all(world, 100, at_work | lost_jobs(world))
        check_equal(max(mails.values()), 2, f'one death, one repeat: {mails.most_common(3)}')


def worker_hangs(settings, point):
    """Exactly there, by a planted fault; another node has its job when it wakes."""
    with several(settings, 0) as world:
        world.start_nodes(3, '--workers', '0')
        node, other, third = world.nodes
        node.restart(fault=f'{point}:1:stop')
        booked(third, 'k')
        node.wait_paused()
        at_work = jobs_at_work(world)
        other.restart()
        world.settle()
        node.wake()
        check_equal(node.stop(), 0, 'the exit code, after all work in flight')
        check_all(world, 1, at_work)


def rolling_restart(settings, seed):
    with several(settings, 100) as world:
        world.start_nodes(3)
        with Riders(world, seed) as riders:
            for node in world.nodes:
                riders.go_on(50)
                check_equal(node.stop(), 0, 'the exit code')
                riders.go_on(20)
                node.start()
                node.wait()
            riders.go_on(50)
        # A connection that is not accepted yet, or has sent no byte, is cut when the listener stops: no request had started. It
        # is rare; far more requests are in flight at the three stops.
        cut = sum(count for why, count in riders.lost.items() if why != 'ConnectionRefusedError')
        check(cut <= 3, f'requests without an answer: {riders.lost}')
        riders.check_all()


def starts_while_users_are_written(settings):
    """Each commit of other servers to the rows that a start writes once failed the start."""
    with several(settings, 0) as world:
        world.start_nodes(2)
        node, other = world.nodes
        booked(other, 'k')
        with concurrent.futures.ThreadPoolExecutor() as pool:
            busy = pool.submit(world.change, f"DO $$ DECLARE began timestamptz := clock_timestamp(); BEGIN WHILE clock_timestamp()"
                               f" < began + interval '{5 * SLOW} s' LOOP UPDATE users SET points = points; COMMIT; END LOOP; END $$")
            starts = 0
            while not busy.done():
                node.restart()
                starts += 1
            busy.result()
        check(starts > 1, f'{starts} starts meanwhile')


def in_doubt(world):
    """No node calls again: another node answers that the request is on the attention list."""
    told = wait_until('the doubt', lambda: next(
        (answer for answer in [world.nodes[1].phone().book('k')] if answer.status != 409), None))
    check_equal((told.status, told.type), (502, 'needs-attention'), 'the answer of the client')
    ride = Doubtful(world, None)
    (one,) = ride.waiting()
    check_equal((one['reason'], one['result']), ('in-doubt', None), 'on the attention list')
    return ride


def carried_out(world, ride):
    """Other nodes carry out a person's decision."""
    final = wait_until('it to be carried out', lambda: next(
        (answer for answer in [world.nodes[2].phone().book('k')] if answer.status not in (409, 502)), None))
    check_equal((final.status, final.json['charge']), (201, world.ledger()[0]['id']), 'the answer, with the charge')
    check_equal(booked(world.nodes[1], 'k').body, final.body, 'at the other node')
    check_equal(ride.waiting(), [], 'the attention list')
    check_all(world, 1)


def charged_once(settings, how):
    """A node is killed or paused in the call."""
    with several(settings, 1000 * SLOW, '--charge-once', lease_ms=LONG_LEASE_MS) as world:
        world.start_nodes(3)
        sleeper = charged_and_paused(world, 'k')
        if how == 'killed':
            sleeper.node.kill()
        ride = in_doubt(world)
        if how == 'paused':   # Its late result is shown to the operator, and changes nothing.
            before = rows_of(world, 'k')
            answer = sleeper.wake()
            check_equal((answer.status, answer.type), (502, 'needs-attention'), 'the answer of the old client')
            check_equal(rows_of(world, 'k'), before, 'the rows after the wake')
            result = ride.waiting()[0]['result']
            check(world.ledger()[0]['id'] in json.dumps(result), f'the result that came late: {result}')
        check_equal(len(world.ledger()), 1, 'charges')
        ride.settle('happened', '--result', 'Charge', '--value', json.dumps({'id': world.ledger()[0]['id']}))
        carried_out(world, ride)


def stopped_before_the_charge(settings, how):
    """Only the provider's records show whether the call was made: it was not. A paused node that goes on must not make it any more."""
    with several(settings, 0, '--charge-once') as world:
        world.start_nodes(3)
        world.nodes[0].restart(fault='engine.call.before:1:' + ('kill9' if how == 'killed' else 'stop'))
        sleeper = Sleeper(world, 'k')
        if how == 'killed':
            check_equal(sleeper.node.process.wait(WAIT_S), KILLED, 'how the node ended')
        else:
            sleeper.node.wait_paused()
        ride = in_doubt(world)
        check_equal(world.ledger(), [], 'charges')
        ride.settle('did-not-happen')
        carried_out(world, ride)
        if how == 'paused':
            check_equal(sleeper.wake().status, 201, 'the answer of the old client')
            check_equal(sleeper.node.stop(), 0, 'the exit code')
        check_equal(len(world.ledger()), 1, 'charges')


def cases(settings):
    job_points = JOB_POINTS if settings.everything else sorted(settings.random.sample(JOB_POINTS, 2))
    seeds = [settings.seed + i for i in range(5 if settings.mode == 'long' else 1)]
    found = [
        ('64 clients, the same key, Stripe at once', lambda: one_key(settings, 0)),
        ('64 clients, the same key, Stripe takes 100 ms', lambda: one_key(settings, 100)),
        ('24 clients, the same new user', lambda: one_user(settings)),
        *((f'each is killed in turn, seed {seed}', lambda seed=seed: nodes_die(settings, seed)) for seed in seeds),
        *((f'each hangs in turn, seed {seed}', lambda seed=seed: nodes_hang(settings, seed)) for seed in seeds),
        ('one hangs between charge and record, a client comes again', lambda: paused_after_charge(settings, True)),
        ('one hangs between charge and record, the completer goes on', lambda: paused_after_charge(settings, False)),
        ('one wakes while another calls', lambda: woken_while_another_calls(settings)),
        *((f'one hangs at {points[0]} to {points[-1]}', lambda points=points: paused_at(settings, points))
          for points in (POINTS[:5], POINTS[5:])),
        ('one dies while workers run', lambda: workers_die(settings)),
        *((f'a worker hangs at {point}', lambda point=point: worker_hangs(settings, point)) for point in job_points),
        ('one starts while users are written', lambda: starts_while_users_are_written(settings)),
        ('rolling restart', lambda: rolling_restart(settings, settings.seed)),
        ('charged once, and the node is killed in the call', lambda: charged_once(settings, 'killed')),
        ('charged once, and the node is killed before the call', lambda: stopped_before_the_charge(settings, 'killed')),
        ('charged once, and the node hangs in the call', lambda: charged_once(settings, 'paused')),
    ]
    paused = 'right: a node that was paused before its call does not make it after a decision'
    return [('nodes: ' + name, run) for name, run in found] + [(paused, lambda: stopped_before_the_charge(settings, 'paused'))]
