"""Ten bad nights: each fault fires its alert in Debian's Prometheus within a minute, the log says it once, and one command settles it."""
import concurrent.futures
import contextlib
import json
import os
import time

from disk_cases import SmallDisk
from kill_cases import QUICK, SLOW
from never_cases import ONCE
from operator_cases import Operated
from prometheus import Prometheus
from stores import Cluster
from world import World, check, check_equal, wait_until

WITHIN_S = 60 * SLOW


class Night(Operated):
    """A server with its operator's listener, watched by Prometheus with the rules of deploy/."""

    def __init__(self, settings, *options, base=QUICK, **world):
        super().__init__(settings, *options, base=base, **world)
        self.watch = None

    def watched(self):
        self.watch = self.stack.enter_context(Prometheus({'pawl-rides': [f'127.0.0.1:{self.port}']}))
        wait_until('the first scrape', lambda: self.watch.query('up == 1'))
        check_equal(set(self.watch.alerts()), set(), 'alerts on a good evening')

    def fires(self, name):
        began = time.monotonic()
        wait_until(name, lambda: name in self.watch.alerts(), WITHIN_S)
        print(f'    {name} after {time.monotonic() - began:.0f} s', flush=True)

    def ends(self, name):
        wait_until(f'the end of {name}', lambda: name not in self.watch.alerts(), 120 * SLOW)

    def command(self, *words):
        return self.world.rides_command(*words, '--database', self.world.url).stdout

    def lines(self, event):
        return [json.loads(line) for line in self.events(event)]


def a_request_in_doubt(settings):
    with Night(settings, base=[*ONCE, '--rider', 'test_doubt 500@example.com']) as night:
        night.start()
        night.watched()
        night.world.phone('test_doubt').book('k')
        night.fires('PawlAttention')
        (line,) = night.lines('attention_added')
        check_equal((line['level'], line['operation'], line['reason']), ('error', 'book_ride', 'in-doubt'), 'the log')
        night.command('keys', 'settle', str(line['key_id']), '--as', 'give-up', '--note', 'asked the bank', '--by', 'ann')
        night.ends('PawlAttention')


def dead_jobs(settings):
    with Night(settings, base=[*without(QUICK, '--retry-after-ms'), '--retry-after-ms', '100']) as night:
        night.start()
        night.watched()
        check_equal(night.world.phone('test_refused').booked('k').status, 201, 'a ride')
        night.fires('PawlDeadJobs')
        (line,) = night.lines('job_dead')
        check_equal((line['level'], line['kind']), ('error', 'send_receipt'), 'the log')
        night.command('dlq', 'purge', '--all', '--reason', 'the mail server was down', '--by', 'ann')
        night.ends('PawlDeadJobs')


def without(options, name):
    at = options.index(name)
    return options[:at] + options[at + 2:]


def provider_is_down(settings):
    with Night(settings) as night:
        night.start()
        night.watched()
        night.world.kill_provider()
        for i in range(8):
            night.world.phone().book(f'k-{i}')
        night.fires('PawlCallsFail')
        night.fires('PawlProviderDown')
        check(len(night.lines('provider_down')) <= 1, 'one line for one outage')
        night.world.start_provider()
        night.world.settle(60)  # Tries of an outage this long are further apart.
        night.ends('PawlCallsFail')
        night.ends('PawlProviderDown')
        check_equal(len(night.lines('provider_up')), len(night.lines('provider_down')), 'and one for its end')


def provider_is_slow(settings):
    with Night(settings, provider_options=['--delay-ms', '6000']) as night:
        night.start()
        night.watched()
        with contextlib.ExitStack() as riders:
            book_many(night, riders, 40, rides=4)
            night.fires('PawlProviderSlow')


def book_many(night, stack, riders, rides):
    """One after the other by each rider: Prometheus sees no increase if all calls end at once."""
    pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(riders))
    for i in range(riders * rides):
        pool.submit(night.world.phone(timeout=30 * SLOW).book, f'slow-{i}')


def database_is_away(settings):
    with Cluster('--durable') as cluster, Night(settings, cluster=cluster) as night:
        night.start()
        night.watched()
        cluster.stop_at_once()
        night.fires('PawlStoreDown')
        cluster.start()
        night.ends('PawlStoreDown')
        check_equal((len(night.lines('store_down')), len(night.lines('store_up'))), (1, 1), 'the log')


def disk_is_full(settings):
    with Night(settings) as night, SmallDisk(night.world, mib=64) as disk:
        night.start()
        night.watched()
        disk.fill()
        night.fires('PawlDiskNearlyFull')
        check('disk' in night.failed_checks(), '/readyz')
        disk.free()
        night.ends('PawlDiskNearlyFull')


def stranded_keys(settings):
    """A deploy went back to a binary that does not know a point."""
    with Night(settings) as night:
        night.start()
        night.watched()
        night.world.kill_provider()
        night.world.phone().book('k')
        night.world.change("UPDATE pawl_idempotency_keys SET recovery_point = 'moon_checked' WHERE idempotency_key = 'k'")
        night.fires('PawlKeysStranded')
        night.world.change("UPDATE pawl_idempotency_keys SET recovery_point = 'ride_created' WHERE idempotency_key = 'k'")
        night.world.start_provider()
        night.world.settle()
        night.ends('PawlKeysStranded')


def queue_is_away(settings):
    with Night(settings, queue='redis') as night:
        night.start()
        night.watched()
        night.world.queue.go_away()
        check_equal(night.world.phone().booked('k').status, 201, 'a ride')
        night.fires('PawlStagedJobsLate')
        night.world.queue.come_back()
        night.ends('PawlStagedJobsLate')


def server_is_gone(settings):
    with Night(settings) as night:
        night.start()
        night.watched()
        night.world.kill_server()
        night.fires('PawlServerGone')
        night.start()
        night.ends('PawlServerGone')


def a_stuck_request(settings):
    """The phase after the charge throws, each time."""
    with Night(settings) as night:
        night.start()
        night.watched()
        night.world.store.break_table('pawl_jobs', 'INSERT', 'a bug')
        night.world.phone().book('k')
        night.fires('PawlKeysStuck')
        check(night.lines('key_stuck'), 'the log')
        night.world.store.mend_table()
        (row,) = night.world.rows('SELECT id FROM pawl_idempotency_keys')
        night.command('keys', 'retry', str(row[0]), '--by', 'ann')
        night.world.settle()
        night.ends('PawlKeysStuck')


def cases(settings):
    if settings.mode == 'sample' or not settings.everything:
        return []
    found = {
        'a request in doubt': a_request_in_doubt, 'dead jobs': dead_jobs, 'the provider is down': provider_is_down,
        'the provider is slow': provider_is_slow, 'stranded keys': stranded_keys, 'the queue is away': queue_is_away,
        'a server is gone': server_is_gone, 'a stuck request': a_stuck_request}
    if World.database == 'postgres':
        found = {'the database is away': database_is_away}   # The others do not depend on the database.
    elif os.geteuid() == 0:
        found['the disk is full'] = disk_is_full
    return [(f'night: {name}', lambda run=run: run(settings)) for name, run in found.items()]
