"""Tests of the statements and figures of ./bench upkeep."""
import importlib.machinery
import importlib.util
import os
import unittest

import upkeep_life

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


upkeep = load('upkeep')


class Life(unittest.TestCase):
    def test_its_statements_are_the_servers_own_with_every_parameter_given(self):
        text = upkeep_life.procedures()
        for words in ('INSERT INTO pawl_key_registry', "SET status = 'finished'", 'SET lease_until', 'SKIP LOCKED', 'DELETE FROM pawl_jobs'):
            self.assertIn(words, text)
        self.assertNotRegex(text.replace('$1 ORDER BY id LIMIT', ''), r'\$\d')


class Figures(unittest.TestCase):
    def test_the_log_of_autovacuum_is_understood(self):
        log = ('2026-11-21 LOG:  automatic vacuum of table "case_1.public.jobs": index scans: 1\n\tpages: 0 removed\n'
               '\tsystem usage: CPU: user: 0.00 s, system: 0.01 s, elapsed: 1.25 s\n'
               '2026-11-21 LOG:  automatic analyze of table "case_1.public.jobs"\n'
               '\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.50 s\n')
        found = [(database, float(seconds)) for _, database, _, seconds in upkeep.VACUUMED.findall(log)]
        self.assertEqual(found, [('case_1', 1.25), ('case_1', 0.5)])

    def test_a_case_is_a_line_a_table_and_one_for_all(self):
        table = {'updates': 200, 'hot': 50, 'dead': 7, 'table_bytes': 3_000_000, 'index_bytes': 2_000_000}
        states = {name: table for name in upkeep.TABLES}
        row = {'name': 'as migrated', 'keys': 1000, 'live_s_1': 1, 'live_s_2': 2, 'reap_s_1': 1, 'reap_s_2': 4, 'vacuum_s': 3,
               'lived_1': states, 'reaped_1': states, 'lived_2': states, 'reaped_1_dead': {'pawl_jobs': 5}}
        found = list(upkeep.lines(row))
        self.assertEqual(len(found), 4)
        self.assertRegex(found[0], r'pawl_idempotency_keys +25 ')
        self.assertIn('1,000 and 500 keys/s lived, 1,000 and 250 keys/s reaped', found[3])


if __name__ == '__main__':
    unittest.main()
