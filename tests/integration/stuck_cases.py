"""Code of the application that does not come back, and jobs whose servers die (stuck_server.cpp)."""
import json
import os
import re
import subprocess
import time

from nodes_cases import SLOW
from phone import Phone
from ports import free_port
from world import KILLED, WAIT_S, NotSo, World, check, check_equal, end, wait_until

DRAIN_S = 2            # As the server has it.
HANDLER_LEFT = 70      # pawl::exit_code_handler_left
# What spins: how it is begun, and how the log names it.
SPINS = {'a phase': ('/spins', {'where': 'phase'}, 'phase', 'transaction', 'spin'),
         'a call of an operation': ('/spins', {'where': 'call'}, 'call', 'call', 'spin'),
         'a handler with a Tx': ('/jobs', {'job': 'spin_tx', 'count': 1}, 'spin_tx', 'transaction', 'spin_tx'),
         'a handler with a Call': ('/jobs', {'job': 'spin_call', 'count': 1}, 'spin_call', 'job', 'spin_call'),
         'a handler with a KeyedCall': ('/jobs', {'job': 'spin_keyed', 'count': 1}, 'spin_keyed', 'job', 'spin_keyed')}


class Stuck:
    """Servers of stuck_server.cpp on a world's database and queue."""

    def __init__(self, settings, queue='embedded'):
        self.world = World(settings.bin, judged=False, queue=queue)
        self.program = os.path.join(os.path.dirname(self.world.rides), 'stuck_server')
        if not os.access(self.program, os.X_OK):
            raise NotSo(f'there is no program {self.program}; build it: cmake --build --preset dev --target stuck_server')
        self.where = ('--database', self.world.url, *self.world.queue.options)
        self.environment = os.environ | {'STUCK': self.world.folder}
        self.processes, self.requests = [], []
        self.port = self.operate = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (*self.processes, *self.requests):
            end(process)
        self.world.close()

    def start(self):
        self.port, self.operate = free_port(), free_port()
        with open(os.path.join(self.world.folder, 'stuck.log'), 'ab') as log:
            process = subprocess.Popen([self.program, 'serve', '--listen', f'127.0.0.1:{self.port}',
                                        '--operate', f'127.0.0.1:{self.operate}', *self.where],
                                       stdout=log, stderr=log, env=self.environment)
        self.processes.append(process)
        wait_until('the server', lambda: process.poll() is not None or self.startup())
        return process

    def startup(self):
        try:
            return Phone(self.operate, timeout=2).get('/startupz').status == 200
        except OSError:
            return False

    def get(self, path):
        return Phone(self.operate, timeout=WAIT_S).get(path)

    def post(self, path, body, key):
        return Phone(self.port, timeout=WAIT_S).send('POST', path, body, key=key)

    def post_and_hang_up(self, path, body, key):
        try:
            Phone(self.port, timeout=1).send('POST', path, body, key=key)
        except OSError:
            pass   # It does not answer: it spins.

    def command(self, *words):
        return subprocess.run([self.program, *words, *self.where], capture_output=True, text=True, timeout=WAIT_S + 60, env=self.environment)

    def jobs(self):
        return json.loads(self.command('jobs', 'list', '--json').stdout)

    def letters(self):
        return [json.loads(line) for line in self.command('dlq', 'export').stdout.splitlines()]

    def touch(self, name):
        with open(os.path.join(self.world.folder, name), 'w', encoding='utf-8'):
            pass

    def lines(self, name):
        try:
            with open(os.path.join(self.world.folder, name), encoding='utf-8') as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def events(self, event):
        return [json.loads(line) for line in self.lines('stuck.log') if f'"event":"{event}"' in line]

    def overdue(self, where):
        text = self.get('/metrics').body.decode()
        found = re.search(rf'^pawl_handlers_overdue\{{where="{where}"\}} (\d+)', text, re.MULTILINE)
        longest = re.search(rf'^pawl_handlers_overdue_seconds\{{where="{where}"\}} ([\d.e+-]+)', text, re.MULTILINE)
        return int(found[1]), float(longest[1])


def sigterm_ends_it(settings, what):
    path, body, begun, where, name = SPINS[what]
    with Stuck(settings) as stuck:
        server = stuck.start()
        check_equal(stuck.overdue(where), (0, 0), 'overdue before')
        if path == '/jobs':
            check_equal(stuck.post(path, body, 'k').status, 201, 'the job')
        else:
            stuck.post_and_hang_up(path, body, 'k')
        wait_until(f'{what} to spin', lambda: begun in stuck.lines('begun'))

        found = wait_until('the event', lambda: stuck.events('handler_overdue'), 20 * SLOW)[0]
        check_equal((found['code'], found['where'], found['name'], bool(found['thread'])), ('PAWL0031', where, name, True), 'the event')
        check(path == '/jobs' or found['step'] in ('started', 'spin_begun'), f'its step: {found}')
        check(found['ran_ms'] > found['limit_ms'], f'its times: {found}')
        count, longest = stuck.overdue(where)
        check(count == 1 and longest > 1, f'the metrics: {count}, {longest} s')
        check_equal(stuck.get('/livez').status, 200, '/livez')
        holds_all = where == 'transaction' and stuck.world.database == 'sqlite'
        wait_until('/readyz', lambda: stuck.get('/readyz').status == (503 if holds_all else 200))

        began = time.monotonic()
        server.terminate()
        check_equal(server.wait(60), HANDLER_LEFT, 'the exit code')
        check(time.monotonic() - began < (DRAIN_S + 3) * SLOW, f'it ended within {time.monotonic() - began:.1f} s')
        left = stuck.events('handler_left')
        check_equal([(one['where'], one['name']) for one in left], [(where, name)], 'what was left')
        check_equal(stuck.events('stopped')[0]['handlers_left'], 1, 'handlers_left')

        stuck.touch('release')
        stuck.start()   # Elsewhere, as far as the leases are concerned.
        if path == '/jobs':
            wait_until('the job to be done', lambda: stuck.world.count('pawl_jobs') == 0, 30 * SLOW)
            check_equal(stuck.world.count('pawl_dead_jobs'), 0, 'dead letters')
        else:
            wait_until('the key to be finished', lambda: stuck.post(path, body, 'k').status == 201, 30 * SLOW)
        check(stuck.lines('begun').count(begun) >= 2, 'it was begun again')


def a_cancelled_handler(settings, queue):
    """It ignores its stop, so it goes on; its result is discarded."""
    with Stuck(settings, queue) as stuck:
        stuck.start()
        check_equal(stuck.post('/jobs', {'job': 'spin_call', 'count': 1}, 'k').status, 201, 'the job')
        wait_until('it to spin', lambda: 'spin_call' in stuck.lines('begun'))
        done = stuck.command('jobs', 'cancel', '--kind', 'spin_call', '--reason', 'a test', '--json')
        check_equal(json.loads(done.stdout), {'cancelled': 1, 'running': 1, 'gone': 0, 'held': 0, 'at_work': 0}, f'cancelled: {done.stderr}')
        wait_until('its stop', lambda: stuck.events('job_stopped') or stuck.events('handler_overdue'), 20 * SLOW)
        stuck.touch('release')
        wait_until('it to come back', lambda: stuck.overdue('job')[0] == 0)
        check_equal(stuck.post('/jobs', {'job': 'spin_call', 'count': 1}, 'k-2').status, 201, 'another one')
        wait_until('the other one to be done', lambda: stuck.lines('begun').count('spin_call') == 2 and not stuck.jobs())
        check_equal([letter['error_kind'] for letter in stuck.letters()], ['cancelled'], 'dead letters')


def a_cancel_while_the_writer_is_held(settings):
    """SQLite has one writer: a command waits for it, and says what it waits for; after it, the command works."""
    with Stuck(settings) as stuck:
        server = stuck.start()
        check_equal(stuck.post('/jobs', {'job': 'spin_tx', 'count': 1}, 'k').status, 201, 'the job')
        wait_until('it to spin', lambda: 'spin_tx' in stuck.lines('begun'))
        cancel = ('jobs', 'cancel', '--kind', 'spin_tx', '--reason', 'a test', '--json')
        done = stuck.command(*cancel)
        if stuck.world.database == 'sqlite':
            check_equal(done.returncode, 1, 'the exit code')
            check('PAWL0031' in done.stderr, f'it says what to do: {done.stderr}')
            server.terminate()
            check_equal(server.wait(60), HANDLER_LEFT, 'the exit code of the server')
            done = stuck.command(*cancel)   # Before the next start, as the page says.
        check_equal(json.loads(done.stdout)['cancelled'], 1, f'cancelled: {done.stderr}')
        stuck.touch('release')
        if stuck.world.database == 'sqlite':
            stuck.start()
        wait_until('it to come back', lambda: stuck.overdue('transaction')[0] == 0)
        check_equal((stuck.jobs(), [letter['error_kind'] for letter in stuck.letters()]), ([], ['cancelled']), 'jobs, dead letters')


def a_job_that_kills_its_servers(settings, queue):
    """Three times beside others, then alone; the healthy ones come through, and it is dead."""
    with Stuck(settings, queue) as stuck:
        stuck.start()
        check_equal(stuck.post('/jobs', {'job': 'healthy', 'count': 3}, 'k').status, 201, 'the healthy ones')
        check_equal(stuck.post('/jobs', {'job': 'poison', 'count': 1}, 'k-2').status, 201, 'the poison')

        def dead():
            if stuck.processes[-1].poll() is not None:
                check_equal(stuck.processes[-1].returncode, KILLED, 'how it ended')
                stuck.start()
                return False
            return stuck.letters()
        (letter,) = wait_until('the dead letter', dead, 150 * SLOW)
        check_equal((letter['kind'], stuck.lines('begun').count('poison')), ('poison', 4), 'its kind, and its runs')
        check('while it ran alone' in letter['error'], f'its error: {letter["error"]}')
        alone = [one['deaths'] for one in stuck.events('job_alone') if one['kind'] == 'poison']
        check_equal(alone, [3], 'its deaths before its run alone')
        wait_until('the healthy jobs', lambda: not stuck.jobs(), 60 * SLOW)
        stuck.touch('tame')
        merged = stuck.command('dlq', 'merge', letter['id'], '--reason', 'it is fixed')
        check_equal(merged.returncode, 0, f'the merge: {merged.stderr}')
        wait_until('it to be done', lambda: stuck.lines('begun').count('poison') == 5 and not stuck.jobs(), 30 * SLOW)
        alone = [one for one in stuck.events('job_alone') if one['kind'] == 'poison']
        check_equal(len(alone), 1, 'runs alone: after the merge it runs beside others')


def a_storm_of_kills(settings, queue):
    """Each job runs longer than any server lives: all are suspects, and none is dead."""
    jobs = 8
    with Stuck(settings, queue) as stuck:
        server = stuck.start()
        check_equal(stuck.post('/jobs', {'job': 'healthy', 'count': jobs}, 'k').status, 201, 'the jobs')
        for _ in range(6):
            began = time.monotonic()
            wait_until('a second', lambda since=began: time.monotonic() - since > 1)
            server.kill()
            server.wait()
            server = stuck.start()
        wait_until('all jobs to be done', lambda: len(set(stuck.lines('done'))) == jobs, 150 * SLOW)
        wait_until('the end of the last', lambda: not stuck.jobs())
        check_equal(stuck.letters(), [], 'dead letters')
        begun, alone = len(stuck.lines('begun')), len(stuck.events('job_alone'))
        print(f'stuck: {jobs} jobs after 6 kills began {begun} times, {alone} alone', flush=True)


def cases(settings):
    return [*((f'right: SIGTERM ends a server in time although {what} spins', lambda what=what: sigterm_ends_it(settings, what))
              for what in SPINS),
            *((f'right: a handler that ignores its stop can be cancelled, with {queue}',
               lambda queue=queue: a_cancelled_handler(settings, queue)) for queue in ('embedded', 'redis')),
            ('right: a cancel says what it waits for while the writer is held', lambda: a_cancel_while_the_writer_is_held(settings)),
            *((f'right: a job that kills its servers dies after a run alone, with {queue}',
               lambda queue=queue: a_job_that_kills_its_servers(settings, queue)) for queue in ('embedded', 'redis')),
            *((f'right: a storm of kills makes no healthy job dead, with {queue}', lambda queue=queue: a_storm_of_kills(settings, queue))
              for queue in ('embedded', 'redis'))]
