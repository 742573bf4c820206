"""slowhttptest against the server: slow headers, bodies, reads and many ranges, while others book rides."""
import csv
import json
import statistics
import subprocess
import threading
import time

from world import WAIT_S, World, check, check_equal

DATABASES = ('sqlite',)   # The database does not matter here.
CONNECTIONS = 300
# The shortest limit of a slow client, the grace of a body: a rider who waited for one would take longer. Half of all rides take
# a tenth of that, on any machine.
SERVED_WITHIN_S = WAIT_S / 4
# slowhttptest has no option for custom headers, but copies its other options verbatim, line ends included.
LOGIN = 'x\r\nAuthorization: Bearer test_jane'
COMMON = ['-c', str(CONNECTIONS), '-r', str(CONNECTIONS), '-p', '5', '-g']
# Name: its options; its duration; when the server has closed all slow connections (src/http/listener.hpp).
SLOW = {
    'headers': (['-H', '-i', '1', '-x', '24', '-t', 'GET'], 16, 10 + 3),
    # Below 1,024 bytes a second, after 5 s of grace.
    'bodies': (['-B', '-i', '1', '-s', '8192', '-x', '10', '-j', LOGIN], 12, 5 + 3),
    'ranges': (['-R', '-t', 'GET', '-a', '5', '-b', '2000', '-j', LOGIN], 5, None),
    # An answer of 25 KiB, ten times, the most that slowhttptest requests. The kernel buffers that, so no connection is closed
    # before the idle time-out of 60 s. A client with more unread bytes is closed after 30 s (listener_test.cpp).
    'reads': (['-X', '-k', '10', '-n', '5', '-w', '10', '-y', '64', '-z', '5', '-t', 'GET', '-j', LOGIN], 12, None),
}
# The statuses of slow requests.
TOLD = {'headers': 408, 'bodies': 408, 'ranges': 200, 'reads': 200}


def table_of(path):
    """The report of slowhttptest: a row for each second, with the numbers by column."""
    with open(path, newline='', encoding='utf-8') as file:
        return [{name.strip(): int(value) for name, value in row.items() if name} for row in csv.DictReader(file)]


class Riders:
    """Riders who book without a pause; records each answer and its time."""

    def __init__(self, world):
        self.world, self.over, self.took, self.wrong = world, threading.Event(), [], []
        self.threads = [threading.Thread(target=self.book, args=(n,)) for n in range(4)]

    def book(self, n):
        number = 0
        while not self.over.wait(0.05):
            began = time.monotonic()
            try:
                answer = self.world.phone().book(f'rider-{n}-{number}')
                if answer.status != 201:
                    self.wrong.append(str(answer))
            except OSError as error:
                self.wrong.append(str(error))
            self.took.append(time.monotonic() - began)
            number += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def others_are_served(settings, how):
    options, seconds, cut_off = SLOW[how]
    with World(settings.bin) as world:
        # The slow requests are of the riders' account, and come at once: it is their connections that are looked at.
        world.start_server('--access-log', f'{world.folder}/access', '--account-in-flight', '0', '--tenant-in-flight', '0')
        for n in range(100 if how == 'reads' else 1):
            check_equal(world.phone().booked(f'before-{n}').status, 201, 'a ride')
        target = f'http://127.0.0.1:{world.port}/rides' + ('?limit=100' if how == 'reads' else '')
        report = f'{world.folder}/report'
        with Riders(world) as riders:
            done = subprocess.run(['slowhttptest', *options, *COMMON, '-l', str(seconds), '-u', target, '-o', report],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + WAIT_S, check=False)
        rows = table_of(report + '.csv')
        check(rows, f'slowhttptest has a report: {done.stdout[-300:]} {done.stderr[-300:]}')
        check_equal(riders.wrong, [], 'rides that were not booked')
        check(len(riders.took) > 2 * len(rows), f'rides booked in {len(rows)} s: {len(riders.took)}')
        middle = statistics.median(riders.took)
        check(middle < SERVED_WITHIN_S / 10, f'half took more than {middle:.2f} s, the limit is {SERVED_WITHIN_S / 10} s')
        check(max(riders.took) < SERVED_WITHIN_S, f'the slowest took {max(riders.took):.2f} s, the limit is {SERVED_WITHIN_S} s')
        check_equal([row for row in rows if not row['Service Available']], [], 'seconds without service')
        most = max(row['Connected'] for row in rows)
        if cut_off:
            check(most > CONNECTIONS / 2, f'it held {most} connections at once')
            late = [row for row in rows if row['Seconds'] > cut_off and row['Connected'] > 0]
            check(not late, f'after {cut_off} s the slow ones must be closed: {late[:1]}')
        world.settle()
        check_equal(len(world.ledger()), world.count('rides'), 'charges')
        check_equal(world.stop_server(), 0, 'the exit code')
        with open(f'{world.folder}/access', encoding='utf-8') as file:
            statuses = [json.loads(line)['status'] for line in file]
        asked = statuses.count(TOLD[how])
        check(asked >= CONNECTIONS / 2, f'slow requests that ended in {TOLD[how]}: {asked}')


def cases(settings):
    # Its package comes only with `tools/install full`.
    return [(f'slow: {how}, others are served', lambda how=how: others_are_served(settings, how))
            for how in SLOW if settings.everything]
