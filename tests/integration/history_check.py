#!/usr/bin/env python3
"""Checks the clients' answers and the provider's bookings, without knowledge of the server.

Usage: tests/integration/history_check.py FILE... [--within SECONDS] [--retention SECONDS]

  FILE         a history, as `run --save DIR` and `chaos --save DIR` write them (format: history.py)
  --within     how long after the end of all faults a key may take to become final
  --retention  how long a final answer is kept; 410 is right only after it

A key is a register that is written once, and keys are independent of each other: so there is no search for an
order that explains the answers, as for other registers, and each rule is one pass over the calls of a key.
"""
import argparse
import collections
import dataclasses
import sys

from history import load

RULES = {
    'C1': 'all final answers of a key are equal',
    'C2': 'a call after a final answer gets that answer, or 503 or 429, or 410 past its retention',
    'C3': 'the ledger agrees: a success has exactly one effect, other answers none, and no effect is booked twice',
    'C4': 'another request under a used key gets 422, and the first one never',
    'C5': 'a key that was accepted becomes final soon after faults end',
    'C6': 'at most one final answer of a key is not a replay',
}
SECOND = 10**9
AWAY = (429, 503)   # Retry later: the tenant has asked too much, or a service is down.


@dataclasses.dataclass
class Violation:
    rule: str
    key: str
    what: str
    events: list

    def __str__(self):
        return '\n'.join([f'{self.rule} ({RULES[self.rule]}), key {self.key}: {self.what}', *(f'    {told(e)}' for e in self.events)])


def told(event):
    """An event as a line of text."""
    if event['event'] == 'effect':
        return f'{event["kind"]} {event["id"]} under {event["key"]}'
    answer = 'no answer' if event['ended'] is None else f'{event["status"]} {event.get("type") or ""}'.strip()
    return (f'{event["began"] / SECOND:.6f} to {(event["ended"] or 0) / SECOND:.6f} s  {event["client"]} '
            f'asks {event["request"]}: {answer} {event.get("body") or ""} {event.get("headers") or ""}')


def is_final(call):
    """Final by its headers; a success is always final."""
    return call['ended'] is not None and ('idempotency-expires' in call['headers'] or 200 <= call['status'] < 300 and call['status'] != 202)


def is_success(call):
    return 200 <= call['status'] < 300


def is_reused(call):
    return call['ended'] is not None and call['status'] == 422 and call['type'] == 'key-reused'


class Key:
    """The calls of one key, and conclusions from them."""

    def __init__(self, name, calls):
        self.name, self.calls = name, sorted(calls, key=lambda call: call['began'])
        self.answered = [call for call in self.calls if call['ended'] is not None]
        self.finals = sorted(filter(is_final, self.answered), key=lambda call: call['ended'])
        self.first = self.finals[0] if self.finals else None

    def after_final(self, own):
        """Answered calls that began after a final answer: those with the same request, or the others."""
        if not self.first:
            return []
        return [call for call in self.answered
                if call['began'] > self.first['ended'] and (call['request'] == self.first['request']) == own]


def equal_finals(key, _):
    seen = lambda call: (call['status'], call['body'], *(call['headers'].get(name) for name in
                                                         ('content-type', 'location', 'idempotency-expires')))
    for call in key.finals[1:]:
        if call['request'] == key.first['request'] and seen(call) != seen(key.first):
            yield 'two final answers differ', [key.first, call]


def final_stays(key, rules):
    def past(call):
        return rules.retention_over or call['began'] - key.calls[0]['began'] >= rules.retention_s * SECOND

    gone = None   # After a key has expired, every call must get 410.
    for call in key.after_final(own=True):
        if not is_final(call) and call['status'] not in (*AWAY, 410) and not is_reused(call):
            yield f'{call["status"]} after its final answer', [key.first, call]
    for call in key.answered:
        if call['status'] == 410 and not past(call):
            yield 'expired before its retention is over', [call]
        if gone and is_final(call) and call['began'] > gone['ended']:
            yield 'a final answer of a key that had expired', [gone, call]
        if call['status'] == 410 and (gone is None or call['ended'] < gone['ended']):
            gone = call


def one_request(key, _):
    if not key.first:
        others = []
    else:
        others = [call for call in key.finals if call['request'] != key.first['request']]
    for call in others:
        yield 'two requests were accepted under one key', [key.first, call]
    for call in key.after_final(own=False):
        if not is_reused(call) and not is_final(call) and call['status'] not in (*AWAY, 410):
            yield f'another request got {call["status"]}', [key.first, call]
    for call in filter(is_reused, key.answered):
        if key.first and call['request'] == key.first['request']:
            yield 'the accepted request itself was refused as another', [key.first, call]
        elif all(other['request'] == call['request'] for other in key.calls if other['began'] < call['ended']):
            yield 'refused as another request, and there was no other', [call]


def settles(key, rules):
    if rules.faults_end is None:
        return
    deadline = max(rules.faults_end, key.calls[0]['began']) + rules.within_s * SECOND
    asked = [call for call in key.calls if not is_reused(call) and not call['hung_up']
             and not (key.first and call['request'] != key.first['request'])]
    for call in asked:
        if call['began'] > deadline and not is_final(call) and call['status'] != 410:
            yield 'not final long after faults ended', [call]
        elif rules.faults_end <= call['began'] <= deadline and (call['ended'] or deadline + 1) > deadline:
            yield 'a call after the end of faults took too long, or was not answered', [call]
    accepted = [call for call in key.answered if call['status'] in (202, 409, 500, 502)
                or is_reused(call) or call['began'] >= rules.faults_end and call['status'] == 503]
    if accepted and not key.finals and not any(call['status'] == 410 for call in key.answered):
        yield 'it was accepted, and has no final answer', accepted[-1:]


def one_original(key, _):
    originals = [call for call in key.finals if 'idempotent-replayed' not in call['headers']]
    if len(originals) > 1:
        yield f'{len(originals)} final answers are no replay', originals


def ledger_agrees(keys, effects):
    """Over all keys, because only the answers connect an effect with its request."""
    by_id = collections.defaultdict(list)
    for effect in effects:
        by_id[effect['kind'], effect['id']].append(effect)
    by_key = collections.Counter((effect['kind'], effect['key']) for effect in effects)
    for (kind, name), count in by_key.items():
        if name and count > 1:
            yield name, f'{count} {kind}s under one key of the provider', [e for e in effects if (e['kind'], e['key']) == (kind, name)]
    owners, free = {}, collections.Counter()
    for key in keys:
        kind = key.calls[0]['makes']
        if not key.first:
            free[kind] += 1   # Its outcome is unknown: one effect may belong to it.
            continue
        if not is_success(key.first):
            continue
        found = by_id.get((kind, key.first['effect']), [])
        if len(found) != 1:
            yield key.name, f'its success names {kind} {key.first["effect"]}, which is {len(found)} times in the ledger', [key.first, *found]
        other = owners.setdefault((kind, key.first['effect']), key)
        if other is not key:
            yield key.name, f'its {kind} is also that of {other.name}', [key.first, other.first]
    for kind in {kind for kind, _ in by_id}:
        orphans = [effect for (its, name), found in by_id.items() if its == kind and (its, name) not in owners for effect in found]
        if len(orphans) > free[kind]:
            yield '-', f'{len(orphans)} {kind}s that no success names, and only {free[kind]} keys have no final answer', orphans


OF_A_KEY = {'C1': equal_finals, 'C2': final_stays, 'C4': one_request, 'C5': settles, 'C6': one_original}


@dataclasses.dataclass
class Given:
    faults_end: int
    retention_over: bool
    within_s: float
    retention_s: float


def violations(events, without=(), within_s=20.0, retention_s=72 * 3600.0):
    """All violations in a history; `without` lists rules to skip."""
    calls = collections.defaultdict(list)
    for event in events:
        if event['event'] == 'call':
            calls[event['scope'], event['key']].append(event)
    marks = {event['name']: event['at'] for event in events if event['event'] == 'mark'}
    given = Given(marks.get('faults-end'), 'retention-over' in marks, within_s, retention_s)
    keys = [Key('/'.join(name), of_key) for name, of_key in calls.items()]
    found = [Violation(rule, key.name, what, about)
             for rule, check in OF_A_KEY.items() if rule not in without for key in keys for what, about in check(key, given)]
    if 'C3' not in without:
        effects = [event for event in events if event['event'] == 'effect']
        found += [Violation('C3', name, what, about) for name, what, about in ledger_agrees(keys, effects)]
    return found


def summary(events):
    """A one-line summary of the input."""
    calls = [event for event in events if event['event'] == 'call']
    keys = {(call['scope'], call['key']) for call in calls}
    lost = sum(call['ended'] is None for call in calls)
    effects = sum(event['event'] == 'effect' for event in events)
    return f'{len(calls)} calls of {len(keys)} keys, {lost} of them without an answer, {effects} effects'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+', metavar='FILE')
    parser.add_argument('--within', type=float, default=20.0, metavar='SECONDS')
    parser.add_argument('--retention', type=float, default=72 * 3600.0, metavar='SECONDS')
    given = parser.parse_args()
    wrong = 0
    for path in given.files:
        events = load(path)
        found = violations(events, within_s=given.within, retention_s=given.retention)
        wrong += len(found)
        print(f'{path}: {summary(events)}: {len(found)} violations')
        for violation in found:
            print(violation)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
