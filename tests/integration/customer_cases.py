"""A rider's customer at Stripe: made at the first ride, once, whatever dies meanwhile; or given by the tokens file."""
import collections
import concurrent.futures
import json
import os

from strange_provider import StrangeProvider, http
from world import KILLED, World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '100',
         '--job-lease-ms', '3000', '--job-timeout-ms', '2000']
NEW = ['--rider', 'test_new new@example.com']


def customer(world, email='new@example.com'):
    """The stored one."""
    return world.rows('SELECT stripe_customer_id FROM users WHERE email = ?', email)[0][0]


def booked(world, key, token='test_new'):
    """Repeats until the ride is booked; returns the answer."""
    def final():
        answer = world.phone(token).book(key)
        return answer if answer.status not in (409, 503) else None
    answer = wait_until('a final answer', final)
    check_equal(answer.status, 201, f'{key}: {answer}')
    return answer


def check_one_customer(world, charges):
    made = world.ledger('customer')
    check_equal([line['email'] for line in made], ['new@example.com'], 'customers made')
    check_equal(customer(world), made[0]['id'], 'the stored customer')
    check_equal([line['customer'] for line in world.ledger()], [made[0]['id']] * charges, 'who was charged')


def first_ride(settings, *options):
    with World(settings.bin, [*QUICK, *NEW, *options]) as world:
        world.start_server()
        check_equal(customer(world), None, 'the customer before the first ride')
        booked(world, 'first')
        booked(world, 'second')
        check_one_customer(world, 2)
        check('"source":"tok_visa"' not in world.log(), 'the log has no form')


def two_at_once(settings):
    """Both first rides call Stripe before either result is stored."""
    with World(settings.bin, [*QUICK, *NEW], provider_options=['--delay-ms', '300']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda i: booked(world, f'k-{i}'), range(6)))
        check_one_customer(world, 6)


def stored_first_wins(settings):
    """Another server stored a customer during the call."""
    with World(settings.bin, [*QUICK, *NEW], provider_options=['--delay-ms', '1500']) as world:
        world.start_server()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(booked, world, 'k')
            wait_until('the customer to be made', lambda: world.ledger('customer'))
            world.change("UPDATE users SET stripe_customer_id = 'cus_other' WHERE email = 'new@example.com'")
            running.result()
        check_equal(customer(world), 'cus_other', 'the stored customer')
        check_equal([line['customer'] for line in world.ledger()], ['cus_other'], 'who was charged')


def card_declined(settings):
    with World(settings.bin, [*QUICK, *NEW, '--stripe-source', 'tok_chargeDeclined']) as world:
        world.start_server()
        answer = world.phone('test_new').book('k')
        check_equal((answer.status, answer.json['detail']), (402, 'Your card was declined.'), f'the answer: {answer}')
        check_equal((customer(world), len(world.ledger())), (None, 0), 'the stored customer, charges')
        check_equal(world.rows('SELECT state FROM rides'), [('refused',)], 'the ride')
        check('"card_declined"' in world.log() and 'generic_decline' in world.log(), 'the log says why')


def provider_is_down(settings):
    """Nothing is charged before there is a customer; the completer goes on with both calls."""
    with World(settings.bin, [*QUICK, *NEW], provider_options=['--down']) as world:
        world.start_server()
        check_equal(world.phone('test_new').book('k').status, 503, 'while it is down')
        check_equal(world.rows('SELECT recovery_point FROM pawl_idempotency_keys'), [('customer_missing',)], 'the key')
        world.kill_provider()
        world.provider_options = []
        world.start_provider()
        world.settle()
        check(world.phone('test_new').book('k').replayed, 'the answer waits')
        check_one_customer(world, 1)


def given_up(settings):
    """Stripe refuses the request: only a person can go on."""
    refusal = http(400, {'error': {'type': 'invalid_request_error', 'code': 'email_invalid', 'message': 'Invalid email address.'}},
                   ['Request-Id: req_7'])
    with World(settings.bin, [*QUICK, *NEW]) as world, StrangeProvider(refusal) as provider:
        world.stripe = provider.port
        world.start_server()
        check_equal(world.phone('test_new').book('k').status, 502, 'the first answer')
        (one,) = json.loads(world.pawl_command('attention', 'list', '--json').stdout)
        check_equal(one['reason'], 'stuck', 'the reason')
        check('400 invalid_request_error email_invalid (request req_7): Invalid email address.' in one['detail'], f'{one}')
        check_equal([path for path, _, _ in provider.requests], ['/v1/customers'], 'calls')
        world.pawl_command('keys', 'settle', '--key', 'k', '--as', 'give-up', '--note', 'tired')
        answer = wait_until('the answer', lambda: next((a for a in [world.phone('test_new').book('k')] if a.status == 422), None))
        check('was not charged' in answer.json['detail'], f'{answer}')
        check_equal(world.rows('SELECT state FROM rides'), [('given_up',)], 'the ride')


def given_by_tokens(settings):
    """The file's customer is charged, also for a user who has another; it can't be another user's."""
    tokens = 'token_of_jane_1234 jane@example.com cus_{}\ntoken_of_joe_12345 joe@example.com\n'
    with World(settings.bin, [*QUICK, '--tokens', 'set below']) as world:
        path = world.options[-1] = os.path.join(world.folder, 'tokens')

        def write(text):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w', encoding='utf-8') as file:
                file.write(text)
        for number, name in enumerate(('first', 'second')):
            write(tokens.format(name))
            world.start_server()
            booked(world, f'k-{number}', 'token_of_jane_1234')
            check_equal(world.stop_server(), 0, 'the exit code')
        check_equal([line['customer'] for line in world.ledger()], ['cus_first', 'cus_second'], 'who was charged')
        check_equal(len(world.ledger('customer')), 0, 'customers made')
        write('token_of_joe_12345 joe@example.com cus_second\n')
        check(not world.start_server(), 'the server started with the customer of another rider')
        check_equal(world.server.returncode, 2, 'the exit code')
        check('cus_second of joe@example.com is the customer of jane@example.com' in world.log(), world.log()[-300:])


def reached(bin_folder, options):
    """How often a first ride reaches each fault point of the engine."""
    with World(bin_folder, [*QUICK, *NEW, *options]) as world:
        log = os.path.join(world.folder, 'faults')
        world.start_server(fault_log=log)
        booked(world, 'k')
        with open(log, encoding='utf-8') as file:
            points = collections.Counter(file.read().split('\n')[:-1])
    return {point: hits for point, hits in points.items() if point.startswith('engine.')}


def killed(settings, point, hit):
    """kill -9 in a first ride: then one customer, one charge, one ride."""
    with World(settings.bin, [*QUICK, *NEW]) as world:
        world.start_server(fault=f'{point}:{hit}:kill9')
        try:
            world.phone('test_new').book('k')
        except OSError:
            pass
        wait_until('the server to die', world.dead)
        check_equal(world.server.returncode, KILLED, 'how the server ended')
        world.start_server()
        booked(world, 'k')
        world.settle()
        check_one_customer(world, 1)
        check_equal(world.rows('SELECT state FROM rides'), [('booked',)], 'rides')


def cases(settings):
    found = {
        'a first ride makes it': lambda: first_ride(settings),
        'a first ride makes it, without keys of charges': lambda: first_ride(settings, '--charge-once'),
        'two first rides at once': lambda: two_at_once(settings),
        'another is stored during the call': lambda: stored_first_wins(settings),
        'its card is declined': lambda: card_declined(settings),
        'the provider is down': lambda: provider_is_down(settings),
        'it is given up': lambda: given_up(settings),
        'the tokens file gives it': lambda: given_by_tokens(settings),
    }
    for point, hits in sorted(reached(settings.bin, []).items()):
        for hit in range(1, hits + 1):
            found[f'kill -9: {point}, hit {hit} of {hits}'] = lambda point=point, hit=hit: killed(settings, point, hit)
    return [('customer: ' + name, run) for name, run in found.items()]
