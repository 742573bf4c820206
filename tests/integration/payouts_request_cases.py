"""Payouts: a file has one request, and what a person has decided about a file or a payout stays decided."""
import json
import os

from file_bank import camt054
from payouts_decision_cases import changed, details, entry, sent_and_booked
from payouts_world import PayoutsWorld
from phone import Phone
from ports import free_port
from world import check, check_equal, wait_until


def requests(world):
    return [one for one in json.loads(world.command('keys', 'list', '--json')) if one['operation'] == 'send_file']


def restart(world, sftp_port):
    world.stop()
    world.sftp_port = sftp_port
    world.start()


def cancelled_job(world, *words):
    """File 1 is frozen while the bank is away, and the job of its request is cancelled; the next cut-off has made another request."""
    world.sftp_port = free_port()
    world.start()
    for i in range(2):
        world.pay(f'k-{i}', 1000 + i)
    world.cut_off()
    first = world.wait('its request', lambda: next((one for one in requests(world) if one['recovery_point'] == 'file_frozen'), None))
    world.wait('its first try', lambda: 'file_not_sent' in world.log())
    world.wait('its job', lambda: world.run_command('jobs', 'cancel', '--all', '--reason', 'the bank is away').returncode == 0
               and world.count('pawl_dead_jobs') == 1)
    if words:
        world.command('dlq', *words, '--reason', 'the bank is away')
    world.cut_off()
    world.wait('the other request', lambda: len(requests(world)) == 2 and world.count('pawl_jobs') == 0)
    return str(first['id'])


def a_held_file_is_not_sent_by_another_request(settings, *words):
    """Issue 38: a job that is cancelled is not unique any more. The next cut-off staged a second request, which sent the held file."""
    with PayoutsWorld(settings.bin) as world:
        key = cancelled_job(world, *words)
        restart(world, world.sftp.port)
        world.cut_off()
        world.wait('one more request', lambda: len(requests(world)) == 3 and world.count('pawl_jobs') == 0)
        check_equal((world.bank.waiting(), world.count('bank_files', 'sent_at IS NULL')), ([], 1), 'files at the bank while it is held')
        check_equal([one['status'] for one in requests(world) if str(one['id']) != key], ['finished'] * 2, 'the other requests')
        world.command('keys', 'release', key, '--reason', 'the bank is back')
        world.wait('the file', world.all_out, 60)
        world.check_all(repeats=0)


def a_file_that_was_given_up_is_sent_by_no_request(settings):
    """Issue 38: the first request was given up and its file cancelled, while a second one went on and sent the old file as well."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        key = cancelled_job(world)
        world.command('keys', 'release', key, '--reason', 'to settle it')
        wait_until('the attention list', lambda: world.run_command('attention', 'add', key, '--reason', 'bank').returncode == 0)
        world.command('attention', 'settle', key, '--as', 'give-up', '--note', 'the bank has none', '--by', 'ann', '--force')
        world.wait('the end of its request', lambda: world.count('bank_files', 'given_up_at IS NOT NULL') == 1)
        world.decide('files', 'cancel', '1', '--cut-off-now')
        restart(world, world.sftp.port)
        world.wait('the second file', world.all_out)
        world.wait('all requests: none may send the first file', lambda: [one['status'] for one in requests(world)] == ['finished'] * 3)
        check_equal(world.bank.waiting(), ['payouts-00000002.xml'], 'files at the bank')


def requests_of_an_older_server_do_not_send_a_cancelled_file(settings):
    """An older server leaves NULL in request_id, so that two requests may go on with one file: the file's state stops the second."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        world.sftp_port = free_port()
        world.start()
        world.pay('k-0')
        world.cut_off()
        world.wait('its request', lambda: 'file_not_sent' in world.log())
        world.command('jobs', 'cancel', '--all', '--reason', 'the bank is away')
        world.store.change('UPDATE bank_files SET request_id = NULL')
        world.cut_off()
        world.wait('the other request', lambda: sum(one['recovery_point'] == 'file_frozen' for one in requests(world)) == 2)
        restart(world, world.sftp.port)
        world.wait('the file', world.all_out, 60)
        world.bank.reject(world.bank.take()[0].file)
        world.decide('files', 'cancel', '1', '--cut-off-now')
        world.wait('the second file', lambda: len(world.shown('files')) == 2 and world.all_out())
        os.remove(os.path.join(world.bank.archive, 'payouts-00000001.xml'))
        world.command('dlq', 'merge', '--all', '--reason', 'the bank is back')
        listed = world.wait('the attention list', lambda: json.loads(world.command('attention', 'list', '--json')), 60)
        check('given up or cancelled' in json.dumps(listed), f'{listed}')
        check_equal(world.bank.waiting(), ['payouts-00000002.xml'], 'files at the bank')


def a_given_up_file_does_not_hold_up_later_ones(settings):
    """Issue 38: a file was given up although the bank had it. Its report forbade `files cancel`, and no later file was ever sent."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        key = cancelled_job(world)
        world.command('keys', 'release', key, '--reason', 'to settle it')
        wait_until('the attention list', lambda: world.run_command('attention', 'add', key, '--reason', 'bank').returncode == 0)
        world.pay('later')
        world.cut_off()
        world.command('attention', 'settle', key, '--as', 'give-up', '--note', 'the bank has none', '--by', 'ann', '--force')
        world.wait('the end of its request', lambda: world.count('bank_files', 'given_up_at IS NOT NULL') == 1)
        restart(world, world.sftp.port)
        world.wait('the file behind it', lambda: world.bank.waiting() == ['payouts-00000002.xml'])
        first, second = (one['end_to_end_id'] for one in world.shown('files', 'show', '1'))
        booking = world.bank.read_pain('payouts-00000002.xml', 2, world_file(world))[0]
        world.bank.write('paid.xml', camt054(1, [booking._replace(end_to_end=first, cents=1000)], []))
        world.fetch()
        world.wait('the report', lambda: world.is_state('paid', 1))
        (data,) = world.store.rows('SELECT bytes FROM bank_files WHERE number = 1')[0]
        with open(os.path.join(world.bank.archive, 'payouts-00000001.xml'), 'wb') as file:   # It has reached the bank after all.
            file.write(data if isinstance(data, bytes) else bytes.fromhex(data[2:]))
        world.sftp.give(world.bank.archive)
        done = world.run_command('files', 'cancel', '1', '--reason', 'x')
        check_equal((done.returncode, '--keep-answered' in done.stderr), (1, True), done.stderr)
        check_equal(world.decide('files', 'cancel', '1', '--keep-answered', '--cut-off-now')['payouts'], 1, 'payouts that leave the file')
        world.wait('the new file', lambda: world.states() == {'paid': 1, 'sent': 2})
        check_equal([one['end_to_end_id'] for one in world.shown('files', 'show', '3')], [second], 'its payouts')


def world_file(world):
    with open(os.path.join(world.bank.inbox, 'payouts-00000002.xml'), 'rb') as file:
        return file.read()


def a_payment_of_a_refused_payout_is_reported(settings):
    """Issue 38: the bank had paid what a person had refused. Nobody was told, and `reports settle --paid` answered 1 line for nothing."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        refused = str(world.keys['k-0'])
        world.decide('files', 'cancel', '1', '--set-aside', refused)
        world.decide('set-aside', 'refuse', refused)
        world.bank.report(booked[:1])
        world.fetch()
        report = world.wait('the report', lambda: next((one for one in world.shown('reports') if one['set_aside'] == 1), None))
        item, = world.shown('reports', 'show', str(report['id']))[0]['set_aside']
        check_equal((item['rule'], item['end_to_end_id']), ('payout that a person has refused', booked[0].end_to_end), f'{item}')
        check('report_items_set_aside' in world.log(), 'the event')
        done = world.run_command('reports', 'settle', str(report['id']), '--returned', f'{booked[0].end_to_end}=AC04', '--reason', 'x')
        check_equal((done.returncode, 'state already' in done.stderr), (1, True), f'a line that changes nothing: {done.stderr}')
        check_equal(world.decide('reports', 'settle', str(report['id']), '--paid', booked[0].end_to_end)['lines'], 1, 'lines')
        shown = Phone(world.port, 'shop').get(f'/payouts/{refused}').json
        check_equal((shown['state'], shown.get('return_reason')), ('paid', None), 'what its client sees')


def a_decided_item_does_not_forbid_a_cancellation(settings):
    """Issue 38: a pending entry was skipped by a person, the bank refused the whole file, and the file could never be cancelled."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.write('pending.xml', changed(camt054(1, [], []), entry(1000, 'DBIT', 'PDNG', details(booked[0]))))
        world.fetch()
        report = world.wait('the report', lambda: next((one for one in world.shown('reports') if one['set_aside'] == 1), None))
        done = world.run_command('files', 'cancel', '1', '--reason', 'x')
        check_equal((done.returncode, f'names {booked[0].end_to_end}' in done.stderr), (1, True), done.stderr)
        world.decide('reports', 'skip', str(report['id']))
        world.bank.reject(booked[0].file)
        world.decide('files', 'cancel', '1', '--cut-off-now')
        world.wait('the new file', lambda: len(world.shown('files')) == 2 and world.all_sent())
        world.check_all(repeats=0)


def payouts_of_a_cancelled_file_wait_for_an_import(settings):
    """Issue 38: any report that waited for its import at a cut-off set all of them aside, and each needed a person."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.reject(booked[0].file)
        world.decide('files', 'cancel', '1')
        world.stop()   # A running server may see a pause half a second later.
        world.command('queues', 'pause', 'reports', '--reason', 'as if others were before it')
        world.start()
        world.bank.report([])
        world.fetch()
        world.wait('the report', lambda: [one['state'] for one in world.shown('reports')] == ['fetched'])
        world.pay('new')
        world.cut_off()
        world.wait('a file of the others', lambda: world.states() == {'collected': 3, 'sent': 1})
        world.command('queues', 'resume', 'reports')
        world.wait('the import', lambda: [one['state'] for one in world.shown('reports')] == ['imported'])
        check_equal(world.shown('set-aside'), [], 'payouts that wait for a person')
        world.cut_off()
        world.wait('the next file', lambda: world.states() == {'sent': 4} and world.all_out())
        world.check_all(repeats=0)


def cases(settings):
    found = {
        'a held file is not sent by another request after jobs cancel': a_held_file_is_not_sent_by_another_request,
        'a held file is not sent by another request after dlq purge':
            lambda settings: a_held_file_is_not_sent_by_another_request(settings, 'purge', '--all'),
        'a file that was given up is sent by no request': a_file_that_was_given_up_is_sent_by_no_request,
        'requests of an older server do not send a cancelled file': requests_of_an_older_server_do_not_send_a_cancelled_file,
        'a given-up file does not hold up later ones': a_given_up_file_does_not_hold_up_later_ones,
        'a payment of a refused payout is reported': a_payment_of_a_refused_payout_is_reported,
        'a decided item does not forbid a cancellation': a_decided_item_does_not_forbid_a_cancellation,
        'payouts of a cancelled file wait for an import': payouts_of_a_cancelled_file_wait_for_an_import}
    return [(f'right: payouts: {name}', lambda run=run: run(settings)) for name, run in found.items()]
