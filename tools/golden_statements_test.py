"""tools/golden_statements copies all statements of a version that is not released, and never those of a released one."""
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


golden = load('golden_statements')
FILES = {
    'CMakeLists.txt': 'project(pawl VERSION 0.2.0 LANGUAGES CXX)\n',
    'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n',
    'src/store/sql/keys.sql': 'keys', 'src/store/sql/other.cpp': '', 'src/store/sql/session.sql': 'session',
    'src/store/sql/notices.sql': 'notices', 'src/store/sql/migrations/0001_a.sql': 'tables',
    'apps/rides/sql/rides.sql': 'rides', 'apps/rides/sql/migrations/0001_rides.sql': 'tables',
    'tests/golden/flow.json': '[]',
}


class GoldenStatements(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in FILES.items():
            self.put(path, text)

    def put(self, path, text):
        os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
        with open(os.path.join(self.root, path), 'w', encoding='utf-8') as file:
            file.write(text)

    def copied(self):
        folder = os.path.join(self.root, 'tests', 'golden', '0.2.0')
        return {os.path.relpath(os.path.join(where, name), folder): golden.read(os.path.join(where, name))
                for where, _, names in os.walk(folder) for name in names}

    def test_all_statements_are_copied_but_no_migrations(self):
        golden.write(self.root)
        self.assertEqual(self.copied(), {
            'keys.sql': 'keys', 'session.sql': 'session', 'rides.sql': 'rides', 'flow.json': '[]'})

    def test_a_removed_statement_leaves_the_copy_of_an_unreleased_version(self):
        golden.write(self.root)
        os.remove(os.path.join(self.root, 'src/store/sql/session.sql'))
        golden.write(self.root)
        self.assertNotIn('session.sql', self.copied())

    def test_the_copy_of_a_released_version_is_never_written_again(self):
        golden.write(self.root)
        self.put('CHANGELOG.md', '## [Unreleased]\n\n## [0.2.0] - 2026-12-03\n')
        self.put('src/store/sql/keys.sql', 'keys of the next')
        with self.assertRaisesRegex(SystemExit, '0.2.0 is released'):
            golden.write(self.root)
        self.assertEqual(self.copied()['keys.sql'], 'keys')

    def test_a_changelog_with_nothing_unreleased_is_refused(self):
        self.put('CMakeLists.txt', 'project(pawl VERSION 0.3.0)\n')
        self.put('CHANGELOG.md', '## [0.2.0] - 2026-12-03\n')
        with self.assertRaisesRegex(SystemExit, 'Unreleased'):
            golden.write(self.root)


if __name__ == '__main__':
    unittest.main()
