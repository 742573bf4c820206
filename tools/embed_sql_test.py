"""tools/embed_sql cuts .sql files into statements, and refuses invalid ones."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(HERE, 'embed_sql')


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


embed_sql = load('embed_sql')


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name='rides.sql'):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def read(self, text, name='rides.sql'):
        return embed_sql.read([self.file(text, name)])

    def texts(self, text, name='rides.sql'):
        return {key: statement.text for key, statement in self.read(text, name).items()}

    def refusal(self, *paths):
        """The error message for invalid files."""
        with self.assertRaises(SystemExit) as caught:
            embed_sql.read(paths)
        return str(caught.exception)


class Cut(Case):
    def test_each_name_begins_a_statement_without_its_semicolon(self):
        self.assertEqual(
            self.texts('-- Of rides.\n\n-- name: a   ($1 id)\nSELECT $1;\n\n-- name: b\nDELETE\nFROM rides;\n'),
            {'a': 'SELECT $1', 'b': 'DELETE\nFROM rides'})

    def test_comment_lines_are_left_out_whatever_they_contain(self):
        text = "-- name: a   ($1 cents)\n-- It's $5, or so.\nSELECT $1\n  -- don't ask\nFROM rides;\n"
        self.assertEqual(self.texts(text), {'a': 'SELECT $1\nFROM rides'})
        self.assertEqual(self.read(text)['a'].used, {1})

    def test_a_file_without_a_name_is_one_migration_and_keeps_its_semicolons(self):
        text = 'CREATE TABLE a (b);\n-- Two.\nCREATE TABLE c (d);\n'
        self.assertEqual(self.texts(text, '0001_first.sql'), {'migration_0001_first': text.strip()})

    def test_a_semicolon_within_a_statement_stays(self):
        self.assertEqual(self.texts("-- name: a\nSELECT ';';\n"), {'a': "SELECT ';'"})

    def test_statements_come_in_the_order_of_the_files(self):
        paths = [self.file('-- name: z\nSELECT 1', 'one.sql'), self.file('-- name: a\nSELECT 2', 'two.sql')]
        self.assertEqual(list(embed_sql.read(paths)), ['z', 'a'])


class Refused(Case):
    def test_a_repeated_name(self):
        text = '-- name: a\nSELECT 1;\n'
        self.assertIn('two statements are named "a"', self.refusal(self.file(text + text)))

    def test_a_name_in_two_files(self):
        paths = [self.file('-- name: a\nSELECT 1', 'one.sql'), self.file('-- name: a\nSELECT 1', 'two.sql')]
        self.assertIn('two.sql: two statements are named "a"', self.refusal(*paths))

    def test_a_name_that_is_invalid_in_cpp(self):
        for name in ('Take', '1st', 'take-over', 'a;b'):
            self.assertIn('is not a valid name', self.refusal(self.file(f'-- name: {name}\nSELECT 1;\n')), name)

    def test_an_empty_statement(self):
        for body in ('', ';\n', '-- Later.\n'):
            self.assertIn('"a" is empty', self.refusal(self.file(f'-- name: a\n{body}\n-- name: b\nSELECT 1;\n')), body)

    def test_a_text_that_would_end_the_raw_string_in_cpp(self):
        self.assertIn(')sql"', self.refusal(self.file('-- name: a\nSELECT \')sql"\';\n')))

    def test_a_text_that_is_too_long_for_a_compiler(self):
        self.assertIn('longer than', self.refusal(self.file('-- name: a\nSELECT ' + '1' * 60_000)))


class Parameters(Case):
    def test_a_parameter_without_a_name(self):
        self.assertIn('uses $2, which', self.refusal(self.file('-- name: a   ($1 id)\nSELECT $1, $2;\n')))
        self.assertIn('uses $1, which', self.refusal(self.file('-- name: a\nSELECT $1;\n')))

    def test_a_named_but_unused_parameter(self):
        text = '-- name: a   ($1 id, $2 now)\nSELECT $1;\n'
        self.assertIn('"a" names $2 but does not use it', self.refusal(self.file(text)))

    def test_the_brackets_may_continue_in_the_comment_below(self):
        text = '-- name: a   ($1 id,\n--   $2 now (UTC), $3\n--   limit)\n-- Of $9.\nSELECT $1, $2, $3;\n'
        self.assertEqual(self.read(text)['a'].named, {1, 2, 3})

    def test_text_outside_of_the_brackets_names_no_parameter(self):
        self.assertEqual(self.read('-- name: a\n-- ($1 is no parameter)\nSELECT 1;\n')['a'].named, set())
        self.assertEqual(self.read('-- name: a   ($1 id) and $2\nSELECT $1;\n')['a'].named, {1})

    def test_numbers_with_a_gap(self):
        for text in ('-- name: a   ($1 id, $3 now)\nSELECT $1, $3;\n', '-- name: a   ($0 id)\nSELECT $0;\n'):
            self.assertIn('parameters are $1 to $n', self.refusal(self.file(text)))

    def test_a_dollar_in_a_string_a_quoted_name_or_a_comment_is_not_a_parameter(self):
        for quiet in ("'$2'", "'it''s $2'", '"$2"', "1 -- it's $2", '/* $2\n$3 */ 1'):
            self.assertEqual(self.read(f'-- name: a   ($1 id)\nSELECT {quiet}\n, $1;\n')['a'].used, {1}, quiet)

    def test_a_parameter_may_be_repeated_and_have_two_digits(self):
        named = ', '.join(f'${n} a' for n in range(1, 13))
        used = ', '.join(f'${n}' for n in [12, *range(1, 13)])
        self.assertEqual(len(self.read(f'-- name: a   ({named})\nSELECT {used};\n')['a'].used), 12)

    def test_a_migration_has_no_parameters(self):
        self.assertIn('has no parameters', self.refusal(self.file('CREATE TABLE a (b DEFAULT $1);', '1.sql')))


class Stores(Case):
    def both(self, sqlite, postgres):
        embed_sql.check_stores(self.read(sqlite), self.read(postgres, 'pg.sql'))

    def test_the_same_parameters_pass(self):
        self.both('-- name: a   ($1 id)\nSELECT $1;\n', '-- name: a   ($1 id)\nSELECT $1::bigint;\n')

    def test_different_parameters_are_refused(self):
        with self.assertRaisesRegex(SystemExit, r'"a" names \$1 in SQLite, \$1, \$2 in PostgreSQL'):
            self.both('-- name: a   ($1 id)\nSELECT $1;\n', '-- name: a   ($1 id, $2 now)\nSELECT $1, $2;\n')


class Header(Case):
    def made(self, *arguments):
        out = os.path.join(self.folder, 'made', 'statements.hpp')
        done = subprocess.run([sys.executable, TOOL, '--out', out, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding='utf-8') as file:
            return file.read()

    def test_a_statement_knows_its_parameters_and_both_texts(self):
        sqlite = self.file('-- name: a   ($1 id, $2 now)\nSELECT $1, $2;\n')
        postgres = self.file('-- name: a   ($1 id, $2 now)\nSELECT $2::text, $1;\n', 'pg.sql')
        made = self.made('--namespace', 'rides::sql', '--sqlite', sqlite, '--postgres', postgres)
        self.assertIn('a_sqlite{R"sql(SELECT $1, $2)sql", 13};', made)
        self.assertIn('a_postgres{R"sql(SELECT $2::text, $1)sql", 19};', made)
        self.assertIn('pawl::Statement<2> a{\n    pawl::detail::counted, {"a", 1}, a_sqlite, a_postgres};', made)

    def test_a_statement_of_one_store_is_empty_in_the_other(self):
        made = self.made('--namespace', 'n', '--sqlite', self.file('-- name: a\nSELECT 1;\n'),
                         '--postgres', self.file('-- name: b\nSELECT 2;\n', 'pg.sql'))
        self.assertIn('a_postgres{};', made)
        self.assertIn('b_sqlite{};', made)
        self.assertIn('std::array<const pawl::Sql*, 2> all{\n    &a,\n    &b,\n};', made)

    def test_it_compiles_and_counts_as_the_library_does(self):
        sqlite = self.file("-- name: a   ($1 id)\nSELECT '$2', \"$3\", $1 -- it's $4\n/* $5 */;\n"
                           '-- name: b\nSELECT 1;\n')
        self.made('--namespace', 'rides::sql', '--sqlite', sqlite)
        main = ('#include "made/statements.hpp"\n'
                'static_assert(rides::sql::a.parameters == 1 && rides::sql::b.parameters == 0);\n'
                'static_assert(pawl::detail::parameters_in(rides::sql::a.sqlite) == 1);\n'
                'static_assert(rides::sql::all.size() == 2);\n')
        compiled = subprocess.run(
            ['g++', '-std=c++20', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-I', self.folder,
             '-I', os.path.join(HERE, '..', 'include'), '-x', 'c++', '-'],
            input=main, capture_output=True, text=True)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def test_for_c_the_texts_are_quoted(self):
        made = self.made('--c', 'ride_', '--sqlite', self.file('-- name: a\nSELECT "b",\n  \'\\\';\n'))
        self.assertIn('static const char ride_a[] =\n    "SELECT \\"b\\",\\n"\n    "  \'\\\\\'";', made)

    def test_a_missing_namespace_is_refused(self):
        done = subprocess.run([sys.executable, TOOL, '--out', os.path.join(self.folder, 'out.hpp')],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('--namespace is missing', done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'out.hpp')))


if __name__ == '__main__':
    unittest.main()
