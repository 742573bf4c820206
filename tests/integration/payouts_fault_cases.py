"""Payouts under faults: kill -9 at every point, cut and late packets, full disks; and 10,000 payouts under kill -9 each second."""
import collections
import itertools
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import types

from disk_cases import SmallDisk
from packet_proxy import PacketProxy
from payouts_world import SLOW, PayoutsWorld
from phone import Phone
from world import World, check, check_equal, wait_paused, wait_until

SFTP_SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'bank')
DAYS_MAX = 4


def live(world, day):
    """Three payouts, their file, and the bank's report on them."""
    for i in range(3):
        check_equal(world.pay(f'{day}-{i}', 1000 + i).status, 201, 'a payout')
    world.cut_off()
    world.wait('the file', world.all_sent)
    booked = world.bank.take()
    check_equal(len(booked), 3, 'bookings of the day')
    world.bank.report(booked[:2], booked[2:])
    world.fetch()
    world.wait('the report', lambda: world.is_state('paid', 2 * (day + 1)) and world.is_state('returned', day + 1))


def reached(bin_folder):
    """How often a day reaches each fault point."""
    with PayoutsWorld(bin_folder) as world:
        log = os.path.join(world.folder, 'faults')
        world.start(fault_log=log)
        live(world, 0)
        world.stop()
        world.check_all(repeats=0)
        with open(log, encoding='utf-8') as file:
            points = collections.Counter(file.read().split('\n')[:-1])
        # On a busy machine a job may wait for its request, or a report for the one before it; a second day may have no such wait.
        return collections.Counter({point: hits for point, hits in points.items() if not point.startswith('queue.reschedule.')})


def every_point_of_sftp_is_reached(points):
    named = set()
    for name in os.listdir(SFTP_SOURCES):
        if name.endswith('.cpp'):
            with open(os.path.join(SFTP_SOURCES, name), encoding='utf-8') as file:
                named |= set(re.findall(r'PAWL_FAULT\("([^"]+)"\)', file.read()))
    check(len(named) > 3, f'the points in the sources: {named}')
    check_equal(named - set(points), set(), 'points of SFTP that no day reaches')


def killed_at(settings, point, hit):
    with PayoutsWorld(settings.bin) as world:
        world.faults = [f'{point}:{hit}:kill9', f'{point}:1:kill9']
        world.start()
        days = 0
        while world.deaths < 2 and days < DAYS_MAX:
            live(world, days)
            days += 1
        live(world, days)
        world.check_all(repeats=0)
        check_equal(world.deaths, 2, 'deaths')
        check_equal(world.count('bank_report_lines'), 3 * (days + 1), 'lines of reports')


# A file that the bank has refused is cancelled, and made again.

def refused(world):
    """Three payouts in a file that the bank refuses after all."""
    world.start()
    for i in range(3):
        world.pay(f'k-{i}', 1000 + i)
    world.bank.reject(world.send_all()[0].file)


def cancel(world, **environment):
    """Cancels file 1 by a program that may be killed; again, until it is cancelled."""
    done = world.run_command('files', 'cancel', '1', '--reason', 'refused', '--cut-off-now', **environment)
    check('PAWL_FAULT_AT' not in environment or done.returncode == -signal.SIGKILL, f'the command lives: {done.returncode}')
    while done.returncode != 0 and 'was cancelled' not in done.stderr:
        check_equal(done.returncode, -signal.SIGKILL, f'how the command ended: {done.stderr}')
        done = world.run_command('files', 'cancel', '1', '--reason', 'refused', '--cut-off-now')


def remade(world):
    world.wait('the new file', lambda: world.is_state('sent', 3) and world.all_out())
    world.check_all(repeats=0)   # Each payout is booked once, from a file that was not refused.
    live = world.store.rows("""SELECT m.payout_id, count(f.file_number) AS n FROM bank_file_moves AS m
                               LEFT JOIN bank_file_payouts AS f ON f.payout_id = m.payout_id AND f.file_number <> 1
                               GROUP BY m.payout_id""")
    check_equal([n for _, n in live], [1, 1, 1], 'live files of each payout')


def reached_by_cancel(bin_folder):
    """The points that the command reaches, and those of the server from then on."""
    with PayoutsWorld(bin_folder) as world:
        ours, servers = (os.path.join(world.folder, name) for name in ('command', 'server'))
        refused(world)
        world.stop()
        world.start(fault_log=servers)
        cancel(world, PAWL_FAULT_LOG=ours)
        remade(world)
        found = []
        for path in (ours, servers):
            with open(path, encoding='utf-8') as file:
                found.append(sorted(set(file.read().split('\n')[:-1])))
        return found


def cancelled_and_killed_at(settings, point, of_command):
    with PayoutsWorld(settings.bin) as world:
        refused(world)
        if of_command:
            cancel(world, PAWL_FAULT_AT=f'{point}:1:kill9')
        else:
            world.stop()
            world.faults = [f'{point}:1:kill9'] * 2
            world.start()
            cancel(world)
        remade(world)
        world.wait('the death of the server', lambda: of_command or world.deaths > 0)   # Some points come after the last commit.


# The way to the bank.

def cut_at_every_10th_packet(settings):
    """Each connection is cut ten packets later than the one before, until one gets through, while the bank takes what is there."""
    with PayoutsWorld(settings.bin) as world, PacketProxy(world.sftp.port) as proxy:
        world.sftp_port = proxy.port
        world.settings = world.settings | {'complete_after_ms': 100}
        world.start()
        for i in range(150):
            world.pay(f'k-{i}', 1000 + i)
        cuts = itertools.count(10, 10)
        proxy.plan = lambda: ('cut', next(cuts))
        world.cut_off()

        def sent():
            world.bank.take()
            world.run_command('keys', 'retry', '--all', '--reason', 'the line is bad')   # Not after the completer's waits.
            return world.all_sent()
        world.wait('the file', sent, 60)
        world.bank.take()
        check(proxy.cuts >= 10, f'only {proxy.cuts} cuts; packets of the connections: {proxy.packets}')
        booked = list(world.bank.booked.values())
        world.bank.report(booked)
        cuts = itertools.count(10, 10)
        world.fetch()
        world.wait('the report', lambda: world.is_state('paid', 150), 60)
        world.check_all(repeats=0)


def the_server_acts_late(settings):
    """Each own packet of an upload once reaches the server late, after its client has gone and has tried again: also the rename."""
    with PayoutsWorld(settings.bin) as world, PacketProxy(world.sftp.port) as proxy:
        world.sftp_port = proxy.port
        world.start()
        n = missed = 0
        while missed < 3:   # The upload had fewer packets: its last one is the rename.
            n, before = n + 1, proxy.late
            plans = iter([('late', n)])
            proxy.plan = lambda plans=plans: next(plans, None)
            world.pay(f'k-{n}')
            world.send_all()
            missed += proxy.late == before
        check(proxy.late > 10, f'only {proxy.late} late packets')
        proxy.wait_late()
        world.check_all(repeats=0, temporary_max=n)   # The server may create one late, after the upload's last try.
        check_equal(len(world.bank.files), n, 'files')


# Full disks.

class Disk:
    """A small file system outside of any world."""

    def __enter__(self):
        self.place = types.SimpleNamespace(folder=tempfile.mkdtemp(prefix='pawl-disk-'), server=None)
        os.chmod(self.place.folder, 0o755)
        self.disk = SmallDisk(self.place, mib=16)
        return self.disk

    def __exit__(self, *_):
        self.disk.__exit__()
        shutil.rmtree(self.place.folder, ignore_errors=True)


def the_banks_disk_is_full(settings):
    with Disk() as disk, PayoutsWorld(settings.bin, bank_folder=os.path.join(disk.path, 'bank')) as world:
        world.start()
        for i in range(50):
            world.pay(f'k-{i}')
        disk.fill()
        world.cut_off()
        wait_until('the failure in the log', lambda: 'perhaps its disk is full' in world.log())
        check_equal(world.bank.waiting(), [], 'files under their names')
        disk.free()
        world.wait('the file', world.all_sent)
        world.check_all(repeats=0)


def our_disk_is_full(settings):
    """Full when the bank has the file and we have not recorded that. The server is paused there, so that the disk can be filled."""
    with Disk() as disk, PayoutsWorld(settings.bin, data=disk.path) as world:
        world.faults = ['sftp.rename.after:1:stop']
        world.start()
        for i in range(3):
            world.pay(f'k-{i}')
        world.cut_off()
        wait_until('the file at the bank', world.bank.waiting)
        wait_paused(world.server, 'Payouts')
        # Else the record may go into the log's space that a checkpoint has freed.
        check_equal(world.store.rows('PRAGMA wal_checkpoint(TRUNCATE)')[0][0], 0, 'a busy checkpoint')
        disk.fill()
        world.server.send_signal(signal.SIGCONT)
        wait_until('no space for a payout', lambda: Phone(world.port, 'shop').send(
            'POST', '/payouts', {'amount': 1, 'currency': 'EUR', 'creditor_name': 'J', 'creditor_account': 'NO9386011117947'},
            key='full').status == 503)
        world.bank.take()
        check_equal(world.states(), {'in_file': 3}, 'the record')
        disk.free()
        world.wait('the record of it', world.all_sent)
        world.pay('full', 1, creditor_account='NO9386011117947', creditor_name='J', reference=None)
        world.send_all()
        world.check_all(repeats=0)


# The long run.

class Killer:
    """Kills the server each second, and starts it again."""

    def __init__(self, world):
        self.world, self.kills, self.going = world, 0, True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.going:
            time.sleep(1)
            self.world.kill()
            self.kills += 1
            self.world.start()


def ten_thousand(settings, count=10_000):
    with PayoutsWorld(settings.bin, payouts_max=500) as world:
        world.start()
        keys = iter(range(count))
        lock, began = threading.Lock(), time.monotonic()

        def shop():
            while True:
                with lock:
                    i = next(keys, None)
                if i is None:
                    return
                body = {'amount': 100 + i, 'currency': 'EUR', 'creditor_name': f'Jane {i}', 'creditor_account': 'NO9386011117947'}
                while True:
                    try:
                        answer = Phone(world.port, 'shop', timeout=5).send('POST', '/payouts', body, key=f'k-{i}')
                    except OSError:
                        time.sleep(0.05)
                        continue
                    if answer.status == 201:
                        world.keys[f'k-{i}'] = answer.json['id']
                        break
                    check(answer.status in (409, 500, 502, 503), f'{answer}')
                    time.sleep(0.02)

        def steer(path):
            try:
                Phone(world.port, 'ops', timeout=2).send('POST', path, {})
            except OSError:
                pass
        shops = [threading.Thread(target=shop) for _ in range(4)]
        for thread in shops:
            thread.start()
        killer = Killer(world)
        try:
            def done():
                steer('/cut-offs')
                booked = world.bank.take()
                if booked:
                    world.bank.report(booked)
                steer('/report-fetches')
                time.sleep(0.3)
                try:
                    return world.is_state('paid', count)
                except Exception:   # The database is starting, or its server was killed.
                    return False
            wait_until(f'{count} payouts to be paid', done, 900 * SLOW)
        finally:
            killer.going = False
            killer.thread.join()
        for thread in shops:
            thread.join()
        spent = time.monotonic() - began
        world.check_all()
        check_equal(len({one.file for one in world.bank.booked.values()}), len(world.bank.files), 'files with bookings')
        check_equal(world.count('bank_report_lines'), count, 'lines of reports')
        check_equal(world.count('bank_reports', "state <> 'imported'"), 0, 'reports that are not imported')
        jobs = world.log().count('"file_not_sent"')
        print(f'payouts: {count} in {spent:.0f} s on {World.database}, {killer.kills} kills, {len(world.bank.files)} files, '
              f'{world.bank.repeats} sent again after the bank took them, {world.bank.reports} reports, {jobs} failed sends', flush=True)


def cases(settings):
    points = reached(settings.bin)
    chosen = sorted(points)
    if settings.mode == 'sample':
        ours = [point for point in chosen if point.startswith('sftp.')]
        chosen = sorted({*settings.random.sample(ours, 3), *settings.random.sample(chosen, 3)})
    found = [('payouts: every fault point of SFTP is reached', lambda: every_point_of_sftp_is_reached(points))]
    for point in chosen:
        hits = range(1, points[point] + 1) if settings.mode == 'long' else [1]
        found += [(f'payouts: kill -9 at {point}, hit {hit} of {points[point]}, twice in a row',
                   lambda point=point, hit=hit: killed_at(settings, point, hit)) for hit in hits]
    command, server = reached_by_cancel(settings.bin)
    if settings.mode == 'sample':
        command, server = settings.random.sample(command, min(2, len(command))), settings.random.sample(server, 2)
    for points, of_command in ((command, True), (server, False)):
        found += [(f'right: payouts: a refused file is made again once, with kill -9 of the {"command" if of_command else "server"} at {point}',
                   lambda point=point, of_command=of_command: cancelled_and_killed_at(settings, point, of_command)) for point in points]
    faults = {'the connection is cut at every 10th packet': cut_at_every_10th_packet,
              'the server acts late on each packet': the_server_acts_late}
    if os.geteuid() == 0:   # To mount a small disk.
        faults["the bank's disk is full"] = the_banks_disk_is_full
        if World.database == 'sqlite':
            faults['our disk is full'] = our_disk_is_full
    if settings.mode == 'long':
        faults['10,000 under kill -9 each second'] = ten_thousand
    return found + [(f'payouts: {name}', lambda run=run: run(settings)) for name, run in faults.items()]
