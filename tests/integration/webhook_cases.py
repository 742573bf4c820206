"""Events of the provider come in: signed, each once, in any order and before our own answer; and they settle calls in doubt."""
import hashlib
import hmac
import json
import random
import time

from kill_cases import QUICK
from murphy_cases import faults
from phone import Phone
from world import World, check, check_equal, wait_until

NEW, OLD = 'whsec_new_secret_of_tests', 'whsec_old_secret_of_tests'
HOOKS = ['--settle-after-s', '0']
SECRETS = {'STRIPE_WEBHOOK_SECRETS': f'{NEW} {OLD}'}


class Hooked(World):
    """A world whose stand-in for Stripe sends its events to the server."""

    def __init__(self, settings, options=(), how='', secret=NEW):
        super().__init__(settings.bin, [*QUICK, *HOOKS, *options])
        self.environment = dict(SECRETS)
        self.provider_options += ['--webhook', f'http://127.0.0.1:{self.port}/webhooks/stripe', '--webhook-secret', secret,
                                  '--webhook-faults', how]

    def events(self):
        return dict(self.rows('SELECT id, state FROM provider_events'))

    def wait_applied(self, count, state='applied'):
        wait_until(f'{count} events to be {state}', lambda: list(self.events().values()).count(state) == count)

    def refund_there(self, charge, amount=None):
        """A refund by the provider's dashboard: no request of ours."""
        self.judged = False   # No request in the history names it.
        form = f'charge={charge}' + (f'&amount={amount}' if amount else '')
        answer = Phone(self.stripe, 'sk_test_dashboard').send(
            'POST', '/v1/refunds', form, headers={'Content-Type': 'application/x-www-form-urlencoded'})
        check_equal(answer.status, 200, f'the refund: {answer}')

    def states(self):
        return sorted(state for (state,) in self.rows('SELECT state FROM rides'))


def sign(body, secrets, at=None):
    at = int(at or time.time())
    marks = [hmac.new(s.encode(), f'{at}.{body}'.encode(), hashlib.sha256).hexdigest() for s in secrets]
    return ','.join([f't={at}', *(f'v1={mark}' for mark in marks)])


def event(number, charge='ch_unknown', kind='charge.succeeded', **more):
    return json.dumps({'id': f'evt_{number}', 'object': 'event', 'type': kind, 'created': 1_800_000_000, 'pending_webhooks': 1,
                       'data': {'object': {'id': charge, 'object': 'charge', 'amount': 2000, 'amount_refunded': 0,
                                           'currency': 'usd', 'customer': None, 'description': None, **more}},
                       'request': {'id': None, 'idempotency_key': None}})


def deliver(world, body, signature):
    return Phone(world.port).send('POST', '/webhooks/stripe', body, headers={
        'Content-Type': 'application/json', **({'Stripe-Signature': signature} if signature else {})})


def signatures(settings):
    """Only a signature of one of the secrets, of the last five minutes and of these bytes is accepted."""
    with Hooked(settings) as world:
        world.start_server()
        body = event(1)
        now = time.time()
        for what, signature in {'none': None, 'empty': '', 'of another secret': sign(body, ['whsec_of_somebody_else']),
                                'of another body': sign(body + ' ', [NEW]), 'too old': sign(body, [NEW], now - 400),
                                'of tomorrow': sign(body, [NEW], now + 86_400), 'no time': sign(body, [NEW]).split(',')[1]}.items():
            answer = deliver(world, body, signature)
            check_equal(answer.status, 400, f'the answer to a signature {what}: {answer}')
        check_equal(world.events(), {}, 'events')
        check_equal(deliver(world, body, sign(body, [NEW])).status, 200, 'the new secret')
        check_equal(deliver(world, event(2), sign(event(2), [OLD])).status, 200, 'the old secret')
        check_equal(deliver(world, event(3), sign(event(3), ['whsec_of_somebody_else', OLD])).status, 200, 'two signatures')
        again = deliver(world, body.replace('"pending_webhooks": 1', '"pending_webhooks": 0'),
                        sign(body.replace('"pending_webhooks": 1', '"pending_webhooks": 0'), [NEW]))
        check_equal(again.status, 200, f'a second delivery: {again}')
        other = event(1, amount=2001)
        check_equal(deliver(world, other, sign(other, [NEW])).status, 422, 'another event under the same id')
        ping = json.dumps({'id': 'evt_9', 'type': 'customer.created', 'data': {'object': {'id': 'cus_1'}}})
        check_equal(deliver(world, ping, sign(ping, [NEW])).status, 200, 'an event of another type')
        for wrong in ('', '[]', '{"id":"evt_8","type":"charge.succeeded"}', '\x00'):
            check_equal(deliver(world, wrong, sign(wrong, [NEW])).status, 400, f'signed nonsense {wrong!r}')
        check_equal(sorted(world.events()), ['evt_1', 'evt_2', 'evt_3'], 'events')
        check_equal(world.count('pawl_idempotency_keys', "operation = 'receive_event'"), 3, 'keys')


def forged_ones_fill_no_log(settings):
    """An attack wrote 60 MB of log in 6 s: a line for each delivery without a valid signature."""
    with Hooked(settings) as world:
        world.start_server()
        for n in range(300):
            check_equal(deliver(world, event(n), sign(event(n), ['whsec_of_somebody_else'])).status, 400, 'a forged delivery')
        check_equal(world.stop_server(), 0, 'the exit code')
        lines = [json.loads(line) for line in world.log().splitlines() if '"event":"webhook_refused"' in line]
        check(len(lines) < 20, f'{len(lines)} lines of 300 deliveries')
        check_equal(sum(1 + line.get('repeated', 0) for line in lines if 'why' in line)
                    + sum(line['repeated'] for line in lines if 'why' not in line), 300, 'deliveries that the lines count')


def in_any_order(settings, how):
    """Each event is applied once, and its ride is as the provider has it."""
    with Hooked(settings, how=how) as world:
        world.start_server()
        for n in range(4):
            check_equal(world.phone().booked(f'k{n}').status, 201, 'a ride')
        charges = [line['id'] for line in world.ledger()]
        world.refund_there(charges[0])
        world.refund_there(charges[1], 500)
        world.refund_there(charges[2], 500)
        world.refund_there(charges[2], 1500)
        world.wait_applied(8)
        check_equal(world.states(), ['booked', 'booked', 'refunded', 'refunded'], 'rides')
        check_equal(world.count('audit_records', "action = 'refunded'"), 2, 'refunds in the audit')
        world.settle()
        check_equal(len(world.ledger()), 4, 'charges')


def before_the_own_answer(settings):
    """The event comes while the request is at its call: nothing is done to it, and it gets its own answer."""
    with Hooked(settings, how='early') as world:
        world.start_server()
        faults(world, delay_ms=1_500)
        answer = world.phone().book('k')
        check_equal(answer.status, 201, f'the ride: {answer}')
        check_equal(world.count('pawl_audit_log'), 0, 'decisions')
        world.wait_applied(1)
        check_equal(world.phone().book('k').body, answer.body, 'the repeat')


def settles_doubt(settings, once, how):
    """A charge was booked, and its answer says 500: the request waits for a person, and the event settles it instead."""
    options = ['--rider', 'test_doubt charged500@example.com cus_charged500', *(['--charge-once'] if once else [])]
    with Hooked(settings, options, how) as world:
        world.start_server()
        phone = world.phone('test_doubt')
        answer = wait_until('the ride', lambda: next((a for a in [phone.book('k')] if a.status == 201), None))
        charge = world.ledger()[0]['id']
        check_equal((answer.json['charge'], len(world.ledger()), world.count('pawl_attention')), (charge, 1, 0), 'the charge')
        check_equal(list(world.events().values()), ['settled'], 'the event')
        actors = {actor for (actor,) in world.rows('SELECT actor FROM pawl_audit_log')}
        check_equal(actors, {f'webhook stripe {next(iter(world.events()))}'}, 'who settled it')
        check_equal(world.rows('SELECT state, stripe_charge_id FROM rides'), [('booked', charge)], 'the ride')
        world.settle()
        check_equal(len(world.mails()), 1, 'receipts')


def proves_nothing(settings):
    """Events of another amount, of another customer and of nothing leave the request to a person."""
    with World(settings.bin, [*QUICK, *HOOKS, '--charge-once', '--rider', 'test_doubt 500@example.com cus_500'], judged=False) as world:
        world.environment = dict(SECRETS)
        world.start_server()
        wait_until('the doubt', lambda: world.phone('test_doubt').book('k').status == 502)
        right = {'customer': 'cus_500', 'description': 'Rocket ride, request k'}
        for n, wrong in enumerate([{'amount': 1999}, {'currency': 'eur'}, {'customer': 'cus_jane'},
                                   {'description': 'Rocket ride, request k2'}, {'description': None}]):
            body = event(n, f'ch_{n}', **right | wrong)
            check_equal(deliver(world, body, sign(body, [NEW])).status, 200, f'the event {wrong}')
        body = event(9, 'ch_9', 'charge.refunded', **right)
        check_equal(deliver(world, body, sign(body, [NEW])).status, 200, 'a refund')
        wait_until('each job to be tried', lambda: not world.count('pawl_jobs', 'attempt = 0'))
        check_equal(world.rows('SELECT DISTINCT state FROM provider_events'), [('recorded',)], 'events')
        check_equal(world.rows('SELECT settlement FROM pawl_attention'), [(None,)], 'the decision')
        body = event(10, 'ch_10', **right)
        check_equal(deliver(world, body, sign(body, [NEW])).status, 200, 'the right event')
        final = wait_until('the ride', lambda: next((a for a in [world.phone('test_doubt').book('k')] if a.status == 201), None))
        check_equal(final.json['charge'], 'ch_10', 'the charge')


# What an event has beside event(), and beside its charge; and a replacement in its text.
FORMS = {
    'request string': ({'request': 'req_abc', 'api_version': '2015-04-07'}, {}, None),
    'request null': ({'request': None}, {}, None),
    'created in milliseconds': ({'created': 1_732_000_000_000}, {}, None),
    'created far': ({'created': 10**17}, {}, None),
    'created float': ({'created': 1_732_000_000.5}, {}, None),
    'customer expanded': ({}, {'customer': {'id': 'cus_1', 'object': 'customer'}}, None),
    'NUL': ({}, {'description': 'Rocket ride, request a\0b', 'customer': 'cus\0'}, None),
    'NUL in the key': ({'request': {'id': None, 'idempotency_key': 'a\0' * 20}}, {}, None),
    'half of a pair': ({}, {'description': 'Rocket ride, request \ud83d'}, None),
    'exponent': ({}, {}, ('"amount": 2000', '"amount": 2.0e3')),
    'duplicate names': ({}, {'metadata': {'k': 'v'}}, ('"k": "v"', '"k": "v", "k": "w"')),
    'numbers': ({'pending_webhooks': 10**30}, {'fraud_details': {'score': 0.1}}, ('0.1}', '0.12345678901234567}')),
    'deep': ({}, {'metadata': 'deep'}, ('"deep"', '{"a":' * 200 + '1' + '}' * 200))}


def form_of(number, charge, kind, form, **more):
    of_event, of_charge, change = FORMS[form]
    body = json.dumps(json.loads(event(number, charge, kind, **of_charge, **more)) | of_event)
    return body.replace(*change) if change else body


def each_form(settings):
    """An event in each legal form is recorded and applied, and no job fails. PostgreSQL answered 500 for ever."""
    with Hooked(settings) as world:
        world.start_server()
        for n, form in enumerate(FORMS):
            check_equal(world.phone().booked(f'k{n}').status, 201, 'a ride')
            body = form_of(n, f'ch_of_nobody_{n}', 'charge.succeeded', form)
            check_equal(deliver(world, body, sign(body, [NEW])).status, 200, f'a charge: {form}')
            body = form_of(f'refund_{n}', world.ledger()[n]['id'], 'charge.refunded', form, amount_refunded=2000)
            for _ in range(2):
                check_equal(deliver(world, body, sign(body, [NEW])).status, 200, f'a refund: {form}')
        wait_until('each ride to be refunded', lambda: world.states() == ['refunded'] * len(FORMS))
        wait_until('each job to be tried', lambda: not world.count('pawl_jobs', 'attempt = 0'))
        check_equal(world.count('pawl_jobs', 'last_error IS NOT NULL'), 0, 'jobs that failed')
        check_equal(world.count('provider_events', "state = 'recorded' AND charge_id LIKE 'ch_of_nobody%'"), len(FORMS), 'charges')
        times = {str(at)[:4] for (at,) in world.rows("SELECT created_at FROM provider_events")}
        check(all('2024' <= year <= '2027' for year in times), f'the years of the events: {times}')


def of_another_meaning(settings):
    """A charge that is held, of the other mode, of another account or without its amount settles and refunds nothing."""
    with World(settings.bin, [*QUICK, *HOOKS, '--charge-once', '--rider', 'test_doubt 500@example.com cus_500'], judged=False) as world:
        world.environment = dict(SECRETS)
        world.start_server()
        wait_until('the doubt', lambda: world.phone('test_doubt').book('k').status == 502)
        check_equal(world.phone().booked('k2').status, 201, 'a ride')
        charge = world.ledger()[-1]['id']
        right = {'customer': 'cus_500', 'description': 'Rocket ride, request k'}
        n = 0
        for of_event, of_charge in [({}, {'captured': False}), ({}, {'paid': False}), ({}, {'status': 'pending'}),
                                    ({}, {'status': 'failed'}), ({}, {'amount_captured': 1}), ({}, {'livemode': True}),
                                    ({}, {'object': 'refund'}), ({'livemode': True}, {}), ({'account': 'acct_other'}, {})]:
            for kind, more in (('charge.succeeded', right), ('charge.refunded', {'amount_refunded': 2000})):
                body = json.dumps(json.loads(event(n, charge, kind, **more | of_charge)) | of_event)
                check_equal(deliver(world, body, sign(body, [NEW])).status, 200, f'{kind} {of_event} {of_charge}')
                n += 1
        for amounts in ({'amount': -5}, {'amount': 0}, {'amount_refunded': 2001}):
            body = event(n, charge, 'charge.refunded', **amounts)
            check_equal(deliver(world, body, sign(body, [NEW])).status, 400, f'{amounts}')
        check_equal(world.rows('SELECT id FROM provider_events'), [], 'events')
        check_equal(world.rows('SELECT settlement FROM pawl_attention'), [(None,)], 'the decision')
        check_equal(world.count('rides', "state = 'refunded'"), 0, 'refunded rides')
        world.stop_server()
        check('"event":"webhook_ignored"' in world.log(), 'no line of the ignored events')


def of_refund(number, charge, kind, status):
    made = json.loads(event(number, 're_1', kind, object='refund', status=status, failure_reason='lost_or_stolen_card'))
    made['data']['object']['charge'] = charge
    return json.dumps(made)


def of_another_refund(settings):
    """Issue 38: a refund of another amount or currency made a ride refunded, a part that we did not order and a failed refund were silent."""
    with Hooked(settings) as world:
        world.start_server()
        for n in range(6):
            check_equal(world.phone().booked(f'k{n}').status, 201, 'a ride')
        charges = [line['id'] for line in world.ledger()]
        rides = {charge: ride for ride, charge in world.rows('SELECT id, stripe_charge_id FROM rides')}
        part = world.phone().send('POST', f'/rides/{rides[charges[4]]}/refund', '{"amount":500}',
                                  headers={'Content-Type': 'application/json',
                                           'Idempotency-Key': f'ride-{rides[charges[4]]}-refund-1'})
        check_equal(part.status, 201, f'a refund of ours: {part}')
        world.refund_there(charges[3], 700)
        world.refund_there(charges[5])
        world.wait_applied(9)
        wrong = [event(1, charges[0], 'charge.refunded', amount=1, amount_refunded=1, refunded=True),
                 event(2, charges[1], 'charge.refunded', amount_refunded=2000, currency='eur'),
                 event(3, charges[2], amount=1999)]
        wrong += [of_refund(4, charges[5], 'refund.failed', 'failed'), of_refund(5, charges[5], 'refund.updated', 'succeeded'),
                  of_refund(6, 'ch_of_a_trip', 'charge.refund.updated', 'failed')]
        for body in wrong:
            for _ in range(2):
                check_equal(deliver(world, body, sign(body, [NEW])).status, 200, body)
        world.wait_applied(13)
        wait_until('each job to be tried', lambda: not world.count('pawl_jobs', "kind = 'apply_event'"))
        check_equal(world.states(), ['booked'] * 5 + ['refunded'], 'rides')
        failed = 'the refund re_1 of 2000 usd has failed: lost_or_stolen_card'
        expected = {charges[0]: 'amount: theirs 1, ours 2000; state: theirs refunded, ours not refunded',
                    charges[1]: 'currency: theirs eur, ours usd; state: theirs refunded, ours not refunded',
                    charges[2]: 'amount: theirs 1999, ours 2000', charges[3]: 'refunded: theirs 700, ours 0', charges[5]: failed}
        check_equal(dict(world.rows("SELECT charge_id, detail FROM reconcile_differences WHERE state = 'open'")), expected, 'differences')
        days = {str(day) for (day,) in world.rows('SELECT day FROM reconcile_differences')}
        check_equal(days, {str(at)[:10] for (at,) in world.rows('SELECT created_at FROM rides')}, 'the day of the rides')
        (day,) = days
        shown = world.rides_command('reconcile', '--day', day, '--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}',
                                    check_status=1).stdout
        check('6 charges of theirs, 6 rides of ours, 1 differences' in shown, f'the provider has not said so: {shown}')
        check_equal(world.rows("SELECT charge_id, detail FROM reconcile_differences WHERE state = 'open'"),
                    [(charges[3], 'refunded: theirs 700, ours 0')], 'what the comparison finds, too')
        world.stop_server()
        logged = [json.loads(line) for line in world.log().splitlines()
                  if '"event":"charge_differs"' in line or '"event":"refund_failed"' in line]
        check_equal(sorted((line['event'], line['charge']) for line in logged),
                    sorted([('charge_differs', charge) for charge in charges[:4]] +
                           [('refund_failed', charge) for charge in (charges[5], 'ch_of_a_trip')]), 'lines')


def killed(settings, seed):
    """kill -9 while events come twice and shuffled: each is recorded and applied once."""
    chance = random.Random(seed)
    with Hooked(settings, how='early twice shuffled') as world:
        world.start_server()
        for n in range(6):
            def booked(key=f'k{n}'):
                if world.dead():
                    world.start_server()
                try:
                    return world.phone().book(key).status == 201
                except OSError:
                    return False
            if n % 2:
                time.sleep(chance.random() * 0.3)
                world.kill_server()
            wait_until('the ride', booked)
        for line in world.ledger():
            world.refund_there(line['id'])
        time.sleep(chance.random() * 0.5)
        world.kill_server()
        world.start_server()
        world.wait_applied(12)
        check_equal(world.states(), ['refunded'] * 6, 'rides')
        check_equal(world.count('audit_records', "action = 'refunded'"), 6, 'refunds in the audit')
        check_equal(len(world.ledger()), 6, 'charges')


def cases(settings):
    made = {
        'webhooks: signatures': lambda: signatures(settings),
        'webhooks: forged ones fill no log': lambda: forged_ones_fill_no_log(settings),
        'webhooks: before the own answer': lambda: before_the_own_answer(settings),
        'form: an event of Stripe is recorded and applied in each of its forms': lambda: each_form(settings),
        'form: an event that is not about a payment to us changes nothing': lambda: of_another_meaning(settings),
        'right: an event of another refund, or of one that failed, is a difference': lambda: of_another_refund(settings),
        'webhooks: an event that proves nothing settles nothing': lambda: proves_nothing(settings)}
    for how in ('', 'twice', 'shuffled', 'early twice shuffled'):
        made[f'webhooks: delivered {how or "in order"}'] = lambda how=how: in_any_order(settings, how)
    for once in (True, False):
        for how in ('', 'early', 'twice shuffled'):
            name = f'webhooks: settle a call {"without" if once else "with"} key in doubt, {how or "in order"}'
            made[name] = lambda once=once, how=how: settles_doubt(settings, once, how)
    for n in range(2):
        made[f'webhooks: killed while they come, {n}'] = lambda n=n: killed(settings, settings.seed + n)
    return list(made.items())
