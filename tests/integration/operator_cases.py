"""The operator's listener (--operate): probes over the life of a server, and metrics that count what clients saw."""
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from disk_cases import SmallDisk
from kill_cases import QUICK, SLOW
from phone import Phone
from ports import free_port
from stores import Cluster
from world import World, check, check_equal, wait_until

SOON_S = 5 * SLOW
LATE_S = 100 * SLOW   # The thread of the gauges waits up to a minute if Kafka makes it wait.
OPEN_METRICS = {'Accept': 'application/openmetrics-text;version=1.0.0'}
SERIES = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Operated:
    """A world whose server has an operator's listener."""

    def __init__(self, settings, *options, base=QUICK, **world):
        self.port, self.options = free_port(), options
        self.stack = contextlib.ExitStack()
        self.world = self.stack.enter_context(World(settings.bin, base, **world))

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return self.stack.__exit__(*what)

    def start(self, *more):
        check(self.world.start_server('--operate', f'127.0.0.1:{self.port}', *self.options, *more), self.world.log()[-600:])
        wait_until('the start', lambda: self.get('/startupz').status == 200)

    def get(self, path, headers=None, timeout=SOON_S):
        return Phone(self.port, timeout=timeout).send('GET', path, headers=headers)

    def ready(self):
        return self.get('/readyz').status == 200

    def failed_checks(self):
        return [check['name'] for check in self.get('/readyz').json['checks'] if not check['ok']]

    def metrics(self):
        """{(name, ((label, value), ...)): value}"""
        found = {}
        for line in self.get('/metrics').body.decode().splitlines():
            series = SERIES.match(line)
            if series:
                found[series[1], tuple(sorted(LABEL.findall(series[2] or '')))] = float(series[3])
        return found

    def value(self, name, **labels):
        """The sum of the series that have these labels."""
        wanted = set(labels.items())
        return sum(value for (one, has), value in self.metrics().items() if one == name and wanted <= set(has))

    def events(self, event):
        return [line for line in self.world.log().splitlines() if f'"event":"{event}"' in line]


def a_life(settings):
    """Ready after the start; after SIGTERM not ready, but serving for the delay; then gone, in order."""
    with Operated(settings, '--pre-stop-delay-s', '2') as one:
        one.start()
        check(one.ready(), one.get('/readyz').body)
        check_equal(one.get('/livez').body, b'ok\n', '/livez')
        check(one.get('/version').json['version'], 'a version')
        one.world.server.send_signal(signal.SIGTERM)
        began = time.monotonic()
        wait_until('no readiness', lambda: not one.ready())
        check_equal(one.failed_checks(), ['serving'], 'why')
        check_equal(one.world.phone().book('late').status, 201, 'a ride during the delay')
        check(not one.world.dead(), 'it ended before its delay')
        check_equal(one.world.server.wait(30 * SLOW), 0, 'the exit code')
        check(time.monotonic() - began >= 2, 'the delay was cut')


def a_second_signal(settings):
    with Operated(settings, '--pre-stop-delay-s', '60') as one:
        one.start()
        one.world.server.send_signal(signal.SIGTERM)
        wait_until('no readiness', lambda: not one.ready())
        one.world.server.send_signal(signal.SIGTERM)
        check_equal(one.world.server.wait(30 * SLOW), 0, 'the exit code')


def requests_are_counted(settings):
    with Operated(settings) as one:
        one.start()
        phone = one.world.phone()
        check_equal(phone.booked('k').status, 201, 'a ride')
        check_equal(phone.book('k').status, 201, 'its repeat')
        check_equal(phone.book('k', origin_lat=1).status, 422, 'another request')
        check_equal(one.world.phone('test_poor').book('poor').status, 402, 'a declined card')
        one.world.settle()
        wanted = {'completed': 2, 'replayed': 1, 'key-reused': 1}
        check_equal({outcome: one.value('pawl_requests_total', operation='book_ride', outcome=outcome) for outcome in wanted},
                    wanted, 'requests by outcome')
        check_equal(one.value('pawl_call_duration_seconds_count', operation='book_ride', result='answered', point='ride_created')
                    + one.value('pawl_call_duration_seconds_count', operation='book_ride', point='started'), 2, 'calls')
        check_equal(one.value('http_server_request_duration_seconds_count', http_route='/rides',
                              http_response_status_code='201'), 2, '201')
        wait_until('the receipt', lambda: one.value('pawl_jobs_total', kind='send_receipt', result='done') == 1)
        one.world.kill_provider()
        check_equal(phone.book('down').status, 503, 'a ride without the provider')
        check(one.value('pawl_call_duration_seconds_count', result='not_made') + one.value(
            'pawl_call_duration_seconds_count', result='in_doubt') > 0, 'a failed call')
        wait_until('the open key', lambda: one.value('pawl_keys_open') == 1)


def formats_are_valid(settings):
    """By Prometheus' own tool, and with the end that OpenMetrics asks for."""
    promtool = shutil.which('promtool')
    if not settings.everything and not promtool:
        print('skipped: operator: promtool is installed for ./test --full only', flush=True)
        return
    with Operated(settings) as one:
        one.start()
        check_equal(one.world.phone().booked('k').status, 201, 'a ride')
        one.world.settle()
        wait_until('what the database holds', lambda: one.value('pawl_servers') == 1)
        text = one.get('/metrics')
        check(text.headers['content-type'].startswith('text/plain; version=0.0.4'), text.headers)
        done = subprocess.run([promtool, 'check', 'metrics'], input=text.body, capture_output=True, check=False)
        check_equal((done.returncode, done.stdout + done.stderr), (0, b''), 'promtool check metrics')
        opened = one.get('/metrics', OPEN_METRICS)
        check(opened.headers['content-type'].startswith('application/openmetrics-text'), opened.headers)
        check(opened.body.endswith(b'# EOF\n'), opened.body[-80:])


def the_disk_is_full(settings):
    with Operated(settings) as one, SmallDisk(one.world, mib=64) as disk:
        one.start()
        check(one.ready(), one.get('/readyz').body)
        disk.fill()
        wait_until('no readiness', lambda: not one.ready(), SOON_S)
        check('disk' in one.failed_checks(), one.get('/readyz').body)
        check_equal(one.get('/livez').status, 200, '/livez')
        check(one.value('pawl_ready') == 0 and one.value('pawl_disk_free_bytes') < 16 * 1024 * 1024, 'metrics')
        disk.free()
        wait_until('readiness', one.ready, SOON_S)


def the_database_is_away(settings):
    with Cluster('--durable') as cluster, Operated(settings, cluster=cluster) as one:
        one.start()
        check(one.ready(), one.get('/readyz').body)
        cluster.stop_at_once()
        wait_until('no readiness', lambda: not one.ready(), SOON_S)
        check_equal(one.failed_checks(), ['store'], 'why')
        check_equal((one.value('pawl_store_up'), one.value('pawl_ready')), (0, 0), 'metrics')
        cluster.start()
        wait_until('readiness', one.ready, 20 * SLOW)
        check_equal((len(one.events('store_down')), len(one.events('store_up'))), (1, 1), 'lines of the log for one outage')
        answer = one.world.phone().book('k')
        check_equal(answer.status, 201, f'a ride; the log: {one.world.log()[-900:]}')


def clients_take_everything(settings):
    """A slow provider, and more riders and idle connections than the public listener has: the operator's still answers."""
    with Operated(settings, '--connections-max', '64', provider_options=['--delay-ms', '3000'], judged=False) as one:
        one.start()
        waiting = [threading.Thread(target=lambda i=i: book_or_not(one.world, f'k-{i}')) for i in range(100)]
        for thread in waiting:
            thread.start()
        slowest = 0
        for _ in range(20):
            began = time.monotonic()
            check_equal(one.get('/metrics').status, 200, '/metrics')
            check_equal(one.get('/livez').status, 200, '/livez')
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.05)
        for thread in waiting:
            thread.join()
        check(slowest < SOON_S, f'{slowest:.1f} s for both')


def book_or_not(world, key):
    with contextlib.suppress(OSError):
        world.phone().book(key)


def dead_letters_outside(settings, queue):
    """They are counted where they are. While nobody can count them there is no series, and a scrape is as fast as ever."""
    with Operated(settings, queue=queue) as one:
        one.start()
        dead = lambda: [value for (name, _), value in one.metrics().items() if name == 'pawl_dead_jobs']
        check_equal(one.world.phone('test_refused').booked('k').status, 201, 'a ride')
        wait_until('the dead letter', lambda: sum(dead()) == 1, LATE_S)
        check_equal(one.world.count('pawl_dead_jobs'), 0, 'dead letters in the database')
        one.world.queue.go_away()
        wait_until('no series', lambda: not dead(), LATE_S)
        began = time.monotonic()
        one.metrics()
        check(time.monotonic() - began < SOON_S, 'a scrape waits for the queue')
        one.world.queue.come_back()
        wait_until('the dead letter again', lambda: sum(dead()) == 1, LATE_S)
        one.world.rides_command('dlq', 'purge', '--all', '--reason', 'a test', '--database', one.world.url, *one.world.queue.options)
        wait_until('none', lambda: dead() == [0], LATE_S)


def it_is_off_by_default(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        for path in ('/metrics', '/readyz', '/version'):
            check(Phone(world.port).get(path).status in (401, 404), f'{path} on the public listener')


def the_address_is_taken(settings):
    with Operated(settings) as one:
        one.port = one.world.stripe   # The stand-in's.
        one.world.start_server('--operate', f'127.0.0.1:{one.port}', wait=False)
        check_equal(one.world.server.wait(20 * SLOW), 1, 'the exit code')
        check(f'127.0.0.1:{one.port}' in one.world.log(), one.world.log()[-300:])


def cases(settings):
    found = {
        'probes over the life of a server': a_life, 'a second signal ends the delay': a_second_signal,
        'requests, calls and jobs are counted': requests_are_counted, 'both formats are valid': formats_are_valid,
        'clients take everything': clients_take_everything, 'it is off by default': it_is_off_by_default,
        'its address is taken': the_address_is_taken}
    for queue in ('redis', 'kafka'):
        found[f'dead letters in {queue}'] = functools.partial(dead_letters_outside, queue=queue)
    if World.database == 'postgres':
        found['the database is away'] = the_database_is_away
    elif os.geteuid() == 0:
        found['the disk is full'] = the_disk_is_full
    return [(f'operator: {name}', lambda run=run: run(settings)) for name, run in found.items()]
