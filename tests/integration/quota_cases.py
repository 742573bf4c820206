"""A flood by one tenant, over real sockets: requests beyond its quota are refused, and other tenants are served."""
import concurrent.futures
import itertools
import os
import threading
import time

from contract_cases import problem
from kill_cases import QUICK
from world import World, check, check_equal

SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
FLOODER = ['--rider', 'test_flood flood@example.com flooders cus_flood']


def refused(answer):
    """Seconds until it may retry."""
    problem(answer, 429, 'quota-exceeded', True)
    check_equal(answer.json['code'], 'PAWL0013', 'code')
    seconds = answer.headers['retry-after']
    check(seconds.isdigit() and int(seconds) >= 1, f'Retry-After: {seconds}')
    return int(seconds)


class Flood:
    """Clients of one tenant, each with a new key as soon as it has any answer."""

    def __init__(self, world, clients):
        self.world, self.numbers, self.stop = world, itertools.count(), threading.Event()
        self.answers = {}   # By key.
        self.pool = concurrent.futures.ThreadPoolExecutor(clients)
        self.clients = [self.pool.submit(self.ask_on) for _ in range(clients)]

    def ask_on(self):
        while not self.stop.is_set():
            key = f'flood-{next(self.numbers)}'
            self.answers[key] = self.world.phone('test_flood').book(key)

    def end(self):
        self.stop.set()
        for client in self.clients:
            client.result()
        self.pool.shutdown()

    def of(self, status):
        return {key: answer for key, answer in self.answers.items() if answer.status == status}


def ride_on(world, token, count):
    """One after the other; none is refused, each is a ride of its own."""
    for i in range(count):
        answer = world.phone(token).book(f'{token}-{i}')
        check_equal((answer.status, answer.replayed), (201, False), f'ride {i} of {token} beside the flood: {answer}')


def in_flight(settings):
    with World(settings.bin, [*QUICK, *FLOODER, '--tenant-in-flight', '4'], provider_options=['--delay-ms', '50']) as world:
        world.start_server()
        flood = Flood(world, 32)
        try:
            with concurrent.futures.ThreadPoolExecutor(2) as polite:
                for riding in [polite.submit(ride_on, world, token, 20) for token in ('test_jane', 'test_joe')]:
                    riding.result()
        finally:
            flood.end()
        # A busy machine may be too slow for a phase: 503 asks for a retry, as 429 does.
        check_equal({answer.status for answer in flood.answers.values()} - {503}, {201, 429}, 'the statuses of the flood')
        check(len(flood.of(429)) > 32, f'{len(flood.of(429))} refused')
        for answer in flood.of(429).values():
            check_equal(refused(answer), 1, 'Retry-After')
        again = list(flood.of(429))[:10]
        for key in again:
            answer = world.phone('test_flood').book(key)
            check_equal((answer.status, answer.replayed), (201, False), f'{key}, which was refused, again: {answer}')
        world.settle()
        rides = 40 + len(flood.of(201)) + len(again)
        check_equal((len(world.ledger()), len({line['key'] for line in world.ledger()})), (rides, rides), 'charges, their keys')
        check_equal(world.count('rides', "state = 'booked'"), rides, 'booked rides')
        check_equal(world.count('pawl_idempotency_keys'), rides, 'keys: none for a refusal')
        check_equal(world.log().count('PAWL0013'), 1, 'lines in the log, at most one a minute')


def one_account(settings):
    """Issue 16, number 8: one rider with slow bookings locked out all riders of the tenant."""
    with World(settings.bin, [*QUICK, '--tenant-in-flight', '130'], provider_options=['--delay-ms', '3000']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(130) as many:
            booking = [many.submit(world.phone('test_jane', timeout=60).book, f'jane-{i}') for i in range(130)]
            # Her share is used up when one of her requests is refused.
            until = time.monotonic() + 30
            while world.phone('test_jane').get('/rides').status != 429:
                check(time.monotonic() < until, 'no request of the rider with 130 bookings was refused')
                time.sleep(0.02)
            for _ in range(20):
                check_equal(world.phone('test_joe').get('/rides').status, 200, 'a query of another rider of the tenant')
            joe = world.phone('test_joe', timeout=60).book('joe-1')
            check_equal(joe.status, 201, f'a booking of another rider of the tenant: {joe}')
            answers = [one.result() for one in booking]
        check_equal({answer.status for answer in answers} - {503}, {201, 429}, 'the statuses of the rider with 130 bookings')
        for answer in answers:
            if answer.status == 429:
                refused(answer)
        world.settle()
        # The completer books those that got 503 from a slow machine.
        charges = [line['key'] for line in world.ledger()]
        check_equal(len(set(charges)), len(charges), 'charges, each of another ride')
        check_equal(world.count('rides', "state = 'booked'"), len(charges), 'booked rides')
        check(len(charges) > sum(answer.status == 201 for answer in answers), f'{len(charges)} charges')
        check('"limit":"account_in_flight"' in world.log(), 'the log names no limit of accounts')


def rate(settings):
    """Tokens come at their rate, however many are requested; Retry-After says when."""
    per_s, burst = 5, 10
    with World(settings.bin, [*QUICK, *FLOODER, '--tenant-rate', str(per_s), '--tenant-burst', str(burst)]) as world:
        world.start_server()
        began = time.monotonic()
        flood = Flood(world, 8)
        try:
            while time.monotonic() < began + 2 * SLOW:
                check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query of another')
                time.sleep(0.3)   # 3 a second are within the quota.
            ride_on(world, 'test_joe', 1)
        finally:
            flood.end()
        most = burst + per_s * (time.monotonic() - began)
        served = len(flood.of(201))
        check(burst <= served <= most, f'{served} of the flood served, {burst} to {most:.1f} may be')
        # A busy machine may be too slow for a phase: 503 asks for a retry, as 429 does.
        check_equal({answer.status for answer in flood.answers.values()} - {503}, {201, 429}, 'the statuses of the flood')

        def a_repeat():
            return world.phone('test_flood').book(list(flood.of(201))[0])
        answer = next(filter(lambda answer: answer.status != 201, (a_repeat() for _ in range(1000))), None)
        check(answer is not None, 'repeats count too')
        time.sleep(refused(answer))
        answer = a_repeat()
        check_equal((answer.status, answer.replayed), (201, True), f'after Retry-After: {answer}')
        world.settle()
        check_equal(len(world.ledger()), served + 1, 'charges')


def wrong_settings(settings):
    with World(settings.bin) as world:
        for option, value, told in (('--tenant-burst', '5', 'quota.burst is 5'), ('--tenant-in-flight', '-1', 'quota.in_flight_max is -1'),
                                    ('--account-in-flight', '-1', 'quota.account_in_flight_max is -1'),
                                    ('--tenant-rate', '1e9', 'quota.rate_per_s is 1000000000')):
            done = world.rides_command(*world.server_command(), f'{option}={value}', check_status=2)
            check(told in done.stderr, f'{option} {value}: {done.stderr}')
        text = world.rides_command('serve', '--help').stdout
        for option in ('--tenant-in-flight', '--account-in-flight', '--tenant-rate', '--tenant-burst'):
            check(option in text, f'--help has no {option}')


def cases(settings):
    found = {'too many at work are refused, and others ride': in_flight,
             'one account leaves room for its tenant': one_account, 'tokens come at their rate': rate,
             'wrong settings are named': wrong_settings}
    return [('quota: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
