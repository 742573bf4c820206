"""Stripe's own library for Node against our stand-in: it understands every answer like Stripe's, and its retries
charge once, whatever the stand-in does meanwhile. Checked by the ledger. Needs tools/install full.
"""
import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import threading
import time

import node
from browser_cases import Cutter
from murphy_cases import faults
from world import WAIT_S, World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # The stand-in has no database.
ORDER = {'amount': 2000, 'currency': 'usd', 'customer': 'cus_jane', 'description': 'Charge for ride 1'}


def charge(customer='cus_jane', key=None, **changes):
    """A change to None removes the field."""
    order = {name: value for name, value in (ORDER | {'customer': customer} | changes).items() if value is not None}
    return {'do': 'charge', 'with': order, 'idempotencyKey': key}


def stripe(world, *calls, key='sk_test_rides', retries=4, timeout=20_000, together=False, port=None):
    """The outcome of each call."""
    asked = {'port': port or world.stripe, 'key': key, 'retries': retries, 'timeout': timeout, 'calls': calls, 'together': together}
    done = subprocess.run(['node', os.path.join(node.install(), 'stripe.mjs'), json.dumps(asked)], capture_output=True, text=True,
                          timeout=6 * WAIT_S, check=False)
    check_equal(done.returncode, 0, f'the exit code of the library: {done.stderr[-600:]}')
    return json.loads(done.stdout)


def is_charge(outcome):
    check('ok' in outcome, f'the outcome: {outcome}')
    return outcome['ok']['id']


def only_charge(world, *outcomes):
    """All outcomes are the one charge of the ledger."""
    check_equal(len(world.ledger()), 1, 'charges')
    check_equal({is_charge(outcome) for outcome in outcomes}, {world.ledger()[0]['id']}, 'the charges in the library')


def charges_and_refunds(world):
    first, again = stripe(world, charge(key='k'), charge(key='k'))
    only_charge(world, first, again)
    check_equal((first['replayed'], again['replayed'], again['original']), (False, True, first['requestId']), 'the repeat')
    check(first['requestId'] != again['requestId'] and first['apiVersion'], f'{first} {again}')
    made = first['ok']
    check_equal((made['object'], made['amount'], made['currency'], made['paid'], made['livemode'], made['status']),
                ('charge', 2000, 'usd', True, False, 'succeeded'), 'the charge')
    part, whole, seen = stripe(world, {'do': 'refund', 'with': {'charge': made['id'], 'amount': 500}},
                               {'do': 'refund', 'with': {'charge': made['id']}}, {'do': 'show', 'id': made['id']})
    check_equal((part['ok']['amount'], whole['ok']['amount'], seen['ok']['amount_refunded'], seen['ok']['refunded']),
                (500, 1500, 2000, True), 'refunds, and the charge then')
    shown, = stripe(world, {'do': 'show_refund', 'id': part['ok']['id']})
    check_equal(shown['ok'], part['ok'], 'a refund')


def holds_captures_and_voids(world):
    """An authorised charge is captured once, or voided; the stand-in knows its holds after a restart, too."""
    taken, freed = stripe(world, charge(key='k-1', capture='false'), charge(key='k-2', capture='false'))
    check_equal([(hold['ok']['captured'], hold['ok']['amount_captured']) for hold in (taken, freed)], [(False, 0)] * 2, 'the holds')
    capture = {'do': 'capture', 'id': taken['ok']['id'], 'with': {'amount': 1500}}
    void = {'do': 'refund', 'with': {'charge': freed['ok']['id']}}
    world.kill_provider()
    world.start_provider()
    done, twice, voided, late, shown, free = stripe(
        world, capture, capture, void, capture | {'id': freed['ok']['id']}, {'do': 'show', 'id': taken['ok']['id']},
        {'do': 'show', 'id': freed['ok']['id']})
    check_equal((done['ok']['captured'], done['ok']['amount_captured'], done['ok']['amount_refunded']), (True, 1500, 500), 'the capture')
    is_error('captured twice', twice, (INVALID, 400, 'invalid_request_error', 'charge_already_captured', None, 1))
    check_equal((voided['ok']['object'], voided['ok']['amount']), ('refund', 2000), 'the void')
    is_error('captured after a void', late, (INVALID, 400, 'invalid_request_error', 'charge_already_refunded', None, 1))
    check_equal(shown['ok'], done['ok'], 'the charge after its capture')
    check_equal((free['ok']['captured'], free['ok']['refunded']), (False, True), 'the charge after its void')
    more, rest = stripe(world, {'do': 'refund', 'with': {'charge': taken['ok']['id'], 'amount': 1501}},
                        {'do': 'refund', 'with': {'charge': taken['ok']['id']}})
    is_error('more than was captured', more, (INVALID, 400, 'invalid_request_error', None, 'amount', 1))
    check_equal(rest['ok']['amount'], 1500, 'a refund of what was captured')


def expires(world):
    hold, = stripe(world, charge(capture='false'))
    faults(world, hold_lifetime_ms=0)
    late, void = stripe(world, {'do': 'capture', 'id': hold['ok']['id']}, {'do': 'refund', 'with': {'charge': hold['ok']['id']}})
    is_error('captured late', late, (INVALID, 400, 'invalid_request_error', 'charge_expired_for_capture', None, 1))
    is_error('voided late', void, (INVALID, 400, 'invalid_request_error', 'charge_already_refunded', None, 1))
    check_equal([line['kind'] for line in world._lines('ledger')], ['hold', 'expired', 'error'], 'the ledger')


def comes_up_again(world):
    """503 for a while: the library waits and tries again by itself."""
    faults(world, down=True)
    timer = threading.Timer(0.7, lambda: faults(world, down=False))
    timer.start()
    outcome, = stripe(world, charge())   # With a key that the library generates.
    timer.join()
    check(outcome['requests'] >= 1, f'{outcome}')
    only_charge(world, outcome)
    check(world.ledger()[0]['key'].startswith('stripe-node-retry-'), world.ledger()[0]['key'])


def fails_once(world):
    outcome, = stripe(world, charge('cus_503once'))
    only_charge(world, outcome)
    check_equal(outcome['requests'], 2, 'requests')


def answer_lost(world):
    """Booked, and the first answer never comes: the library's time-out, then the stored answer."""
    outcome, = stripe(world, charge('cus_once'), timeout=2_000)
    only_charge(world, outcome)
    check(outcome['requests'] > 1 and outcome['replayed'], f'{outcome}')


def line_cut(world):
    """The connection is reset at the answer, three times; the library repeats with its key."""
    with contextlib.closing(Cutter(world.stripe, b'POST /v1/charges')) as line, concurrent.futures.ThreadPoolExecutor(1) as pool:
        line.armed = True
        running = pool.submit(stripe, world, charge(), port=line.port)
        wait_until('the connection to be cut', lambda: line.cuts >= 2)
        line.armed = False
        outcome, = running.result()
    only_charge(world, outcome)
    check(outcome['replayed'], f'{outcome}')


def slower_than_its_patience(world):
    """Time-outs shorter than the answer's delay: repeats meet the first, or its stored answer."""
    faults(world, delay_ms=5_000)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(stripe, world, charge(), timeout=700, retries=20)
        wait_until('the charge', world.ledger)
        time.sleep(1.5)   # Twice the library's time-out.
        faults(world, delay_ms=0)
        outcome, = running.result()
    only_charge(world, outcome)
    check(outcome['requests'] > 1, f'{outcome}')


def booked_late(world):
    """The first is still being written to the ledger when the second comes."""
    gone, = stripe(world, charge('cus_late', 'k'), timeout=250, retries=0)
    check_equal(gone['error']['class'], 'StripeConnectionError', 'what it waited for so briefly')
    outcome, = stripe(world, charge('cus_late', 'k'))
    only_charge(world, outcome)


def killed(world):
    """kill -9 after the booking, and a start with the same ledger."""
    faults(world, delay_ms=20_000)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(stripe, world, charge(), retries=8)
        wait_until('the charge', world.ledger)
        world.kill_provider()
        world.start_provider()
        outcome, = running.result()
    only_charge(world, outcome)
    check(outcome['replayed'], f'{outcome}')


def two_at_once(world):
    """The same key from two processes: 409 makes one of them wait, or it gets the answer."""
    for n in range(5):
        outcomes = stripe(world, *[charge(key=f'k-{n}')] * 6, together=True)
        check_equal(len({is_charge(outcome) for outcome in outcomes}), 1, 'charges of one key')
    check_equal(len(world.ledger()), 5, 'charges')


def rate_limited(world):
    """The library does not retry, as Stripe does not ask it to; the caller does, with the same key."""
    first, second = stripe(world, charge('cus_429once', 'k'), charge('cus_429once', 'k'))
    check_equal((first['error']['class'], first['requests']), ('StripeRateLimitError', 1), 'the first')
    only_charge(world, second)


# The request; then class, HTTP status, type, code, param, and requests with two retries allowed.
INVALID = 'StripeInvalidRequestError'
ERRORS = {
    'a declined card': (charge('cus_declined'), ('StripeCardError', 402, 'card_error', 'card_declined', None, 1)),
    'no amount': (charge(amount=None), (INVALID, 400, 'invalid_request_error', 'parameter_missing', 'amount', 1)),
    'no currency': (charge(currency=None), (INVALID, 400, 'invalid_request_error', 'parameter_missing', 'currency', 1)),
    'no customer': (charge(None), (INVALID, 400, 'invalid_request_error', 'parameter_missing', 'customer', 1)),
    'an amount in words': (charge(amount='ten'), (INVALID, 400, 'invalid_request_error', 'parameter_invalid_integer', 'amount', 1)),
    'a small amount': (charge(amount=49), (INVALID, 400, 'invalid_request_error', 'amount_too_small', 'amount', 1)),
    'no such charge': ({'do': 'show', 'id': 'ch_none'}, (INVALID, 404, 'invalid_request_error', 'resource_missing', 'id', 1)),
    'no such refund': ({'do': 'show_refund', 'id': 're_none'}, (INVALID, 404, 'invalid_request_error', 'resource_missing', 'id', 1)),
    'a refund of nothing': ({'do': 'refund', 'with': {'charge': 'ch_none'}},
                            (INVALID, 404, 'invalid_request_error', 'resource_missing', 'charge', 1)),
    'another URL': ({'do': 'elsewhere', 'path': '/v1/nothing'}, (INVALID, 404, 'invalid_request_error', None, None, 1)),
    'too many requests': (charge('cus_429'), ('StripeRateLimitError', 429, 'invalid_request_error', 'rate_limit', None, 1)),
    # It is stored, and a repeat would get it again: the answer says so to the library.
    'a broken charge': (charge('cus_500'), ('StripeAPIError', 500, 'api_error', None, None, 1)),
    'never up': (charge('cus_503'), ('StripeAPIError', 503, 'api_error', None, None, 3)),
}


def is_error(name, outcome, wanted):
    check('error' in outcome, f'{name}: {outcome}')
    error = outcome['error']
    found = (error['class'], error['statusCode'], error.get('rawType'), error.get('code'), error.get('param'), outcome['requests'])
    check_equal(found, wanted, name)
    check(error['isStripes'] and error['type'] == error['class'] and error['message'], f'{name}: {error}')
    check(re.fullmatch('req_[0-9a-f]{14}', error['requestId']), f'{name}: the request id: {error}')
    check_equal(error.get('doc_url'), f'https://stripe.com/docs/error-codes/{error["code"].replace("_", "-")}' if error.get('code') else None,
                f'{name}: the page of its code')
    return error


def errors(world):
    outcomes = stripe(world, *(asked for asked, _ in ERRORS.values()), retries=2)
    for (name, (_, wanted)), outcome in zip(ERRORS.items(), outcomes):
        error = is_error(name, outcome, wanted)
        if wanted[0] == 'StripeCardError':
            check_equal(error['decline_code'], 'generic_decline', 'why the card was declined')
            check(error['charge'].startswith('ch_'), f'the charge that failed: {error}')
            check_equal(error['message'], 'Your card was declined.', 'the message for the rider')
    check_equal(len(world.ledger()), 0, 'charges')


def errors_of_keys(world):
    first, other = stripe(world, charge(key='k'), charge(key='k', amount=3000))
    is_error('a key used with another amount', other, ('StripeIdempotencyError', 400, 'idempotency_error', None, None, 1))
    only_charge(world, first)
    once, more, again = stripe(world, {'do': 'refund', 'with': {'charge': first['ok']['id'], 'amount': 1500}},
                               {'do': 'refund', 'with': {'charge': first['ok']['id'], 'amount': 501}},
                               {'do': 'refund', 'with': {'charge': first['ok']['id']}})
    is_error('more than is left', more, (INVALID, 400, 'invalid_request_error', None, 'amount', 1))
    check_equal((once['ok']['amount'], again['ok']['amount']), (1500, 500), 'refunds')
    twice, = stripe(world, {'do': 'refund', 'with': {'charge': first['ok']['id']}})
    is_error('refunded already', twice, (INVALID, 400, 'invalid_request_error', 'charge_already_refunded', None, 1))


def without_a_key_of_the_api(world):
    for key in ('pk_of_a_page', 'nothing'):
        outcome, = stripe(world, charge(), key=key)
        is_error(key, outcome, ('StripeAuthenticationError', 401, 'invalid_request_error', None, None, 1))
    check_equal(len(world.ledger()), 0, 'charges')


def nobody_there(world):
    world.kill_provider()
    outcome, = stripe(world, charge(), retries=1)
    check_equal((outcome['error']['class'], outcome['error'].get('requestId')), ('StripeConnectionError', None), 'the error')


def cases(settings):
    found = {
        'it charges and refunds': charges_and_refunds, 'it holds, captures and voids': holds_captures_and_voids, 'a hold expires': expires,
        'the stand-in comes up again': comes_up_again, 'it fails once': fails_once,
        'the answer is lost': answer_lost, 'the connection is cut': line_cut, 'it is slower than the library waits': slower_than_its_patience,
        'it books late': booked_late, 'it is killed': killed, 'the same key at once': two_at_once, 'too many requests': rate_limited,
        'every error is of its own class': errors, 'errors of keys and refunds': errors_of_keys,
        'the wrong credentials': without_a_key_of_the_api, 'the provider is down': nobody_there}
    missing = node.programs_missing(browser=False)
    if not settings.everything:
        return []   # npm is run by ./test --full only; browser_cases prints that.

    def run(case):
        check(missing is None, f'{missing}')
        with World(settings.bin, judged=False) as world:
            case(world)
    return [("Stripe's library: " + name, lambda case=case: run(case)) for name, case in found.items()]
