"""Refunds of a ride in parts: each once, and together never above the charge, from several accounts and servers."""
import collections

from race_cases import at_once
from world import World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '200']
FARE = 2000
PARTS = 8   # That many are asked for at once; four of 500 fit.


def refunded(world):
    return sum(line['amount'] for line in world.ledger('refund'))


def books_agree(world, ride):
    """The ride, its refunds and the provider's ledger have one sum."""
    (own,) = world.rows(f"SELECT COALESCE(SUM(amount), 0) FROM ride_refunds WHERE ride_id = {ride} AND state = 'made'")
    told = world.phone().get(f'/rides/{ride}').json
    check_equal((own[0], told['amount_refunded']), (refunded(world),) * 2, 'the sum in the table, in the answer and at Stripe')
    check_equal(told['state'], 'refunded' if refunded(world) == FARE else 'booked', 'the state of the ride')


def final(ask):
    """Asks until the answer is final; 409 of the operation itself is."""
    def told():
        answer = ask()
        return answer if answer.status == 201 or 'idempotency-expires' in answer.headers or not answer.json.get('retry') else None
    return wait_until('a final answer', told)


def parts(world):
    ride = world.phone().booked('k').json['ride']
    first = world.phone().refund(ride, 500)
    check_equal((first.status, first.json['amount']), (201, 500), f'a part: {first}')
    again = world.phone('test_support').refund(ride, 500)
    check((again.body, again.replayed) == (first.body, True), f'support means the same refund: {again}')
    other = world.phone('test_support').refund(ride, 600)
    check_equal((other.status, other.type), (422, 'key-reused'), 'support means another amount')
    books_agree(world, ride)
    much = world.phone().refund(ride, 1501, 2)
    check_equal((much.status, much.json['detail']), (409, '1501 usd can\'t be refunded: of 2000, 1500 are left.'), 'too much')
    wrong = world.phone().send('POST', f'/rides/{ride}/refund', {'amount': 1}, key=f'ride-{ride}-refund')
    check_equal((wrong.status, wrong.json['detail']),
                (422, f'The Idempotency-Key must be ride-{ride}-refund-N, where N is the number of this refund: 1, 2, and so on.'),
                'the key of the whole refund')
    check_equal(world.phone().refund(ride, 0, 3).status, 400, 'nothing')
    check_equal(world.phone('test_joe').refund(ride, 1, 4).status, 404, 'a stranger')
    rest = world.phone().refund(ride)
    check_equal((rest.status, rest.json['amount']), (201, 1500), f'the rest: {rest}')
    books_agree(world, ride)
    check_equal(world.phone().refund(ride, 1, 5).status, 409, 'after that')
    done = world.rides_command('reconcile', '--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}')
    check('1 matched, 0 differ' in done.stdout, f'reconcile: {done.stdout}')


def parts_at_once(world):
    """Several supporters at once, each with a refund of its own; on PostgreSQL at three servers."""
    ports = [node.port for node in world.nodes] or [world.port]

    def ask(i):
        phone = world.phone(('test_jane', 'test_support')[i % 2])
        phone.port = ports[i % len(ports)]
        return final(lambda: phone.refund(ride, 500, i + 1))
    for round_number in range(5):
        before = refunded(world)
        ride = world.phone().booked(f'k-{round_number}').json['ride']
        statuses = collections.Counter(answer.status for answer in at_once(PARTS, ask))
        check_equal(statuses, {201: FARE // 500, 409: PARTS - FARE // 500}, 'the answers')
        check_equal(refunded(world) - before, FARE, 'refunded at Stripe')
    world.settle()


def refused_by_stripe(world):
    """The provider was asked elsewhere, too: what it refuses is not refunded here, and another amount may be."""
    ride = world.phone().booked('k').json['ride']
    charge = world.ledger()[0]['id']
    told = world.phone('sk_test_rocket_rides')
    told.port, told.history = world.stripe, None
    form = {'Content-Type': 'application/x-www-form-urlencoded'}
    check_equal(told.send('POST', '/v1/refunds', f'charge={charge}&amount=1800', form).status, 200, 'a refund by the dashboard')
    refused = world.phone().refund(ride, 500)
    check_equal((refused.status, refused.json['title']), (409, 'The refund was refused'), f'{refused}')
    check_equal(world.phone().refund(ride, 200, 2).status, 201, 'what is left there')
    check_equal(world.phone().refund(ride).status, 409, 'the rest')
    check_equal(world.rows('SELECT key, amount, state FROM ride_refunds ORDER BY key'),
                [(f'ride-{ride}-refund', 1800, 'not_made'), (f'ride-{ride}-refund-1', 500, 'not_made'),
                 (f'ride-{ride}-refund-2', 200, 'made')], 'the refunds')


def while_stripe_is_away(world):
    """An amount is reserved while its refund is not made yet."""
    ride = world.phone().booked('k').json['ride']
    world.kill_provider()
    check_equal(world.phone().refund(ride, 1500).status, 503, 'while Stripe is away')
    check_equal(world.phone().refund(ride, 501, 2).status, 409, 'its amount is reserved')
    world.start_provider()
    done = final(lambda: world.phone().refund(ride, 1500))
    check_equal((done.status, refunded(world)), (201, 1500), 'when it is back')
    books_agree(world, ride)


def cases(settings):
    def in_a_world(case, *options, nodes=0, **more):
        with World(settings.bin, QUICK, provider_options=options, **more) as world:
            if nodes and world.store.name == 'postgres':
                world.start_nodes(nodes)
                world.port = world.nodes[0].port
            else:
                world.start_server()
            case(world)

    found = {
        'parts of a ride': lambda: in_a_world(parts),
        'parts at once': lambda: in_a_world(parts_at_once, '--delay-ms', '20', nodes=3),
        # A refund that no answer names was made elsewhere.
        'refused by Stripe': lambda: in_a_world(refused_by_stripe, judged=False),
        'while Stripe is away': lambda: in_a_world(while_stripe_is_away),
    }
    return [('refund: ' + name, run) for name, run in found.items()]
