"""What the scripts of this folder read: the unit's command, and the lists of apt and of files."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import system_calls  # noqa: E402  pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


clean_root = load('clean_root')
run = load('run')


class ServiceCommand(unittest.TestCase):
    UNIT = '[Service]\nExecStart=/usr/bin/rides serve --listen ${LISTEN} \\\n    --x $MORE\nExecReload=/bin/kill\n'

    def test_variables_are_words_as_systemd_makes_them(self):
        words, values = clean_root.service_command(self.UNIT, '# A comment=1\nLISTEN=a b\nMORE=--y 1\n')
        self.assertEqual(words, ['/usr/bin/rides', 'serve', '--listen', 'a b', '--x', '--y', '1'])
        self.assertEqual(values, {'LISTEN': 'a b', 'MORE': '--y 1'})

    def test_an_empty_variable_without_braces_is_no_word(self):
        self.assertEqual(clean_root.service_command(self.UNIT, 'LISTEN=a\nMORE=\n')[0][-1], '--x')


class Lists(unittest.TestCase):
    def test_our_own_packages_are_not_among_those_that_come_first(self):
        self.assertEqual(clean_root.packages_to_install('Inst libfmt9 (9.1)\nInst pawl (0.1.0)\nConf libfmt9 (9.1)\n'), ['libfmt9'])

    def test_a_new_file_is_left_behind_unless_apt_keeps_it(self):
        after = {'/etc/a', '/etc/rocket-rides/settings', '/var/lib/dpkg/status-old', '/etc/passwd-'}
        self.assertEqual(clean_root.left_behind({'/etc/a'}, after), ['/etc/rocket-rides/settings'])

    def test_a_source_file_in_a_package_is_a_mistake(self):
        self.assertRegex('usr/include/pawl/detail/json.hpp', '^(' + run.EXPECTED['libpawl-dev'] + ')$')
        self.assertNotRegex('usr/include/pawl/src/core/fault.hpp', '^(' + run.EXPECTED['libpawl-dev'] + ')$')


class SystemCalls(unittest.TestCase):
    GROUPS = {'@a': '@a\n  # All.\n    read\n    @b\n', '@b': '@b\n    write\n    chown\n', '@c': '@c\n    chown\n'}

    def test_groups_within_groups_count_and_a_tilde_takes_away(self):
        unit = 'SystemCallFilter=@a\nSystemCallFilter=~@c\n'
        self.assertEqual(system_calls.allowed(unit, self.GROUPS.get), {'read', 'write'})

    def test_each_call_of_a_trace_counts_also_an_unfinished_one(self):
        self.assertEqual(system_calls.named_in('12 read(3, "x", 1) = 1\n13 futex(0x1 <unfinished ...>\n12 +++ exited +++\n'),
                         {'read', 'futex'})


if __name__ == '__main__':
    unittest.main()
