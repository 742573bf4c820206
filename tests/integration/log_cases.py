"""Log files that are renamed while the server writes them, as logrotate does (issue 16, number 11)."""
import json
import os
import signal
import stat
import threading
import time

from kill_cases import QUICK
from world import WAIT_S, World, check, check_equal, wait_until


def lines_of(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def hang_up(process):
    process.send_signal(signal.SIGHUP)


def rotate_under_load(settings):
    """Three rotations beside clients: each answer has its line in one of the files, and no line is torn."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'access.log')
        world.start_server('--access-log', log)
        stop, asked = threading.Event(), [0] * 4

        def ask_on(i):
            while not stop.is_set():
                check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
                asked[i] += 1
        clients = [threading.Thread(target=ask_on, args=(i,)) for i in range(len(asked))]
        for client in clients:
            client.start()
        old = []
        try:
            for n in range(3):
                before = sum(asked)
                wait_until('some requests', lambda before=before: sum(asked) > before + 20)
                old.append(f'{log}.{n}')
                os.rename(log, old[-1])
                hang_up(world.server)
                wait_until('the new file', lambda: os.path.exists(log))
        finally:
            stop.set()
            for client in clients:
                client.join()
        sizes = [os.path.getsize(path) for path in old]
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query after the last rotation')
        check_equal(world.stop_server(), 0, 'the exit code')
        check_equal([os.path.getsize(path) for path in old], sizes, 'sizes of the old files, which nobody writes any more')
        queries = sum(line['route'] == '/rides' for path in (*old, log) for line in lines_of(path))
        check_equal(queries, sum(asked) + 1, 'lines of queries in all files')
        check(lines_of(log), 'the new file is empty')
        check_equal(stat.S_IMODE(os.stat(log).st_mode), 0o600, 'the mode of the new file')
        check_equal(world.log().count('"logs_reopened"'), 3, 'lines that say so')


def what_cannot_be_reopened(settings):
    """The server keeps running, and logs into the old file."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        log = os.path.join(world.folder, 'logs', 'access.log')
        os.mkdir(os.path.dirname(log))
        world.start_server('--access-log', log)
        os.rename(os.path.dirname(log), os.path.join(world.folder, 'moved'))
        hang_up(world.server)
        wait_until('a line in the log', lambda: '"access_log_not_reopened"' in world.log())
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
        check_equal(world.stop_server(), 0, 'the exit code')
        moved = lines_of(os.path.join(world.folder, 'moved', 'access.log'))
        check(any(line['route'] == '/rides' for line in moved), 'the old file has no line of the query')


def never_ends_the_server(settings):
    """SIGHUP from start to stop, with the log on standard error; the same for the stand-in for Stripe."""
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server('--access-log', '-', wait=False)
        began = time.monotonic()
        while not world.answers():
            check(not world.dead(), f'a SIGHUP while it starts ended it: {world.server.returncode}')
            check(time.monotonic() - began < WAIT_S, 'it does not start')
            # Before its first line it is still the shell or the loader, which has the default action.
            if blocks_hang_up(world.server.pid):
                hang_up(world.server)
        hang_up(world.server)
        check_equal(world.phone('test_jane').get('/rides').status, 200, 'a query')
        hang_up(world.provider)
        check_equal(world.phone('test_jane').book('k-1').status, 201, 'a ride after a SIGHUP to the stand-in')
        world.server.terminate()
        while world.server.poll() is None:
            hang_up(world.server)
            time.sleep(0.01)
        check_equal(world.server.returncode, 0, 'the exit code')


def blocks_hang_up(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        blocked = next(line for line in file if line.startswith('SigBlk:'))
    return int(blocked.split()[1], 16) & 1 << signal.SIGHUP - 1


def cases(settings):
    found = {'renamed under load, none of their lines are lost': rotate_under_load,
             'a missing folder is reported': what_cannot_be_reopened, 'SIGHUP never ends a server': never_ends_the_server}
    return [('logs: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
