"""Repeat::never: a provider without keys is called at most once; a call in doubt waits for a person, who settles it."""
import collections
import json
import os
import time

from kill_cases import QUICK, Day
from world import NotSo, World, check, check_equal, wait_until

ONCE = [*QUICK, '--charge-once', '--rider', 'test_dark timeout@example.com']


class Doubtful:
    """A ride in doubt, and what the operator does with it."""

    def __init__(self, world, day):
        self.world, self.day = world, day

    def command(self, *arguments, check_status=0):
        return self.world.rides_command(*arguments, '--database', self.world.url,
                                        check_status=check_status)

    def waiting(self):
        return json.loads(self.command('attention', 'list', '--json').stdout)

    def settle(self, how, *more):
        (one,) = self.waiting()
        force = ['--force'] if how == 'did-not-happen' else []   # The cases do not wait for a time-out and a lease.
        return self.command('keys', 'settle', str(one['key_id']), '--as', how, '--note', 'asked the bank', '--by', 'ann', *force, *more)

    def book_into_doubt(self, key):
        """The 500 of the provider may stand for a charge or for none."""
        answer = wait_until('the doubt', lambda: self.told(key))
        check_equal((answer.status, answer.type), (502, 'needs-attention'), 'in doubt')
        check_equal(len(self.waiting()), 1, 'on the attention list')

    def told(self, key):
        self.day.re_execute()
        try:
            answer = self.world.phone('test_doubt').book(key)
        except OSError:
            return None
        return answer if answer.status not in (409, 500, 503) else None

    def final(self, key):
        def ask():
            answer = self.told(key)
            return answer if answer is not None and answer.status != 502 else None
        return wait_until('a final answer', ask)


def settled(settings, how, faults=()):
    """A ride gets into doubt and is settled; the server is killed at the given faults."""
    doubt = ['--rider', f'test_doubt {"500" if how != "happened" else "charged500"}@example.com']
    with World(settings.bin, ONCE + doubt, provider_options=['--forget-keys-after-s', '0']) as world:
        day = Day(world, faults)
        day.start()
        ride = Doubtful(world, day)
        ride.book_into_doubt('k')
        calls = len(world.ledger()) + len(world.ledger('error'))
        check_equal(calls, 1, 'calls at the provider')
        again = ride.told('k')
        check(again is None or again.status == 502, f'a retry makes no second call: {again}')
        if how == 'happened':
            ride.settle(how, '--result', 'Charge', '--value', json.dumps({'id': world.ledger()[0]['id']}))
        else:
            ride.settle(how)
        day.wait('it to be carried out', lambda: not ride.waiting() or how == 'did-not-happen')
        if how == 'did-not-happen':   # The new call gets the same 500 from this provider: in doubt again.
            day.wait('a second call', lambda: len(world.ledger('error')) == 2)
            day.wait('the doubt', lambda: ride.waiting() and ride.waiting()[0]['settlement'] is None)
            ride.settle('give-up')
        answer = ride.final('k')
        check_equal(answer.status, 201 if how == 'happened' else 422, 'the final answer')
        check_equal(ride.final('k').body, answer.body, 'and again')
        check_equal(len(world.ledger()), 1 if how == 'happened' else 0, 'charges')
        check_equal(world.unsettled(), 0, 'unsettled keys')
        check(world.count('pawl_audit_log', "actor = 'ann' AND detail = 'asked the bank'") >= 1, 'actor and reason are in the audit log')
        history = json.loads(ride.command('keys', 'show', '--key', 'k', '--json').stdout)['history']
        check_equal(history[0]['actor'], 'ann', 'and in the history of the key')
        check_equal(day.deaths, len(faults), 'deaths')


def killed_at(settings, point, hit):
    """At most one charge for a key, wherever the server dies; each doubt can be settled."""
    with World(settings.bin, ONCE, provider_options=['--forget-keys-after-s', '0']) as world:
        day = Day(world, [f'{point}:{hit}:kill9', f'{point}:1:kill9'])
        day.start()
        days = 0
        while day.deaths < 2:
            if days == 10:
                raise NotSo(f'{day.deaths} deaths in {days} days')
            for who in ('test_jane', 'test_joe'):
                live_one(world, day, who, f'k-{days}')
            days += 1
        charges = collections.Counter(order_of(line) for line in world.ledger())
        check(all(count == 1 for count in charges.values()), f'charges by customer and description: {charges}')
        settle_doubts(world, day)
        check_equal(world.unsettled(), 0, 'unsettled keys')
        check_equal(world.count('rides', "state = 'booked' AND stripe_charge_id IS NOT NULL"), len(world.ledger()),
                    'booked rides, one for each charge')
        check_equal(world.count('rides', "state NOT IN ('booked', 'given_up')"), 0, 'rides in between')


def live_one(world, day, who, key):
    """Books, over deaths, until the answer is final or a person is needed."""
    def told():
        day.re_execute()
        try:
            answer = world.phone(who).book(key)
        except OSError:
            return None
        return answer if answer.status in (201, 502) else None
    wait_until(f'an answer to {key}', told)


def order_of(line):
    """Identifies the request in the provider's ledger: its customer, and the client's key in the description."""
    return line['customer'], line['description']


def settle_doubts(world, day):
    """Like a careful operator: checks the provider's records, then settles."""
    ride = Doubtful(world, day)
    booked = {order_of(line): line['id'] for line in world.ledger()}
    for one in ride.waiting():
        charge = booked.get((one['recovery_data']['customer'], f'Rocket ride, request {one["key"]}'))
        if charge:
            more = ['--as', 'happened', '--result', 'Charge', '--value', json.dumps({'id': charge})]
        else:
            more = ['--as', 'give-up']
        ride.command('keys', 'settle', str(one['key_id']), '--note', 'looked', *more)
    day.wait('all to be settled', lambda: not ride.waiting())


def mistakes_are_refused(settings):
    """An operator's mistakes change nothing and get a helpful message."""
    doubt = ['--rider', 'test_doubt 500@example.com']
    with World(settings.bin, ONCE + doubt) as world:
        world.start_server()
        day = Day(world)
        ride = Doubtful(world, day)
        ride.book_into_doubt('k')
        key = str(world.rows('SELECT id FROM pawl_idempotency_keys')[0][0])   # Ids have gaps.
        for arguments, status, telling in [
            (['keys', 'settle', key, '--as', 'happened', '--note', 'x'], 1, 'Charge, Declined'),
            (['keys', 'settle', key, '--as', 'happened', '--result', 'Charge', '--value', '{"x": 1}', '--note', 'x'], 1, 'id'),
            (['keys', 'settle', key, '--as', 'happened', '--result', 'Refund', '--value', '{}', '--note', 'x'], 1, 'no result Refund'),
            (['keys', 'settle', key, '--as', 'give-up'], 2, '--note'),
            (['keys', 'settle', key, '--as', 'maybe', '--note', 'x'], 2, 'maybe'),
            (['keys', 'settle', '7000', '--as', 'give-up', '--note', 'x'], 1, 'no key 7000'),
            (['keys', 'settle', '--key', 'none', '--as', 'give-up', '--note', 'x'], 1, 'no key "none"'),
            (['keys', 'retry', key], 1, f'keys settle {key}'),
            (['keys', 'show'], 2, 'id or --key'),
            (['completer'], 2, '--once'),
        ]:
            done = ride.command(*arguments, check_status=status)
            check(telling in done.stderr, f'{arguments} says {done.stderr!r}, not {telling!r}')
        check_equal(ride.waiting()[0]['settlement'], None, 'the decision')


def guarded(settings):
    """Issue 16, number 17: a typing error became the customer's answer, and an operator could say that a call in flight had not happened."""
    doubt = ['--rider', 'test_doubt charged500@example.com', '--settle-after-s', '6']
    options = ONCE + doubt
    options[options.index('--lease-ms') + 1] = '90000'
    with World(settings.bin, options) as world:
        world.start_server()
        ride = Doubtful(world, Day(world))
        ride.book_into_doubt('k')
        key = str(ride.waiting()[0]['key_id'])
        charge = ('--result', 'Charge', '--value', json.dumps({'id': world.ledger()[0]['id']}))
        late = ('--settle-after-s', '6')

        early = ride.command('keys', 'settle', key, '--as', 'did-not-happen', '--note', 'not in their books', check_status=1).stderr
        check('may still be carried out until' in early and '--force' in early, f'the call may be on its way: {early}')
        check('the lease 90 s' in early, f'the lease of the server, not of the tool: {early}')
        # As if it were the first of many calls under one key: the last of them may have been sent just before the entry.
        world.change("UPDATE pawl_idempotency_keys SET called_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", int(key))
        again = ride.command('keys', 'settle', key, '--as', 'did-not-happen', '--note', 'not in their books', check_status=1).stderr
        check('may still be carried out until' in again, f'a repeat may be on its way: {again}')
        dry = ride.command('attention', 'settle', key, '--as', 'did-not-happen', '--dry-run').stdout
        check('It is early' in dry and 'The call from ride_created will be repeated with a new key' in dry, f'what it would do: {dry}')
        typo = ('--result', 'Charge', '--value', '{"id":"ch_TYPO"}')
        dry = json.loads(ride.command('keys', 'settle', key, '--as', 'happened', *typo, '--dry-run', '--json').stdout)
        check_equal((dry['done'], dry['answer_status'], dry['value']), ('dry run', 201, '{"id":"ch_TYPO"}'), 'a dry run')
        dry = world.pawl_command('keys', 'settle', key, '--as', 'happened', *typo, '--dry-run').stdout
        check('not known here' in dry and 'dry run' in dry, f'without the operations: {dry}')
        check_equal(ride.waiting()[0]['settlement'], None, 'nothing is recorded by a dry run')
        check_equal(world.count('rides', "state = 'booked'"), 0, 'and nothing is done')
        ride.command('attention', 'undo', key, check_status=1)   # There is no decision yet.

        said = ride.command('keys', 'settle', key, '--as', 'happened', *typo, '--note', 'mistyped', *late).stdout
        check('ch_TYPO' in said and 'will get 201' in said and f'attention undo {key}' in said, f'what will be done, and when: {said}')
        refused = ride.command('keys', 'settle', key, '--as', 'give-up', '--note', 'x', check_status=1).stderr
        check('attention undo' in refused, f'how to change it: {refused}')
        undone = world.pawl_command('attention', 'undo', key, '--by', 'ann', '--note', 'a typing error').stdout
        check('is undone' in undone, f'undone: {undone}')
        time.sleep(8)   # Longer than the server would have waited.
        check_equal(ride.waiting()[0]['settlement'], None, 'it was not carried out')

        right = json.loads(ride.command('attention', 'settle', key, '--as', 'happened', *charge, '--note', 'seen', *late, '--json').stdout)
        began = time.time()
        wait_until('it to be carried out', lambda: world.unsettled() == 0)
        check(time.time() - began > 3, 'not before its time')
        answer = ride.final('k')
        check_equal((answer.status, answer.body.decode()), (right['answer_status'], right['answer']), 'the answer is the one that was shown')
        check_equal(len(world.ledger()), 1, 'charges')
        history = json.loads(ride.command('keys', 'show', key, '--json').stdout)['history']
        check_equal([act['action'] for act in history],
                    ['settle happened', 'undo settle', 'settle happened', 'settled happened'], 'the audit')
        check_equal(history[1]['detail'], 'a typing error', 'and why')


def a_wrong_line_of_a_file_is_refused(settings):
    """Issue 38: a line whose id and key are of two requests, one with another decision, one with a mistyped name."""
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com', '--settle-after-s', '3600']) as world:
        world.start_server()
        ride = Doubtful(world, Day(world))
        for n in range(3):
            wait_until('the doubt', lambda n=n: getattr(ride.told(f'k{n}'), 'status', 0) == 502)
        ids = {one['key']: one['key_id'] for one in ride.waiting()}
        path = os.path.join(world.folder, 'charges.jsonl')

        def settle(lines, *more, status):
            with open(path, 'w') as file:
                file.write('\n'.join(lines))
            return ride.command('attention', 'settle', '--from', path, '--as', 'happened', '--note', 'x', *more, check_status=status)

        def line(charge='ch_1', **members):
            return json.dumps({'result': 'Charge', 'value': {'id': charge}} | members)
        first = line(id=ids['k0'])
        for wrong, status, why in (
            (line(id=ids['k1'], key='k2'), 1, f'id {ids["k1"]} and key "k2" are of two requests'),
            (line(id=7000, key='k1'), 1, 'id 7000 and key "k1" are of two requests'), (line(key='none'), 1, 'there is no key "none"'),
            (line(id=ids['k1'], **{'as': 'give-up'}), 2, 'as is "give-up", and the command has --as happened'),
            (line(id=ids['k1'], **{'as': 'hapened'}), 2, 'as is "hapened"'), (line(id=ids['k1'], **{'as': None}), 2, 'as is not a text'),
            (line(id=ids['k1'], kye='k2'), 2, 'unknown member "kye"'), (line(id=ids['k1'], note='x'), 2, 'unknown member "note"'),
            (line(id=str(ids['k1'])), 2, 'id is not a number'), (line(id=None, key='k1'), 2, 'id is not a number'),
            (line(), 2, 'neither id nor key'), (line(id=ids['k1'], result=''), 2, 'result is not a text'),
            (line(id=ids['k1'], key='k\x00'), 2, 'key: '), (line(id=ids['k1'])[:-1] + ', "id": 7}', 2, 'twice'),
            ('[]', 2, 'not a JSON object'), (line('ch_2', key='k0'), 2, f'key {ids["k0"]} has line 1 already')):
            for more in ((), ('--dry-run',)):
                said = settle([first, '', wrong, line(id=ids['k2'])], *more, status=status).stderr
                check('charges.jsonl, line 3: ' in said and why in said, f'{wrong} says {said}, not {why}')
        check_equal([one['settlement'] for one in ride.waiting()], [None] * 3, 'decisions')
        for arguments, why in ((('--from', path, '--as', 'happened', '--reason-is', 'x'), 'a file or filters'),
                               (('--from', world.folder, '--as', 'happened'), "can't read"),
                               ((str(ids['k1']), '--as', 'give-up', '--result', 'Charge'), '--as give-up has none')):
            said = ride.command('attention', 'settle', *arguments, '--note', 'x', check_status=2).stderr
            check(why in said, f'{arguments} says {said}, not {why}')

        right = [first, line('ch_2', id=ids['k1'], key='k1'), line('ch_3', key='k2', **{'as': 'happened'})]
        check('3 recorded.' in settle(right, status=0).stdout, 'a file in order')
        results = world.rows('SELECT settlement, settled_result FROM pawl_attention ORDER BY key_id')
        check_equal([tuple(row) for row in results], [('happened', f'{{"id":"ch_{n}"}}') for n in (1, 2, 3)], 'results')


def a_decision_waits_as_long_as_its_server_says(settings):
    """Issue 38: the command announced 30 s, whatever the server had as --settle-after-s."""
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com', '--settle-after-s', '3600']) as world:
        world.start_server()
        ride = Doubtful(world, Day(world))
        ride.book_into_doubt('k')
        key = str(ride.waiting()[0]['key_id'])
        for command in (ride.command, world.pawl_command):
            said = command('attention', 'settle', key, '--as', 'give-up', '--note', 'x').stdout
            check(', 3600 s from now; until then' in said, f'when it is carried out: {said}')
            command('attention', 'undo', key, '--note', 'x')
        ride.command('attention', 'settle', key, '--as', 'give-up', '--note', 'x', '--settle-after-s', '0')
        early = ride.command('completer', '--once', '--charge-once', '--settle-after-s', '0', check_status=1).stderr
        check('PAWL0025: settle_after is "0 ms" here and "3600000 ms" in server' in early, f'a round by other settings: {early}')
        check_equal(ride.waiting()[0]['settlement'], 'give-up', 'the decision waits')


def by_hand_without_a_server(settings):
    """A settlement recorded while the server is down is carried out by `completer --once`."""
    with World(settings.bin, ONCE + ['--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        day = Day(world)
        ride = Doubtful(world, day)
        ride.book_into_doubt('k')
        world.stop_server()
        ride.settle('give-up')
        done = ride.command('completer', '--once', '--json', '--charge-once')
        check_equal(json.loads(done.stdout)['settled'], 0, 'settled while it can be undone')
        done = ride.command('completer', '--once', '--json', '--charge-once', '--settle-after-s', '0')
        check_equal(json.loads(done.stdout)['settled'], 1, 'settled by hand')
        check_equal(ride.waiting(), [], 'the attention list')
        world.start_server()
        check_equal(ride.final('k').status, 422, 'the answer')


def reached(bin_folder):
    """The fault points that a ride, a doubt and its settlement reach."""
    with World(bin_folder, ONCE + ['--rider', 'test_doubt 500@example.com']) as world:
        log = os.path.join(world.folder, 'faults')
        world.start_server(fault_log=log)
        check_equal(world.phone().book('plain').status, 201, 'a plain ride')
        ride = Doubtful(world, Day(world))
        ride.book_into_doubt('k')
        ride.settle('give-up')
        check_equal(ride.final('k').status, 422, 'the answer')
        with open(log, encoding='utf-8') as file:
            return collections.Counter(file.read().split('\n')[:-1])


def cases(settings):
    found = [(f'never: in doubt, settled as {how}', lambda how=how: settled(settings, how))
             for how in ('happened', 'did-not-happen', 'give-up')]
    for point in ('engine.settle.before', 'engine.settle.after'):
        for how in ('happened', 'give-up'):
            found.append((f'never: kill -9 at {point}, settled as {how}',
                          lambda point=point, how=how: settled(settings, how, [f'{point}:1:kill9'])))
    found.append(('never: mistakes of the operator', lambda: mistakes_are_refused(settings)))
    found.append(('never: what an operator decides is guarded', lambda: guarded(settings)))
    found.append(('right: a wrong line of a file of decisions is refused before the first one is recorded',
                  lambda: a_wrong_line_of_a_file_is_refused(settings)))
    found.append(('right: a decision waits as long as its server says, and the command says so',
                  lambda: a_decision_waits_as_long_as_its_server_says(settings)))
    found.append(('never: settled by hand without a server', lambda: by_hand_without_a_server(settings)))
    ours = ('engine.', 'http.', f'{World.database}.')
    points = sorted(name for name in reached(settings.bin) if name.startswith(ours) and 'settle' not in name)
    if settings.mode == 'sample':
        points = sorted(settings.random.sample(points, 4))
    for point in points:
        found.append((f'never: kill -9 at {point}, twice in a row',
                      lambda point=point: killed_at(settings, point, settings.random.choice([1, 2]))))
    return found
