"""Rides charged at one of several providers: a bad line, declines, kills, and a storm. One payment is made at one provider, once."""
import collections
import json
import subprocess
import time

from phone import Phone
from ports import free_port
from world import KILLED, World, check, check_equal, end, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '100']
JSON, TEXT = 'json provider', 'text provider'
# Fault points that only a ride with several providers reaches.
ASKING = ('engine.inquiry.before', 'engine.inquiry.after')
NEXT_CALL = ('engine.begin_anew.before', 'engine.begin_anew.after')


class Providers(World):
    """A world with the providers beside Stripe. The history check knows Stripe's ledger alone, so it does not judge."""

    def __init__(self, settings, shares='1,1,1', second=(), options=(), provider_options=()):
        self.second_port, self.second, self.second_options = free_port(), None, list(second)
        url = f'http://127.0.0.1:{self.second_port}'
        super().__init__(settings.bin, [*QUICK, '--json-provider-url', url, '--text-provider-url', url, '--shares', shares, *options],
                         provider_options=provider_options, judged=False)

    def __enter__(self):
        self.start_second()
        return super().__enter__()

    def start_second(self):
        self.second = self.start_process('second', ['second-provider', '--listen', f'127.0.0.1:{self.second_port}', '--ledger',
                                                    f'{self.folder}/second', *self.second_options])
        wait_until('the second provider', lambda: self._answers(None, self.second_port, '/livez'))

    def stop_second(self):
        end(self.second)

    def close(self):
        end(self.second)
        super().close()

    def payments(self):
        """(provider, id) of all that was captured, at all providers."""
        return [('stripe', line['id']) for line in self.ledger()] + \
               [({'json': JSON, 'text': TEXT}[line['api']], line['id']) for line in self._lines('second')]

    def not_made(self):
        return collections.Counter((target.split(' http')[0], proof) for target, proof
                                   in self.rows('SELECT call_target, proof FROM pawl_calls_not_made'))

    def check_paid_once(self):
        """Each booked ride has one payment of its own, and there is no other payment."""
        booked = [charge for charge, in self.rows("SELECT stripe_charge_id FROM rides WHERE state = 'booked'")]
        check_equal(sorted(booked), sorted(payment for _, payment in self.payments()), 'the charges of the rides, and all payments')
        check_equal(self.count('rides', "state NOT IN ('booked', 'refused')"), 0, 'rides that are neither booked nor refused')


def declines(settings):
    """A soft decline goes on to the next provider, under another key; a hard one ends there."""
    with Providers(settings, '0,1,0', ['--soft-declines', '1']) as world:
        world.start_server()
        check_equal(world.phone().book('soft').status, 201, 'a ride after a soft decline')
        where = [provider for provider, _ in world.payments()]
        check(where in (['stripe'], [TEXT]), f'where it was charged: {where}')
        check_equal(sum(world.not_made().values()), 1 + ((TEXT, 'refused') in world.not_made()), 'calls on record as refused')
        world.stop_second()
        world.second_options = ['--hard-declines', '1']
        world.start_second()
        answer = world.phone().book('hard')
        check_equal((answer.status, answer.json['detail']), (402, 'The card is reported as stolen.'), 'a hard decline')
        check_equal(len(world.payments()), 1, 'payments')


def refund_elsewhere(settings):
    """Stripe is not asked to refund a ride that another provider has charged."""
    with Providers(settings, '0,1,0') as world:
        world.start_server()
        ride = world.phone().booked('k').json['ride']
        answer = world.phone().refund(ride)
        check_equal((answer.status, answer.json['title']), (409, 'The ride was charged at another provider'), 'the refund')
        check_equal(world.count('pawl_attention'), 0, 'requests for a person')


def removed(settings):
    """A provider in doubt that is not in the list any more: a person is asked, and no other provider is."""
    with Providers(settings, '0,0,1', ['--bad-line', '1']) as world:
        world.start_server()
        lost = 0
        doubts = "SELECT k.call_target FROM pawl_attention AS a JOIN pawl_idempotency_keys AS k ON k.id = a.key_id"
        while not (entry := world.rows(doubts)):
            world.phone().book(f'k{lost}')   # One line in four was refused, which is proof.
            lost += 1
            check(lost < 100, 'no doubt in 100 rides')
        check(entry[0][0].startswith(TEXT), f'the doubt is about the text provider: {entry}')


def back_to_the_first(settings):
    """A ride in doubt at Stripe, of a server that knows no other provider, is repeated there by a server that does."""
    with Providers(settings, '0,1,1') as world:
        several, world.options = world.options, QUICK
        world.riders = ['--rider', 'test_once once@example.com cus_once']
        world.start_server()
        phone = world.phone('test_once', timeout=1)
        try:
            phone.book('k')
        except OSError:
            pass
        wait_until('the charge', world.ledger)
        world.kill_server()
        world.options = several
        check(world.start_server(), f'the server starts: {world.log()[-400:]}')
        answer = wait_until('the answer', lambda: next((a for a in [world.phone('test_once').book('k')] if a.status == 201), None))
        check_equal((world.payments(), answer.json['charge']), ([('stripe', world.ledger()[0]['id'])], world.ledger()[0]['id']), 'payments')


def down(settings):
    """A provider that does not answer gets no new payments, which the list of providers says, until it answers again."""
    with Providers(settings, '1,1,0') as world:
        world.start_server()
        world.stop_second()

        def listed():
            lines = json.loads(world.pawl_command('providers', 'list', '--json').stdout)
            return {line['provider'].split(' http')[0]: line for line in lines}

        rides = iter(range(1000))

        def booked():
            check_equal(world.phone().book(f'k{next(rides)}').status, 201, 'a ride at the other provider')
            return listed()
        line = wait_until('it to be listed as down', lambda: booked().get(JSON))
        check_equal((line['down_at'], line['waiting'], line['attention']), (1, 0, 0), f'servers that avoid it, and what waits: {line}')
        check(line['down_since'] and 'not sent' in line['error'], f'since when, and why: {line}')
        world.start_second()
        wait_until('it to be listed no more', lambda: JSON not in booked())
        wait_until('the end in the log', lambda: 'provider_up' in world.log())
        world.settle()
        world.check_paid_once()


def lost_then_asked(settings, point=None):
    """The JSON provider loses calls: it is asked, and a payment is made anew only when its absence is final."""
    faults = [f'{point}:1:kill9'] * 2 if point else []
    with Providers(settings, '0,1,0', ['--bad-line', '1'], ['--ask-after-s', '1']) as world:
        deaths = start(world, faults)
        keys = [f'k{n}' for n in range(10)]
        for key in keys:
            send(world, key)
        # A payment that was made is found by the first inquiry, of which nothing is noted.
        wait_until('the provider to be asked', lambda: world.dead() or world.count('pawl_inquiries') or world.unsettled() < len(keys))
        check_equal(Phone(world.second_port).send('POST', '/_test/bad_line', '0').status, 200, 'the line is good')

        def settled():
            nonlocal deaths
            if world.dead():
                deaths += 1 + start(world, faults)
            return world.unsettled() == 0
        wait_until('the rides to be settled', settled, 60)
        check_equal(deaths, 2 if point else 0, 'deaths')
        check_equal(world.count('pawl_attention'), 0, 'requests for a person')
        check_equal(world.count('rides', "state = 'booked'"), len(keys), 'booked rides')
        settle_late(world)
        world.check_paid_once()


def start(world, faults):
    """Starts the server until it answers; returns how often it died."""
    deaths = 0
    while not world.start_server(fault=faults.pop(0) if faults else None):
        check_equal(world.server.returncode, KILLED, f'how the server ended: {world.log()[-400:]}')
        deaths += 1
    return deaths


def send(world, key):
    """An answer, or None if the server died."""
    try:
        return world.phone().book(key)
    except OSError:
        wait_until('the server to die or answer', lambda: world.dead() or world.answers())
        return None


def killed_between_providers(settings, point):
    """kill -9 before and after the commit of the next provider, twice in a row."""
    faults = [f'{point}:1:kill9'] * 2
    with Providers(settings, '0,1,0', ['--soft-declines', '0.7', '--bad-line', '0.3']) as world:
        deaths, done, keys = start(world, faults), {}, [f'k{n}' for n in range(12)]

        def all_final():
            nonlocal deaths
            for key in keys:
                answer = send(world, key) if key not in done else None
                if answer is not None and answer.status in (201, 402):
                    done[key] = answer.body
                if world.dead():
                    deaths += 1 + start(world, faults)
            return len(done) == len(keys)
        wait_until('all answers', all_final, 120)
        check_equal(deaths, 2, 'deaths')
        for key in keys:
            check_equal(world.phone().book(key).body, done[key], f'the repeat of {key}')
        settle_late(world)
        world.check_paid_once()


def settle_late(world):
    """What the second provider captures late is there."""
    world.settle()
    time.sleep(2)


def storm(settings, rides, seconds, kill_every=None):
    """Clients on a bad network, two providers on bad lines, and a server that is killed."""
    line = ['--bad-line', '0.12', '--soft-declines', '0.06', '--hard-declines', '0.02']
    with Providers(settings, '1,1,0', line + ['--pending', '0.05', '--no-ledger-sync'], ['--calls-max', '64', '--ask-after-s', '0'],
                   [*line, '--no-ledger-sync']) as world:
        # Without the text provider, whose doubts a person must settle.
        at = world.options.index('--text-provider-url')
        del world.options[at:at + 2]
        check(world.start_server(), f'the server starts: {world.log()[-400:]}')
        simulation = subprocess.Popen(
            [world.rides, 'simulate', '--url', f'http://127.0.0.1:{world.port}', '--rides', str(rides), '--clients', '48', '--seed', '7',
             '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        begun, deaths = time.monotonic(), 0
        while simulation.poll() is None:
            check(time.monotonic() - begun < seconds, f'not over after {seconds} s')
            time.sleep(kill_every or 1)
            if kill_every and simulation.poll() is None:
                world.kill_server()
                deaths += 1
                check(world.start_server(), f'the server starts: {world.log()[-400:]}')
        result = json.loads(simulation.stdout.read())
        took = time.monotonic() - begun
        wait_until('all keys to be settled', lambda: world.unsettled() == 0, 120)
        time.sleep(2)   # What comes late, has come.
        check_equal((simulation.returncode, result['changed'], result['gave_up']), (0, 0, 0), f'the clients: {result}')
        check_equal(world.count('pawl_attention'), 0, 'requests for a person')
        world.check_paid_once()
        booked = dict(world.rows('SELECT state, count(*) FROM rides GROUP BY state'))
        where = collections.Counter(provider for provider, _ in world.payments())
        print(f'    {rides} rides in {took:.0f} s, {deaths} kills: {booked}; paid at {dict(where)}; '
              f'calls not made {dict(world.not_made())}; inquiries {world.count("pawl_inquiries")}', flush=True)


def cases(settings):
    found = [('router: declines, soft and hard', lambda: declines(settings)),
             ('router: a refund of a ride that was charged elsewhere', lambda: refund_elsewhere(settings)),
             ('router: a doubt about a provider without keys is a person\'s', lambda: removed(settings)),
             ('router: a ride in doubt goes back to its provider', lambda: back_to_the_first(settings)),
             ('router: lost calls are asked about, then made anew', lambda: lost_then_asked(settings)),
             ('router: a provider that is down is listed, and gets no new payments', lambda: down(settings)),
             ('router: a storm on two providers', lambda: storm(settings, 1500, 120, kill_every=3))]
    found += [(f'router: kill -9 at {point}, twice in a row', lambda point=point: lost_then_asked(settings, point))
              for point in ASKING]
    found += [(f'router: kill -9 at {point}, twice in a row', lambda point=point: killed_between_providers(settings, point))
              for point in NEXT_CALL]
    if settings.mode == 'long':
        found.append(('router: a storm of 50,000 payments', lambda: storm(settings, 50_000, 1800, kill_every=5)))
    return found
