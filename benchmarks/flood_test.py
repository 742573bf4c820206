"""Checks that the rows of ./bench flood agree with the runs."""
import unittest

from flood_report import COLUMNS, row_of
from report import head, line


def run(p50, p99, flood=None, errors=0):
    return {'polite': {'count': 600, 'rate_per_s': 300, 'p50_ms': p50, 'p99_ms': p99, 'errors': errors}, 'flood': flood}


class FloodReport(unittest.TestCase):
    def test_a_run_is_set_beside_the_polite_tenant_alone_in_the_same_round(self):
        row = row_of('flood', 0, [run(10, 100), run(20, 400), run(30, 100)], [run(1, 10), run(2, 20), run(1, 10)])

        # Only medians would give 20 and 10.
        self.assertEqual((row['p50_times_alone'], row['p99_times_alone']), (10, 10))
        self.assertEqual((row['p50_ms'], row['p99_ms']), (20, 100))

    def test_errors_of_both_sides_are_in_the_row(self):
        flood = {'rate_per_s': 9000, 'refused_per_s': 1000, 'errors': 2}
        row = row_of('flood', 0, [run(1, 2, flood, errors=1)] * 2, [run(1, 2)] * 2)

        self.assertEqual(row['errors'], 6)
        self.assertEqual((row['flood_served_per_s'], row['flood_refused_per_s']), (9000, 1000))

    def test_a_load_without_answers_does_not_count_as_fast(self):
        starved = run(0, 0)
        starved['polite']['count'] = 0
        row = row_of('flood', 0, [starved, starved, run(10, 100)], [run(1, 10)] * 3)

        self.assertIsNone(row['p50_ms'])
        self.assertIsNone(row['p99_times_alone'])
        self.assertEqual(len(line(row, COLUMNS)), len(head(COLUMNS)))

    def test_without_a_flood_its_columns_are_empty(self):
        row = row_of('alone', 50, [run(1, 2)], [run(1, 2)])

        self.assertIsNone(row['flood_served_per_s'])
        self.assertEqual(len(line(row, COLUMNS)), len(head(COLUMNS)))


if __name__ == '__main__':
    unittest.main()
