"""The scenarios of the article's part "Murphy in action", by name, against real processes."""
import concurrent.futures
import json
import socket
import subprocess
import os

from phone import HERE_TO_THERE, Phone
from world import World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '200',
         '--job-lease-ms', '3000', '--job-timeout-ms', '2000']


def faults(world, **changes):
    """Sets the faults of the stand-in for Stripe."""
    answer = Phone(world.stripe).send('POST', '/_test/faults', changes)
    check(answer.status in (200, 204), f'the stand-in accepts faults: {answer}')


def one_of_each(world, key, answer):
    """One charge, one ride, one receipt, one key; and a repeat gets the same bytes."""
    check_equal(answer.status, 201, 'the answer')
    again = world.phone().book(key)
    check(again.replayed and again.body == answer.body and again.status == 201, f'a repeat gets the same: {again}')
    world.settle()
    check_equal(len(world.ledger()), 1, 'charges')
    check_equal(world.count('rides'), 1, 'rides')
    check_equal(len(world.mails()), 1, 'receipts')
    check_equal(world.count('pawl_idempotency_keys'), 1, 'keys')


def connection_breaks_before_the_backend(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        body = json.dumps(HERE_TO_THERE)
        with socket.create_connection(('127.0.0.1', world.port)) as phone:
            phone.sendall(f'POST /rides HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nIdempotency-Key: k\r\n'
                          f'Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body[:20]}'.encode())
        check_equal(world.count('pawl_key_registry'), 0, 'keys after half a request')
        one_of_each(world, 'k', world.phone().book('k'))


def two_requests_create_a_key_at_once(settings):
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '200']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            both = [task.result() for task in [pool.submit(world.phone().book, 'k') for _ in range(2)]]
        check_equal(sorted(answer.status for answer in both), [201, 409], 'one succeeds, the other must wait')
        refused = next(answer for answer in both if answer.status == 409)
        check_equal((refused.type, refused.headers['retry-after']), ('in-progress', '1'), 'the refusal')
        one_of_each(world, 'k', next(answer for answer in both if answer.status == 201))


def not_at_work(world, key):
    """The first answer that is not 409: on a slow machine the completer may be at work on the key."""
    return wait_until('an answer other than 409', lambda: next(
        (answer for answer in [world.phone().book(key)] if answer.status != 409), None))


def stripe_is_down(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        world.kill_provider()
        for _ in range(3):
            answer = not_at_work(world, 'k')
            check_equal(answer.status, 503, 'while Stripe is down')
            check('retry-after' in answer.headers and answer.json['retry'], f'it says to retry: {answer.headers}')
        world.start_provider('--down')
        answer = not_at_work(world, 'k')
        check_equal(answer.status, 503, 'while Stripe says 503')
        faults(world, down=False)
        one_of_each(world, 'k', wait_until('the charge', lambda: final(world.phone().book('k'))))


def final(answer):
    return answer if answer.status not in (409, 500, 503) else None


def the_server_dies_while_waiting_for_stripe(settings):
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '1000']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            lost = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            world.kill_server()
            check(isinstance(lost.exception(), OSError), 'the client gets no answer')
        world.start_server()
        one_of_each(world, 'k', wait_until('the answer', lambda: final(world.phone().book('k'))))


def the_server_dies_and_the_client_is_gone(settings):
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '1000']) as world:
        world.start_server()
        world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, 'k')
        wait_until('the charge', world.ledger)
        world.kill_server()
        world.start_server()
        world.settle()   # By the completer only.
        one_of_each(world, 'k', world.phone().book('k'))


def with_a_bug(world, table, when):
    """Simulates a bad deploy: every phase that changes the table this way fails."""
    world.store.break_table(table, when, 'a bug')


def without_the_bug(world):
    world.store.mend_table()


def bad_deploy_of_the_keeper(settings):
    """The charges can't be recorded. Their results are stored, nobody has to act, and the next start records them without a call: the first
    by its client's repeat, the others by the completer (issue 38, part 4)."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        with_a_bug(world, 'rides', 'UPDATE')
        keys = [f'k{n}' for n in range(1000 if settings.mode == 'long' else 40)]
        for key in keys:
            answer = world.phone().book(key)
            check_equal((answer.status, answer.type, answer.json['retry']), (503, 'not-recorded', True), 'while the bug is deployed')
            check('retry-after' in answer.headers, f'not final: {answer.headers}')
        (group,) = json.loads(world.pawl_command('keys', 'unrecorded', '--json').stdout)
        check_equal((group['results'], group['operation']), (len(keys), 'book_ride'), 'the results that wait')
        check('PAWL0019' in group['error'] and 'a bug' in group['error'], f'why: {group["error"]}')
        check_equal(json.loads(world.pawl_command('attention', 'list', '--json').stdout), [], 'the attention list')
        check('"result_stored"' in world.log(), 'an event')
        check_equal(world.stop_server(), 0, 'the exit code')
        without_the_bug(world)
        world.start_server()
        check_equal(wait_until('the answer', lambda: final(world.phone().book('k0'))).status, 201, 'the client repeats')
        wait_until('the others, by themselves', lambda: world.unsettled() == 0)
        check_equal(len(world.ledger()), len(keys), 'one charge each')
        for key in keys:
            check_equal(world.phone().book(key).status, 201, key)
        check_equal(len(world.ledger()), len(keys), 'one charge each')


def bad_deploy(settings, table, when, client_retries):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        with_a_bug(world, table, when)
        for _ in range(2):
            answer = world.phone().book('k')
            check_equal((answer.status, answer.type), (500, 'internal'), 'while the bug is deployed')
            check('retry-after' in answer.headers, f'not final: {answer.headers}')
        check_equal(world.stop_server(), 0, 'the exit code')
        without_the_bug(world)
        world.start_server()
        if client_retries:
            one_of_each(world, 'k', wait_until('the answer', lambda: final(world.phone().book('k'))))
        else:
            world.settle()
            one_of_each(world, 'k', world.phone().book('k'))


def eio_shim(folder):
    """Compiles a library to preload: while FOLDER/eio exists, writes to the database's files fail with EIO."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'eio.c')
    library = os.path.join(folder, 'eio.so')
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], check=True)
    return library


def the_disk_fails(settings):
    """The database goes down: every write and sync of its files is EIO, after the charge, before its record."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '400']) as world:
        broken = os.path.join(world.folder, 'eio')
        world.environment = {'LD_PRELOAD': eio_shim(world.folder), 'PAWL_TEST_EIO': broken,
                             'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'}
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(world.phone().book, 'k')
            wait_until('the charge', world.ledger)
            open(broken, 'w').close()
            check_equal(answer.result().status, 503, 'the answer while the disk fails')
        check_equal(world.phone().book('other').status, 503, 'a new request while the disk fails')
        check(not world.dead(), 'the server lives')
        os.remove(broken)
        one_of_each(world, 'k', wait_until('the answer', lambda: final(world.phone().book('k'))))


def cases(settings):
    scenarios = {
        'the connection breaks before it reaches the backend': connection_breaks_before_the_backend,
        'two requests try to create a key at the same time': two_requests_create_a_key_at_once,
        'the database goes down: the disk fails with EIO': the_disk_fails,
        'Stripe is down': stripe_is_down,
        'the server dies while waiting for Stripe': the_server_dies_while_waiting_for_stripe,
        'the server dies and the client is gone: the completer': the_server_dies_and_the_client_is_gone,
        'a bad deploy 500s in the first phase, clients retry': lambda s: bad_deploy(s, 'rides', 'INSERT', True),
        # In the phase after the keeper, which stages the receipt.
        'a bad deploy 500s midway, clients retry': lambda s: bad_deploy(s, 'pawl_jobs', 'INSERT', True),
        'a bad deploy 500s midway, clients are gone: the completer': lambda s: bad_deploy(s, 'pawl_jobs', 'INSERT', False),
    }
    named = {'murphy: ' + name: run for name, run in scenarios.items()}
    named['right: charges that a bad deploy can not record are recorded by the next one'] = bad_deploy_of_the_keeper
    return [(name, lambda run=run: run(settings)) for name, run in named.items()]
