"""Checks that rows agree with their runs."""
import json
import os
import tempfile
import unittest

from report import ROW, head, line, most_per_s, row_of, write_json

CASE = {'name': 'ride', 'keys': 10_000, 'clients': 64, 'delay_ms': 0}


def run(rate, floor, errors=0):
    return {'rate_per_s': rate, 'floor_per_s': floor, 'p50_ms': 1.0, 'p99_ms': 2.0, 'errors': errors}


class Report(unittest.TestCase):
    def test_a_slow_minute_spoils_neither_rate_nor_ratio(self):
        row = row_of(CASE, [run(1000, 2000), run(100, 200), run(1200, 2000)])

        self.assertEqual((row['rate_per_s'], row['floor_per_s'], row['ratio']), (1000, 2000, 0.5))

    def test_the_ratio_is_of_rates_of_the_same_run(self):
        # Only medians would give 1000 / 1000.
        row = row_of(CASE, [run(1000, 2000), run(500, 1000), run(2000, 1000)])

        self.assertEqual(row['ratio'], 0.5)

    def test_errors_of_all_runs_are_in_the_row(self):
        self.assertEqual(row_of(CASE, [run(1, 1, 2), run(1, 1, 0), run(1, 1, 3)])['errors'], 5)

    def test_without_a_floor_there_is_no_ratio(self):
        row = row_of(CASE, [run(1000, None)])

        self.assertIsNone(row['ratio'])
        self.assertIn('-', line(row))

    def test_a_payment_of_50_ms_limits_the_rate_of_a_client(self):
        self.assertEqual(most_per_s(20_000, 64, 50), 1280)
        self.assertEqual(most_per_s(1_000, 64, 50), 1000)
        self.assertEqual(most_per_s(20_000, 64, 0), 20_000)

    def test_the_json_has_every_field_of_a_row(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'rows.json')
            write_json(path, [row_of(CASE, [run(1000, 3000)])])
            with open(path, encoding='utf-8') as file:
                [row] = json.load(file)

        self.assertEqual(tuple(row), ROW)
        self.assertEqual(row['ratio'], 0.333)

    def test_a_line_is_as_wide_as_its_head(self):
        self.assertEqual(len(line(row_of(CASE, [run(123_456, 1_234_567)]))), len(head()))


if __name__ == '__main__':
    unittest.main()
