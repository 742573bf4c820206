"""The files of a SQLite database are removed, renamed or replaced under a server (issue 16, number 3)."""
import contextlib
import os
import shutil
import sqlite3

from kill_cases import QUICK
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # A file of ours.


def backup(world, to):
    """Closes at once: an open connection would keep its locks on the file."""
    with contextlib.closing(sqlite3.connect(world.store.path)) as source, contextlib.closing(sqlite3.connect(to)) as target:
        source.backup(target)


def aside(world, *endings):
    for ending in endings:
        os.rename(world.store.path + ending, world.store.path + ending + '.aside')


def refused(world):
    """Everything that needs the database is 503, also repeats; no card is charged, and the log has one error."""
    charged = len(world.ledger())
    for key in ('lost-1', 'lost-2'):
        check_equal(world.phone().book(key).status, 503, 'a new request')
    wait_until('reads to be refused', lambda: world.phone().book('before-3').status == 503, 2)
    check_equal(world.phone().get('/rides').status, 503, 'a query')
    check_equal(len(world.ledger()), charged, 'charges of what was refused')
    check(not world.dead(), 'the server lives')
    errors = [line for line in world.log().splitlines() if 'PAWL0016' in line and '"level":"error"' in line]
    check_equal(len(errors), 1, 'errors in the log')


def second_server(world):
    """The log of a second server on the path."""
    done = world.start_process('second', world.server_command(port=0))
    try:
        return wait_until('the second server to end', lambda: done.poll() is not None and world.log('second'))
    finally:
        if done.poll() is None:
            done.kill()
            done.wait()


def lost(settings, how, restore, rides_after):
    """Four rides, then the files are lost and all is refused; a restart serves the contents of the right file."""
    with World(settings.bin, QUICK, judged=False) as world:
        world.start_server()
        for i in range(3):
            check_equal(world.phone().booked(f'before-{i}').status, 201, 'a ride')
        backup(world, world.store.path + '.backup')
        check_equal(world.phone().booked('before-3').status, 201, 'a ride')
        how(world)
        refused(world)
        check('PAWL0002' in second_server(world), 'a second server does not get the file while the first lives')
        check_equal(world.stop_server(), 0, 'the exit code')
        restore(world)
        if rides_after == 0:
            os.remove(world.store.path + '.mark')   # The empty database starts from nothing.
        check(world.start_server(), f'it starts again: {world.log()[-400:]}')
        check_equal(world.count('rides'), rides_after, 'rides')
        check_equal(world.phone().book('before-2').replayed, rides_after > 0, 'a replay')
        check_equal(world.phone().book('after').status, 201, 'a new ride')
        check_equal(world.rows('PRAGMA integrity_check')[0][0], 'ok', 'the file')


def back(world, *endings):
    for ending in endings:
        os.rename(world.store.path + ending + '.aside', world.store.path + ending)


def replaced_at_rest(settings):
    """kill -9, and a backup replaces the file but not its WAL: the start refuses it."""
    with World(settings.bin, QUICK, judged=False) as world:
        world.start_server()
        check_equal(world.phone().booked('k-1').status, 201, 'a ride')
        backup(world, world.store.path + '.backup')
        check_equal(world.phone().booked('k-2').status, 201, 'a ride')
        world.kill_server()
        shutil.copy(world.store.path + '.backup', world.store.path)
        check(not world.start_server(), 'the start is refused')
        check('PAWL0016' in world.log(), f'with its code: {world.log()[-400:]}')
        aside(world, '-wal', '-shm')
        check(world.start_server(), 'it starts without the log')
        check_equal(world.count('rides'), 1, 'rides of the backup')


def cases(settings):
    def put_backup_over(world):
        os.rename(world.store.path + '.backup', world.store.path)

    def copy_backup_over(world):
        shutil.copyfile(world.store.path + '.backup', world.store.path)

    def only_backup(world):
        aside(world, '-wal', '-shm')

    def nothing(_):
        pass

    def remove_all(world):
        for ending in ('', '-wal', '-shm'):
            os.remove(world.store.path + ending)

    found = {
        'removed': (lambda world: os.remove(world.store.path), only_backup, 0),
        'removed with its log': (remove_all, nothing, 0),
        'renamed, and put back': (lambda world: aside(world, ''), lambda world: back(world, ''), 4),
        'replaced by a backup': (put_backup_over, only_backup, 3),
        'overwritten by a backup': (copy_backup_over, only_backup, 3),
        'its log is renamed, and put back': (lambda world: aside(world, '-wal'), lambda world: back(world, '-wal'), 4),
        'its lock file is removed': (lambda world: os.remove(world.store.path + '.lock'), nothing, 4),
    }
    for name, (how, restore, rides_after) in found.items():
        yield f'file: {name}', lambda how=how, restore=restore, after=rides_after: lost(settings, how, restore, after)
    yield 'file: replaced after kill -9, its log left', lambda: replaced_at_rest(settings)
