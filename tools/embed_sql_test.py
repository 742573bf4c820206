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
        return {key: statement.texts['sqlite'] for key, statement in self.read(text, name).items()}

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

    def test_a_file_without_a_name_is_one_migration_and_keeps_its_semicolons(self):
        text = 'CREATE TABLE a (b);\n-- Two.\nCREATE TABLE c (d);\n'
        self.assertEqual(self.texts(text, '0001_first.sql'), {'migration_0001_first': text.strip()})

    def test_a_migration_may_have_a_file_for_each_store(self):
        paths = [self.file('CREATE TABLE a (b TEXT) STRICT;', '0001_first.sqlite.sql'),
                 self.file('CREATE TABLE a (b TIMESTAMPTZ);', '0001_first.postgres.sql')]
        self.assertEqual(embed_sql.read(paths)['migration_0001_first'].texts,
                         {'sqlite': 'CREATE TABLE a (b TEXT) STRICT;', 'postgres': 'CREATE TABLE a (b TIMESTAMPTZ);'})

    def test_a_semicolon_within_a_statement_stays(self):
        self.assertEqual(self.texts("-- name: a\nSELECT ';';\n"), {'a': "SELECT ';'"})

    def test_statements_come_in_the_order_of_the_files(self):
        paths = [self.file('-- name: z\nSELECT 1', 'one.sql'), self.file('-- name: a\nSELECT 2', 'two.sql')]
        self.assertEqual(list(embed_sql.read(paths)), ['z', 'a'])


class Refused(Case):
    def test_a_repeated_name(self):
        text = '-- name: a\nSELECT 1;\n'
        self.assertIn('two statements are named "a"', self.refusal(self.file(text + text)))

    def test_a_name_twice_for_one_store(self):
        marked = '-- name: a [postgres]\nSELECT 1;\n'
        self.assertIn('two statements are named "a" [postgres]', self.refusal(self.file(marked + marked)))
        self.assertIn('two statements are named "a" [postgres]', self.refusal(self.file('-- name: a\nSELECT 1;\n' + marked)))
        self.assertIn('two statements are named "a"', self.refusal(self.file(marked + '-- name: a\nSELECT 1;\n')))

    def test_a_mark_of_an_unknown_store(self):
        self.assertIn('"a" is marked [oracle]: stores are sqlite and postgres',
                      self.refusal(self.file('-- name: a [oracle]\nSELECT 1;\n')))
        self.assertIn('is marked [oracle]', self.refusal(self.file('CREATE TABLE a (b);', '1.oracle.sql')))

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
        self.assertEqual(self.read(text)['a'].named, {1: 'id', 2: 'now (UTC)', 3: 'limit'})

    def test_text_outside_of_the_brackets_names_no_parameter(self):
        self.assertEqual(self.read('-- name: a\n-- ($1 is no parameter)\nSELECT 1;\n')['a'].named, {})
        self.assertEqual(self.read('-- name: a   ($1 id) and $2\nSELECT $1;\n')['a'].named, {1: 'id'})

    def test_numbers_with_a_gap(self):
        for text in ('-- name: a   ($1 id, $3 now)\nSELECT $1, $3;\n', '-- name: a   ($0 id)\nSELECT $0;\n'):
            self.assertIn('parameters are $1 to $n', self.refusal(self.file(text)))

    def test_a_dollar_in_a_string_a_quoted_name_or_a_comment_is_not_a_parameter(self):
        for quiet in ("'$2'", "'it''s $2'", '"$2"', "1 -- it's $2", '/* $2\n$3 */ 1'):
            self.assertIn('a', self.read(f'-- name: a   ($1 id)\nSELECT {quiet}\n, $1;\n'), quiet)

    def test_a_parameter_may_be_repeated_and_have_two_digits(self):
        named = ', '.join(f'${n} a' for n in range(1, 13))
        used = ', '.join(f'${n}' for n in [12, *range(1, 13)])
        self.assertEqual(len(self.read(f'-- name: a   ({named})\nSELECT {used};\n')['a'].named), 12)

    def test_the_names_are_kept_if_all_are_identifiers(self):
        self.assertEqual(self.read('-- name: a   ($1 id,\n--   $2 run_at)\nSELECT $1, $2;\n')['a'].names(), ['id', 'run_at'])
        self.assertEqual(self.read('-- name: a   ($1 id, $2 run at)\nSELECT $1, $2;\n')['a'].names(), [])

    def test_a_migration_has_no_parameters(self):
        self.assertIn('has no parameters', self.refusal(self.file('CREATE TABLE a (b DEFAULT $1);', '1.sql')))


class Stores(Case):
    def test_a_statement_without_a_mark_serves_both(self):
        self.assertEqual(self.read('-- name: a\nSELECT 1;\n')['a'].texts, {'sqlite': 'SELECT 1', 'postgres': 'SELECT 1'})

    def test_a_marked_statement_serves_its_store(self):
        text = '-- name: a [sqlite]   ($1 id)\nSELECT $1;\n\n-- name: a [postgres]\n-- Why.\nSELECT $1::bigint;\n'
        read = self.read(text)['a']
        self.assertEqual(read.texts, {'sqlite': 'SELECT $1', 'postgres': 'SELECT $1::bigint'})
        self.assertEqual(read.named, {1: 'id'})

    def test_a_statement_may_be_of_one_store_alone(self):
        self.assertEqual(self.read('-- name: a [postgres]\nSELECT 1;\n')['a'].texts, {'postgres': 'SELECT 1'})

    def test_both_texts_use_the_parameters_that_the_first_names(self):
        first = '-- name: a [sqlite]   ($1 id)\nSELECT $1;\n'
        self.assertIn('uses $2, which', self.refusal(self.file(first + '-- name: a [postgres]\nSELECT $1, $2;\n')))
        self.assertIn('names $1 but does not use it', self.refusal(self.file(first + '-- name: a [postgres]\nSELECT 1;\n')))
        self.assertIn('"a" may name its parameters only at its first place',
                      self.refusal(self.file(first + '-- name: a [postgres]   ($1 id)\nSELECT $1;\n')))


class Header(Case):
    def made(self, *arguments):
        out = os.path.join(self.folder, 'made', 'statements.hpp')
        done = subprocess.run([sys.executable, TOOL, '--out', out, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding='utf-8') as file:
            return file.read()

    def test_a_statement_knows_its_parameters_and_both_texts(self):
        made = self.made('--namespace', 'rides::sql', self.file(
            '-- name: a [sqlite]   ($1 id, $2 now)\nSELECT $1, $2;\n-- name: a [postgres]\nSELECT $2::text, $1;\n'))
        self.assertIn('a_sqlite{R"sql(SELECT $1, $2)sql", 13};', made)
        self.assertIn('a_postgres{R"sql(SELECT $2::text, $1)sql", 19};', made)
        self.assertIn('pawl::Statement<2> a{\n    pawl::detail::counted, {"a", 1}, a_sqlite, a_postgres, {"id", "now"}};', made)

    def test_a_text_for_both_stores_stands_once(self):
        made = self.made('--namespace', 'n', self.file('-- name: a   ($1 the id)\nSELECT $1;\n'))
        self.assertEqual(made.count('SELECT $1'), 1)
        self.assertIn('{"a", 1}, a_sqlite, a_sqlite, {}};', made)

    def test_a_statement_of_one_store_is_empty_in_the_other(self):
        made = self.made('--namespace', 'n', self.file('-- name: a [sqlite]\nSELECT 1;\n'),
                         self.file('-- name: b [postgres]\nSELECT 2;\n', 'pg.sql'))
        self.assertIn('a_postgres{};', made)
        self.assertIn('b_sqlite{};', made)
        self.assertIn('std::array<const pawl::Sql*, 2> all{\n    &a,\n    &b,\n};', made)

    def test_it_compiles_and_counts_as_the_library_does(self):
        file = self.file("-- name: a   ($1 id)\nSELECT '$2', \"$3\", $1 -- it's $4\n/* $5 */;\n"
                         '-- name: b\nSELECT 1;\n')
        self.made('--namespace', 'rides::sql', file)
        main = ('#include "made/statements.hpp"\n'
                'static_assert(rides::sql::a.parameters == 1 && rides::sql::b.parameters == 0);\n'
                'static_assert(pawl::detail::parameters_in(rides::sql::a.sqlite) == 1);\n'
                'static_assert(rides::sql::a.names[0] == "id");\n'
                'static_assert(rides::sql::all.size() == 2);\n')
        compiled = subprocess.run(
            ['g++', '-std=c++20', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-I', self.folder,
             '-I', os.path.join(HERE, '..', 'include'), '-x', 'c++', '-'],
            input=main, capture_output=True, text=True)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def test_for_c_the_texts_are_quoted(self):
        made = self.made('--c', 'ride_', self.file('-- name: a\nSELECT "b",\n  \'\\\';\n-- name: b [postgres]\nSELECT 1;\n'))
        self.assertIn('static const char ride_a[] =\n    "SELECT \\"b\\",\\n"\n    "  \'\\\\\'";', made)
        self.assertNotIn('ride_b', made)

    def test_a_missing_namespace_is_refused(self):
        done = subprocess.run([sys.executable, TOOL, '--out', os.path.join(self.folder, 'out.hpp'), self.file('-- name: a\nSELECT 1;\n')],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('--namespace is missing', done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, 'out.hpp')))


if __name__ == '__main__':
    unittest.main()
