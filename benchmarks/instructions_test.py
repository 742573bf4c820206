"""Tests of the rows made from callgrind's counts."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
loader = importlib.machinery.SourceFileLoader('instructions', os.path.join(HERE, 'instructions'))
instructions = importlib.util.module_from_spec(importlib.util.spec_from_loader('instructions', loader))
loader.exec_module(instructions)

ANNOTATED = '''--------------------------------------------------------------------------------
Ir          file:function
--------------------------------------------------------------------------------
10,000  ???:start_thread [/usr/lib/x86_64-linux-gnu/libc.so.6]
 1,500  ???:0x000000000029ad80 [/usr/lib/x86_64-linux-gnu/libcrypto.so.3]
   500  ???:pawl::http::HttpConnection::on_head(unsigned long) [/x/bin/rides]
'''


class Rows(unittest.TestCase):
    def test_a_function_belongs_to_a_part_by_its_name_or_its_library(self):
        for function, part in (('malloc', 'memory'), ('sqlite3VdbeExec [/usr/lib/libsqlite3.so.0]', 'sqlite'),
                               ('pawl::engine::Attempt::on(pawl::core::AttemptEvent)', 'engine'), ('nobody', 'other')):
            self.assertEqual(instructions.part_of(function), part)

    def test_a_row_has_the_instructions_of_one_request_and_the_shares(self):
        costs = instructions.self_costs(ANNOTATED)
        row = instructions.row_of('replay', 'sqlite', 10_000, costs, 10)
        self.assertEqual((row['instructions'], row['shares']), (1000, {'hashes': 75.0, 'http': 25.0}))

    def test_the_table_sets_each_beside_an_empty_answer(self):
        rows = [{'name': name, 'database': 'sqlite', 'instructions': count, 'requests': 1, 'shares': {'http': 100.0}}
                for name, count in (('empty_answer', 100), ('replay', 250))]
        self.assertIn('2.5  http 100', list(instructions.table(rows))[-1])

    def test_instructions_in_the_database_stand_alone(self):
        rows = [{'name': 'ride', 'database': 'in postgres', 'instructions': 2_000_000, 'requests': 1, 'shares': {}}]
        self.assertRegex(list(instructions.table(rows))[-1], r'^ride +in postgres +2,000,000 *$')


if __name__ == '__main__':
    unittest.main()
