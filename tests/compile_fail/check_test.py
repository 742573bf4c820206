"""The check of the wrong programs can fail."""
import importlib.machinery
import importlib.util
import os
import unittest

import wrong_programs

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check = load('check')
ERROR = 'a.cpp:3:1: error: static assertion failed: pawl: a step leads backwards\n'


class Problem(unittest.TestCase):
    def test_a_program_that_compiles_fails_its_test(self):
        self.assertIn('compiles', check.problem_of(0, '', 'pawl: a step leads backwards'))

    def test_the_expected_sentence_passes(self):
        self.assertIsNone(check.problem_of(1, 'In file included:\n' + ERROR, 'pawl: a step leads backwards'))

    def test_another_first_error_fails_though_the_sentence_comes_later(self):
        output = 'a.cpp:1:1: error: no such type\n' + ERROR
        self.assertIn('first error', check.problem_of(1, output, 'pawl: a step leads backwards'))

    def test_a_sentence_in_a_note_does_not_count(self):
        output = 'a.cpp:1:1: error: no such type\na.cpp:1:1: note: pawl: a step leads backwards\n'
        self.assertIsNotNone(check.problem_of(1, output, 'pawl: a step leads backwards'))

    def test_a_compiler_that_breaks_off_fails(self):
        self.assertIn('without an error', check.problem_of(1, 'g++: not found', 'pawl: a step leads backwards'))

    def test_the_error_must_contain_all_of_several_texts(self):
        line = 'a.cpp:1:1: error: use of deleted function Tx::Tx(const Tx&)'
        self.assertIsNone(check.problem_of(1, line, ['deleted|private', 'Tx']))
        self.assertIsNotNone(check.problem_of(1, line, ['deleted|private', 'KeyedCall']))
        self.assertIsNotNone(check.problem_of(1, line, ['private', 'Tx']))


class Examples(unittest.TestCase):
    def test_the_example_of_a_header_stands_in_the_right_program(self):
        """Before, it returned a bare response, which does not compile."""
        def words(text):
            return ' '.join(text.replace('sql::', '').split())
        with open(os.path.join(HERE, 'right.cpp'), encoding='utf-8') as file:
            right = words(file.read())
        with open(os.path.join(HERE, '../../include/pawl/once_per_window.hpp'), encoding='utf-8') as file:
            example = [line[5:] for line in file if line.startswith('//   ')]
        self.assertGreater(len(example), 4)
        for line in example:
            self.assertIn(words(line).split(', ...')[0], right)


class Score(unittest.TestCase):
    LINE_3 = 'program.cpp:3:1: error: no such type\n'
    SENTENCE = 'pawl.hpp:9:1: error: static assertion failed: pawl: a step leads backwards\n'

    def test_it_says_how_far_the_compiler_helps(self):
        for output, score in ((self.SENTENCE + 'program.cpp:7:1: note: required from here\n', 5),
                              ('program.cpp:7:1: required\n' + self.SENTENCE, 5), (self.LINE_3, 4), (self.SENTENCE, 3),
                              ('   from program.cpp:3:\n' + self.SENTENCE, 3), ('program.cpp:4:1: error: no such type\n', 2),
                              ('pawl.hpp:9:1: error: no such type\n', 1)):
            self.assertEqual(check.score_of(1, output, {3}), score, output)
        self.assertEqual(check.score_of(0, '', {3}), 0)

    def test_a_second_error_does_not_count(self):
        self.assertEqual(check.score_of(1, 'pawl.hpp:9:1: error: no such type\n' + self.LINE_3, {3}), 1)

    def test_changed_lines_and_their_neighbours_are_wrong(self):
        self.assertEqual(check.changed_lines('a\nb\nc\nd\ne', 'a\nb\nC\nd\ne'), {2, 3, 4})


class Changes(unittest.TestCase):
    def test_words_that_do_not_occur_exactly_once_are_refused(self):
        for text in ('', 'a step, and a step'):
            with self.assertRaisesRegex(ValueError, 'not once'):
                check.changed(text, [('a step', 'two')])

    def test_line_breaks_between_words_do_not_count(self):
        self.assertEqual(check.changed('a(\n    b, "c d"\n);', [('a(b, "c d")', 'e')]), 'e;')
        with self.assertRaises(ValueError):
            check.changed('a(b, "cd");', [('a(b, "c d")', 'e')])

    def test_each_wrong_program_differs_from_the_right_one(self):
        with open(os.path.join(HERE, 'right.cpp'), encoding='utf-8') as file:
            right = file.read()
        for name, (_, changes) in check.WRONG.items():
            self.assertNotEqual(check.changed(right, changes), right, name)

    def test_parts_that_do_not_change_become_blank_lines(self):
        right = 'all\n// Part: one\na\n// Part: two\nb\n'
        self.assertEqual(check.only_changed_parts(right, right.replace('a\n', 'A;\nA\n')), 'all\n// Part: one\nA;\nA\n\n\n')
        everywhere = right.replace('all', 'none')
        self.assertEqual(check.only_changed_parts(right, everywhere), everywhere)

    def test_no_two_wrong_programs_share_a_name(self):
        groups = (wrong_programs.FLOW, wrong_programs.POINTS, wrong_programs.CALLS,
                  wrong_programs.HANDS, wrong_programs.PARTS, wrong_programs.CLIENT, wrong_programs.LOCKS,
                  wrong_programs.ROUTES)
        self.assertEqual(sum(len(group) for group in groups), len(check.WRONG))


if __name__ == '__main__':
    unittest.main()
