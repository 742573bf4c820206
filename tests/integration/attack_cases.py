"""The attack corpus against the real server: each request over its own socket, followed by a valid one."""
import concurrent.futures
import re

import attack_bodies
import attack_heads
from attack import CUT, key_of, sent_bytes
from raw import answers_in, exchanged
from world import NotSo, World, check, check_equal

DATABASES = ('sqlite',)   # The database does not matter here.
GROUPS = attack_heads.GROUPS + attack_bodies.GROUPS


def judge(attack, number, port):
    answers = answers_in(exchanged(port, sent_bytes(attack, number), attack.due == CUT))
    statuses = [answer.status for answer in answers]
    due = attack.due
    wanted = [*due.statuses, *([{201}] if due.marker else [])]
    check(len(statuses) == len(wanted) and all(status in those for status, those in zip(statuses, wanted)),
          f'answers {statuses}, expected {wanted}: {answers[-1:]}')
    for answer in answers:
        check(answer.status < 400 or answer.is_problem or answer.status == 404, f'not a problem: {answer}')
        check(answer.status < 500 or answer.status in (501, 505), f'a server error: {answer}')
        check('hidden' not in str(answer.headers) and 'evil' not in str(answer.headers), f'bytes of the request are in {answer.headers}')
    if answers:
        check_equal(answers[-1].headers.get('connection'), 'close', 'the Connection header of the last answer')
        check(not any(answer.headers.get('connection') == 'close' for answer in answers[:-1]), 'an answer after the last')


def check_rows(world, group, attacks):
    """There are keys for the booked rides only; no hidden request was carried out."""
    world.settle()
    found = [key for (key,) in world.rows('SELECT idempotency_key FROM pawl_idempotency_keys')]
    expected = {f'marker-{n}' for n, attack in enumerate(attacks) if attack.due.marker}
    wrong = [key for key in found if key.startswith('marker-') and key not in expected] + sorted(expected - set(found))
    for n, attack in enumerate(attacks):
        own = [key for key in found if re.match(rf'{key_of(n)}(\D|$)', key)]
        if len(own) != attack.due.booked:
            wrong.append(f'{attack.name!r} has the keys {own}, expected {attack.due.booked}')
    hidden = sorted(key for key in found if key.startswith(('hidden', 'b')))
    allowed = sum(1 for attack in attacks if b'hidden-@@' in attack.sent and ({201} in attack.due.statuses[1:]))
    check(not wrong, f'{group.name}: wrong keys: {wrong}')
    check_equal(len(hidden), allowed, f'{group.name}: keys of requests hidden in bodies, trailers and the like: {hidden}')
    check_equal(world.count('rides'), len(found), f'{group.name}: rides')
    check_equal(len(world.ledger()), len(found), f'{group.name}: charges')


def attacked(settings, group):
    attacks = group.attacks()
    if not settings.everything:
        attacks = attacks[settings.seed % 3::3]
    with World(settings.bin, judged=False) as world:
        world.start_server()

        def one(n):
            try:
                judge(attacks[n], n, world.port)
                check(not world.dead(), 'the server lives')
                return None
            except NotSo as error:
                return f'{attacks[n].name!r}: {error}'
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            wrong = [why for why in pool.map(one, range(len(attacks))) if why]
        check(not wrong, f'{group.section}: {group.must}. {len(wrong)} of {len(attacks)} failed:\n' + '\n'.join(wrong))
        check_rows(world, group, attacks)
        check_equal(world.phone().book('after-all').status, 201, 'a valid request at the end')
        log = world.log()
        check('internal' not in log and 'PAWL' not in log, f'its log: {log[-600:]}')


def at_least_300(_settings):
    """All different, with distinct names, each in a group that names its MUST."""
    sent = [attack.sent for group in GROUPS for attack in group.attacks()]
    names = [(group.name, attack.name) for group in GROUPS for attack in group.attacks()]
    check(len(set(sent)) >= 300, f'{len(set(sent))} different requests')
    check_equal(sorted(name for name in names if names.count(name) > 1), [], 'repeated names')
    check(all(group.section and group.must for group in GROUPS), 'each group names its section')


def as_h11(_settings):
    """h11 reads the same requests from the bytes, except for differences with a reason."""
    import attack_oracle   # Its package comes only with `tools/install full`.
    unexplained, used = [], set()
    for group in GROUPS:
        for n, attack in enumerate(group.attacks() if group.seen_by_h11 else ()):
            theirs = attack_oracle.seen_by_h11(sent_bytes(attack, n))
            what = attack_oracle.difference(attack, theirs)
            if what is None:
                continue
            reason = attack_oracle.reason_for(group, attack, what)
            if reason is None:
                unexplained.append(f'{group.name}: {attack.name!r}: h11 {what} it {theirs}, expected {attack.due}')
            used.add(reason)
    check(not unexplained, f'{len(unexplained)} differences from h11 without a reason:\n' + '\n'.join(unexplained))
    stale = [known for known in attack_oracle.DIFFERENCES if known not in used]
    check(not stale, f'reasons without a difference: {stale}')


def cases(settings):
    found = [(f'attack: {group.name}', lambda group=group: attacked(settings, group)) for group in GROUPS]
    found.append(('attack: at least 300 different ones', lambda: at_least_300(settings)))
    return found + ([('attack: compared with h11', lambda: as_h11(settings))] if settings.everything else [])
