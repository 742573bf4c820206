"""A repeat that waits for the first one's answer: a refund, whose key belongs to the ride, requested by several clients at once."""
import concurrent.futures
import os
import time

from contract_cases import problem
from murphy_cases import faults
from world import World, check, check_equal, wait_until

SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
LONGEST_WAIT_S = 3   # RefundRide::in_progress.
SERVERS = {'one server': 1, 'two servers': 2}


def refunds(settings, servers, delay_s, check_those):
    """Refunds a ride at the first server while Stripe is slow; check_those(first, answers, seconds) checks the repeats."""
    with World(settings.bin) as world:
        world.start_nodes(servers)
        ride = world.nodes[0].phone().booked('k').json['ride']
        faults(world, delay_ms=int(1000 * delay_s))
        refund = lambda node, token: node.phone(token, timeout=delay_s + 20 * SLOW).refund(ride)
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            first = pool.submit(refund, world.nodes[0], 'test_jane')
            wait_until('the refund at Stripe', lambda: world.ledger('refund'))
            began = time.monotonic()
            # The rider, and support; with two servers, the last is not the first request's.
            askers = [pool.submit(refund, world.nodes[-1 - i % servers], ('test_support', 'test_jane')[i // 2 % 2])
                      for i in range(8)]
            answers = [asker.result() for asker in askers]
            check_those(first, answers, time.monotonic() - began)
        again = refund(world.nodes[-1], 'test_support')
        check(again.replayed and again.body == first.result().body, f'later: {again}')
        check_equal(len(world.ledger('refund')), 1, 'refunds at Stripe')
        check_equal(world.count('audit_records', "action = 'refund_ordered'"), 1, 'refunds ordered')
        check_equal(world.count('rides', "state = 'refunded'"), 1, 'rides refunded')


def get_the_first_answer(first, answers, seconds):
    check(seconds < LONGEST_WAIT_S * SLOW, f'they are notified: {seconds:.1f} s')
    told = first.result()
    check_equal((told.status, told.replayed), (201, False), f'the first: {told}')
    for answer in answers:
        check_equal((answer.status, answer.body, answer.replayed), (201, told.body, True), 'the waiting clients')
        for name in ('content-type', 'cache-control'):
            check_equal(answer.headers.get(name), told.headers.get(name), name)


def are_told_to_come_again(first, answers, seconds):
    """While the first is still in progress."""
    check(seconds > 0.9 * LONGEST_WAIT_S, f'they wait for the time that the operation sets: {seconds:.1f} s')
    check(not first.done(), f'the first must be unanswered: {first}')
    for answer in answers:
        problem(answer, 409, 'in-progress', True)
        check_equal(answer.headers['retry-after'], '1', 'Retry-After')
    told = first.result()
    check_equal((told.status, told.replayed), (201, False), f'the first: {told}')


def waited(settings, servers):
    refunds(settings, servers, 1, get_the_first_answer)


def waited_in_vain(settings, servers):
    refunds(settings, servers, LONGEST_WAIT_S + 3 * SLOW, are_told_to_come_again)


def cases(settings):
    found = []
    for name, servers in SERVERS.items():
        if servers > 1 and World.database == 'sqlite':   # One server owns the file.
            continue
        found += [(f'{name}: a repeat gets the answer of the one at work', lambda n=servers: waited(settings, n)),
                  (f'{name}: a repeat waits no longer than is said', lambda n=servers: waited_in_vain(settings, n))]
    return [('wait: ' + name, run) for name, run in found]
