"""Trips: a share of the fare now, the rest authorised and captured at the pick-up; and each payment undone if the next is refused.

The ledger of the stand-in for Stripe is the truth: what is taken and what is held must be what the answers say, wherever the server dies.
"""
import collections
import json
import os

from kill_cases import QUICK, Day, hits_for
from murphy_cases import faults
from phone import Phone
from race_cases import at_once
from world import World, check, check_equal, wait_until

SHARE, REST = 500, 1500
TRIPPERS = ['--rider', 'test_short holdonly@example.com cus_holdonly']
# The points of an attempt. The others concern the server or jobs, and kill_cases.py has them.
POINTS = ('engine.', 'http.')


def money(world):
    """(taken, held), and how often the ledger has each kind."""
    taken = held = 0
    kinds = collections.Counter()
    for line in world._lines('ledger'):
        kind, amount = line['kind'], line.get('amount', 0)
        kinds[kind] += 1
        taken += {'charge': amount, 'capture': amount, 'refund': -amount}.get(kind, 0)
        held += {'hold': amount, 'capture': -amount, 'void': -amount, 'expired': -amount}.get(kind, 0)
    return (taken, held), kinds


def state(world, trip):
    return world.rows(f'SELECT state FROM trips WHERE id = {trip}')[0][0]


def reconciled(world, matched):
    done = world.rides_command('reconcile', '--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}')
    check(f'{matched} matched, 0 differ, 0 only theirs, 0 only ours' in done.stdout, f'reconcile: {done.stdout}')


def booked_and_picked_up(world):
    trip = world.phone().book_trip('k')
    check_equal((trip.status, trip.json['amount'], trip.json['rest']), (201, SHARE, REST), f'the booking: {trip}')
    number = trip.json['trip']
    check_equal((trip.headers['location'], money(world)[0]), (f'/trips/{number}', (SHARE, REST)), 'the share, and the hold')
    again = world.phone().book_trip('k')
    check((again.body, again.replayed) == (trip.body, True), f'the repeat: {again}')
    shown = world.phone().get(f'/trips/{number}').json
    check_equal((shown['state'], shown['share_charge_id'], shown.get('rest_charge_id')), ('booked', trip.json['charge'], None), 'the trip')
    reconciled(world, 2)
    stranger = world.phone('test_joe')
    check_equal((stranger.pick_up(number).status, stranger.get(f'/trips/{number}').status), (404, 404), 'a stranger')
    wrong = world.phone().send('POST', f'/trips/{number}/pick-up', key='mine')
    check_equal((wrong.status, wrong.json['detail']), (422, f'The Idempotency-Key must be trip-{number}-pick-up.'), 'another key')
    answers = at_once(6, lambda i: world.phone(('test_jane', 'test_support')[i % 2]).pick_up(number))
    check_equal({(answer.status, answer.body) for answer in answers}, {(201, answers[0].body)}, 'the rider and support at once')
    check_equal((answers[0].json['charge'], answers[0].json['amount']), (shown['hold_id'], REST), 'the pick-up')
    check_equal(money(world), ((SHARE + REST, 0), {'charge': 1, 'hold': 1, 'capture': 1}), 'the money')
    check_equal(state(world, number), 'paid', 'the trip')
    reconciled(world, 2)


def share_declined(world):
    answer = world.phone('test_short').book_trip('k')
    check_equal((answer.status, answer.json['detail']), (402, 'Your card was declined.'), f'the booking: {answer}')
    check_equal(money(world), ((0, 0), {'hold': 1, 'decline': 1, 'void': 1}), 'the money')
    check_equal(state(world, 1), 'refused', 'the trip')
    pick_up = world.phone('test_short').pick_up(1)
    check_equal((pick_up.status, pick_up.json['title']), (409, "The trip can't be picked up"), f'the pick-up: {pick_up}')
    reconciled(world, 1)


def expired(world):
    """The rest is charged anew."""
    trip = world.phone().book_trip('k').json['trip']
    faults(world, hold_lifetime_ms=0)
    answer = world.phone().pick_up(trip)
    check_equal((answer.status, answer.json['amount']), (201, REST), f'the pick-up: {answer}')
    check_equal(money(world), ((SHARE + REST, 0), {'charge': 2, 'hold': 1, 'expired': 1}), 'the money')
    check_equal(state(world, trip), 'paid', 'the trip')
    reconciled(world, 3)


def expired_and_declined(world):
    trip = world.phone().book_trip('k').json['trip']
    faults(world, hold_lifetime_ms=0, decline=True)
    answer = world.phone().pick_up(trip)
    check_equal((answer.status, answer.json['detail']),
                (402, 'Your card was declined. There is no trip, and your share is paid back: 500 usd.'), f'the pick-up: {answer}')
    check_equal(money(world), ((0, 0), {'charge': 1, 'hold': 1, 'expired': 1, 'decline': 1, 'refund': 1}), 'the money')
    check_equal(state(world, trip), 'not_paid', 'the trip')
    again = world.phone('test_support').pick_up(trip)
    check((again.body, again.replayed) == (answer.body, True), f'the repeat: {again}')
    reconciled(world, 2)


def captured_elsewhere(world):
    """By Stripe's dashboard: a person decides, and the rest is not charged a second time."""
    trip = world.phone().book_trip('k').json['trip']
    hold = world.phone().get(f'/trips/{trip}').json['hold_id']
    dashboard = Phone(world.stripe, 'sk_test_rocket_rides')
    form = {'Content-Type': 'application/x-www-form-urlencoded'}
    check_equal(dashboard.send('POST', f'/v1/charges/{hold}/capture', f'amount={REST}', form).status, 200, 'the capture there')
    answer = world.phone().pick_up(trip)
    check_equal((answer.status, answer.type), (502, 'needs-attention'), f'the pick-up: {answer}')
    (key,), = world.rows('SELECT key_id FROM pawl_attention')
    world.rides_command('keys', 'settle', str(key), '--as', 'happened', '--result', 'Charge', '--value', json.dumps({'id': hold}),
                        '--note', 'captured by the dashboard', '--by', 'ann', '--database', world.url)
    final = wait_until('the end', lambda: (lambda told: told if told.status == 201 else None)(world.phone().pick_up(trip)))
    check_equal((final.json['charge'], state(world, trip)), (hold, 'paid'), 'the end')
    check_equal(money(world)[0], (SHARE + REST, 0), 'the money')
    reconciled(world, 2)


def amounts_are_compared(world):
    """Each charge of a trip has its own amount, and the trip's currency; a charge that the provider does not know is ours alone."""
    trip = world.phone().book_trip('k').json['trip']
    where = ('--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}')
    shown = world.phone().get(f'/trips/{trip}').json
    share, hold, today = shown['share_charge_id'], shown['hold_id'], shown['created_at'][:10]

    def check_compared(name, column, value, differs, ours=()):
        kept = world.rows(f'SELECT {column} FROM trips')[0][0]
        world.change(f'UPDATE trips SET {column} = ?', value)
        charges = json.loads(world.rides_command('reconcile', '--json', *where, check_status=None).stdout)['charges']
        found = {status: sorted((one['charge'], one['amount'], one['trip']) for one in charges if one['status'] == status)
                 for status in ('differs', 'only-ours', 'only-theirs')}
        check_equal(found, {'differs': sorted((*one, trip) for one in differs), 'only-ours': [(*one, trip) for one in ours],
                            'only-theirs': []}, name)
        day = world.rides_command('reconcile', '--day', today, *where, check_status=None).stdout
        check(f', {len(differs)} differences' in day, f'{name}, by day: {day}')
        world.change(f'UPDATE trips SET {column} = ?', kept)
    check_compared('as booked', 'share', SHARE, [])
    check_compared('the share', 'share', SHARE + 1, [(share, SHARE)])
    check_compared('the rest', 'rest', REST - 1, [(hold, REST)])
    check_compared('each has the other amount', 'share', REST, [(share, SHARE)])
    check_compared('the currency', 'currency', 'eur', [(share, SHARE), (hold, REST)])
    check_compared('an unknown charge of the rest', 'rest_charge_id', 'ch_unknown', [], [('ch_unknown', REST)])


class TripDay(Day):
    """Each way that a trip can end."""

    def live(self, n):
        world = self.world
        phone, unsure = world.phone(), world.phone('test_unsure')   # Stripe refuses each call of the second once.
        self.end(f'short-{n}', world.phone('test_short'), 402)
        for rider in (phone, unsure):
            trip = self.end(f'{rider.token}-{n}', rider, 201)
            picked = self.ask(f'pick up {trip}', lambda rider=rider, trip=trip: rider.pick_up(trip))
            check_equal(picked.status, 201, 'the pick-up')
        late, poor = self.end(f'late-{n}', phone, 201), self.end(f'poor-{n}', unsure, 201)
        faults(world, hold_lifetime_ms=0)
        check_equal(self.ask(f'pick up {late}', lambda: phone.pick_up(late)).status, 201, 'a late pick-up')
        faults(world, decline=True)
        check_equal(self.ask(f'pick up {poor}', lambda: world.phone('test_support').pick_up(poor)).status, 402, 'a late pick-up without money')
        faults(world, hold_lifetime_ms=10**9, decline=False)
        self.wait('all keys to be settled', lambda: world.unsettled() == 0)

    def end(self, key, phone, status):
        """The trip's number, if it was booked."""
        answer = self.ask(key, lambda: phone.book_trip(key))
        check_equal(answer.status, status, f'the booking {key}')
        return answer.json.get('trip')

    def check_all(self, days):
        (taken, held), kinds = money(self.world)
        check_equal((taken, held), (3 * (SHARE + REST) * days, 0), f'taken and held: {kinds}')
        wanted = {'charge': 5, 'hold': 5, 'capture': 2, 'void': 1, 'expired': 2, 'decline': 2, 'refund': 1}
        check_equal({kind: kinds[kind] for kind in wanted}, {kind: count * days for kind, count in wanted.items()}, 'the ledger')
        states = dict(self.world.rows('SELECT state, count(*) FROM trips GROUP BY state'))
        check_equal(states, {'paid': 3 * days, 'not_paid': days, 'refused': days}, 'trips')
        check_equal(self.world.unsettled(), 0, 'unsettled keys')


def trip_world(bin_folder):
    # A share that is paid back is a refund that no success names.
    return World(bin_folder, [*QUICK, *TRIPPERS], judged=False)


def reached(bin_folder):
    """How often a day without a death reaches each point of an attempt."""
    with trip_world(bin_folder) as world:
        log = os.path.join(world.folder, 'faults')
        day = TripDay(world)
        world.start_server(fault_log=log)
        day.live(0)
        check_equal(world.stop_server(), 0, 'the exit code')
        day.check_all(1)
        with open(log, encoding='utf-8') as file:
            counts = collections.Counter(file.read().split('\n')[:-1])
        return {point: count for point, count in counts.items() if point.startswith(POINTS)}


def killed_at(settings, point, hit):
    with trip_world(settings.bin) as world:
        day = TripDay(world, [f'{point}:{hit}:kill9', f'{point}:1:kill9'])
        day.start()
        days = 0
        while day.deaths < 2 and days < 3:
            day.live(days)
            days += 1
        day.check_all(days)
        check_equal(day.deaths, 2, 'deaths')


def cases(settings):
    def in_a_world(case, judged=True):
        with World(settings.bin, [*QUICK, *TRIPPERS], judged=judged) as world:
            world.start_server()
            case(world)

    found = {
        'booked and picked up': lambda: in_a_world(booked_and_picked_up),
        'the share is declined': lambda: in_a_world(share_declined),
        'the authorisation has expired': lambda: in_a_world(expired),
        'captured elsewhere': lambda: in_a_world(captured_elsewhere),
        # The share is paid back: a refund that no success names.
        'the rest is declined': lambda: in_a_world(expired_and_declined, judged=False),
    }
    day = reached(settings.bin)
    points = sorted(day) if settings.everything else sorted(settings.random.sample(sorted(day), 3))
    for point in points:
        for hit in hits_for(settings, day[point]):
            found[f'kill -9: {point}, hit {hit} of {day[point]}, twice in a row'] = (
                lambda point=point, hit=hit: killed_at(settings, point, hit))
    return [('trip: ' + name, run) for name, run in found.items()] + [
        ("form: trip: each charge is compared with its own amount", lambda: in_a_world(amounts_are_compared))]
