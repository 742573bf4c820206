"""The cron entries of periodic jobs against Debian's own daemon: both accept the same texts and have the same ticks.

The real /usr/sbin/cron runs, on a clock that does not wait (cron_clock.c). No job is started, and no path of the machine's cron is used.
"""
import collections
import concurrent.futures
import datetime
import os
import re
import subprocess
import tempfile

from world import WAIT_S, check, check_equal

DATABASES = ('sqlite',)   # The database does not matter here.
DAEMON = '/usr/sbin/cron'

YEAR = [
    '0 0 * * *', '59 23 31 12 *', '0 12 29 2 *', '15 6 28-31 * *', '30 4 31 * *', '0 5 30 4,6,9,11 *',
    '5,10,50 3 1 * *', '0-59 7 4 7 *', '*/15 0 1 1 *', '*/7 9 2 5 *', '7-37/10 6,18 10-20/5 * *', '* 13 13 10 *',
    '0 0-23/6 13 * *', '0 */5 1 * *', '3-3 4 1 * *', '1,1,1 4 1 * *', '*/60 4 1 * *', '0-5/60 4 1 * *', '0 */24 1 * *', '00 08 01 01 *',
    '0 0 */31 * *', '0 0 1-5,10-15/2,31 3 *', '0 0 3-31/7 * *',
    # Months.
    '0 12 * jan *', '0 12 1 JAN-dec/3 *', '0 12 1 feb,Aug,11 *', '0 12 2 Mar-5 *', '0 12 3 */4 *', '0 12 3 2-12/5 *',
    # Weekdays.
    '0 9 * * 1-5', '0 9 * 5 mon-FRI', '0 9 * 5 MON,Wed,fRi', '0 10 * * 0', '0 10 * * 7', '0 10 * * sun', '0 10 * * SUN', '0 11 * * 5-7',
    '0 11 * * 0-2', '0 11 * * sun-tue', '0 11 * * sat-7', '0 11 * * 0,7', '0 11 * * 1-7/2', '0 11 * * Mon-6/2', '0 11 * * */2',
    '0 11 * * */7',
    # Both day fields: either is enough, unless one begins with *.
    '0 8 1,15 * mon', '0 8 13 * fri', '0 8 31 2 mon', '10 0 29 2 sun', '0 8 1-31 2 mon', '0 8 13 2 1-7', '0 8 */2 * mon', '0 8 */10 * 1-5',
    '0 8 1-7 * */2', '0 8 */2 * */3', '0 8 *,5 2 mon', '0 8 5,* 2 mon', '*,5 3 4 5 *', '5,* 3 4 5 *',
    # Names of whole entries.
    '@midnight', '@weekly', '@monthly', '@yearly', '@annually',
    # Blanks.
    '\t0\t14  1 * *  ', '   0 14 * 2 1',
]

# Around the changes of the clock: fixed times, and what repeats.
AROUND = [f'{minute} {hour} * * *' for hour in (23, 0, 1, 2, 3, 4, 5) for minute in (0, 1, 15, 29, 30, 31, 59)] + [
    '0-59 2 * * *', '5,25,45 1-3 * * *', '0-59/20 2-3 * * *', '59 1,2,3 * * *', '0 0-23 * * *', '30 0-23 * * *', '15 2,* * * *', '7,* 2 * * *',
    '30 2 * * sun', '30 2 * * 6', '30 2 1 * mon', '45 23 * * sat', '30 0 * * 0',
    '*/15 * * * *', '* 2 * * *', '*/10 0-4 * * *', '30 * * * *', '30 */2 * * *', '0 */3 * * *', '15 *,2 * * *', '*,7 2 * * *', '15 2 */2 * *',
    '@hourly', '@daily', '@weekly', '@monthly',
]
CHANGES = [
    ('Europe/Berlin', '2028-03-26T01:00'), ('Europe/Berlin', '2028-10-29T01:00'),
    ('America/New_York', '2028-03-12T07:00'), ('America/New_York', '2028-11-05T06:00'),
    ('Australia/Lord_Howe', '2028-09-30T15:30'), ('Australia/Lord_Howe', '2028-04-01T15:00'),   # By 30 minutes.
    ('America/Santiago', '2028-09-03T04:00'), ('America/Santiago', '2028-04-02T03:00'),   # At midnight.
    ('Pacific/Apia', '2011-12-30T10:00'),   # By 24 hours.
    ('Antarctica/Casey', '2009-10-17T18:00'),   # By 3 hours.
]
# Back by exactly 3 hours. The daemon does not run fixed times again, although its manual says so only for changes of less than 3 hours.
# In Pawl they are due again.
THREE_HOURS_BACK = ('Antarctica/Casey', '2010-03-04T15:00')

REFUSED = [
    '', '0', '* * * *', '1 2 3 4', '* * * * * *', '@', '@reboots', '@every_minute', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *',
    '* * * 0 *', '* * * 13 *', '* * * * 8', '-1 * * * *', '+5 * * * *', '5/15 * * * *', '* * * * mon/2', '*/0 * * * *', '*/ * * * *',
    '*/x * * * *', '*/-2 * * * *', '1-60 * * * *', '5-64/30 * * * *', '1-5/ * * * *', '1-5/0 * * * *', '1-5/x * * * *', '1,,2 * * * *',
    ',1 * * * *', '1, * * * *', '1, 2 * * *', '1- * * * *', '-5 * * * *', '1 - 5 * *', 'x * * * *', '0x10 * * * *', '1x * * * *', '? * * * *',
    '* * L * *', '0 0 ? * 1', '* * * january *', '* * * * monday', '* * * 1jan *', 'jan * * * *', '* * * mon *', '* * * * jan',
]
ONLY_DAEMON_ACCEPTS = {
    '0 22-2 * * *': 'the range ends before it begins: never due',
    '0 0,22-2 * * *': 'the range ends before it begins: due at 0 only',
    '0 0 * * fri-sun': 'sun is 0: the range ends before it begins',
    '0 0 30 2 *': 'never due',
    '5.5 * * * *': 'read as 5',
    '1;2 * * * *': 'read as 1',
    '*5 * * * *': 'read as *',
    '** * * * *': 'read as *',
    '1-5/2/3 * * * *': 'read as 1-5/2',
    '*/2-5 * * * *': 'read as */2',
    '007 * * * *': 'more than two digits',
    '*/100 * * * *': 'more than two digits',
    '4294967296 * * * *': 'read as 0: the number is too large for an int',
    ','.join(['10'] * 70) + ' * * * *': 'more than 200 bytes',
    '@reboot': 'a time of the machine, not of the clock',
}
ONLY_WE_ACCEPT = {'@Daily': 'the daemon wants lower case here, but not in names of days'}


def seconds_of(moment):
    return int(datetime.datetime.fromisoformat(moment).replace(tzinfo=datetime.timezone.utc).timestamp())


def shown(second):
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%MZ')


class Daemon:
    """Runs of /usr/sbin/cron in a folder of their own."""

    def __init__(self, folder):
        self.folder, self.library = folder, os.path.join(folder, 'cron_clock.so')
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'cron_clock.c')
        subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-o', self.library, source, '-ldl'], check=True)

    def log_lines(self, files, zone, begin, end):
        """[(second, text)] after a run with these crontabs: {path below /etc: lines}."""
        root = tempfile.mkdtemp(dir=self.folder)
        for path in ('etc/cron.d', 'run', 'var/run', 'var/spool/cron/crontabs'):
            os.makedirs(os.path.join(root, path))
        for path, lines in {'crontab': [], **files}.items():
            with open(os.path.join(root, 'etc', path), 'w', encoding='utf-8') as file:
                file.write(''.join(line + '\n' for line in lines))
            os.chmod(file.name, 0o644)   # The daemon ignores files that others may write.
        environment = {'TZ': zone, 'LD_PRELOAD': self.library, 'PAWL_TEST_CRON_ROOT': root, 'PAWL_TEST_CRON_BEGIN': str(begin),
                       'PAWL_TEST_CRON_END': str(end)}
        done = subprocess.run([DAEMON, '-f', '-L', '1'], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              timeout=WAIT_S + 60, check=False)
        check_equal(done.returncode, 0, f'the exit code of cron, whose log is {done.stderr[-400:]!r}')
        return [(int(second), text) for second, text in (line.split(' ', 1) for line in done.stderr.splitlines())]

    def refused(self, texts):
        """Each text has a file, because the daemon ignores the whole file for one wrong entry."""
        names = {f'e{i}': text for i, text in enumerate(texts)}
        files = {f'cron.d/{name}': [f'{text} root {name}'] for name, text in names.items()}
        log = self.log_lines(files, 'UTC', 0, 120)
        wrong = (re.fullmatch(r'\(\*system\*(e\d+)\) ERROR \(Syntax error.*', text) for _, text in log)
        return {names[match[1]] for match in wrong if match}

    def ticks(self, entries, zone, begin, end):
        """Counts of (second, entry). The count is 1, unless the daemon catches up after a change of the clock."""
        log = self.log_lines({'crontab': [f'{entry} root e{i}' for i, entry in enumerate(entries)]}, zone, begin, end)
        check(not any('ERROR' in text for _, text in log), f'the daemon accepts all entries: {log[:3]}')
        jobs = ((second, re.fullmatch(r'\(root\) CMD \(e(\d+)\)', text)) for second, text in log)
        return collections.Counter((second // 60 * 60, entries[int(job[1])]) for second, job in jobs if job)


def our_answers(settings, entries, zone, begin, end):
    """{entry: its seconds, or the text of the refusal}."""
    program = os.path.join(os.path.abspath(settings.bin), 'cron_ticks')
    check(os.access(program, os.X_OK), f'there is no program {program}; build it: cmake --build --preset dev --target cron_ticks')
    questions = ''.join(f'{entry}\t{zone}\t{begin}\t{end}\n' for entry in entries)
    done = subprocess.run([program], input=questions, capture_output=True, text=True, timeout=WAIT_S + 60, check=True)
    lines = done.stdout.split('\n')[:-1]
    check_equal(len(lines), len(entries), 'answers of cron_ticks')
    return {entry: line if line.startswith('refused: ') else [int(second) for second in line.split()]
            for entry, line in zip(entries, lines)}


def our_ticks(settings, entries, zone, begin, end):
    answers = our_answers(settings, entries, zone, begin, end)
    refused = {entry: answer for entry, answer in answers.items() if isinstance(answer, str)}
    check(not refused, f'entries that only the daemon accepts: {refused}')
    return {(second, entry) for entry, seconds in answers.items() for second in seconds}


def check_same(daemon, ours, where):
    """Both: sets of (second, entry)."""
    wrong = sorted((second, entry, who) for who, more in (('the daemon', daemon - ours), ('Pawl', ours - daemon)) for second, entry in more)
    lines = ''.join(f"\n'{entry}' at {shown(second)}: only by {who}" for second, entry, who in wrong[:8])
    check(not wrong, f'{where}: {len(wrong)} of {len(daemon | ours)} ticks differ:{lines}')
    check(daemon, f'{where}: there are ticks')


def half_a_year(settings, daemon, begin, end):
    """The entries with ticks from `begin` to before `end`, in UTC."""
    begin, end = seconds_of(begin) - 60, seconds_of(end)
    ticks = daemon.ticks(YEAR, 'UTC', begin, end)
    check_equal(max(ticks.values()), 1, 'runs of an entry in a minute')
    check_same(set(ticks), our_ticks(settings, YEAR, 'UTC', begin, end), f'{shown(begin)} to {shown(end)}')
    return {entry for _, entry in ticks}


def the_year(settings, daemon):
    halves = [('2028-01-01', '2028-07-01'), ('2028-07-01', '2029-01-01')]
    with concurrent.futures.ThreadPoolExecutor(len(halves)) as pool:
        due = [pool.submit(half_a_year, settings, daemon, *half) for half in halves]
        check_equal(set(YEAR), set().union(*(half.result() for half in due)), 'entries with ticks')


def ticks_around(settings, daemon, zone, moment):
    """(the daemon's ticks, ours). The daemon runs an entry once for each skipped time; in Pawl it is due once."""
    change = seconds_of(moment)
    begin, end = change - 18 * 3600, change + 24 * 3600
    ticks = daemon.ticks(AROUND, zone, begin, end)
    check_equal({tick for tick, runs in ticks.items() if runs > 1 and tick[0] != change}, set(), 'repeated runs, not at the change')
    return set(ticks), our_ticks(settings, AROUND, zone, begin, end)


def a_change(settings, daemon, zone, moment):
    check_same(*ticks_around(settings, daemon, zone, moment), f'{zone} around {moment}Z')


def three_hours_back(settings, daemon):
    zone, moment = THREE_HOURS_BACK
    theirs, ours = ticks_around(settings, daemon, zone, moment)
    change = seconds_of(moment)
    again = {(second, entry) for second, entry in ours
             if change <= second < change + 3 * 3600 and not re.match(r'\*|\S+ \*|@hourly', entry)}
    check_same(theirs | again, ours, f'{zone} around {moment}Z')
    check_equal(theirs & again, set(), 'fixed times that the daemon runs again')


def the_changes(settings, daemon):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(a_change, settings, daemon, *change) for change in CHANGES]
        for done in [*runs, pool.submit(three_hours_back, settings, daemon)]:
            done.result()


def check_refused(who, found, expected):
    check(found == expected, f'{who} accepts {sorted(expected - found)}, and refuses {sorted(found - expected)}, unlike the lists here')


def the_texts(settings, daemon):
    accepted = set(YEAR + AROUND)
    texts = [*accepted, *REFUSED, *ONLY_DAEMON_ACCEPTS, *ONLY_WE_ACCEPT]
    check_refused('the daemon', daemon.refused(texts), {*REFUSED, *ONLY_WE_ACCEPT})
    answers = our_answers(settings, texts, 'UTC', 0, 120)
    check_refused('Pawl', {text for text in texts if isinstance(answers[text], str)}, {*REFUSED, *ONLY_DAEMON_ACCEPTS})


def with_daemon(settings, case):
    with tempfile.TemporaryDirectory(prefix='pawl-cron-') as folder:
        case(settings, Daemon(folder))


def cases(settings):
    if not os.access(DAEMON, os.X_OK) or os.geteuid() != 0:
        print("the cases of cron entries need Debian's cron and root, and are left out", flush=True)
        return []
    named = {'a year in UTC': the_year, 'changes of the clock': the_changes, 'texts that are refused': the_texts}
    return [(f'cron: {name}', lambda case=case: with_daemon(settings, case)) for name, case in named.items()]
