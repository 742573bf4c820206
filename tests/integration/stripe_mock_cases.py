"""Rocket Rides against stripe-mock, Stripe's own test server: it refuses each request that Stripe's OpenAPI description does not allow."""
import contextlib
import http.client
import json
import os
import re
import urllib.parse

import stripe_mock
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # About the calls, not the database.
QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '100', '--job-lease-ms', '3000',
         '--job-timeout-ms', '2000', '--rider', 'test_new new@example.com']
VERSION = '2026-08-26.dahlia'   # Stripe::tested_version


@contextlib.contextmanager
def worlds(settings, *options, key='sk_test_123'):
    """A world whose server calls stripe-mock."""
    with World(settings.bin, [*QUICK, *options], judged=False) as world, \
            stripe_mock.StripeMock(os.path.join(world.folder, 'stripe-mock.log')) as mock:
        world.stripe = mock.port
        world.environment = {'STRIPE_API_KEY': key}
        world.start_server()
        yield world


def post(port, path, form, version=VERSION):
    """(status, body) of a request that does not come from Rocket Rides."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
    try:
        connection.request('POST', path, urllib.parse.urlencode(form), {
            'Authorization': 'Bearer sk_test_123', 'Content-Type': 'application/x-www-form-urlencoded', 'Stripe-Version': version})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def ride_and_refund(settings, *options):
    with worlds(settings, *options) as world:
        phone = world.phone('test_new')
        first = phone.book('k')
        check_equal(first.status, 201, f'the ride: {first}; the log: {world.log()[-600:]}')
        check(re.fullmatch(r'ch_\w+', first.json['charge']), f'the charge: {first}')
        (customer,), = world.rows("SELECT stripe_customer_id FROM users WHERE email = 'new@example.com'")
        check(re.fullmatch(r'cus_\w+', customer or ''), f'the stored customer: {customer}')
        again = phone.book('k')
        check((again.body, again.replayed) == (first.body, True), f'the repeat: {again}')
        second = phone.book('second')
        check(second.status == 201 and second.json['charge'] != first.json['charge'], f'the second ride: {second}')
        check_equal(world.rows("SELECT stripe_customer_id FROM users WHERE email = 'new@example.com'"), [(customer,)],
                    'the customer after it')
        refund = phone.refund(first.json['ride'])
        check(refund.status == 201 and re.fullmatch(r're_\w+', refund.json['refund']), f'the refund: {refund}')
        check_equal(world.rows('SELECT state FROM rides ORDER BY id'), [('refunded',), ('booked',)], 'the rides')
        check_equal(world.count('pawl_attention'), 0, 'requests for a person')


def another_version(settings):
    """The version is sent: stripe-mock knows one only, and refuses another."""
    with worlds(settings, '--stripe-version', '2020-08-27') as world:
        check_equal(world.phone('test_new').book('k').status, 502, 'the first answer')
        (one,) = json.loads(world.pawl_command('attention', 'list', '--json').stdout)
        check(one['reason'] == 'stuck' and 'the provider refused the request: 400 invalid_request_error' in one['detail']
              and "'2020-08-27' doesn't match" in one['detail'], f'{one}')
        check_equal(world.count('users', 'stripe_customer_id IS NOT NULL'), 2, 'stored customers: those of the tokens')


def unknown_api_key(settings):
    """401 makes nothing; with the right key the completer goes on."""
    with worlds(settings, key='not-a-key') as world:
        answer = world.phone('test_new').book('k')
        check_equal((answer.status, answer.type), (503, 'provider-unavailable'), f'the first answer: {answer}')
        # None while the completer tries again.
        shown = wait_until('the error', lambda: next((one for one in [json.loads(
            world.pawl_command('keys', 'show', '--key', 'k', '--json').stdout)] if one['error']), None))
        check('the provider said 401 invalid_request_error' in shown['error'], f'{shown}')
        check('not-a-key' not in shown['error'].replace("Authorization was 'Bearer not-a-key'", ''), f'{shown}')
        check_equal(world.stop_server(), 0, 'the exit code')
        world.environment = {'STRIPE_API_KEY': 'sk_test_123'}
        world.start_server('--stripe-account', 'acct_1')
        wait_until('the ride', lambda: world.phone('test_new').book('k').status == 201)


def reconciled(settings):
    """Both queries of `reconcile` are understood. The charges are examples, whatever was charged."""
    with worlds(settings) as world:
        check_equal(world.phone('test_new').book('k').status, 201, 'the ride')
        done = world.rides_command('reconcile', '--json', '--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}',
                                   check_status=1, environment=world.environment)
        found = json.loads(done.stdout)
        check_equal((found['matched'], found['differs'], found['only_theirs'], found['only_ours']), (0, 1, 1, 0), 'the charges')


def wrong_requests(settings):
    """What makes the other cases worth something: stripe-mock refuses what Stripe would not understand."""
    with worlds(settings) as world:
        for path, form in (('/v1/customers', {'e_mail': 'new@example.com'}), ('/v1/charges', {'amount': 'ten', 'currency': 'usd'}),
                           ('/v1/charges', {'amount': 2000, 'currency': 'usd', 'buyer': 'cus_1'}),
                           ('/v1/refunds', {'charge': 'ch_1', 'cents': 2000})):
            status, body = post(world.stripe, path, form)
            check_equal((status, body.get('error', {}).get('type')), (400, 'invalid_request_error'), f'{path} {form}')
        check_equal(post(world.stripe, '/v1/customers', {'email': 'new@example.com'})[0], 200, 'a right request')


def cases(settings):
    if not settings.everything:
        return []   # It is fetched by ./test --full only.
    if why := stripe_mock.missing():
        print(f'skipped: the cases with stripe-mock: {why}', flush=True)
        return []
    found = {
        'a ride and its refund': lambda: ride_and_refund(settings),
        'a ride and its refund, charged once': lambda: ride_and_refund(settings, '--charge-once'),
        'another API version': lambda: another_version(settings),
        'an unknown API key': lambda: unknown_api_key(settings),
        'the charges are compared': lambda: reconciled(settings),
        'it refuses wrong requests': lambda: wrong_requests(settings),
    }
    return [('stripe-mock: ' + name, run) for name, run in found.items()]
