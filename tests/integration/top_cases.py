"""`top`: one screen for scripts, and the live one on a real terminal (a pty), which is given back as it was however it ends."""
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from kill_cases import QUICK, SLOW
from never_cases import ONCE
from stores import Cluster
from world import World, check, check_equal, open_terminal, wait_until

SOON_S = 20 * SLOW
OTHER_SCREEN, FIRST_SCREEN = b'\x1b[?1049h', b'\x1b[?1049l'
SEQUENCE = re.compile(rb'\x1b\[[?0-9;]*[A-Za-z]')


class Terminal:
    """`rides top` on a pty of this size."""

    def __init__(self, world, rows=30, columns=120):
        self.ours, self.theirs = open_terminal()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.theirs)
        self.shown = b''
        self.process = subprocess.Popen([world.rides, 'top', '--database', world.url], stdin=self.theirs, stdout=self.theirs,
                                        stderr=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SOON_S)
        self.process.stderr.close()
        os.close(self.ours)
        os.close(self.theirs)

    def resize(self, rows, columns):
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self):
        while select.select([self.ours], [], [], 0.05)[0]:
            self.shown += os.read(self.ours, 65536)
        return self.shown

    def frame(self):
        """The lines of the last complete screen, without sequences."""
        last = self.read().split(b'\x1b[H')[-1]
        return [SEQUENCE.sub(b'', line).decode().rstrip('\r') for line in last.split(b'\n')]

    def shows(self, text):
        return any(text in line for line in self.frame())

    def wait_for(self, text):
        wait_until(text, lambda: self.shows(text), SOON_S)

    def press(self, keys):
        os.write(self.ours, keys)

    def end(self):
        """The exit code; the terminal is as before."""
        status = self.process.wait(SOON_S)
        self.read()
        check(self.shown.rstrip().endswith(FIRST_SCREEN), f'the screen: {self.shown[-60:]}')
        check_equal(termios.tcgetattr(self.theirs), self.before, 'the settings of the terminal')
        return status


def one_screen(settings):
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        check_equal(world.phone('test_doubt').book('doubt').status, 502, 'a ride in doubt')
        said = world.rides_command('top', '--once', '--database', world.url)
        check('\x1b' not in said.stdout, 'no sequences')
        check('0 open, 0 stuck, 0 held, 0 stranded' in said.stdout, said.stdout)
        check('attention  1: 1 in-doubt; oldest' in said.stdout and 'needs a person' in said.stdout, said.stdout)
        check('SERVER' in said.stdout and 'PROVIDER' in said.stdout, said.stdout)
        found = json.loads(world.rides_command('top', '--json', '--database', world.url).stdout)
        check_equal(([one['reason'] for one in found['attention']], found['open'], found['stranded']), (['in-doubt'], 0, 0), 'as JSON')
        check('? stranded' in world.pawl_command('top', '--once').stdout, 'pawl knows no operations')
        refused = world.rides_command('top', '--database', world.url, check_status=2)
        check('needs a terminal' in refused.stderr and OTHER_SCREEN.decode() not in refused.stdout, refused.stderr)


def live(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('first').status, 201, 'a ride')
        with Terminal(world) as terminal:
            terminal.wait_for('0 open')
            check(OTHER_SCREEN in terminal.shown, 'the other screen')
            wait_until('rates of two reads', lambda: terminal.shows('new/s'), SOON_S)
            world.kill_provider()
            check_equal(world.phone().book('k').status, 503, 'a ride without a provider')
            terminal.wait_for('1 open')
            terminal.wait_for('book_ride')
            lines = terminal.frame()
            check(len(lines) <= 30 and max(map(len, lines)) <= 120, f'{len(lines)} lines of {max(map(len, lines))} columns')
            check('q quits' in lines[-1], f'the status: {lines[-1]}')

            terminal.resize(5, 40)
            os.kill(terminal.process.pid, signal.SIGWINCH)
            wait_until('the smaller screen', lambda: len(terminal.frame()) == 5, SOON_S)
            check(max(map(len, terminal.frame())) <= 40, 'its columns')
            first = terminal.frame()[0]
            terminal.press(b'\x1b[B')
            wait_until('one line down', lambda: terminal.frame()[0] != first, SOON_S)
            terminal.press(b'\x1b[A')
            wait_until('one line up', lambda: terminal.frame()[0].split()[:1] == first.split()[:1], SOON_S)
            terminal.press(b'q')
            check_equal(terminal.end(), 0, 'the exit code')
        world.start_provider()
        world.settle()


def ended_by_a_signal(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Terminal(world) as terminal:
                terminal.wait_for('0 open')
                os.kill(terminal.process.pid, number)
                check_equal(terminal.end(), 128 + number, f'the exit code after {number.name}')
        with Terminal(world) as terminal:
            terminal.wait_for('0 open')
            terminal.press(b'\x1a')   # Ctrl-Z, which would leave the terminal as it is.
            time.sleep(0.3)
            check(terminal.process.poll() is None, 'it ended')
            terminal.press(b'q')
            check_equal(terminal.end(), 0, 'the exit code')


def the_database_goes_away(settings):
    with Cluster() as cluster, World(settings.bin, QUICK, cluster=cluster) as world:
        world.start_server()
        with Terminal(world) as terminal:
            terminal.wait_for('0 open')
            cluster.stop_at_once()
            terminal.wait_for('not read since')
            cluster.start()
            terminal.wait_for('q quits')
            terminal.press(b'q')
            check_equal(terminal.end(), 0, 'the exit code')


def cases(settings):
    found = {'one screen': one_screen, 'live on a terminal': live, 'it is ended by a signal': ended_by_a_signal}
    if World.database == 'postgres':
        found['the database goes away, and comes back'] = the_database_goes_away
    return [(f'top: {name}', lambda run=run: run(settings)) for name, run in found.items()]
