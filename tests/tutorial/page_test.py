#!/usr/bin/env python3
"""What the check of the tutorial's pages finds."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from page import commands, printed_as_expected, quotes, stands_in

PAGE = '''# A page

```console
$ post t1 \\
    /transfers
{"transfer":1} 201
$ sleep 1
```

```sh
$ not run
```

```cpp
int a;
// ...
    int c;
```
'''


class PageTest(unittest.TestCase):
    def test_a_command_has_its_lines_and_what_it_prints(self):
        found = [(c.line, c.text, c.expected) for c in commands(PAGE)]
        self.assertEqual(found, [(4, 'post t1 \\\n    /transfers', ['{"transfer":1} 201']), (7, 'sleep 1', [])])

    def test_each_part_of_a_quote_must_stand_in_the_program(self):
        found = [quote.code for quote in quotes(PAGE)]
        self.assertEqual(found, ['int a;\n', '    int c;\n'])
        self.assertTrue(all(stands_in(code, 'x\n  int a;\n  int b;\n  int c;\n') for code in found))
        self.assertFalse(stands_in('int a;\nint c;\n', 'int a;\nint b;\nint c;\n'))
        self.assertFalse(stands_in('int a;\n  int b;\n', 'int a;\nint b;\n'))

    def test_output_is_compared_line_by_line(self):
        for printed, expected, same in (
                (['a', 'b'], ['a', 'b'], True), (['a'], ['b'], False), (['a', 'b'], ['a'], False), ([], ['a'], False),
                (['id 17 of 3'], ['id ... of 3'], True), (['id 17 of 4'], ['id ... of 3'], False),
                (['a', 'x', 'y', 'b'], ['a', '...', 'b'], True), (['a', 'x'], ['a', '...', 'b'], False),
                (['a  '], ['a'], True), (['a.b'], ['a.b'], True), (['axb'], ['a.b'], False)):
            with self.subTest(printed=printed, expected=expected):
                self.assertEqual(printed_as_expected(printed, expected), same)


if __name__ == '__main__':
    unittest.main()
