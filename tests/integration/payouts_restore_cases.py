"""Payouts: a restored backup does not know the files that the bank got since. No payout of theirs is sent a second time."""
import json
import os
import shutil
import sqlite3
import time

from payouts_world import PayoutsWorld
from world import World, check, check_equal


def back_up(world):
    """A consistent copy, made while the server runs (SQLite) or is stopped (PostgreSQL, of a template)."""
    if World.database == 'sqlite':
        copy = os.path.join(world.folder, 'backup.db')
        source, target = sqlite3.connect(world.store.path), sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        return copy
    world.stop()
    copy = world.store.database + '_backup'
    world.store._on('postgres', f'CREATE DATABASE {copy} TEMPLATE {world.store.database}')
    world.start()
    return copy


def restore(world, copy):
    world.stop()
    if World.database == 'sqlite':
        for end in ('-wal', '-shm'):
            if os.path.exists(world.store.path + end):
                os.remove(world.store.path + end)
        shutil.copy(copy, world.store.path)
        return
    world.store.close()
    world.store.database = copy


def lost_file(world, before):
    """Backs up; the bank gets file 1 with all payouts of `before`, and with those of k-2 and k-3; then the backup is restored."""
    world.start()
    for key in before:
        world.pay(key, 1000)
    copy, as_of = back_up(world), time.gmtime(time.time() - 1)
    for key in ('k-2', 'k-3'):
        world.pay(key, 1000)
    booked = world.send_all()
    check_equal(len(booked), len(before) + 2, 'what the bank has got')
    restore(world, copy)
    world.command('restored', '--as-of', time.strftime('%Y-%m-%dT%H:%M:%SZ', as_of), '--note', 'the disk failed')
    world.keys = {}
    world.start()
    return booked


def the_bank_gets_no_payout_twice(settings):
    """Issue 38: the next cut-off sent all that waited in the backup, and repeats of lost requests, in a file with another number."""
    with PayoutsWorld(settings.bin) as world:
        booked = lost_file(world, ['k-0', 'k-1'])
        world.pay('k-2', 1000)
        world.cut_off()
        world.wait('the cut-off', lambda: 'bank_files_wait' in world.log() and world.count('pawl_jobs') == 0)
        check_equal((world.bank.waiting(), world.count('bank_files')), ([], 0), 'files before the answer')

        sent = os.path.join(world.bank.archive, 'payouts-00000001.xml')
        planned = world.decide('files', 'after-restore', sent, '--release-waiting', '--dry-run')
        check_equal(world.count('bank_files'), 0, 'files after a dry run')
        done = world.decide('files', 'after-restore', sent, '--release-waiting')
        check_equal(done, planned, 'what the dry run has shown')
        check_equal((done['waiting'], done['in_other_files']), (0, 0), 'what is left for a person')
        check_equal((done['payouts'], done['found'], done['next_number']), (4, 3, 2), 'what is found')
        for key in ('k-3', 'new'):
            world.pay(key, 1000)
        world.send_all()
        check_equal(world.bank.repeats, 0, 'files that the bank got again')
        check_equal(len(world.bank.booked), 5, 'payouts at the bank')
        world.bank.report(booked)
        world.fetch()
        world.wait('the report', lambda: world.states() == {'paid': 4, 'sent': 1})
        check(world.keys['k-3'] != world.keys['new'], 'two payouts')


def a_frozen_file_waits_for_the_answer(settings):
    """The backup has a file that was not sent yet: after a restore it may have been given up, and its payouts sent in another one."""
    with PayoutsWorld(settings.bin) as world:
        port = world.sftp_port
        world.sftp_port = 1
        world.start()
        world.pay('k-0', 1000)
        world.cut_off()
        world.wait('its first try', lambda: 'file_not_sent' in world.log())
        copy = back_up(world)
        restore(world, copy)
        world.command('restored', '--as-of', '1s', '--note', 'the disk failed')
        world.sftp_port = port
        world.start()
        world.cut_off()
        world.wait('a try', lambda: 'bank_files_wait' in world.log())
        check_equal((world.bank.waiting(), world.states()), ([], {'in_file': 1}), 'before the answer')
        check_equal(world.decide('files', 'after-restore', '--none', '--release-waiting')['unsent'], 1, 'files that are sent now')
        world.wait('the file', world.all_out)
        world.check_all(repeats=0)


def what_waited_is_for_a_person(settings):
    """A person may have refused it in the lost time: money moved after a no."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k-0', 1000)
        copy = back_up(world)
        restore(world, copy)
        world.command('restored', '--as-of', '1s', '--note', 'the disk failed')
        world.start()
        check_equal(world.decide('files', 'after-restore', '--none')['waiting'], 1, 'payouts that waited')
        world.pay('k-1', 1001)
        world.cut_off()
        world.wait('the new one', lambda: world.states() == {'sent': 1, 'collected': 1})
        check_equal([one.cents for one in world.bank.take()], [1001], 'what the bank has got')
        world.decide('files', 'after-restore', '--release-waiting')
        check_equal([one.cents for one in world.send_all()], [1000], 'what is released')
        world.check_all(repeats=0)


def another_file_under_the_number_is_replaced(settings):
    """Nobody knew of the restore: the number was taken, and the documented steps paid the file's payouts a second time."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        world.start()
        for key in ('k-0', 'k-1'):
            world.pay(key, 1000)
        copy = back_up(world)
        world.pay('k-2', 1000)
        world.send_all()
        restore(world, copy)
        mark = world.store.path + '.mark'
        if os.path.exists(mark):
            os.remove(mark)
        world.start()
        world.cut_off()
        world.wait('the attention list', lambda: 'another file named payouts-00000001.xml' in world.command('attention', 'list', '--json'))
        world.command('restored', '--as-of', '10s', '--note', 'the disk failed')
        sent = os.path.join(world.bank.archive, 'payouts-00000001.xml')
        done = world.run_command('files', 'after-restore', sent, '--reason', 'x')
        check_equal((done.returncode, 'then name this file again' in done.stderr), (1, True), f'its own file stands in the way: {done.stderr}')
        key = json.loads(world.command('attention', 'list', '--json'))[0]['key_id']
        world.command('keys', 'settle', str(key), '--as', 'give-up', '--note', 'the number was used', '--by', 'ann', '--force')
        world.wait('the end of its request', lambda: world.count('bank_files', 'given_up_at IS NOT NULL') == 1)
        world.decide('files', 'cancel', '1')
        check_equal(world.decide('files', 'after-restore', sent)['found'], 2, 'payouts of the file')
        world.pay('k-2', 1000)
        world.pay('k-3', 1003)
        check_equal([one.cents for one in world.send_all()], [1003], 'what the bank gets')
        check_equal((len(world.bank.booked), world.bank.repeats), (4, 0), 'payouts at the bank')


def the_mark_is_enough(settings):
    """Nobody says that the database was restored: the mark file does."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k-0', 1000)
        copy = back_up(world)
        world.pay('k-1', 1000)
        world.send_all()
        world.wait('the mark', lambda: world.store.rows('SELECT key_id >= 2 FROM pawl_marks') == [(1,)])
        restore(world, copy)
        world.start()
        world.cut_off()
        world.wait('the cut-off', lambda: 'bank_files_wait' in world.log() and world.count('pawl_jobs') == 0)
        check('database_restored' in world.log(), 'the restore is noticed')
        check_equal((world.bank.waiting(), world.count('bank_files')), ([], 0), 'files before the answer')


def what_is_no_answer_is_refused(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k-0', 1000)
        world.send_all()
        sent = os.path.join(world.bank.archive, 'payouts-00000001.xml')
        done = world.run_command('files', 'after-restore', sent, '--reason', 'x')
        check_equal(done.returncode, 1, f'without a restore: {done.stderr}')
        world.command('restored', '--as-of', '1s', '--note', 'x')
        with open(sent, 'rb') as file:
            data = file.read()
        for name, bytes_, part in (('payouts-1.xml', data, 'is named as'), ('payouts-00000001.xml', data[:-1], 'its bytes'),
                                   ('payouts-00000077.xml', data, 'its bytes'), ('payouts-00000002.xml', b'', 'not the file')):
            path = os.path.join(world.folder, name)
            with open(path, 'wb') as file:
                file.write(bytes_)
            done = world.run_command('files', 'after-restore', path, '--reason', 'x')
            check_equal(done.returncode, 2, f'{name}: {done.stderr}')
            check(part in done.stderr, f'{name}: {done.stderr}')
        check_equal(world.run_command('files', 'after-restore', '--never-sent', '3', '--reason', 'x').returncode, 1, 'a gap')
        check_equal(world.run_command('files', 'after-restore', '/none/payouts-00000001.xml', '--reason', 'x').returncode, 2, 'no file')
        check_equal(world.count('bank_restores'), 0, 'answers')


def cases(settings):
    found = {'after a restore the bank gets no payout twice': the_bank_gets_no_payout_twice,
             'after a restore a frozen file waits for the answer': a_frozen_file_waits_for_the_answer,
             'after a restore what waited is for a person': what_waited_is_for_a_person}
    if World.database == 'sqlite':
        found |= {'after a restore the mark is enough': the_mark_is_enough,
                  'after a restore another file under the number is replaced': another_file_under_the_number_is_replaced,
                  'after a restore a wrong answer is refused': what_is_no_answer_is_refused}
    return [(f'right: payouts: {name}', lambda run=run: run(settings)) for name, run in found.items()]
