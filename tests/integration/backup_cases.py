"""A backup is restored: the restore is noticed, no card is charged twice, and `reconcile` shows the lost rides (docs/howto/backup.md).

Issue 16, number 4: with PostgreSQL restored to an hour ago and calls that are never repeated, the requests since then were
charged again without a warning; with keys on SQLite all of them went to the attention list.
"""
import contextlib
import datetime
import glob
import json
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import time

import stores
from kill_cases import QUICK
from world import World, check, check_equal, wait_until

LOST = 3


class SqliteBackup:
    """By SQLite's online backup or VACUUM INTO, as docs/howto/backup.md says."""

    def __init__(self, how):
        self.how = how

    def world(self, settings, options):
        return World(settings.bin, QUICK + options, judged=False)

    def take(self, world):
        with contextlib.closing(sqlite3.connect(world.store.path)) as source:
            if self.how == 'VACUUM INTO':
                source.execute(f"VACUUM INTO '{world.folder}/backup.db'")
                return
            with contextlib.closing(sqlite3.connect(f'{world.folder}/backup.db')) as target:
                source.backup(target)

    def restore(self, world):
        for ending in ('', '-wal', '-shm'):
            with contextlib.suppress(FileNotFoundError):
                os.rename(world.store.path + ending, world.store.path + ending + '.lost')
        shutil.copy(f'{world.folder}/backup.db', world.store.path)

    def mark_file(self, world):
        return world.store.path + '.mark'

    def close(self):
        pass


class PostgresBackup:
    """A base backup and the WAL archive; restored to a point in time."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='pawl-pitr-')
        self.archive = os.path.join(self.folder, 'archive')
        os.mkdir(self.archive)
        os.chmod(self.folder, 0o755)
        self.own(self.archive)
        self.cluster = self.target = None
        self.bin = os.path.dirname(sorted(glob.glob('/usr/lib/postgresql/*/bin/postgres'))[-1])

    @staticmethod
    def own(path):
        if os.geteuid() == 0:
            owner = pwd.getpwnam('postgres')
            for at, folders, files in os.walk(path):
                for name in ['.', *folders, *files]:
                    os.chown(os.path.join(at, name), owner.pw_uid, owner.pw_gid)

    def world(self, settings, options):
        new = f'{self.archive}/%f'   # Appears only when complete: a restore must not read a partial file.
        archive = f'archive_command=test ! -f {new} && cp %p {new}.new && mv {new}.new {new}'
        self.cluster = stores.Cluster('--set', 'archive_mode=on', '--set', archive, '--set', 'wal_level=replica')
        self.cluster.start()
        world = World(settings.bin, QUICK + options, cluster=self.cluster, judged=False)
        world.options += ['--mark-file', self.mark_file(world)]
        return world

    def take(self, world):
        """The base backup exists already; this records the time to recover to."""
        self.target = world.rows("SELECT now()::text AS now")[0][0]
        time.sleep(0.01)

    def take_base(self):
        subprocess.run([f'{self.bin}/pg_basebackup', '-h', '127.0.0.1', '-p', str(self.cluster.port), '-U', 'pawl', '-D',
                        f'{self.folder}/new/data', '-X', 'stream', '-c', 'fast'], check=True, capture_output=True, cwd='/')

    def restore(self, world):
        segment = world.rows('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')[0][0]
        world.rows('SELECT pg_switch_wal()::text AS at')
        wait_until('the log to be archived', lambda: os.path.exists(f'{self.archive}/{segment}'))
        lost, port = self.cluster, self.cluster.port
        lost.stop_at_once()
        data = f'{self.folder}/new/data'
        with open(f'{data}/postgresql.auto.conf', 'a', encoding='ascii') as file:
            file.write(f"restore_command = 'cp {self.archive}/%f %p'\nrecovery_target_time = '{self.target}'\n"
                       "recovery_target_action = 'promote'\n")
        open(f'{data}/recovery.signal', 'w', encoding='ascii').close()
        self.own(f'{self.folder}/new')
        os.chmod(data, 0o700)
        self.cluster = stores.Cluster()
        shutil.rmtree(self.cluster.folder)
        self.cluster.folder, self.cluster.port = f'{self.folder}/new', port
        try:
            self.cluster.start()
        except subprocess.CalledProcessError as error:
            with open(self.cluster.folder + '.log', encoding='utf-8') as log:
                raise RuntimeError(f'the restored server does not start: {log.read()[-2000:]}') from error
        world.store.cluster = self.cluster
        wait_until('the promotion', lambda: not world.rows('SELECT pg_is_in_recovery() AS recovers')[0][0])
        shutil.rmtree(lost.folder, ignore_errors=True)

    def mark_file(self, world):
        return os.path.join(world.folder, 'mark')

    def close(self):
        if self.cluster:
            self.cluster.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)


def mark_of(backup, world):
    with open(backup.mark_file(world), encoding='utf-8') as file:
        return json.load(file)


def reconciled(world, all_match):
    """The result of `rides reconcile`; its exit code says whether all match."""
    done = world.rides_command('reconcile', '--json', '--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}',
                               check_status=0 if all_match else 1)
    found = json.loads(done.stdout)
    return found['matched'], found['differs'], found['only_theirs'], found['only_ours'], found['charges']


@contextlib.contextmanager
def lost_requests(settings, backup, options, stop):
    """Books rides, takes a backup, books more, and restores the backup: (world, the lost answers)."""
    try:
        with backup.world(settings, options) as world:
            world.start_server()
            if hasattr(backup, 'take_base'):
                backup.take_base()
            for i in range(3):
                check_equal(world.phone().booked(f'kept-{i}').status, 201, 'a ride')
            backup.take(world)
            lost = [world.phone().book(f'lost-{i}') for i in range(LOST)]
            check_equal([answer.status for answer in lost], [201] * LOST, 'rides that are lost')
            check_equal(reconciled(world, True)[:4], (3 + LOST, 0, 0, 0), 'reconciled before')
            stop(world, backup)
            backup.restore(world)
            yield world, lost
    finally:
        backup.close()


def cleanly(world, _):
    check_equal(world.stop_server(), 0, 'the exit code')


def marked(world, backup):
    """The mark is at most a second behind; requests after it are lost unnoticed."""
    wait_until('the mark', lambda: mark_of(backup, world)['calls'] == 3 + LOST)


def killed(world, backup):
    marked(world, backup)
    world.kill_server()


def epochs(world):
    return world.count('pawl_epochs')


def noticed(world):
    check(world.start_server(), f'it starts: {world.log()[-400:]}')
    check('"code":"PAWL0017"' in world.log(), 'it is noticed')
    check_equal(epochs(world), 1, 'epochs')
    check_equal(world.count('rides'), 3, 'rides of the backup')
    check_equal(world.count('pawl_audit_log', "action = 'restored'"), 1, 'in the audit log')


def keyed(settings, backup, stop=cleanly):
    with lost_requests(settings, backup, [], stop) as (world, lost):
        noticed(world)
        matched, _, theirs, _, charges = reconciled(world, False)
        check_equal((matched, theirs), (3, LOST), 'matched, theirs alone')
        for i, answer in enumerate(lost):
            again = world.phone().book(f'lost-{i}')
            check_equal((again.status, again.json['charge']), (201, answer.json['charge']), 'the same charge')
        check_equal(world.phone().book('kept-1').replayed, True, 'a request in the backup is replayed')
        check_equal(len(world.ledger()), 3 + LOST, 'charges')
        check_equal(world.phone().book('new').status, 201, 'a new request')
        check_equal(reconciled(world, True)[:4], (4 + LOST, 0, 0, 0), 'reconciled')
        check_equal(world.stop_server(), 0, 'the exit code')
        check(world.start_server(), 'it starts again')
        check_equal(epochs(world), 1, 'one restore, one epoch')


def never(settings, backup, stop=cleanly):
    with lost_requests(settings, backup, ['--charge-once', '--settle-after-s', '0'], stop) as (world, lost):
        noticed(world)
        for i in range(LOST):
            again = world.phone().book(f'lost-{i}')
            check_equal((again.status, again.type), (502, 'needs-attention'), 'on the attention list')
        check_equal(len(world.ledger()), 3 + LOST, 'charges')
        check_equal(world.rows('SELECT DISTINCT reason FROM pawl_attention'), [('restored',)], 'the reason')
        matched, _, theirs, _, charges = reconciled(world, False)
        check_equal((matched, theirs), (3, LOST), 'matched, theirs alone')
        alone = [one for one in charges if one['status'] == 'only-theirs']
        check_equal({one['key_status'] for one in alone}, {'attention'}, 'they are on the attention list')
        for one in alone:
            world.rides_command('attention', 'settle', str(one['key_id']), '--as', 'happened', '--result', 'Charge', '--value',
                                json.dumps({'id': one['charge']}), '--note', 'reconciled', '--database', world.url)
        wait_until('all to be settled', lambda: world.unsettled() == 0)
        for i, answer in enumerate(lost):
            again = world.phone().book(f'lost-{i}')
            check_equal((again.status, again.json['charge']), (201, answer.json['charge']), 'the charge that was made')
        check_equal(reconciled(world, True)[:4], (3 + LOST, 0, 0, 0), 'reconciled')


def said(settings, backup):
    """Without a mark an operator records the restore; after the provider's memory a keyed call is not repeated either."""
    with lost_requests(settings, backup, [], cleanly) as (world, _):
        os.remove(backup.mark_file(world))
        day_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=21)
        as_of = day_ago.strftime('%Y-%m-%dT%H:%M:%SZ')
        for wrong, status in ((['--as-of', 'yesterday'], 2), (['--as-of', '2999-01-01T00:00:00Z'], 1),
                              (['--as-of', as_of, '--lost-until', '2001-01-01T00:00:00Z'], 2)):
            done = world.rides_command('restored', *wrong, '--note', 'x', '--database', world.url, check_status=status)
            check(wrong[-2] in done.stderr, f'the option is named: {done.stderr}')
        world.pawl_command('restored', '--as-of', as_of, '--note', 'the disk failed', '--by', 'ann', '--repeats-for-h', '1')
        check_equal(world.rows('SELECT opened_by, detail FROM pawl_epochs'), [('ann', 'the disk failed')], 'the epoch')
        check(world.start_server(), 'it starts')
        check('PAWL0017' not in world.log(), 'the restore is already known')
        check_equal(world.phone().book('lost-0').status, 502, 'the provider may have forgotten it')
        check_equal(world.rows('SELECT reason FROM pawl_attention'), [('restored',)], 'the reason')
        check_equal(len(world.ledger()), 3 + LOST, 'charges')


def another_database(settings):
    """A server refuses an empty database beside the mark of a lost one."""
    with World(settings.bin, QUICK, judged=False) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        check_equal(world.stop_server(), 0, 'the exit code')
        os.remove(world.store.path)
        check(not world.start_server(), 'the start is refused')
        check('PAWL0017' in world.log() and 'rides.db.mark' in world.log(), f'with its code: {world.log()[-400:]}')
        os.remove(world.store.path + '.mark')
        check(world.start_server(), 'without the mark it starts')


def restored_under_servers(settings, backup):
    """PostgreSQL is restored while the server keeps running."""
    with lost_requests(settings, backup, ['--charge-once'], marked) as (world, _):
        wait_until('it to be noticed', lambda: '"code":"PAWL0017"' in world.log())
        # From the log on: the engine learned of the epoch a moment after it, and made a second charge.
        check_equal(world.phone().book('lost-0').status, 502, 'on the attention list')
        check_equal(len(world.ledger()), 3 + LOST, 'charges')


def cases(settings):
    if World.database == 'postgres':
        yield 'backup: PITR, keyed calls', lambda: keyed(settings, PostgresBackup())
        yield 'backup: PITR, calls that are never repeated', lambda: never(settings, PostgresBackup())
        yield 'backup: PITR under a running server', lambda: restored_under_servers(settings, PostgresBackup())
        return
    yield 'backup: .backup, keyed calls', lambda: keyed(settings, SqliteBackup('.backup'))
    yield 'backup: VACUUM INTO, keyed calls, after kill -9', lambda: keyed(settings, SqliteBackup('VACUUM INTO'), killed)
    yield 'backup: .backup, calls that are never repeated', lambda: never(settings, SqliteBackup('.backup'))
    yield 'backup: a restore that a person says', lambda: said(settings, SqliteBackup('.backup'))
    yield 'backup: another database than the mark says', lambda: another_database(settings)
