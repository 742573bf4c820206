"""The floors of PostgreSQL run the statements of the server with values for all their parameters."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import postgres_floors


class Floors(unittest.TestCase):
    def test_every_script_fills_all_parameters(self):
        """Before, a statement got a new parameter, and `./bench postgres` failed at its floor."""
        scripts = postgres_floors.Scripts()
        for script in (scripts.four, scripts.two_pipelined, scripts.replay):
            for line in script():
                self.assertNotIn('$', line)

    def test_too_few_or_too_many_values_are_refused(self):
        for values in ([], ['1'], ['1', '2', '3']):
            with self.assertRaises(ValueError):
                postgres_floors.filled('SELECT $1, $2', *values)


if __name__ == '__main__':
    unittest.main()
