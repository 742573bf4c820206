"""tools/stages reads each runner's counts, and never counts a broken run as good."""
import collections
import contextlib
import io
import os
import signal
import tempfile
import time
import unittest
import unittest.mock

from tidy_test import load

stages = load('stages')
CTEST_GOOD = '100% tests passed, 0 tests failed out of 90\n'
CTEST_BAD = '98% tests passed, 2 tests failed out of 90\n'


class Counts(unittest.TestCase):
    def test_each_runner_is_understood(self):
        for output, status, expected in [
            (CTEST_GOOD, 0, (90, 0)), (CTEST_BAD, 8, (88, 2)),
            ('boot ok\n12 passed, 3 failed\n', 1, (12, 3)),
            ('Ran 20 tests in 0.003s\n\nOK\n', 0, (20, 0)),
            ('Ran 20 tests in 0.003s\n\nFAILED (failures=1, errors=2)\n', 1, (17, 3)),
        ]:
            self.assertEqual(stages.counts(output, status), expected, output)

    def test_a_stage_without_numbers_is_one_test(self):
        self.assertEqual(stages.counts('built\n', 0), (1, 0))
        self.assertEqual(stages.counts('error\n', 2), (0, 1))

    def test_failures_are_shown_with_their_reasons(self):
        shown = stages.shown_of_failure(
            'ok  1.0 s  one\nFAILED  2.0 s  two\n    Traceback\n      three is not four\nok  1.0 s  five\n    six\n')
        self.assertEqual(shown.split(), 'FAILED 2.0 s two Traceback three is not four'.split())

    def test_a_passed_test_named_after_failures_is_not_shown(self):
        shown = stages.shown_of_failure('9/9 Test #1: FailureOf.a: FailureTest.b ... Passed\nx.cpp:1: Failure\n    why\n')
        self.assertEqual(shown.split(), 'x.cpp:1: Failure why'.split())

    def test_the_failed_tests_are_named_last(self):
        output = 'a_test.cpp:1: Failure\nThe following tests FAILED:\n\t  2 - A.b (Failed)\n' + CTEST_BAD
        with tempfile.TemporaryDirectory() as logs, contextlib.redirect_stdout(io.StringIO()) as shown:
            with unittest.mock.patch.object(stages, 'LOGS', logs):
                stages.run('dev', ['sh', '-c', f'printf "{output}"; exit 8'])
        self.assertEqual(shown.getvalue().splitlines()[-2], '  failed: A.b')

    def test_a_run_that_broke_off_after_good_numbers_has_failed(self):
        self.assertEqual(stages.counts(CTEST_GOOD, 139)[1], 1)


class Repeats(unittest.TestCase):
    """A test that fails by chance is distinguished from a broken one."""

    BROKEN = 'The following tests FAILED:\n\t  2 - A/b.c/0 (Failed)\nErrors while running CTest\n'

    def repeat(self, runner, output, failed=1):
        with tempfile.NamedTemporaryFile() as log:
            return stages.repeat_ctest(['sh', '-c', runner, 'ctest'], output, failed, log.name, None)

    def test_a_test_that_passes_alone_is_flaky(self):
        runner = 'case "$*" in *"-R ^A/b\\.c/0( |$) --repeat until-fail:2") exit 0;; esac; exit 1'
        self.assertEqual(self.repeat(runner, self.BROKEN), ['A/b.c/0'])

    def test_a_test_with_the_value_of_its_parameter_is_repeated_too(self):
        broken = ('The following tests FAILED:\n\t 7 - A/b.c/file  # GetParam() = 4-byte object <00-00 00-00> (Failed)\n\n'
                  'The following tests did not run:\n\t 8 - A/b.d/file  # GetParam() = 4 (Skipped)\n')
        self.assertEqual(self.repeat('exit 0', broken), ['A/b.c/file'])

    def test_a_test_that_fails_again_is_broken(self):
        self.assertEqual(self.repeat('exit 8', self.BROKEN), [])

    def test_a_failure_without_a_name_or_many_of_them_are_not_repeated(self):
        self.assertEqual(self.repeat('exit 0', 'Segmentation fault\n'), [])
        many = 'The following tests FAILED:\n' + ''.join(f'\t {i} - t{i} (Failed)\n' for i in range(6))
        self.assertEqual(self.repeat('exit 0', many, 6), [])

    def test_the_integration_runner_repeats_too(self):
        runner = load('../tests/integration/run')
        tries = collections.Counter()

        def once():
            tries['once'] += 1

        def always():
            raise runner.NotSo('no')

        results = [{'name': 'once', 'ok': False}, {'name': 'always', 'ok': False}, {'name': 'good', 'ok': True}]
        with contextlib.redirect_stdout(io.StringIO()):
            flaky = runner.flaky_of(results, {'once': once, 'always': always})
        self.assertEqual((flaky, tries['once']), (['once'], 2))
        self.assertEqual([result['ok'] for result in results], [True, False, True])


class AheadOfTime(unittest.TestCase):
    def test_a_build_ahead_ends_with_all_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            started = os.path.join(folder, 'started')
            ahead = stages.Ahead([f'sleep 60 & echo $! > {started}.new; mv {started}.new {started}; wait'], os.path.join(folder, 'log'))
            while not os.path.exists(started):
                time.sleep(0.01)

            ahead.stop()

            self.assertEqual(ahead.process.returncode, -signal.SIGTERM)
            with open(started, encoding='utf-8') as file:
                self.assertFalse(runs(int(file.read())))
            ahead.stop()   # A second time does nothing.


def runs(pid):
    """Whether a process is running, and not a zombie."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class Modes(unittest.TestCase):
    def names(self, mode):
        return [name for name, _, _ in stages.stages(mode)]

    def test_each_mode_has_all_stages_of_the_smaller_one(self):
        default, full, nightly = (self.names(mode) for mode in ('default', 'full', 'nightly'))
        self.assertLess(set(default), set(full))
        self.assertLess(set(full), set(nightly))

    def test_each_program_that_a_stage_runs_is_there(self):
        for mode in ('default', 'full', 'nightly'):
            for name, command, _ in stages.stages(mode):
                if '/' in command[0] and not command[0].startswith('build/'):
                    self.assertTrue(os.access(os.path.join(stages.ROOT, command[0]), os.X_OK), name)

    def test_the_fuzzers_run_after_their_build_for_the_given_time(self):
        names = self.names('full')
        self.assertLess(names.index('build fuzz'), names.index('fuzz'))
        for mode, much in (('full', ['15', '--only', *stages.FUZZERS_OF_FULL]), ('nightly', ['900'])):
            commands = {name: command for name, command, _ in stages.stages(mode)}
            self.assertEqual(commands['fuzz'], ['tests/fuzz/run', '--seconds', *much])
            self.assertEqual('build fuzz-choices' in commands, mode == 'nightly')

    def test_only_two_fuzzers_are_left_to_the_nightly_run(self):
        inputs = os.listdir(os.path.join(stages.ROOT, 'tests', 'fuzz', 'corpus'))
        self.assertEqual(set(inputs) - set(stages.FUZZERS_OF_FULL), {'choices', 'dead_filter'})


if __name__ == '__main__':
    unittest.main()
