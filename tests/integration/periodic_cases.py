"""A job at each minute: servers are killed within a tick and after it, and the minute still has one job."""
import json
import os
import subprocess
import tempfile
import time

from world import KILLED, WAIT_S, NotSo, World, check, check_equal, end, wait_until

# The servers have this long to start before the tick. If the case begins later in a minute, it waits for the next one: once it let
# that tick pass, and then found two.
BEFORE_S = 20
# The last one: a case once waited for 20 s for a job whose server had claimed it and died after the tick; its lease was 60 s.
KILLS = {'within the tick': 'scheduler.tick.inside:1:kill9', 'after the tick': 'scheduler.tick.after:1:kill9',
         'with the job': 'queue.take.after:1:kill9'}


class Server:
    """A process of tests/integration/periodic_server.cpp."""

    def __init__(self, world, fault=None):
        program = os.path.join(os.path.dirname(world.rides), 'periodic_server')
        if not os.access(program, os.X_OK):
            raise NotSo(f'there is no program {program}; build it: cmake --build --preset dev --target periodic_server')
        environment = {**os.environ, **({'PAWL_FAULT_AT': fault} if fault else {})}
        self.errors = tempfile.TemporaryFile('w+', encoding='utf-8')
        self.process = subprocess.Popen([program, world.url], env=environment, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        said = self.process.stdout.readline()
        check(said == 'started\n', f'the server says {said!r}: {self.said()}')

    def killed(self):
        return self.process.poll() is not None and self.process.returncode == KILLED

    def close(self):
        end(self.process)
        self.process.stdout.close()
        self.errors.close()

    def said(self):
        self.errors.seek(0)
        return f'exit {self.process.poll()}: {self.errors.read()[-2000:]}'


def next_tick():
    """The next minute; waits until it is far enough."""
    late = time.time() % 60 - (60 - BEFORE_S)
    if late > 0:
        time.sleep(BEFORE_S - late + 0.1)
    return time.time() // 60 * 60 + 60


def one_job_each_minute(settings, kill):
    """The next start finds what was done of the tick. A SQLite file has one server."""
    minutes = 10 if settings.mode == 'long' else 1
    with World(settings.bin, judged=False) as world:
        count = 2 if world.database == 'postgres' else 1
        # Each server that begins the tick, or gets the job, is killed at that; after the tick, the other finds it run, or was at it, too.
        dead = 1 if kill == 'after the tick' else count
        for minute in range(1, minutes + 1):
            tick = next_tick()
            servers = [Server(world, KILLS[kill]) for _ in range(count)]
            try:
                check(time.time() < tick, 'the servers start before the tick')
                wait_until('the tick', lambda at=tick: time.time() > at, 60 + WAIT_S)
                wait_until('the kills', lambda killed=servers[:]: sum(server.killed() for server in killed) >= dead)
                servers.append(Server(world))
                wait_until('the job of the minute', lambda n=minute: world.count('ticks') == n)
            except NotSo as error:
                raise NotSo('\n'.join([str(error), *(server.said() for server in servers)])) from error
            finally:
                for server in servers:
                    server.close()
            check_equal(world.rows('SELECT count(DISTINCT tick_ms) FROM ticks')[0][0], minute, 'minutes with a job')
        check_equal(world.count('pawl_jobs'), 0, 'jobs that are left')
        (listed,) = json.loads(world.pawl_command('schedules', 'list', '--json').stdout)
        check_equal((listed['name'], listed['schedule']), ('minute', '* * * * * UTC'), 'the schedule')
        check(listed['last_at'] < listed['next_at'], f'the ticks of {listed}')


def cases(settings):
    return [(f'periodic: servers are killed {kill}', lambda kill=kill: one_job_each_minute(settings, kill)) for kill in KILLS]
