"""Many clients, one key."""
import concurrent.futures
import json
import os
import subprocess
import threading

from phone import Phone
from ports import free_port
from strange_provider import StrangeProvider, http
from world import WAIT_S, World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '200',
         '--job-lease-ms', '3000', '--job-timeout-ms', '2000']


def at_once(count, act):
    """Runs act(i) in `count` threads, which start at the same moment."""
    gate = threading.Barrier(count)

    def wait_and_act(i):
        gate.wait()
        return act(i)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [task.result() for task in [pool.submit(wait_and_act, i) for i in range(count)]]


def same_key(settings, delay_ms):
    with World(settings.bin, QUICK, provider_options=['--delay-ms', str(delay_ms)]) as world:
        world.start_server()
        for round_number in range(5):
            key = f'k-{round_number}'
            answers = at_once(64, lambda _, key=key: world.phone().book(key))
            finals = {answer.body for answer in answers if answer.status == 201}
            check_equal(len(finals), 1, f'different final answers: {finals}')
            check({answer.status for answer in answers} <= {201, 409}, f'statuses {[a.status for a in answers]}')
        world.settle()
        check_equal(len(world.ledger()), 5, 'charges')
        check_equal(world.count('rides'), 5, 'rides')
        check_equal(len(world.mails()), 5, 'receipts')


def different_keys(settings):
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '50']) as world:
        world.start_server()
        answers = at_once(64, lambda i: world.phone(['test_jane', 'test_joe'][i % 2]).booked(f'k-{i // 2}'))
        check_equal({answer.status for answer in answers}, {201}, 'the same keys of two accounts are different keys')
        world.settle()
        check_equal(len(world.ledger()), 64, 'charges')


def two_accounts_refund_at_once(settings):
    """The rider and support get one answer; a stranger, at the same time and later, gets 404."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '100']) as world:
        world.start_server()
        ride = world.phone().booked('k').json['ride']
        stranger = Phone(world.port, 'test_joe')   # Refused before the key, so not part of the key's history.
        phones = [world.phone(), world.phone('test_support'), stranger]
        answers = at_once(9, lambda i: phones[i % 3].refund(ride))
        check_equal([answer.status for answer in answers], [201, 201, 404] * 3, 'statuses')
        finals = {answer.body for answer in answers if answer.status == 201}
        check_equal(len(finals), 1, f'different final answers {finals}')
        check_equal(len(world.ledger('refund')), 1, 'refunds')
        again = world.phone('test_support').refund(ride)
        check(again.replayed and again.body in finals, f'a permitted caller gets the answer: {again}')
        check_equal(stranger.refund(ride).status, 404, 'a stranger, later')


def both_servers_on_one_file(settings):
    """The second server is refused with a code, and the first is not affected."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        first, port = world.server, world.port
        world.port = free_port()
        world.start_server(wait=False)
        world.port = port
        second, world.server = world.server, first
        check(second.wait(20) != 0 and 'PAWL0002' in world.log(), f'it is refused: {world.log()[-300:]}')
        check_equal(world.phone().book('k').status, 201, 'the first still serves')


def phones_on_a_bad_network(settings):
    """`rides simulate`: lost requests, lost answers and double sendings, with a kill -9 in the middle."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '20'], judged=False) as world:
        world.start_server()
        phones = subprocess.Popen(
            [world.rides, 'simulate', '--url', f'http://127.0.0.1:{world.port}', '--rides', '300', '--seed',
             str(settings.seed + 1), '--bad-network', '0.5', '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        wait_until('some rides', lambda: len(world.ledger()) > 50)
        world.kill_server()
        world.start_server()
        out, _ = phones.communicate(timeout=WAIT_S + 100)
        told = json.loads(out)
        check_equal((phones.returncode, told['settled'], told['changed']), (0, 300, 0), f'the phones: {told}')
        world.settle()
        check_equal((len(world.ledger()), world.count('rides')), (300, 300), 'charges and rides')


def phones_know_a_changed_answer(settings):
    """In `rides simulate` a lost answer or a 503 to the repeat does not count as a changed answer; another ride does."""
    def told(first, answer):
        with StrangeProvider(answer, first) as server:
            done = subprocess.run(
                [os.path.join(settings.bin, 'rides'), 'simulate', '--url', f'http://127.0.0.1:{server.port}',
                 '--rides', '1', '--clients', '1', '--bad-network', '0', '--json'],
                capture_output=True, text=True, timeout=WAIT_S + 40, check=False)
        found = json.loads(done.stdout)
        return done.returncode, found['settled'], found['changed'], found['refused'] + found['gave_up']
    ride, another = http(201, {'ride': 1}), http(201, {'ride': 2})
    check_equal(told([ride, None, http(503, {}), http(409, {})], ride), (0, 1, 0, 0), 'nothing changed')
    check_equal(told([ride, None], another), (1, 1, 1, 0), 'another ride')
    check_equal(told([ride], http(404, {})), (1, 1, 1, 0), 'the ride is gone')


def cases(settings):
    found = {
        '64 clients, the same key, Stripe at once': lambda: same_key(settings, 0),
        '64 clients, the same key, Stripe takes 100 ms': lambda: same_key(settings, 100),
        '64 clients, 32 keys of two accounts': lambda: different_keys(settings),
        'two accounts refund a ride at once': lambda: two_accounts_refund_at_once(settings),
        'phones on a bad network, and a kill': lambda: phones_on_a_bad_network(settings),
        'phones know a changed answer': lambda: phones_know_a_changed_answer(settings),
        'two servers on one file': lambda: both_servers_on_one_file(settings),
    }
    return [('race: ' + name, run) for name, run in found.items()]
