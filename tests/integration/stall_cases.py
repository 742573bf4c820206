"""Peers that do not read, hold connections or disconnect at the worst moment: no thread of the server waits for them.

The random walks run for a few seconds here; for an hour: tests/integration/stall --bin DIR --minutes 60.
"""
import collections
import datetime
import json
import os
import re
import resource
import socket
import threading
import time

import stall_walk
from world import WAIT_S, World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # The database does not matter here.
DRAIN_S = 5
END_S = DRAIN_S + 2 + WAIT_S / 4   # The drain, its margin, and time for a busy machine.
LIVEZ = b'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
# A small answer without a body fills the send buffer just before the interim answer is due.
EXPECTS = (b'HEAD /rides/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer test_jane\r\nContent-Length: 1\r\n'
           b'Expect: 100-continue\r\n\r\n')


def log_lines(world, event):
    return [json.loads(line) for line in world.log().split('\n') if f'"event":"{event}"' in line]


class Pressure:
    """How long programs of this machine had no CPU, by the kernel: an I/O thread may wait for a lock whose holder has none."""

    def __init__(self):
        self.samples = collections.deque(maxlen=100_000)   # (time, seconds), every 10 ms.
        if os.access('/proc/pressure/cpu', os.R_OK):
            threading.Thread(target=self.sample, daemon=True).start()

    def sample(self):
        while True:
            with open('/proc/pressure/cpu', encoding='ascii') as file:
                self.samples.append((time.time(), int(re.search(r'some .*total=(\d+)', file.read()).group(1)) / 1e6))
            time.sleep(0.01)

    def during(self, begin, end):
        """Seconds without a CPU between the two times; the whole time, if unknown."""
        samples = list(self.samples)
        before = [total for when, total in samples if when <= begin]
        after = [total for when, total in samples if when >= end]
        return after[0] - before[-1] if before and after else end - begin


PRESSURE = Pressure()


def check_no_stall(world):
    """Stalls that the watchdog of builds with fault points has logged: over 50 ms more than the machine or a sanitizer explains."""
    stalls = []
    for line in log_lines(world, 'io_thread_stalled'):
        held, on_cpu = (int(ms) / 1000 for ms in re.match(r'held (\d+) ms, on the CPU (\d+) ms', line['detail']).groups())
        end = datetime.datetime.fromisoformat(line['ts'].replace('Z', '+00:00')).timestamp()
        no_cpu = PRESSURE.during(end - held, end)
        if held - on_cpu > 1 or held - on_cpu - no_cpu > 0.05:
            stalls.append(f'{line["detail"]}, {no_cpu * 1000:.0f} ms without a CPU')
    check(not stalls, f'stalls of I/O threads: {stalls}')


def asked(port, limit_s=WAIT_S / 4):
    """Seconds until a new client's /livez is answered."""
    began = time.monotonic()
    with socket.create_connection(('127.0.0.1', port), timeout=limit_s) as raw:
        raw.sendall(LIVEZ)
        try:
            answer = raw.recv(1000)
        except OSError as error:
            answer = str(error).encode()
    check(answer.startswith(b'HTTP/1.1 200 '), f'/livez meanwhile: {answer[:100]!r}')
    return time.monotonic() - began


def ends_in_time(world):
    """SIGTERM ends the process in spite of its peers."""
    world.server.terminate()
    wait_until('the process to end', world.dead, END_S)
    check_equal(world.server.returncode, 0, 'the exit code')


def nothing_is_read(settings):
    """Issue 16, number 1: pipelined GETs until the send buffer is full, then a request that expects 100 Continue."""
    with World(settings.bin, judged=False) as world:
        world.start_server('--drain-s', str(DRAIN_S))
        stop = threading.Event()

        def attack(number):
            while not stop.is_set():
                number += 1
                raw = stall_walk.connected(world.port, small_window=True)
                try:
                    raw.sendall(LIVEZ * (500 + number * 7 % 250))
                    for _ in range(100):
                        if stop.is_set():
                            break
                        raw.sendall(EXPECTS)
                        time.sleep(0.002)
                        raw.sendall(b'x')
                        time.sleep(0.001)
                except OSError:
                    pass   # Full on both sides: on to the next.
                held.append(raw)
                if len(held) > 300:
                    held.pop(0).close()
        held = []
        threads = [threading.Thread(target=attack, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        try:
            end = time.monotonic() + (20 if settings.everything else 6)
            slowest = 0
            while time.monotonic() < end:
                slowest = max(slowest, *(asked(world.port) for _ in range(4)))   # One for each thread.
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        check(slowest < WAIT_S / 10, f'the slowest /livez meanwhile took {slowest:.2f} s')
        check_no_stall(world)
        ends_in_time(world)
        for raw in held:
            raw.close()


def full_of_holders(settings):
    """Issue 16, number 6: 64 clients that hold connections and ask once a second do not lock out others."""
    with World(settings.bin, judged=False) as world:
        world.start_server('--connections-max', '64')
        holders, stop = [], threading.Event()

        def hold():
            while not stop.wait(1):
                for n, raw in enumerate(holders):
                    try:
                        raw.sendall(LIVEZ)
                        raw.settimeout(1)
                        if not raw.recv(1000):
                            raise OSError('closed')
                    except OSError:
                        raw.close()
                        try:
                            holders[n] = socket.create_connection(('127.0.0.1', world.port), timeout=1)
                        except OSError:
                            pass
        for _ in range(64):
            holders.append(socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S))
            holders[-1].sendall(LIVEZ)
            check(holders[-1].recv(1000).startswith(b'HTTP/1.1 200'), 'a holder is answered')
        thread = threading.Thread(target=hold)
        thread.start()
        try:
            for n in range(20):
                check(asked(world.port) < WAIT_S / 10, 'a new client is answered at once')
                check_equal(world.phone().book(f'newcomer-{n}').status, 201, 'a ride of a new client')
        finally:
            stop.set()
            thread.join()
        check_equal(len(log_lines(world, 'connections_full')), 1, 'lines of the log for all of them')
        for raw in holders:
            raw.close()
        check_no_stall(world)


def of_one_address(settings):
    """With a limit for each address, connections over it are closed, and other addresses are served."""
    with World(settings.bin, judged=False) as world:
        world.start_server('--connections-per-address-max', '8')
        held = []
        wait_until('the probes of the start to be closed', lambda: asked(world.port) > 0)
        for _ in range(40):
            held.append(socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S))
        held[-1].settimeout(WAIT_S)
        check_equal(held[-1].recv(100), b'', 'one connection too many')
        with socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S, source_address=('127.0.0.2', 0)) as other:
            other.sendall(LIVEZ)
            check(other.recv(1000).startswith(b'HTTP/1.1 200'), 'another address is served')
        check_equal(len(log_lines(world, 'connections_of_address')), 1, 'lines of the log')
        for raw in held:
            raw.close()


def descriptors_run_out(settings):
    """Issue 16, number 7: an idle connection is closed for a new client, and the log says why, once."""
    with World(settings.bin, judged=False) as world:
        world.start_server()
        soft, hard = resource.prlimit(world.server.pid, resource.RLIMIT_NOFILE)
        check_equal(soft, min(hard, max(soft, 2**20)), 'the soft limit, raised')
        used = len(os.listdir(f'/proc/{world.server.pid}/fd'))
        resource.prlimit(world.server.pid, resource.RLIMIT_NOFILE, (used + 30, hard))
        held = []
        for _ in range(60):
            held.append(socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S))
        failed = wait_until('a line of the log', lambda: log_lines(world, 'accept_failed'))
        check_equal(failed[0]['code'], 'PAWL0014', f'its code: {failed}')
        for _ in range(5):
            check(asked(world.port) < WAIT_S / 4, 'a new client is answered')
        check_equal(len(log_lines(world, 'accept_failed')), 1, 'lines of the log for all of them')
        for raw in held:
            raw.close()
        check(asked(world.port) < WAIT_S / 4, 'a new client is answered afterwards')


def few_descriptors(settings):
    """A low hard limit: fewer connections are served, as the log says."""
    with World(settings.bin, judged=False) as world:
        world.wrapper = ['prlimit', '--nofile=400:400']
        world.start_server()
        capped = log_lines(world, 'connections_capped')
        check_equal([(line['code'], line['detail']) for line in capped],
                    [('PAWL0014', 'the process may open 400 files: connections_max is 200 instead of 4096')], 'what the log says')
        held = [socket.create_connection(('127.0.0.1', world.port), timeout=WAIT_S) for _ in range(250)]
        check(asked(world.port) < WAIT_S / 4, 'a new client is answered')
        check_equal(world.phone().book('one').status, 201, 'a ride, with its call and its transactions')
        check_equal(log_lines(world, 'accept_failed'), [], 'failures to accept')
        for raw in held:
            raw.close()


def walked(bin_folder, seed, seconds, walkers=12):
    """Random walks over the states of a connection, with a new client meanwhile; returns a report."""
    with World(bin_folder, judged=False) as world:
        world.start_server('--write-timeout-ms', '1500', '--header-timeout-ms', '1000', '--idle-timeout-ms', '1500', '--body-grace-ms', '800',
                           '--connections-max', '300', '--drain-s', str(DRAIN_S))
        report = stall_walk.walk(world.port, seed, seconds, lambda: asked(world.port), walkers)
        check(not world.dead(), f'the server lives: {world.log()[-600:]}')
        check(report.slowest < WAIT_S / 10, f'the slowest /livez meanwhile: {report}')
        check_no_stall(world)
        check_equal(world.phone().book('after-all').status, 201, 'a ride at the end')
        ends_in_time(world)
        for word in ('Sanitizer', 'runtime error', 'assert'):
            check(word not in world.log(), f'{word} in the log: {world.log()[-600:]}')
        return report


def walks(settings):
    report = walked(settings.bin, settings.seed, 25 if settings.everything else 6)
    check(report.walks > 20, f'{report}')


def cases(settings):
    return [('stall: nothing is read, and 100 Continue is due', lambda: nothing_is_read(settings)),
            ('stall: all connections are held', lambda: full_of_holders(settings)),
            ('stall: too many connections of one address', lambda: of_one_address(settings)),
            ('stall: descriptors run out', lambda: descriptors_run_out(settings)),
            ('stall: few descriptors', lambda: few_descriptors(settings)),
            ('stall: random walks', lambda: walks(settings))]
