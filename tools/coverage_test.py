"""tools/coverage counts both sides of a condition once, leaves out code that no package has, and fails below its minimum."""
import os
import tempfile
import unittest

from tidy_test import load

coverage = load('coverage')
FILE, HEADER = 'src/core/a.cpp', 'src/core/assert.hpp'
SOURCE = '''int f(int a, int b) {
    if (a > 5 || b) return 1;
    PAWL_ASSERT(a && b);
    if (!c && b) return 2;
    if (errno == EINTR) return 3;
    switch (b) {
        case 1: return 4;
        default: return 5;
    }
    return a;
}
'''
BRANCH, MACRO = 4, 1


def branch(line, text, true, false, file_id=0):
    column = SOURCE.split('\n')[line - 1].index(text) + 1
    return [line, column, line, column + len(text), true, false, file_id, 0, BRANCH]


def macro(line, name, expanded):
    column = SOURCE.split('\n')[line - 1].index(name) + 1
    return [line, column, line, column + len(name), 1, 0, expanded, MACRO]


def exported(*functions):
    return {'data': [{'functions': [{'filenames': names, 'regions': list(regions), 'branches': list(branches)}
                                    for names, regions, branches in functions]}]}


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for path in (FILE, HEADER):
            os.makedirs(os.path.join(self.folder.name, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(self.folder.name, path), 'w', encoding='utf-8') as file:
                file.write(SOURCE)

    def report(self, *functions, sources=(FILE,)):
        return coverage.report_of(exported(*functions), coverage.Sources(self.folder.name), sources)

    def missing(self, *functions):
        return [(branch['line'], branch['condition'], branch['what']) for branch in self.report(*functions)['missing']]

    def test_each_condition_has_two_branches(self):
        report = self.report(([FILE], [], [branch(2, 'a > 5', 3, 0), branch(2, 'b', 0, 3)]))
        self.assertEqual(report['files'][FILE], {'branches': 4, 'taken': 2, 'percent': 50.0})
        self.assertEqual(report['folders']['src/core']['taken'], 2)
        self.assertEqual(report['total']['branches'], 4)

    def test_a_missing_branch_is_named_with_its_line(self):
        self.assertEqual(self.report(([FILE], [], [branch(2, 'a > 5', 3, 0)]))['missing'], [
            {'file': FILE, 'line': 2, 'condition': 'a > 5', 'what': 'never false', 'source': 'if (a > 5 || b) return 1;'}])

    def test_a_branch_that_one_instantiation_takes_is_taken(self):
        one = ([FILE], [], [branch(2, 'a > 5', 3, 0)])
        other = ([FILE], [], [branch(2, 'a > 5', 0, 1)])
        self.assertEqual(self.missing(one, other), [])
        self.assertEqual(self.report(one, other)['total']['branches'], 2)

    def test_assertions_are_left_out(self):
        inside = ([FILE, HEADER], [macro(3, 'PAWL_ASSERT', 1)], [branch(3, 'a', 1, 0, file_id=1)])
        self.assertEqual(self.report(inside)['total']['branches'], 0)

    def test_a_switch_has_no_branch_past_its_cases(self):
        self.assertEqual(self.report(([FILE], [], [branch(6, 'b', 0, 2)]))['total']['branches'], 0)

    def test_a_condition_in_a_macro_is_placed_where_the_macro_is_used(self):
        function = (['/usr/include/errno.h', FILE], [[5, 9, 5, 14, 1, 1, 0, MACRO]], [[38, 1, 38, 9, 1, 0, 0, 0, BRANCH]])
        self.assertEqual(self.missing(function), [(5, 'errno', 'never false')])

    def test_a_case_is_one_branch(self):
        cases = ([FILE], [], [branch(7, 'case 1', 0, 2), branch(8, 'default', 2, 0)])
        self.assertEqual(self.missing(cases), [(7, 'case 1', 'never taken')])
        self.assertEqual(self.report(cases)['total']['branches'], 2)

    def test_the_tests_themselves_and_other_folders_are_not_measured(self):
        names = ['src/core/a_test.cpp', 'src/http/testing/raw_socket.cpp', 'src/http/fuzz_head.cpp', 'src/core/fault.cpp',
                 'src/queue/without_kafka.cpp', 'src/store/store.cpp', '/usr/include/c++/12/bits/stl_tree.h']
        self.assertEqual([coverage.Sources().measured(name) for name in names], [None] * len(names))

    def test_a_file_is_known_by_the_name_of_another_checkout(self):
        for name in (FILE, '../../' + FILE, '/home/x/pawl/' + FILE, './../../' + FILE):
            self.assertEqual(coverage.Sources().measured(name), FILE)

    def test_a_source_that_no_test_links_is_reported_and_fails(self):
        report = self.report(([FILE], [], []), sources=(FILE, 'src/core/b.cpp', 'src/core/b_test.cpp'))
        self.assertEqual(report['not_linked'], ['src/core/b.cpp'])
        self.assertEqual(coverage.too_low(report, 0), ['src/core/b.cpp is in no test'])

    def test_a_folder_below_the_minimum_fails_and_is_not_rounded_up(self):
        report = self.report(([FILE], [], [branch(2, 'a > 5', 1, 1), branch(2, 'b', 1, 0)]))
        self.assertEqual(coverage.too_low(report, 75), [])
        self.assertEqual(coverage.too_low(report, 75.1), ['src/core has 75.0 %'])
        self.assertEqual(coverage.percent({'branches': 10_000, 'taken': 8_999}), 89.9)


if __name__ == '__main__':
    unittest.main()
