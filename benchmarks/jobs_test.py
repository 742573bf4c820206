"""Tests of the statements and figures of ./bench jobs."""
import importlib.machinery
import importlib.util
import os
import re
import unittest

import jobs_floors
import jobs_report
import redis_floor

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    loader = importlib.machinery.SourceFileLoader(f'bench_{name}', os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(f'bench_{name}', loader))
    loader.exec_module(module)
    return module


jobs = load('jobs')
CASE = jobs.Case(queue='embedded-postgres', handler='tx', workers=4, batch=1)


class Floors(unittest.TestCase):
    def test_their_statements_are_the_servers_own_with_every_parameter_given(self):
        texts = [jobs_floors.procedures()]
        texts += ['\n'.join(jobs_floors.script('both', batch, True)) for batch in (1, 100)]
        for text in texts:
            self.assertNotRegex(text, r'\$\d')
        for words in ('INSERT INTO pawl_jobs', 'SKIP LOCKED', 'SET called_at', 'DELETE FROM pawl_jobs'):
            self.assertIn(words, texts[0])
            self.assertIn(words, texts[1])

    def test_one_job_in_a_transaction_is_a_statement_each(self):
        self.assertEqual(len(jobs_floors.script('work', 1, False)), 2)
        self.assertEqual(len(jobs_floors.script('work', 1, True)), 3)

    def test_the_jobs_of_a_claim_follow_from_the_works(self):
        # For 100 jobs in a transaction: 100 finishes, and one claim.
        seen = {'works_per_job': 1.01, 'works_per_commit': 4}
        self.assertAlmostEqual(jobs_floors.claimed_at_once('work', CASE, seen), 100)
        # Staged and claimed one by one.
        self.assertEqual(jobs_floors.claimed_at_once('both', CASE, {'works_per_job': 3}), 1)

    def test_a_job_that_calls_is_marked_and_finished_with_others(self):
        case = jobs.Case(queue='embedded-sqlite', handler='call', workers=16, batch=1)
        # Ten jobs in each claim, mark and finish, and three of these in a commit.
        seen = {'works_per_job': 0.3, 'works_per_commit': 3}
        self.assertAlmostEqual(jobs_floors.claimed_at_once('work', case, seen), 10)
        # One commit for ten jobs: their claim, ten marks and ten finishes.
        self.assertAlmostEqual(jobs_floors.works_in_a_commit('work', case, seen), 21)

    def test_the_floor_of_redis_has_the_queues_own_scripts(self):
        texts = redis_floor.scripts()
        for name in ('push', 'take', 'call', 'finish'):
            self.assertIn("redis.call('", texts[name])


    def test_the_floor_of_redis_gives_the_scripts_all_keys_and_arguments(self):
        given = {}

        class Redis:
            def ask(self, *words):
                return words[2] if words[0] == 'SCRIPT' else '1000'

            def rate(self, _clients, _count, _command, text, keys, *words, **_):
                given[text] = int(keys), len(words) - int(keys)
                return 1

        redis_floor.RedisFloor(Redis()).rate('both', jobs.Case('redis', 'call', 1, 1), {}, 1)
        for name in ('push', 'take', 'call', 'finish'):
            text = redis_floor.scripts()[name]
            needed = [max([int(n) for n in re.findall(what + r'\[(\d+)\]', text)], default=0) for what in ('KEYS', 'ARGV')]
            self.assertGreaterEqual(given[text], tuple(needed), name)
            self.assertGreaterEqual(given[text][1], needed[1], name)


class Report(unittest.TestCase):
    RUN = {'stage_per_s': 1000, 'stage_floor_per_s': 2000, 'both_per_s': 500, 'both_floor_per_s': 500, 'p50_ms': 1, 'p99_ms': 2}

    def test_a_row_has_every_field_and_its_line_is_as_wide_as_the_head(self):
        row = jobs_report.row_of(CASE, [self.RUN, {**self.RUN, 'stage_per_s': 100, 'stage_floor_per_s': 200}])

        self.assertEqual(tuple(row), jobs_report.ROW)
        self.assertEqual((row['stage_ratio'], row['both_ratio'], row['work_ratio']), (0.5, 1, None))
        self.assertEqual(len(jobs_report.line(row)), len(jobs_report.head()))

    def test_the_cost_of_a_pinned_snapshot_is_the_loss_of_the_last_tenth(self):
        rates = [100, 100, 100] + [90] * 9 + [80] + [100]

        self.assertEqual(jobs_report.fall(rates, 3, 13), (100, 80, 1 - 80 / 100))

    def test_without_a_rate_before_the_pin_there_is_no_fall(self):
        with self.assertRaises(ValueError):
            jobs_report.fall([100], 0, 1)


class Aims(unittest.TestCase):
    def rows(self, ours, theirs):
        row = {'workers': 16, 'batch': 100, 'work_per_s': ours, 'both_per_s': ours, 'both_ratio': 0.5, 'work_ratio': 0.5}
        return [{**row, 'name': 'embedded-postgres tx'}, *({**row, 'name': name, 'work_per_s': rate, 'both_per_s': rate}
                                                           for name, rate in theirs.items())]

    def test_the_faster_peer_is_the_one_to_beat(self):
        found = '\n'.join(jobs.aims(self.rows(3000, {'pg-boss': 500, 'graphile-worker': 1000})))

        self.assertIn('3.00 times graphile-worker (aim 3)', found)
        self.assertNotIn('times pg-boss', found)

    def test_without_a_peer_no_line_mentions_one(self):
        self.assertEqual([text for text in jobs.aims(self.rows(3000, {})) if 'times' in text], [])


if __name__ == '__main__':
    unittest.main()
