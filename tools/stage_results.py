"""What the stages of ./test report: counts and cases out of each runner's output, and tables of time; used by tools/stages."""
import dataclasses
import json
import os
import re

# How the test runners' outputs end: ctest, unittest, and our own.
CTEST = re.compile(r'(\d+)% tests passed, (\d+) tests failed out of (\d+)')
OURS = re.compile(r'^(\d+) passed, (\d+) failed', re.MULTILINE)
UNITTEST = re.compile(r'^Ran (\d+) tests? in .*?\n\n(OK|FAILED(?: \((.*)\))?)', re.MULTILINE)
# In the list that ctest prints last. A test with a parameter may have its value after a '#'.
CTEST_FAILED = re.compile(r'^\s+\d+ - (\S+)(?: +#.*)? \((?!Skipped|Not Run|Disabled)', re.MULTILINE)
CTEST_ENTRY = re.compile(r'^ *Test +#\d+: (\S+)', re.MULTILINE)   # Of `ctest -N`.
SKIPPED_CASE = re.compile(r'^skipped: .+$', re.MULTILINE)   # Of the integration runner, with the reason.
FLAKY = re.compile(r'^flaky: (.+)$', re.MULTILINE)
# A case that ended well: of ctest, of a GoogleTest program that ctest shows (`ctest -V`), of our runners, of unittest.
CASES = tuple(re.compile(pattern, re.MULTILINE) for pattern in (
    r'^ *\d+/\d+ Test +#\d+: (?P<name>\S+)(?: +#.*?)? \.+ +Passed +(?P<seconds>[\d.]+) sec',
    r'^\d+: \[ +OK \] (?P<name>\S+?)(?:, where .*)? \((?P<milliseconds>\d+) ms\)',
    r'^ok +(?:(?P<seconds>[\d.]+) s  )?(?P<name>.+)$',
    r'^(?P<name>test_\w+ \([\w.]+\))(?:\n.*?)? \.\.\. ok$'))
# GoogleTest's macros, and those of RapidCheck for it.
SOURCE = re.compile(r'^\s*(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)', re.MULTILINE)
SKIPPED = re.compile(r'^\d+: \[  SKIPPED \] (\S+?)(?:, where .*)? \(\d+ ms\)', re.MULTILINE)
# How far a runner is: ninja, ctest, the integration runner.
PROGRESS = tuple(re.compile(pattern, re.MULTILINE) for pattern in (r'^\[(\d+)/(\d+)\] ', r'^ *(\d+)/(\d+) Test +#'))
ANNOUNCED = re.compile(r'^(\d+) cases, seed', re.MULTILINE)
OK = re.compile(r'^(?:ok|FAILED) +[\d.]+ s  ', re.MULTILINE)
SLOWEST = 10


@dataclasses.dataclass
class Result:
    """Of one stage. Its CPU is that of its processes, without those that a case leaves to end by themselves."""
    name: str
    passed: int
    failed: int
    minutes: float
    cpu_minutes: float = 0.0
    flaky: list = dataclasses.field(default_factory=list)
    cases: dict = dataclasses.field(default_factory=dict)   # Seconds of each that ended well; 0.0: the runner does not say.


def counts(output, status):
    """(passed, failed) of a stage. One without numbers is a single test; one that broke off has failed."""
    passed = failed = 0
    for _, bad, total in CTEST.findall(output):
        passed, failed = passed + int(total) - int(bad), failed + int(bad)
    for good, bad in OURS.findall(output):
        passed, failed = passed + int(good), failed + int(bad)
    for total, _, why in UNITTEST.findall(output):
        bad = sum(int(number) for number in re.findall(r'(?:failures|errors)=(\d+)', why))
        passed, failed = passed + int(total) - bad, failed + bad
    if passed + failed == 0:
        return (1, 0) if status == 0 else (0, 1)
    return passed, failed if status == 0 else max(failed, 1)


def cases(output):
    """{name: seconds} of the cases that ended well."""
    found = {}
    for pattern in CASES:
        for match in pattern.finditer(output):
            values = match.groupdict()
            seconds = float(values.get('seconds') or 0) + float(values.get('milliseconds') or 0) / 1000
            name = match['name'].removesuffix(', again')   # The integration runner's repeat of a case.
            found[name] = max(seconds, found.get(name, 0.0))
    return found


def tests_of(sources):
    """The names of the C++ tests in these texts of sources."""
    return [f'{suite}.{name}' for text in sources for suite, name in SOURCE.findall(text) if not name.startswith('DISABLED_')]


def never_run(expected, ran):
    """The names of tests that are not among those that ran, in any form of a parameter."""
    known, wanted = ({re.sub(r'^\w+/(?=\w+\.)|/\S+$', '', name) for name in names} for names in (ran, expected))
    return sorted(wanted - known)


def compare(run, other):
    """The names of cases that only one of two runs has, as lines that begin with - (only the other) and +.

    How often a day reaches a fault point differs from run to run: "hit 3 of 7" is the same case as "hit 4 of 9".
    """
    ours, theirs = ({re.sub(r'\d+ of \d+', 'n of m', case) for result in results for case in result.cases} for results, _, _ in (run, other))
    return [f'- {case}' for case in sorted(theirs - ours)] + [f'+ {case}' for case in sorted(ours - theirs)]


def failed_of_ctest(output):
    """Names of the failed tests."""
    return CTEST_FAILED.findall(output.partition('The following tests FAILED:')[2])


def progress(output):
    """'143 of 545', or '' if the runner does not say."""
    for pattern in PROGRESS:
        if found := pattern.findall(output):
            return ' of '.join(found[-1])
    if announced := ANNOUNCED.findall(output):
        return f'{len(OK.findall(output))} of {announced[-1]}'
    return ''


def shown_of_failure(output):
    """The lines with errors, at most 100, each with up to 12 indented lines below it; without any, the last 30."""
    lines, telling, below = re.sub(r'^\d+: ', '', output, flags=re.MULTILINE).split('\n'), [], 0
    for line in lines:
        if re.search(r'error:|FAILED|: Failure$|not so|WARNING: ThreadSan|ERROR: Addr', line):
            below = 12
        elif not below or not line.startswith('    '):
            below = 0
            continue
        else:
            below -= 1
        telling.append(line)
    return '\n'.join('    ' + line for line in (telling[:100] or lines[-30:]))


def save(path, mode, results, minutes, idle_minutes):
    """Writes what a run measured; what stood there is kept as the run before."""
    if os.path.exists(path):
        os.replace(path, before(path))
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({'mode': mode, 'minutes': minutes, 'idle_minutes': idle_minutes,
                   'stages': [dataclasses.asdict(result) for result in results]}, file, indent=1)


def load(path):
    """(results, minutes of the whole run, minutes of idle cores), or None if there was no run."""
    if not os.path.exists(path):
        return None
    with open(path, encoding='utf-8') as file:
        run = json.load(file)
    return [Result(**stage) for stage in run['stages']], run['minutes'], run['idle_minutes']


def before(path):
    return path.removesuffix('.json') + '-before.json'


def table(run, earlier=None):
    """Minutes, and CPU minutes, of each stage and of all, beside those of an earlier run; then the slowest cases."""
    results, minutes, idle = run
    known = {result.name: result for result in earlier[0]} if earlier else {}
    lines = [f'{"minutes":>8} {"(before)":>9} {"CPU":>6} {"(before)":>9}  stage']
    for result in results:
        old = known.get(result.name)
        lines.append(f'{result.minutes:8.1f} {number(old and old.minutes):>9} {result.cpu_minutes:6.1f} {number(old and old.cpu_minutes):>9}'
                     f'  {result.name}' + (f'  ({result.failed} FAILED)' if result.failed else ''))
    lines.append(f'{minutes:8.1f} {number(earlier and earlier[1]):>9} {sum(r.cpu_minutes for r in results):6.1f} '
                 f'{number(earlier and sum(r.cpu_minutes for r in earlier[0])):>9}  all; the cores had nothing to do for {idle:.1f} minutes')
    slowest = sorted(((seconds, result.name, case) for result in results for case, seconds in result.cases.items()), reverse=True)[:SLOWEST]
    lines += ['', 'The slowest cases, in seconds:']
    for seconds, stage, case in slowest:
        old = known[stage].cases.get(case) if stage in known else None
        lines.append(f'{seconds:8.1f} {number(old):>9}  {stage}: {case}')
    return '\n'.join(lines)


def number(value):
    return '-' if value is None else f'{value:.1f}'
