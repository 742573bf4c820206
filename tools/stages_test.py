"""tools/stages reads each runner's counts and cases, runs stages beside each other, and never counts a broken run as good."""
import collections
import contextlib
import io
import os
import tempfile
import threading
import time
import unittest
import unittest.mock

import stage_results
from stage_results import Result
from tidy_test import load

stages = load('stages')
CTEST_GOOD = '100% tests passed, 0 tests failed out of 90\n'
CTEST_BAD = '98% tests passed, 2 tests failed out of 90\n'


def run(*to_run):
    """(Results by name, what was printed) of these stages."""
    with tempfile.TemporaryDirectory() as logs, contextlib.redirect_stdout(io.StringIO()) as shown:
        with unittest.mock.patch.object(stages, 'LOGS', logs):
            results = stages.Run(list(to_run)).all()
    return {result.name: result for result in results}, shown.getvalue()


class Counts(unittest.TestCase):
    def test_each_runner_is_understood(self):
        for output, status, expected in [
            (CTEST_GOOD, 0, (90, 0)), (CTEST_BAD, 8, (88, 2)),
            ('boot ok\n12 passed, 3 failed\n', 1, (12, 3)),
            ('Ran 20 tests in 0.003s\n\nOK\n', 0, (20, 0)),
            ('Ran 20 tests in 0.003s\n\nFAILED (failures=1, errors=2)\n', 1, (17, 3)),
        ]:
            self.assertEqual(stage_results.counts(output, status), expected, output)

    def test_a_stage_without_numbers_is_one_test(self):
        self.assertEqual(stage_results.counts('built\n', 0), (1, 0))
        self.assertEqual(stage_results.counts('error\n', 2), (0, 1))

    def test_failures_are_shown_with_their_reasons(self):
        shown = stage_results.shown_of_failure(
            'ok  1.0 s  one\nFAILED  2.0 s  two\n    Traceback\n      three is not four\nok  1.0 s  five\n    six\n')
        self.assertEqual(shown.split(), 'FAILED 2.0 s two Traceback three is not four'.split())

    def test_a_passed_test_named_after_failures_is_not_shown(self):
        shown = stage_results.shown_of_failure('9/9 Test #1: FailureOf.a: FailureTest.b ... Passed\nx.cpp:1: Failure\n    why\n')
        self.assertEqual(shown.split(), 'x.cpp:1: Failure why'.split())

    def test_the_failed_tests_are_named_last(self):
        output = 'a_test.cpp:1: Failure\nThe following tests FAILED:\n\t  2 - A.b (Failed)\n' + CTEST_BAD
        _, shown = run(stages.Stage('dev', ['sh', '-c', f'printf "{output}"; exit 8']))
        self.assertIn('  failed: A.b', shown.splitlines())

    def test_a_run_that_broke_off_after_good_numbers_has_failed(self):
        self.assertEqual(stage_results.counts(CTEST_GOOD, 139)[1], 1)


class Repeats(unittest.TestCase):
    """A test that fails by chance is distinguished from a broken one."""

    BROKEN = 'The following tests FAILED:\n\t  2 - A/b.c/0 (Failed)\nErrors while running CTest\n'

    def repeat(self, runner, output, failed=1):
        with tempfile.TemporaryDirectory() as logs, unittest.mock.patch.object(stages, 'LOGS', logs):
            return stages.Run([]).repeat_ctest(stages.Stage('dev', ['sh', '-c', runner, 'ctest']), output, failed)[0]

    def test_a_test_that_passes_alone_is_flaky(self):
        runner = 'case "$*" in *"-R ^A/b\\.c/0( |$) --repeat until-fail:2") exit 0;; esac; exit 1'
        self.assertEqual(self.repeat(runner, self.BROKEN), ['A/b.c/0'])

    def test_a_test_with_the_value_of_its_parameter_is_repeated_too(self):
        broken = ('The following tests FAILED:\n\t 7 - A/b.c/file  # GetParam() = 4-byte object <00-00 00-00> (Failed)\n\n'
                  'The following tests did not run:\n\t 8 - A/b.d/file  # GetParam() = 4 (Skipped)\n')
        self.assertEqual(self.repeat('exit 0', broken), ['A/b.c/file'])

    def test_a_test_that_passes_alone_counts_as_one_that_ran(self):
        script = 'echo "The following tests FAILED:"; echo "  2 - A.b (Failed)"; echo "98% tests passed, 1 tests failed out of 9"; exit 8'
        with tempfile.TemporaryDirectory() as folder:
            ctest = os.path.join(folder, 'ctest')
            with open(ctest, 'w', encoding='utf-8') as file:
                file.write(f'#!/bin/sh\ncase "$*" in *until-fail*) echo "2: [       OK ] A.b (3 ms)";; *) {script};; esac\n')
            os.chmod(ctest, 0o755)
            with unittest.mock.patch.dict(os.environ, PATH=folder + ':' + os.environ['PATH']):
                results, shown = run(stages.Stage('dev', ['ctest']))
        self.assertEqual((results['dev'].passed, results['dev'].failed, results['dev'].flaky), (9, 0, ['dev: A.b']))
        self.assertIn('A.b', results['dev'].cases)
        self.assertIn('flaky: dev: A.b', shown)

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


class Cases(unittest.TestCase):
    def test_the_cases_of_each_runner_are_known_by_name(self):
        for output, expected in [
            ('  12/1886 Test   #12: A/b.c/0  # GetParam() = 4-byte object <00-00> ....   Passed    0.03 sec\n', {'A/b.c/0': 0.03}),
            ('3/4 Test #3: x ......***Failed    0.10 sec\n', {}),
            ('12: [       OK ] Stores/Foo.bar/0 (45 ms)\n', {'Stores/Foo.bar/0': 0.045}),
            ('12: [  FAILED  ] Stores/Foo.bar/0 (45 ms)\n', {}),
            ('ok      12.3 s  race: two at once\nFAILED   1.0 s  race: three\n', {'race: two at once': 12.3}),
            ('ok      the packages are installed\n', {'the packages are installed': 0.0}),
            ('test_x (tidy_test.Text.test_x)\nIts first line. ... ok\ntest_y (a.test_y) ... FAIL\n', {'test_x (tidy_test.Text.test_x)': 0.0}),
        ]:
            self.assertEqual(stage_results.cases(output), expected, output)

    def test_a_test_of_the_sources_that_nobody_ran_is_found(self):
        sources = ['TEST(A, runs) {}\nTEST_P(B, runs_with_values) {}\n', 'RC_GTEST_PROP(C,\n    holds, (int x)) {}\n',
                   'TEST_F(D, is_left_out) {}\n']
        ran = ['A.runs', 'Stores/B.runs_with_values/postgres', 'C.holds', 'race: two']
        self.assertEqual(stage_results.never_run([*stage_results.tests_of(sources), 'race'], ran), ['D.is_left_out', 'race'])

    def test_two_runs_are_compared_by_the_names_of_their_cases(self):
        old = ([Result('dev', 2, 0, 1.0, cases={'a, hit 3 of 7': 0, 'b': 0})], 1.0, 0.0)
        new = ([Result('asan', 1, 0, 1.0, cases={'a, hit 4 of 9': 0}), Result('x', 1, 0, 1.0, cases={'c': 0})], 1.0, 0.0)
        self.assertEqual(stage_results.compare(new, old), ['- b', '+ c'])

    def test_a_table_has_the_run_before_and_the_slowest_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'stages-full.json')
            for minutes in (7.0, 5.0):
                stage_results.save(path, 'full', [Result('dev', 1, 0, minutes, 2.5, cases={'slow': 9.0})], minutes, 0.5)
            table = stage_results.table(stage_results.load(path), stage_results.load(stage_results.before(path)))
        self.assertIn('     5.0       7.0    2.5       2.5  dev', table.splitlines())
        self.assertIn('     9.0       9.0  dev: slow', table.splitlines())

    def test_progress_is_read_from_each_runner(self):
        for output, expected in [('[1/9] a\n[143/545] Building b\n', '143 of 545'), (' 1/90 Test  #1: a .. Passed 1.0 sec\n', '1 of 90'),
                                 ('12 cases, seed 5\nok  1.0 s  a\nFAILED  1.0 s  b\n', '2 of 12'), ('what?\n', '')]:
            self.assertEqual(stage_results.progress(output), expected)


class Order(unittest.TestCase):
    """Which stages run beside which."""

    def test_a_stage_waits_for_its_build_which_runs_beside_other_stages(self):
        with tempfile.TemporaryDirectory() as folder:
            built = os.path.join(folder, 'built')
            results, _ = run(stages.Stage('first', ['sh', '-c', f'while [ ! -e {built} ]; do sleep 0.01; done']),
                             stages.Stage('build x', ['touch', built], computes=True),
                             stages.Stage('x', ['test', '-e', built], needs=('build x',)))
        self.assertEqual({name: result.failed for name, result in results.items()}, {'first': 0, 'build x': 0, 'x': 0})

    def test_after_a_failed_build_nothing_runs_that_needs_it(self):
        results, shown = run(stages.Stage('build x', ['false'], computes=True), stages.Stage('x', ['true'], needs=('build x',)),
                             stages.Stage('y', ['true']))
        self.assertEqual({name: result.failed for name, result in results.items()}, {'build x': 1, 'y': 0})
        self.assertIn('x: not run', shown)

    def test_the_cpu_of_a_stage_is_that_of_its_children(self):
        results, _ = run(stages.Stage('x', ['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done & wait']))
        self.assertGreater(results['x'].cpu_minutes, 0)

    def test_a_stop_ends_a_stage_with_all_its_children(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            started = os.path.join(folder, 'started')
            script = f'sh -c "trap : INT; while :; do sleep 0.01; done" & echo $! > {started}.new; mv {started}.new {started}; wait'
            running = stages.Run([stages.Stage('build x', ['sh', '-c', script], computes=True)])
            with unittest.mock.patch.object(stages, 'LOGS', folder):
                thread = threading.Thread(target=running.all)
                thread.start()
                while not os.path.exists(started):
                    time.sleep(0.01)
                with open(started, encoding='utf-8') as file:
                    child = int(file.read())

                running.stop(patience_s=0.1)
                thread.join()
            self.assertFalse(runs(child))


def runs(pid):
    """Whether a process is running, and not a zombie."""
    try:
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class Modes(unittest.TestCase):
    def names(self, mode):
        return [stage.name for stage in stages.stages(mode)]

    def test_each_mode_has_all_stages_of_the_smaller_one(self):
        default, full, nightly = (self.names(mode) for mode in ('default', 'full', 'nightly'))
        self.assertLess(set(default), set(full))
        self.assertLess(set(full), set(nightly))

    def test_each_program_that_a_stage_runs_is_there(self):
        for mode in ('default', 'full', 'nightly'):
            for stage in stages.stages(mode):
                if '/' in stage.command[0] and not stage.command[0].startswith('build/'):
                    self.assertTrue(os.access(os.path.join(stages.ROOT, stage.command[0]), os.X_OK), stage.name)

    def test_each_stage_needs_builds_that_come_before_it(self):
        for mode in ('default', 'full', 'nightly'):
            before = set()
            for stage in stages.stages(mode):
                self.assertLessEqual(set(stage.needs), before, stage.name)
                self.assertNotIn(stage.name, before)
                before.add(stage.name)

    def test_a_stage_of_a_build_needs_it(self):
        for mode in ('default', 'full', 'nightly'):
            for stage in stages.stages(mode):
                if any('build/' in word for word in stage.command) and not stage.name.startswith('build '):
                    self.assertTrue(stage.needs, stage.name)


if __name__ == '__main__':
    unittest.main()
