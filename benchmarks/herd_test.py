"""Tests of the report of ./bench herd."""
import unittest
import xml.dom.minidom

import herd_report

ROW = {'name': "a & b's", 'clients': 10, 'served_per_s': 2.0, 'peak_per_s': 8, 'sent': 25, 'refused': 5, 'overflow': 0, 'served': 20,
       'in_vain': 10, 'answered': 10, 'gave_up': 0, 'last_s': 12.34, 'tries': [1, 2, 3, 4, 5, 6]}


class Report(unittest.TestCase):
    def test_a_row_is_relative_to_what_is_served_and_to_the_clients(self):
        line = herd_report.table([ROW]).split('\n')[2]

        self.assertEqual(line.split()[-7:], ['4.0x', '2.50', '0.50', '0.00', '50%', '12.3', 's'])

    def test_clients_that_gave_up_are_counted(self):
        self.assertIn('3 gave up', herd_report.table([ROW | {'gave_up': 3}]))

    def test_tries_are_added_up_by_the_second(self):
        self.assertEqual(herd_report.smoothed(ROW['tries']), [10, 11])

    def test_the_plot_is_well_formed_and_names_each(self):
        plot = xml.dom.minidom.parseString(herd_report.svg([ROW, ROW | {'name': 'other'}]))

        self.assertEqual(len(plot.getElementsByTagName('polyline')), 2)
        texts = [node.firstChild.data for node in plot.getElementsByTagName('text')]
        self.assertIn("a & b's", texts)
        self.assertIn('other', texts)


if __name__ == '__main__':
    unittest.main()
