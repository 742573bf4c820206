"""Each rule of tools/tidy finds its violations and nothing else."""
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


tidy = load('tidy')


def findings(path, text, exists=lambda target: False):
    return [what for _, what in tidy.check_file(path, text, exists)]


def lines_found(path, text):
    return [line for line, _ in tidy.check_file(path, text, lambda target: False)]


class Text(unittest.TestCase):
    def test_a_clean_file_has_no_finding(self):
        self.assertEqual(findings('src/core/a.cpp', '#include "src/core/a.hpp"\n\nint a() { return 1; }\n'), [])

    def test_white_space_tabs_long_lines_and_a_missing_last_newline_are_found(self):
        text = 'a \n\tb\n' + 'c' * 101 + '\nd'
        self.assertEqual(sorted(lines_found('src/core/a.cpp', text)), [1, 2, 3, 4])

    def test_a_line_of_exactly_100_columns_passes(self):
        self.assertEqual(findings('src/core/a.cpp', 'c' * 100 + '\n'), [])

    def test_a_file_of_501_lines_is_found_and_one_of_500_passes(self):
        self.assertIn('501 lines', findings('src/core/a.cpp', 'a;\n' * 501)[0])
        self.assertEqual(findings('src/core/a.cpp', 'a;\n' * 500), [])


class SqlText(unittest.TestCase):
    def findings(self, code, path='src/ops/a.cpp'):
        return [what for what in findings(path, code + '\n') if what.startswith('sql')]

    def test_a_constant_passes(self):
        for code in ('static constexpr Sql count{"count", "SELECT count(*) FROM pawl_jobs", {}};',
                     'constexpr Statement<1> list{"list", "SELECT args FROM pawl_jobs WHERE kind = $1", {}};',
                     'connection.control("ROLLBACK TO work");', 'throw Bad{"update " + name + ": no such key"};'):
            self.assertEqual(self.findings(code), [], code)

    def test_a_concatenated_text_is_found(self):
        for code in ('auto text = "SELECT * FROM pawl_jobs WHERE kind = \'" + kind + "\'";', 'text += " WHERE kind = " + kind;',
                     'auto text = "DELETE FROM pawl_jobs" +\n    where;', 'text.append(" ORDER BY " + column);',
                     'auto text = fmt::format("UPDATE pawl_jobs SET kind = {}", kind);', 'text.append("SELECT 1");'):
            self.assertNotEqual(self.findings(code), [], code)

    def test_a_statement_that_is_not_a_constant_is_found(self):
        for code in ('const Sql sql{"a", text, {}};', 'run(Sql{name, text, {}});', 'Sql sql = made;'):
            self.assertNotEqual(self.findings(code), [], code)

    def test_text_is_passed_to_a_database_only_in_its_seam(self):
        for call in ('sqlite3_prepare_v3(db, text, -1, 0, &s, nullptr);', 'sqlite3_exec(db, text, f, p, e);', 'PQexec(pg, text);',
                     'PQsendQueryParams(pg, text, 0, n, n, n, n, 0);', 'PQexecParams(pg, text, 0, n, n, n, n, 0);'):
            self.assertNotEqual(self.findings(call), [], call)
            self.assertEqual(self.findings(call, 'src/store/sqlite/connection.cpp'), [], call)

    def test_an_old_word_is_found_with_its_replacement(self):
        for text, plain in (('// Jobs in hand.', 'in flight'), ('WayOut out;', 'ResponseWriter'),
                            ('// Whoever comes second waits.', 'the one who')):
            found = [message for _, message in tidy.check_words('src/ops/a.cpp', [text])]
            self.assertEqual([plain in message for message in found], [True], text)
        self.assertEqual(list(tidy.check_words('src/ops/a.cpp', ['// The recommendation of a hand-driven test.'])), [])

    def test_a_stated_reason_passes(self):
        self.assertEqual(self.findings('// tidy: allow sql: a number of ours\nauto text = "PRAGMA user_version = " + n;'), [])
        self.assertNotEqual(self.findings('// tidy: allow clock: no\nauto text = "PRAGMA user_version = " + n;'), [])

    def test_tests_may_build_their_own_statements(self):
        self.assertEqual(self.findings('const Sql sql{"test", "SELECT " + text, {}};', 'src/ops/a_test.cpp'), [])


class PublicHeaders(unittest.TestCase):
    def findings(self, line, path='include/pawl/a.hpp'):
        return findings(path, f'#pragma once\n{line}\n')

    def test_the_library_and_the_standard_may_be_included(self):
        for header in ('<pawl/tx.hpp>', '<pawl/detail/rows.hpp>', '<string_view>', '<cstdint>'):
            self.assertEqual(self.findings(f'#include {header}'), [], header)

    def test_third_parties_and_private_headers_may_not(self):
        for header in ('<sqlite3.h>', '<boost/json.hpp>', '<fmt/core.h>', '<unistd.h>', '"src/core/clock.hpp"',
                       '"a.hpp"'):
            self.assertIn('a public header includes', '\n'.join(self.findings(f'#include {header}')), header)

    def test_pfr_may_be_used_only_in_detail(self):
        line = '#include <boost/pfr/core.hpp>'
        self.assertEqual(self.findings(line, 'include/pawl/detail/a.hpp'), [])
        self.assertIn('a public header includes', '\n'.join(self.findings(line)))

    def test_the_version_is_the_only_macro(self):
        self.assertEqual(self.findings('#define PAWL_VERSION "0.1.0"'), [])
        self.assertIn('the macro PAWL_ASSERT', self.findings('#  define PAWL_ASSERT(x)')[0])

    def test_a_public_header_must_not_use_a_namespace(self):
        self.assertEqual(self.findings('using namespace std::chrono_literals;'), [])
        self.assertIn('uses namespace std', self.findings('using namespace std;')[0])

    def test_one_without_pragma_once_is_found(self):
        self.assertIn('#pragma once', findings('include/pawl/a.hpp', 'struct A;\n')[0])

    def test_private_headers_are_not_restricted(self):
        self.assertEqual(findings('src/store/sqlite/a.hpp', '#include <sqlite3.h>\n#define A 1\n'), [])


class Python(unittest.TestCase):
    def test_an_undefined_name_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: os.path.join(folder, name) for name in ('wrong.py', 'broken.py', 'program', 'text')}
            texts = {'wrong.py': 'def lost():\n    return jobs()\n', 'broken.py': 'def (:\n', 'text': 'jobs()\n',
                     'program': '#!/usr/bin/env python3\nprint(jobs())\n'}
            for name, text in texts.items():
                with open(paths[name], 'w', encoding='utf-8') as file:
                    file.write(text)
            found = list(tidy.pyflakes({paths[name]: text for name, text in texts.items()}))
        self.assertEqual({(os.path.basename(path), line) for path, line, _ in found}, {('wrong.py', 2), ('broken.py', 1), ('program', 2)})
        self.assertIn("undefined name 'jobs'", [what for _, _, what in found])


class Functions(unittest.TestCase):
    def body(self, lines):
        return 'int a() {\n' + '    b();\n' * lines + '}\n'

    def test_71_lines_are_found_and_70_pass(self):
        self.assertIn('a function of 71 lines', findings('src/core/a.cpp', self.body(71))[0])
        self.assertEqual(findings('src/core/a.cpp', self.body(70)), [])

    def test_a_head_over_several_lines_counts_too(self):
        text = 'int a(\n    int b\n) {\n' + '    b();\n' * 71 + '}\n'
        self.assertIn('a function of 71 lines', findings('src/core/a.cpp', text)[0])

    def test_namespaces_and_classes_may_be_longer(self):
        for head in ('namespace pawl {', 'class A {', 'struct A {'):
            self.assertEqual(findings('src/core/a.cpp', head + '\n' + '    int b;\n' * 80 + '}\n'), [], head)


class Includes(unittest.TestCase):
    def test_core_may_not_include_the_engine(self):
        self.assertIn('apps/rides may not include', findings('apps/rides/a.cpp', '#include "src/base/log.hpp"\n')[0])
        self.assertEqual(findings('apps/rides/a_test.cpp', '#include "src/base/log.hpp"\n'), [])
        self.assertIn('src/core may not include', findings('src/core/a.cpp', '#include "src/engine/engine.hpp"\n')[0])

    def test_the_engine_may_include_ports_but_no_store(self):
        self.assertEqual(findings('src/engine/a.cpp', '#include "src/store/store.hpp"\n'), [])
        what = findings('src/engine/a.cpp', '#include "src/store/sqlite/connection.hpp"\n')
        self.assertIn('may use only the port', what[0])

    def test_a_third_party_has_its_folders(self):
        self.assertEqual(findings('src/http/a.cpp', '#include <curl/curl.h>\n'), [])
        self.assertIn('src/http', findings('src/engine/a.cpp', '#include <curl/curl.h>\n')[0])

    def test_asio_in_a_header_is_found_unless_a_reason_is_stated(self):
        include = '#include <boost/asio/io_context.hpp>'
        self.assertIn('costs seconds', findings('src/http/a.hpp', include + '\n')[0])
        self.assertEqual(findings('src/http/a.hpp', include + '  // tidy: allow header: two files\n'), [])

    def test_public_headers_include_public_headers_only(self):
        self.assertIn('may not include', findings('include/pawl/a.hpp', '#include "src/core/claim.hpp"\n')[0])


class Banned(unittest.TestCase):
    def test_each_ban_finds_its_call(self):
        for rule, code in {'clock': 'std::chrono::system_clock::now();', 'sleep': 'std::this_thread::sleep_for(1s);',
                           'chance': 'std::random_device{}();', 'socket': '::socket(1, 2, 3);',
                           'console': 'std::cout << 1;'}.items():
            self.assertTrue(findings('src/ops/a.cpp', code + '\n')[0].startswith(rule + ':'), rule)

    def test_the_seam_tests_and_a_stated_reason_pass(self):
        line = 'auto now = std::chrono::steady_clock::now();'
        self.assertEqual(findings('src/base/clock.cpp', line + '\n'), [])
        self.assertEqual(findings('src/ops/a_test.cpp', line + '\n'), [])
        self.assertEqual(findings('src/ops/a.cpp', line + '  // tidy: allow clock: of sockets\n'), [])

    def test_a_reason_for_another_rule_or_an_empty_one_does_not_pass(self):
        for reason in ('// tidy: allow sleep: of sockets', '// tidy: allow clock:'):
            self.assertEqual(len(findings('src/ops/a.cpp', f'steady_clock::now();  {reason}\n')), 1, reason)

    def test_a_comment_is_not_a_call(self):
        self.assertEqual(findings('src/ops/a.cpp', '// never rand() here\n'), [])


class Blocking(unittest.TestCase):
    def findings(self, code, path='src/http/connection.cpp'):
        return [what for what in findings(path, code + '\n') if what.startswith('blocking')]

    def test_a_synchronous_call_of_a_socket_is_found(self):
        for code in ('socket_.send(\n    asio::buffer(go_on), 0, ignored\n);', 'socket_.receive(buffer);',
                     'socket_.read_some(buffer, error);',
                     'connection.socket().write_some(buffer);', 'asio::write(socket_, buffers, error);',
                     'asio::read_until(socket_, b, mark);',
                     'beast_http::write(socket_, message);', 'beast_http::read_some(socket_, buffer_, *parser_, error);',
                     'acceptor.accept(error);', 'acceptor.wait(tcp::acceptor::wait_read);', 'stream->handshake(server);',
                     '::send(fd, data, size, 0);', '::poll(&fds, 1, -1);', 'socket_.set_option(asio::socket_base::linger{true, 5});',
                     'socket_.non_blocking(false);'):
            self.assertEqual(len(self.findings(code)), 1, code)

    def test_asynchronous_and_non_blocking_calls_pass(self):
        for code in ('socket_.async_read_some(buffer, f);', 'asio::async_write(socket_, buffers, f);',
                     'beast_http::async_read_some(\n socket_, b);',
                     'acceptor.async_accept(lane.io(), f);', 'acceptor.async_wait(tcp::acceptor::wait_read, f);',
                     'socket_.shutdown(tcp::socket::shutdown_send, ignored);', 'socket_.close(ignored);', 'socket_.cancel(ignored);',
                     'write(reply, true);', 'access.write({.status = 1});', '// socket_.send(bytes) would wait'):
            self.assertEqual(self.findings(code), [], code)

    def test_only_the_listener_is_checked(self):
        call = 'socket_.send(bytes);'
        for path in ('src/http/io_thread.cpp', 'src/http/listener.cpp', 'src/http/server.cpp'):
            self.assertEqual(len(self.findings(call, path)), 1, path)
        for path in ('src/http/listener_test.cpp', 'src/http/testing/raw_socket.cpp', 'src/redis/client.cpp'):
            self.assertEqual(self.findings(call, path), [], path)

    def test_a_stated_reason_passes(self):
        self.assertEqual(self.findings('socket_.send(bytes);  // tidy: allow blocking: of no peer'), [])


class Faults(unittest.TestCase):
    def test_a_name_without_a_part_is_found(self):
        self.assertIn('part.place', findings('src/ops/a.cpp', 'PAWL_FAULT("Before");\n')[0])

    def test_the_same_name_twice_is_found(self):
        texts = {'src/a.cpp': 'PAWL_FAULT("x.y");\n', 'src/b.cpp': '\nPAWL_FAULT("x.y");\n'}
        self.assertEqual([(path, line) for path, line, _ in tidy.repeated_faults(texts)], [('src/b.cpp', 2)])


class Links(unittest.TestCase):
    def test_a_link_without_a_target_is_found(self):
        self.assertIn('has no target', findings('docs/a.md', 'See [b](b.md).\n')[0])

    def test_a_link_to_a_file_the_web_or_in_code_passes(self):
        text = 'See [b](b.md#part), [c](https://example.org/c).\n`[x](y)`\n```\n[](Fresh)\n```\n'
        self.assertEqual(findings('docs/a.md', text, lambda target: target == 'docs/b.md'), [])

    def test_a_source_file_that_is_not_there_is_found(self):
        texts = {'docs/a.md': 'See `b.cpp`.\nSee `src/gone.hpp` and `b.cpp`.\n', 'src/b.cpp': ''}
        self.assertEqual([(path, line) for path, line, _ in tidy.missing_mentions(texts)], [('docs/a.md', 2)])


if __name__ == '__main__':
    unittest.main()
