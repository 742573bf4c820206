"""tools/check_error_pages finds violations of its rules, and none in this project."""
import importlib.machinery
import importlib.util
import os
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


pages = load('check_error_pages')

PAGE = '# PAWL0001: it broke\n\n## What was found\n\nA.\n\n## Why it happens\n\nB.\n\n## What to do\n\nC.\n'


class ErrorPages(unittest.TestCase):
    def findings(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                    file.write(text)
            return list(pages.findings(root))

    def found(self, page, source='throw "PAWL0001: it broke";\n'):
        return self.findings({'src/a.cpp': source, 'docs/errors/PAWL0001.md': page})

    def test_a_code_with_its_page_has_no_finding(self):
        self.assertEqual(self.found(PAGE), [])

    def test_a_code_without_a_page_is_found_with_its_line(self):
        found = self.findings({'src/store/a.cpp': '\nthrow "PAWL0001";\n'})
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith('src/store/a.cpp:2: PAWL0001 has no page'), found)

    def test_codes_in_sql_headers_and_apps_count_but_not_those_in_tests(self):
        for path in ('src/a.sql', 'include/pawl/a.hpp', 'apps/rides/a.cpp'):
            self.assertEqual(len(self.findings({path: 'PAWL0001\n'})), 1, path)
        self.assertEqual(len(self.found(PAGE, 'PAWL0001\n')), 0)
        files = {'src/a.cpp': 'PAWL0001\n', 'src/a_test.cpp': 'PAWL0999\n', 'docs/errors/PAWL0001.md': PAGE}
        self.assertEqual(self.findings(files), [])

    def test_a_page_without_a_code_is_found(self):
        files = {'src/a.cpp': 'PAWL0001\n', 'docs/errors/PAWL0001.md': PAGE,
                 'docs/errors/PAWL0002.md': PAGE.replace('0001', '0002')}
        self.assertIn('no source names PAWL0002', self.findings(files)[0])

    def test_a_file_that_is_not_a_page_is_found(self):
        files = {'src/a.cpp': 'PAWL0001\n', 'docs/errors/PAWL0001.md': PAGE, 'docs/errors/notes.txt': 'x\n'}
        self.assertIn('named after a code', self.findings(files)[0])

    def test_a_title_of_another_code_is_found(self):
        self.assertIn('must begin with', self.found(PAGE.replace('# PAWL0001', '# PAWL0003'))[0])

    def test_each_missing_or_empty_part_is_found(self):
        for part in pages.PARTS:
            self.assertIn('is missing', self.found(PAGE.replace(part, 'Something else'))[0], part)
        for letter in ('A.', 'B.', 'C.'):
            self.assertIn('is empty', self.found(PAGE.replace(letter, ''))[0], letter)

    def test_parts_in_another_order_are_found(self):
        swapped = PAGE.replace('Why it happens', 'X').replace('What to do', 'Why it happens').replace('X', 'What to do')
        self.assertIn('not in the order', self.found(swapped)[0])

    def test_another_code_must_be_a_link(self):
        source = 'PAWL0001 PAWL0002\n'
        other = {'src/a.cpp': source, 'docs/errors/PAWL0002.md': PAGE.replace('0001', '0002')}
        self.assertIn('link to it', self.findings(other | {'docs/errors/PAWL0001.md': PAGE + 'See PAWL0002.\n'})[0])
        linked = PAGE + 'See [PAWL0002](PAWL0002.md).\n'
        self.assertEqual(self.findings(other | {'docs/errors/PAWL0001.md': linked}), [])

    def test_a_folder_without_a_project_does_not_pass(self):
        self.assertEqual(len(self.findings({'README.md': 'x\n'})), 1)

    def test_this_project_has_no_finding(self):
        self.assertEqual(list(pages.findings(os.path.dirname(HERE))), [])


if __name__ == '__main__':
    unittest.main()
