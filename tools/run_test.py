"""./run --build builds each program that a user runs."""
import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Run(unittest.TestCase):
    def test_each_program_is_built_and_named(self):
        programs = set()
        for path in glob.glob(os.path.join(ROOT, 'apps', '*', 'CMakeLists.txt')):
            with open(path, encoding='utf-8') as file:
                programs |= set(re.findall(r'^(?:pawl_program|add_executable)\((\w+)', file.read(), re.M))
        self.assertLessEqual({'pawl', 'rides', 'payouts'}, programs)
        with open(os.path.join(ROOT, 'run'), encoding='utf-8') as file:
            text = file.read()
        built = re.search(r'^ +build\)\n +build (.+)$', text, re.M).group(1).split()
        self.assertEqual(set(built), programs)
        for program in programs:
            self.assertIn(program, re.search(r'^  --build .*', text, re.M).group())


if __name__ == '__main__':
    unittest.main()
