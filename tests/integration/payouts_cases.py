"""Payouts through bank files: each in one file, each file once at the bank, each report with one effect."""
import collections
import os

from payouts_world import NACHA, PayoutsWorld
from phone import Phone
from world import check, check_equal, wait_until

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fuzz', 'corpus', 'bank_report')


def one_day(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        for i in range(5):
            check_equal(world.pay(f'k-{i}', 1000 + i).status, 201, 'a payout')
        check_equal(world.pay('k-0', 1000).json['id'], world.keys['k-0'], 'the repeat')
        booked = world.send_all()
        check_equal(sorted(one.cents for one in booked), [1000, 1001, 1002, 1003, 1004], 'the amounts')
        world.bank.report(booked[:4], [booked[4]])
        world.bank.report(returned=[booked[0]])
        world.fetch()
        world.wait('the reports', lambda: world.states() == {'paid': 3, 'returned': 2})
        world.check_all(repeats=0)
        answer = Phone(world.port, 'shop').get(f'/payouts/{world.keys["k-0"]}').json
        check_equal((answer['state'], answer['return_reason'], answer['file_number']), ('returned', 'AC04', 1), 'k-0')
        check_equal(Phone(world.port, 'ops').get(f'/payouts/{world.keys["k-0"]}').status, 404, "another account's payout")


def one_day_of_nacha(settings):
    with PayoutsWorld(settings.bin, form=NACHA) as world:
        world.start()
        for i in range(12):
            answer = world.pay(f'k-{i}', 1000 + i, currency='USD', creditor_name='Jane', creditor_account=f'123{i}', routing_number='021000021')
            check_equal(answer.status, 201, f'a payout: {answer.body}')
        booked = world.send_all()
        world.bank.report_returns(booked[3:6])
        world.fetch()
        world.wait('the returns', lambda: world.states() == {'sent': 9, 'returned': 3})
        world.check_all(repeats=0)


def what_no_file_can_have_is_refused(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        for n, changes in enumerate(({'creditor_account': 'DE88370400440532013000'}, {'amount': 0}, {'currency': 'USD'},
                                     {'creditor_name': ''}, {'creditor_name': 'a\x01b'}, {'reference': 'x' * 141},
                                     {'routing_number': '021000021'}, {'amount': 10**15})):
            check_equal(world.pay(f'k-{n}', **changes).status, 422, f'{changes}')
        check_equal(world.ask('shop', '/cut-offs', {}, None).status, 403, 'a cut-off by a client')
        check_equal(world.count('payouts'), 0, 'payouts')


def many_files_in_order(settings):
    with PayoutsWorld(settings.bin, payouts_max=3) as world:
        world.start()
        for i in range(10):
            world.pay(f'k-{i}')
        world.send_all()
        check_equal([(file['number'], file['payouts']) for file in world.shown('files')], [(1, 3), (2, 3), (3, 3), (4, 1)], 'files')
        world.cut_off()
        world.pay('late')
        world.send_all()
        world.check_all(repeats=0)
        check_equal(len(world.bank.files), 5, 'a cut-off without payouts makes no file')


# Reports that can't be imported, and those that come again.

def sent_and_booked(world, count=3):
    for i in range(count):
        world.pay(f'k-{i}', 1000 + i)
    return world.send_all()


def a_report_that_comes_again_has_one_effect(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        name = world.bank.report(booked[:2])
        world.fetch()
        world.wait('the report', lambda: world.is_state('paid', 2))
        with open(os.path.join(world.bank.outbox, name), 'rb') as file:
            data = file.read()
        world.bank.write('again.xml', data)
        world.bank.report([booked[0], booked[2]], message='BANK-new')   # A new file with a line that came before.
        world.fetch()
        world.wait('the next report', lambda: world.is_state('paid', 3))
        reports = world.shown('reports')
        check_equal([(one['state'], one['lines'], one['new_lines']) for one in reports], [('imported', 2, 2), ('imported', 2, 1)], 'reports')
        check_equal(world.count('bank_report_names'), 3, 'names')
        check_equal(world.count('bank_report_lines'), 3, 'lines')


def a_line_without_reference_counts_once(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.report(booked[:2], references=False)
        world.bank.report(booked[1:], references=False)
        world.fetch()
        world.wait('the reports', lambda: world.is_state('paid', 3))
        check_equal([one['new_lines'] for one in world.shown('reports')], [2, 1], 'new lines')


def a_gap_waits_for_its_file(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        lost = world.bank.report(booked[:1])
        os.rename(os.path.join(world.bank.outbox, lost), os.path.join(world.folder, lost))
        world.bank.report(booked[1:])
        world.fetch()
        report = world.stopped('numbers without a gap')
        check('is number 2' in report['found'] and 'the next one is 1' in report['found'], f'{report}')
        check_equal(world.states(), {'sent': 3}, 'nothing of it is imported')
        check_equal((world.count('bank_report_lines'), world.count('bank_report_series', 'next_number > 1')), (0, 0), 'nor is a line kept')
        os.rename(os.path.join(world.folder, lost), os.path.join(world.bank.outbox, lost))
        world.fetch()
        world.wait('both reports', lambda: world.is_state('paid', 3))


def a_wrong_report_stops_whole(settings):
    """A wrong sum, an unknown payout, a DOCTYPE: each stops its file, and a right one follows."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        stranger = booked[1]._replace(end_to_end='UNKNOWN')
        wrong = {'TtlNtries/Sum': {'paid': booked, 'sum_off': 1}, 'unknown reference': {'paid': [booked[0], stranger]}}
        for n, (rule, report) in enumerate(wrong.items()):
            world.bank.report(**report, message=f'WRONG-{n}')
            world.bank.reports -= 1   # The bank sends the next one with the same number.
            world.fetch()
            world.stopped(rule)
            os.remove(os.path.join(world.bank.outbox, 'camt054-000001.xml'))
        world.bank.write('doctype.xml', b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>')
        with open(os.path.join(CORPUS, 'nested_parameter_entities'), 'rb') as file:   # 10^11 comments, if they were expanded.
            world.bank.write('entities.xml', file.read())
        world.fetch()
        world.wait('both to stop', lambda: sum(one.get('rule') == 'camt.054 XML' for one in world.shown('reports')) == 2)
        check_equal(world.pay('meanwhile').status, 201, 'a payout beside it')
        check_equal((world.states(), world.count('bank_report_lines')), ({'sent': 3, 'collected': 1}, 0), 'effects')
        world.bank.report(booked)
        world.fetch()
        world.wait('the right report', lambda: world.is_state('paid', 3))
        states = collections.Counter(one['state'] for one in world.shown('reports'))
        check_equal(states, {'stopped': 4, 'imported': 1}, 'reports: none is lost')


# Faults of the bank's server and of the way to it.

def another_host_key_is_refused(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k')
        world.sftp.change_host_key()
        world.cut_off()
        wait_until('the refusal in the log', lambda: 'which is not the known one' in world.log())
        check(world.sftp.host_key in world.log(), 'the log names the new key')
        # The job's request has the error: the completer goes on with it.
        errors = lambda: world.store.rows("SELECT error FROM pawl_idempotency_keys WHERE operation = 'send_file' AND error IS NOT NULL")
        wait_until('the error of the request', errors)
        check('nothing was sent' in errors()[0][0], f'{errors()}')
        check('Accepted' not in world.sftp.log().split('Server listening')[-1], 'no login at the new server')
        check_equal(world.bank.waiting(), [], 'files at the bank')
        world.stop()
        world.host_key = world.sftp.host_key   # The operator has asked the bank.
        world.start()
        world.wait('the file', world.all_sent)
        world.check_all(repeats=0)


def the_server_is_down(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k')
        world.sftp.stop()
        world.cut_off()
        wait_until('the failure in the log', lambda: 'file_not_sent' in world.log())
        world.sftp.start()
        world.wait('the file', world.all_sent)
        world.check_all(repeats=0)


def another_file_with_our_name_is_not_overwritten(settings):
    """As after a restore of our database from a backup: the number was used."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        world.pay('k')
        taken = os.path.join(world.bank.inbox, 'payouts-00000001.xml')
        with open(taken, 'wb') as file:
            file.write(b'The former file.')
        world.sftp.give(world.bank.inbox)
        world.cut_off()
        world.wait('the attention list', lambda: 'another file named payouts-00000001.xml' in world.command('attention', 'list', '--json'))
        with open(taken, 'rb') as file:
            check_equal(file.read(), b'The former file.', 'the former file')
        check_equal(world.states(), {'in_file': 1}, 'the payout')


def cases(settings):
    return [(f'payouts: {name}', lambda run=run: run(settings)) for name, run in {
        'one day of pain.001 and camt.054': one_day,
        'one day of NACHA and returns': one_day_of_nacha,
        'what no file can have is refused': what_no_file_can_have_is_refused,
        'many files, in the order of their numbers': many_files_in_order,
        'a report that comes again has one effect': a_report_that_comes_again_has_one_effect,
        'a line without a reference counts once': a_line_without_reference_counts_once,
        'a gap waits for its file': a_gap_waits_for_its_file,
        'a wrong report stops whole': a_wrong_report_stops_whole,
        'another host key is refused': another_host_key_is_refused,
        'the SFTP server is down for a while': the_server_is_down,
        'another file with our name is not overwritten': another_file_with_our_name_is_not_overwritten,
    }.items()]
