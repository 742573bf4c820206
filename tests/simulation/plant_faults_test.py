"""plant_faults plants each fault at exactly one place of the product, or names the block that it can't plant."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'plant_faults')
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('plant_faults', TOOL)
plant_faults = importlib.util.module_from_spec(importlib.util.spec_from_loader('plant_faults', loader))
loader.exec_module(plant_faults)

PRODUCT = 'int f() {\n    if (a) return 1;\n    return 2;\n}\n'
BLOCK = '# Why.\n@ wrong src/f.cpp\n-    if (a) return 1;\n+    if (a || planted("wrong")) return 1;\n     return 2;\n'


def planted(faults, product=PRODUCT):
    files, wrong = plant_faults.plant(plant_faults.parse(faults), {'src/f.cpp': product})
    return files['src/f.cpp'], wrong


class Plant(unittest.TestCase):
    def test_lines_are_replaced_and_all_others_stay(self):
        self.assertEqual(planted(BLOCK), (PRODUCT.replace('(a)', '(a || planted("wrong"))'), []))

    def test_two_faults_may_stand_before_the_same_line(self):
        faults = ''.join(f'@ {name} src/f.cpp\n+    if (planted("{name}")) return 0;\n     return 2;\n' for name in 'xy')
        text, wrong = planted(faults)
        self.assertEqual(wrong, [])
        self.assertIn('planted("x")) return 0;\n    if (planted("y")) return 0;\n    return 2;', text)

    def test_a_block_whose_lines_have_changed_is_named(self):
        _, wrong = planted(BLOCK, PRODUCT.replace('return 2', 'return 3'))
        self.assertEqual(len(wrong), 1)
        self.assertIn('wrong (line 2) can not be planted in src/f.cpp: these lines stand there 0 times', wrong[0])

    def test_lines_that_stand_there_twice_are_no_place(self):
        self.assertIn('2 times', planted(BLOCK, PRODUCT + PRODUCT)[1][0])

    def test_a_part_of_a_line_is_no_line(self):
        self.assertIn('0 times', planted(BLOCK, PRODUCT.replace('    if (a)', '        if (a)'))[1][0])

    def test_a_block_that_does_not_ask_for_its_fault_is_malformed(self):
        with self.assertRaisesRegex(plant_faults.Malformed, 'line 1: the block does not ask'):
            plant_faults.parse('@ other src/f.cpp\n-    return 2;\n+    return 3;\n')

    def test_a_line_outside_a_block_is_malformed(self):
        with self.assertRaisesRegex(plant_faults.Malformed, 'line 1'):
            plant_faults.parse('int f();\n')

    def test_the_tool_writes_copies_and_names_and_counts_them(self):
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, 'src'))
            for path, text in (('src/f.cpp', PRODUCT), ('faults.txt', BLOCK)):
                with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                    file.write(text)
            command = [TOOL, '--root', root, '--faults', root + '/faults.txt', '--out', root + '/out']
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.stdout, 'plant_faults: 1 faults at 1 places of 1 files\n')
            self.assertEqual(sorted(os.listdir(root + '/out')), ['planted_names.hpp', 'src_f.cpp'])


if __name__ == '__main__':
    unittest.main()
