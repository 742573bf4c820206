"""Tests of history_check: valid histories pass, and each corrupted one is caught by the rule that it breaks."""
import os
import subprocess
import sys
import tempfile
import unittest

import history_check
from history import save
from history_check import RULES, violations

HERE = os.path.dirname(os.path.abspath(__file__))
MS = 10**6
EXPIRES = 'Wed, 25 Nov 2026 07:00:00 GMT'


class Story:
    """Builds a history: one call after the other, 10 ms each, unless a time is given."""

    def __init__(self):
        self.events, self.now = [], 1000 * MS

    def call(self, key, status=None, request='R', body=None, effect=None, replayed=False, kind='', final=None, ms=10, overlap=0,
             scope='jane', makes='charge'):
        """Without a status there was no answer. Returns the event, for a test to corrupt."""
        began = self.now - overlap * MS
        self.now = max(self.now, began + ms * MS)
        event = {'event': 'call', 'client': 'c', 'scope': scope, 'key': key, 'request': request, 'makes': makes, 'began': began,
                 'ended': None, 'status': None, 'hung_up': False}
        if status is not None:
            settled = final if final is not None else status in (200, 201, 402)
            headers = {'content-type': 'application/json'} | ({'idempotency-expires': EXPIRES} if settled else {})
            headers |= {'idempotent-replayed': 'true'} if replayed else {}
            event |= {'ended': began + ms * MS, 'status': status, 'type': kind, 'body': body or f'b{status}', 'effect': effect,
                      'headers': headers}
        self.events.append(event)
        self.now += MS
        return event

    def booked(self, name, key=None, kind='charge'):
        self.events.append({'event': 'effect', 'kind': kind, 'id': name, 'key': key or f'f-{name}'})
        return self.events[-1]

    def mark(self, name):
        self.events.append({'event': 'mark', 'name': name, 'at': self.now})


def good():
    """All allowed events, with names for those that tests corrupt."""
    story = Story()
    at = {'story': story}
    # Two clients at once; then a repeat, and another request under the key.
    at['first'] = story.call('k', 201, effect='ch_1', body='ride', ms=100)
    at['busy'] = story.call('k', 409, kind='in-progress', overlap=60)
    at['repeat'] = story.call('k', 201, effect='ch_1', body='ride', replayed=True)
    at['twin'] = story.call('k', 422, request='T', kind='key-reused')
    at['closed'] = story.call('k', 503, kind='store-unavailable')
    at['charge'] = story.booked('ch_1')
    # The answer is lost; the client gets a replay.
    story.call('lost')
    at['heard'] = story.call('lost', 201, effect='ch_2', body='ride 2', replayed=True)
    story.booked('ch_2')
    # Declined, for good.
    at['declined'] = story.call('poor', 402, body='no money')
    at['declined again'] = story.call('poor', 402, body='no money', replayed=True)
    # A twin is first, and its answer is a 503; the other request is accepted.
    story.call('twins', 503, request='T')
    at['first of twins'] = story.call('twins', 201, effect='ch_3', body='ride 3')
    story.booked('ch_3')
    # A refund, whose key is the tenant's.
    at['refund'] = story.call('r', 201, effect='re_1', scope='tenant', makes='refund')
    at['refunded'] = story.booked('re_1', kind='refund')
    # Dropped during the faults, charged, and answered afterwards.
    at['dropped'] = story.call('dropped', 500, kind='internal')
    story.mark('faults-end')
    story.call('dropped', 409, kind='in-progress')
    at['told late'] = story.call('dropped', 201, effect='ch_4', body='ride 4')
    at['last charge'] = story.booked('ch_4')
    # Outcome unknown: sent once, no answer, but charged.
    at['unheard'] = story.call('unheard')
    at['unheard']['hung_up'] = True
    story.booked('ch_5')
    return at


def later(event, seconds):
    event['began'] += seconds * 10**9
    event['ended'] = event['began'] + 10 * MS


def again(at, name, **changes):
    """Repeats the call at the end, with changes."""
    copy = dict(at[name], headers=dict(at[name]['headers'])) | changes
    length = copy['ended'] - copy['began']
    copy['began'] = at['story'].now + MS
    copy['ended'] = copy['began'] + length
    at['story'].now = copy['ended']
    at['story'].events.append(copy)
    return copy


def without_header(event, name):
    del event['headers'][name]


def expired(at, seconds):
    """A call gets 410, `after` the key's first call."""
    gone = again(at, 'repeat', status=410, type='key-expired', headers={}, effect=None)
    later(gone, seconds)
    at['story'].now = gone['ended']
    return gone


def alive_after_expiry(at):
    expired(at, 73 * 3600)
    again(at, 'repeat')


def no_final_answer_after_faults(at):
    at['told late'] |= {'status': 503, 'headers': {}, 'effect': None}


def slow_answer(at):
    at['told late']['ended'] = at['told late']['began'] + 30 * 10**9


SPOILED = [
    ('C1', 'a repeat has another body', lambda at: at['repeat'].update(body='other')),
    ('C1', 'a repeat has another status', lambda at: at['repeat'].update(status=200)),
    ('C1', 'a decline becomes another refusal', lambda at: at['declined again'].update(status=404)),
    ('C1', 'a success becomes a decline', lambda at: again(at, 'repeat', status=402, body='no money', effect=None)),
    ('C1', 'a repeat points elsewhere', lambda at: at['repeat']['headers'].update(location='/rides/9')),
    ('C1', 'a repeat is of another type', lambda at: at['repeat']['headers'].update({'content-type': 'text/plain'})),
    ('C1', 'a repeat expires at another time', lambda at: at['repeat']['headers'].update({'idempotency-expires': 'later'})),
    ('C2', 'in progress after the final answer', lambda at: again(at, 'busy')),
    ('C2', 'accepted after the final answer', lambda at: again(at, 'busy', status=202)),
    ('C2', 'an internal error after the final answer', lambda at: again(at, 'busy', status=500)),
    ('C2', 'a person is needed after the final answer', lambda at: again(at, 'busy', status=502)),
    ('C2', 'unknown after the final answer', lambda at: again(at, 'busy', status=404)),
    ('C2', 'expired before its time', lambda at: expired(at, 3600)),
    ('C2', 'expired, and alive again', alive_after_expiry),
    ('C3', 'a success without a charge', lambda at: at['story'].events.remove(at['charge'])),
    ('C3', 'a success that names no charge', lambda at: [at[name].update(effect=None) for name in ('first', 'repeat')]),
    ('C3', 'charged twice under one key', lambda at: at['story'].booked('ch_9', key=at['charge']['key'])),
    ('C3', 'charged twice under two keys', lambda at: [at['story'].booked(name) for name in ('ch_8', 'ch_9')]),
    ('C3', 'two keys share a charge', lambda at: at['heard'].update(effect='ch_1')),
    ('C3', 'a declined card is charged', lambda at: [at['story'].booked('ch_9'), at['story'].events.remove(at['unheard'])]),
    ('C3', 'the ledger has a charge twice', lambda at: at['story'].booked('ch_1', key='f-other')),
    ('C3', 'a refund is booked twice', lambda at: at['story'].booked('re_2', kind='refund')),
    ('C3', 'a refund is not booked', lambda at: at['story'].events.remove(at['refunded'])),
    ('C4', 'another request is accepted too',
     lambda at: at['twin'].update(status=201, type='', effect='ch_1', headers=at['repeat']['headers'])),
    ('C4', 'another request is told to wait', lambda at: at['twin'].update(status=409, type='in-progress')),
    ('C4', 'another request gets another refusal', lambda at: at['twin'].update(status=400, type='request-invalid')),
    ('C4', 'the accepted request is refused as another', lambda at: again(at, 'twin', request='R')),
    ('C4', 'it is refused as another even before its answer', lambda at: at['busy'].update(status=422, type='key-reused')),
    ('C4', 'the only request is refused as another', lambda at: at['heard'].update(status=422, type='key-reused', headers={}, effect=None)),
    ('C5', 'it is never final', no_final_answer_after_faults),
    ('C5', 'it is in progress long after faults', lambda at: later(at['story'].call('new', 409, kind='in-progress'), 60)),
    ('C5', 'it has no answer long after faults', lambda at: at['story'].call('new').update(began=at['story'].now + 60 * 10**9)),
    ('C5', 'its answer takes too long', slow_answer),
    ('C5', 'what was in progress is never heard of', lambda at: again(at, 'busy', key='forgotten')),
    ('C6', 'two originals', lambda at: without_header(at['repeat'], 'idempotent-replayed')),
    ('C6', 'two originals of a decline', lambda at: without_header(at['declined again'], 'idempotent-replayed')),
]


def spoiled(spoil):
    at = good()
    spoil(at)
    return at['story'].events


class Judge(unittest.TestCase):
    def test_a_good_history_passes(self):
        self.assertEqual([str(violation) for violation in violations(good()['story'].events)], [])

    def test_a_key_may_be_gone_when_its_retention_is_over(self):
        at = good()
        expired(at, 73 * 3600)
        self.assertEqual(violations(at['story'].events), [])
        at = good()
        expired(at, 1)
        at['story'].mark('retention-over')
        self.assertEqual(violations(at['story'].events), [])

    def test_a_call_that_began_before_the_final_answer_may_get_409(self):
        at = good()
        at['busy']['ended'] = at['first']['ended'] + 10 * MS
        self.assertEqual(violations(at['story'].events), [])

    def test_the_end_of_an_empty_history_is_good(self):
        self.assertEqual(violations([]), [])

    def test_each_spoiled_history_is_caught_by_its_rule(self):
        for rule, name, spoil in SPOILED:
            with self.subTest(name):
                found = violations(spoiled(spoil))
                self.assertIn(rule, {violation.rule for violation in found})
                self.assertTrue(all(str(violation) and violation.events for violation in found))

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len({name for _, name, _ in SPOILED}), 30)
        self.assertEqual({rule for rule, _, _ in SPOILED}, set(RULES))

    def test_no_rule_is_dead(self):
        """A violation of a single rule passes without that rule."""
        for rule in RULES:
            with self.subTest(rule):
                alone = [spoil for its, _, spoil in SPOILED if its == rule and not violations(spoiled(spoil), without=[rule])]
                self.assertGreaterEqual(len(alone), 2)


class Program(unittest.TestCase):
    def run_on(self, events):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'history.jsonl')
            save(path, events)
            return subprocess.run([sys.executable, history_check.__file__, path], capture_output=True, text=True, cwd=HERE)

    def test_a_file_is_judged(self):
        done = self.run_on(good()['story'].events)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('16 calls of 7 keys, 2 of them without an answer, 6 effects: 0 violations', done.stdout)

    def test_a_violation_is_printed_with_its_calls(self):
        done = self.run_on(spoiled(SPOILED[0][2]))
        self.assertEqual(done.returncode, 1)
        self.assertIn('C1 (all final answers of a key are equal), key jane/k: two final answers differ', done.stdout)
        self.assertEqual(done.stdout.count(' asks R: 201 '), 2)


if __name__ == '__main__':
    unittest.main()
