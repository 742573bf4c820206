"""Payouts: one item that fails a shared unit is set aside with its reason, the rest goes on, and a person's command decides."""
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import time

import libpq
from file_bank import IBAN, camt054, nacha_returns
from payouts_world import NACHA, SEPA, PayoutsWorld
from phone import Phone
from world import World, check, check_equal, wait_until

MIB = 1024 * 1024
NAMES = ('Jane Doe', "O'Hara", 'Jané', 'Jürgen Groß & Söhne', 'Щъркел Юлия', 'Θεόδωρος', '李小龍', 'a<b>c', ' x', 'x ', 'a  b', 'a//b',
         '/a', 'Jane \uffff Doe', 'a\ufffeb', 'a\ufdd0b', 'a\x00b', 'a\ud800b', 'a\x1bb', 'a\tb', 'a\x7fb', 'a\x85b', 'a\u2028b', '\U0001f600',
         'a' * 140, 'é' * 140, 'Щ' * 140, 'x' * 141, ']]>', '&#x1;', '<!--', '\ufeffx', 'e\u0301', '')


# Each value is checked where it enters.

def refused(name):
    """What no JSON of a request may have is an unstored 400 (docs/http.md)."""
    return 400 if '\x00' in name or '\ud800' in name else 422

def a_text_that_the_bank_does_not_take_is_refused_alone(settings):
    """Issue 38, number 5: "Jane \\uffff Doe" made the file of all payouts of a cut-off unreadable."""
    for form, taken in ((SEPA, {0, 1}), ({'iso20022': SEPA['iso20022'] | {'characters': 'xml'}}, set(range(13)) - {8, 9}),
                        ({'iso20022': SEPA['iso20022'] | {'transliterate': True}}, {0, 1, 2, 3, 4, 5, 7})):
        with PayoutsWorld(settings.bin, form=form) as world:
            world.start()
            for n, name in enumerate(NAMES):
                for field in ('creditor_name', 'reference'):
                    status = world.pay(f'{field}-{n}', **({'creditor_name': 'Jane', 'reference': None} | {field: name})).status
                    check(status in (201, refused(name)), f'{field} {name!r}: {status}')
                    if n < 10 and field == 'creditor_name':
                        check_equal(status, 201 if n in taken else 422, f'{name!r} with {form}')
            booked = world.send_all()
            check_equal(len(booked), len(world.keys), 'bookings')
            path = os.path.join(world.bank.archive, booked[0].file)
            done = subprocess.run(['xmllint', '--nonet', '--noout', path], capture_output=True, text=True, check=False)
            check_equal((done.returncode, done.stderr), (0, ''), 'xmllint')
            world.check_all(repeats=0)
            check_equal(world.count('payouts', 'set_aside IS NOT NULL'), 0, 'payouts that are set aside')


def a_nacha_file_stays_in_its_set(settings):
    for more in ({}, {'transliterate': True}):
        with PayoutsWorld(settings.bin, form={'nacha': NACHA['nacha'] | more}) as world:
            world.start()
            for n, name in enumerate(NAMES):
                for field in ('creditor_name', 'reference', 'creditor_account'):
                    body = {'currency': 'USD', 'creditor_name': 'Jane', 'creditor_account': '123', 'routing_number': '021000021',
                            'reference': None}
                    status = world.pay(f'{field}-{n}', **(body | {field: name})).status
                    check(status in (201, refused(name)), f'{field} {name!r}: {status}')
            check_equal(len(world.send_all()), len(world.keys), 'bookings, from a file of 94 columns of ASCII')


def a_transliteration_is_shown(settings):
    with PayoutsWorld(settings.bin, form={'iso20022': SEPA['iso20022'] | {'transliterate': True}}) as world:
        world.start()
        answer = world.pay('k', creditor_name='Jané & Söhne', reference='für Mai').json
        check_equal((answer['creditor_name'], answer['reference']), ('Jane + Sohne', 'fur Mai'), 'the answer')
        check_equal(world.pay('k', creditor_name='Jané & Söhne', reference='für Mai').json, answer, 'the repeat')
        shown = Phone(world.port, 'shop').get(f'/payouts/{answer["id"]}').json
        check_equal((shown['creditor_name'], shown['reference']), ('Jane + Sohne', 'fur Mai'), 'GET')


def settings_that_no_file_can_have_end_the_start(settings):
    wrong = ({'debtor_name': 'Räder'}, {'debtor_name': 'a\uffffb', 'characters': 'xml'}, {'debtor_name': ''}, {'debtor_bic': 'COBA1EFF'},
             {'debtor_account': 'DE00'}, {'currency': 'eur'}, {'characters': 'latin'})
    forms = [{'iso20022': SEPA['iso20022'] | one} for one in wrong]
    forms += [{'nacha': NACHA['nacha'] | one} for one in ({'company_name': 'Räder'}, {'origin': '12345678901'}, {'destination': '1'})]
    forms += [SEPA | {'payouts_max': 25_001}, SEPA | {'clients': [{'token': 't', 'account': 'a\x00b'}]}]
    with PayoutsWorld(settings.bin) as world:
        for form in forms:
            world.form = form
            done = world.run_command('serve', '--listen', '127.0.0.1:0')
            check_equal(done.returncode, 2, f'{form}: {done.stderr}')
            check('settings.json: ' in done.stderr, done.stderr)


# A unit goes on without its bad item.

def sent_and_booked(world, count=3):
    for i in range(count):
        check_equal(world.pay(f'k-{i}', 1000 + i).status, 201, 'a payout')
    return world.send_all()


def a_cut_off_sets_a_bad_payout_aside(settings):
    """As an earlier release has accepted it: the file's other payouts go, and a person decides about this one."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        for name in ('a', 'b', 'c', 'd'):
            world.pay(name)
        world.store.change(f"UPDATE payouts SET creditor_name = 'Jane \uffff Doe' WHERE id IN ({world.keys['b']}, {world.keys['c']})")
        world.cut_off()
        world.wait('the file', lambda: world.states() == {'sent': 2, 'collected': 2} and world.all_out())
        check_equal(len(world.bank.take()), 2, 'bookings')
        aside = world.shown('set-aside')
        check_equal([one['id'] for one in aside], [world.keys['b'], world.keys['c']], 'set aside')
        check('creditor_name has U+FFFF' in aside[0]['set_aside'], f'{aside}')
        check_equal(Phone(world.port, 'shop').get(f'/payouts/{world.keys["b"]}').json['state'], 'set_aside', 'what its client sees')
        world.decide('set-aside', 'refuse', str(world.keys['b']))
        world.store.change(f"UPDATE payouts SET creditor_name = 'Jane Doe' WHERE id = {world.keys['c']}")
        world.decide('set-aside', 'release', str(world.keys['c']))
        check_equal(world.run_command('set-aside', 'release', str(world.keys['c']), '--reason', 'x').returncode, 1, 'again')
        world.send_all()
        check_equal(world.states(), {'sent': 3, 'returned': 1}, 'payouts')
        shown = Phone(world.port, 'shop').get(f'/payouts/{world.keys["b"]}').json
        check_equal((shown['state'], shown['return_reason']), ('returned', 'the bank says so'), 'the refused one')


def odd_files_in_the_outbox_stop_no_other(settings):
    """Issue 38, number 1: a file of 65 MiB, or one with a name that is not UTF-8, stopped all behind it."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        outbox = os.fsencode(world.bank.outbox)
        for name in (b'a-large.xml', b'a-secret.xml', b'a-\xff\n.xml', b'a-' + b'x' * 250):
            with open(os.path.join(outbox, name), 'wb') as file:
                file.write(b'<a/>' + name)
        os.truncate(os.path.join(outbox, b'a-large.xml'), 65 * MIB)
        os.chmod(os.path.join(outbox, b'a-secret.xml'), 0)
        world.bank.report(booked)
        world.fetch()
        world.wait('the report behind them', lambda: world.is_state('paid', 3))
        world.wait('all to be dealt with', lambda: collections.Counter(one['state'] for one in world.shown('reports')) == {
            'unread': 1, 'stopped': 2, 'imported': 1})
        names = {one['name'] for one in world.shown('reports')}
        check('a-%FF%0A.xml' in names, f'{names}')
        if os.geteuid() == 0:   # The server's user is nobody.
            check('report_not_read' in world.log(), 'the file that nobody may read')
        unread = next(one for one in world.shown('reports') if one['state'] == 'unread')
        check('68157440 bytes' in unread['found'], f'{unread}')
        check_equal(world.decide('reports', 'skip', str(unread['id']))['decision'], 'skipped', 'the decision')
        world.fetch()
        wait_until('the next round', lambda: world.count('pawl_jobs') == 0)
        check_equal(sum(one['state'] == 'unread' for one in world.shown('reports')), 0, 'it is not read again')


def a_listing_without_an_end_is_read_to_its_limit(settings):
    with PayoutsWorld(settings.bin, sftp={'entries_max': 100}) as world:
        world.start()
        booked = sent_and_booked(world)
        for n in range(200):
            with open(os.path.join(world.bank.outbox, f'{n}.tmp'), 'wb'):
                pass
        world.fetch()
        wait_until('the warning', lambda: 'outbox_too_full' in world.log())
        for n in range(200):
            os.remove(os.path.join(world.bank.outbox, f'{n}.tmp'))
        world.bank.report(booked)
        world.fetch()
        world.wait('the report', lambda: world.is_state('paid', 3))


def a_wrong_report_does_not_stop_its_series(settings):
    """Issue 38, number 5: a return in an unusual form stopped the series ("numbers without a gap"), and nobody could decide."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.report(booked[:1], sum_off=1)
        world.bank.report(booked[1:2])
        world.bank.report(returned=booked[2:])
        world.fetch()
        world.wait('the others', lambda: world.states() == {'sent': 1, 'paid': 1, 'returned': 1})
        check_equal([one['state'] for one in world.shown('reports')], ['stopped', 'imported', 'imported'], 'reports')
        first = str(world.shown('reports')[0]['id'])
        world.command('reports', 'show', first, '--to', os.path.join(world.folder, 'first.xml'))
        with open(os.path.join(world.folder, 'first.xml'), encoding='ascii') as file:
            right = file.read().replace('<Sum>10.01</Sum>', '<Sum>10.00</Sum>')
        world.bank.write('camt054-right.xml', right.encode('ascii'))   # With the number of the wrong one.
        world.fetch()
        world.wait('the right one', lambda: world.states() == {'paid': 2, 'returned': 1})
        check_equal(world.decide('reports', 'skip', first)['decision'], 'skipped', 'the wrong one')


# A person decides.

def a_report_is_settled_skipped_or_replaced(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world, 6)
        stranger = booked[0]._replace(end_to_end='STRANGER')
        world.bank.report([booked[0], stranger])                 # 1: settled, its right line counts.
        world.bank.report(booked[1:2], sum_off=1)                # 2: settled by hand.
        world.bank.report(booked[2:3], sum_off=1)                # 3: replaced.
        lost = world.bank.report([stranger])                     # 4: never comes.
        os.remove(os.path.join(world.bank.outbox, lost))
        world.bank.report(booked[5:])                            # 5: waits for 4.
        world.fetch()
        world.wait('all to stop', lambda: sum(one['state'] == 'stopped' for one in world.shown('reports')) == 4)
        ids = [str(one['id']) for one in world.shown('reports')]
        before = world.store.rows('SELECT count(*) FROM bank_report_lines'), world.states(), world.shown('reports')
        plan = world.decide('reports', 'settle', ids[0], '--dry-run')
        check_equal((plan['lines'], [one['rule'] for one in plan['left_out']]), (1, ['unknown reference']), 'the plan')
        check_equal((world.store.rows('SELECT count(*) FROM bank_report_lines'), world.states(), world.shown('reports')), before, 'a dry run')
        check_equal(world.decide('reports', 'settle', ids[0]), plan, 'what is done')
        check_equal(world.run_command('reports', 'settle', ids[1], '--reason', 'x').returncode, 1, 'unreadable, and nothing by hand')
        settled = world.decide('reports', 'settle', ids[1], '--paid', booked[1].end_to_end, '--returned', f'{booked[4].end_to_end}=AC04')
        check_equal(settled['lines'], 2, 'lines by hand')
        check_equal(world.states(), {'paid': 2, 'returned': 1, 'sent': 3}, 'payouts')
        for n, off in enumerate((1, 0)):
            with open(os.path.join(world.folder, 'right.xml'), 'wb') as file:
                file.write(camt054(3, booked[2:4], [], sum_off=off, message='BANK-3b'))
            words = ('reports', 'replace', ids[2], '--file', os.path.join(world.folder, 'right.xml'), '--reason', 'x')
            check_equal(world.run_command(*words).returncode, 1 - n, 'a replacement that is wrong, and one that is right')
        world.wait('the replacement', lambda: world.is_state('paid', 4))
        check_equal(world.decide('reports', 'skip', '--series', IBAN, '--number', '4')['numbers'], [f'{IBAN} 4'], 'the lost one')
        world.wait('the one behind it', lambda: world.states() == {'paid': 5, 'returned': 1})
        check_equal(world.run_command('reports', 'skip', ids[0], '--reason', 'x').returncode, 1, 'a second decision')
        check_equal(world.run_command('reports', 'skip', ids[0]).returncode, 2, 'without a reason')
        check_equal([one['state'] for one in world.shown('reports')], ['settled', 'settled', 'replaced', 'imported', 'imported'], 'reports')
        audit = [(one['actor'], one['action']) for one in json.loads(world.command('audit', 'list', '--json'))]
        check_equal(audit.count(('ann', 'settled')), 2, f'{audit}')


def a_report_that_stops_while_its_gap_is_closed_is_imported(settings):
    """Issue 38, number 5: the decision had begun before the report stopped, did not see it, and the report waited for the next fetch."""
    with PayoutsWorld(settings.bin, lease_ms=20_000) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.report(booked[:1])
        world.fetch()
        world.wait('the first report', lambda: world.is_state('paid', 1))
        os.remove(os.path.join(world.bank.outbox, world.bank.report(booked[1:2])))
        holder = libpq.PQ.PQconnectdb(world.store.url.encode())
        try:
            libpq.PQ.PQsendQuery(holder, b'BEGIN; SELECT 1 FROM bank_report_series FOR UPDATE')
            libpq.last_rows(holder, time.monotonic() + 10)
            waiting = f"SELECT pid FROM pg_stat_activity WHERE datname = '{world.store.database}' AND wait_event_type = 'Lock'"
            with concurrent.futures.ThreadPoolExecutor() as pool:
                skipped = pool.submit(world.decide, 'reports', 'skip', '--series', IBAN, '--number', '2')
                wait_until('the decision to wait', lambda: len(world.store.rows(waiting)) == 1)
                world.bank.report(booked[2:])
                world.fetch()
                wait_until('the report', lambda: len(world.store.rows(waiting)) == 2 or world.count('bank_reports', "state = 'stopped'") == 1)
                libpq.PQ.PQfinish(holder)
                holder = None
                check_equal(skipped.result()['decision'], 'skipped', 'the decision')
        finally:
            if holder:
                libpq.PQ.PQfinish(holder)
        world.wait('the report behind the gap', lambda: world.is_state('paid', 2))


def a_refused_file_is_made_again(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.reject(booked[0].file)
        bad = str(world.keys['k-1'])
        plan = world.decide('files', 'cancel', '1', '--set-aside', bad, '--dry-run')
        check_equal((plan['payouts'], plan['set_aside'], world.states()), (3, 1, {'sent': 3}), 'a dry run')
        check_equal(world.decide('files', 'cancel', '1', '--set-aside', bad, '--cut-off-now'), plan, 'what is done')
        world.wait('the new file', lambda: world.states() == {'sent': 2, 'collected': 1} and world.all_out())
        again = world.bank.take()
        check_equal(sorted(one.cents for one in again), [1000, 1002], 'its payouts')
        check_equal(again[0].file, 'payouts-00000002.xml', 'its name')
        check_equal(len(world.shown('files', 'show', '1')), 3, 'the payouts that were in the first one')
        check_equal(world.run_command('files', 'cancel', '1', '--reason', 'x').returncode, 1, 'again')
        world.bank.report(again)
        world.fetch()
        world.wait('the report', lambda: world.is_state('paid', 2))
        check_equal(world.run_command('files', 'cancel', '2', '--reason', 'x').returncode, 1, 'a file that the bank has accepted')
        world.decide('set-aside', 'release', bad)
        world.send_all()
        world.check_all(repeats=0)


def a_file_is_not_cancelled_against_a_report(settings):
    """Issue 38, number 5: a stopped report said that a payout was paid; its file was cancelled, and the payout was sent again."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        stranger = booked[0]._replace(end_to_end='STRANGER')
        for name, data, why in (('gap', camt054(5, booked[:1], []), 'names ' + booked[0].end_to_end),
                                ('sum', camt054(1, booked[:1], [], sum_off=1), "can't be read"),
                                ('line', camt054(2, [booked[0], stranger], []), 'names ' + booked[0].end_to_end)):
            world.bank.write(f'{name}.xml', data)
            world.fetch()
            report = world.wait(f'the report {name}', lambda: next((one for one in world.shown('reports') if one['state'] == 'stopped'), None))
            done = world.run_command('files', 'cancel', '1', '--reason', 'the bank refused it')
            check_equal((done.returncode, f'report {report["id"]} {why}' in done.stderr), (1, True), f'{name}: {done.stderr}')
            world.decide('reports', 'skip', str(report['id']))
        world.bank.reject(booked[0].file)
        world.decide('files', 'cancel', '1')
        world.bank.write('late.xml', camt054(3, booked[:1], [], message='late'))
        world.fetch()
        late = world.stopped('unknown reference')
        check_equal([one['set_aside'] for one in world.shown('set-aside')], [f'report {late["id"]} names it'], 'the payout that was paid')
        world.cut_off()
        world.wait('the new file', lambda: world.states() == {'sent': 2, 'collected': 1} and world.all_out())
        check_equal(sorted(one.cents for one in world.bank.take()), [1001, 1002], 'its payouts')
        world.decide('reports', 'settle', str(late['id']))
        check_equal(world.states(), {'paid': 1, 'sent': 2}, 'what the bank has made')


def a_file_that_is_given_up_is_made_again(settings):
    """The number was used before, as after a restored backup: nothing was sent, and the files behind it wait."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        world.start()
        world.pay('k')
        taken = os.path.join(world.bank.inbox, 'payouts-00000001.xml')
        with open(taken, 'wb') as file:
            file.write(b'The former file.')
        world.sftp.give(world.bank.inbox)
        world.cut_off()
        world.wait('the attention list', lambda: json.loads(world.command('attention', 'list', '--json')))
        check_equal(world.run_command('files', 'cancel', '1', '--reason', 'x').returncode, 1, 'while its request is open')
        key = json.loads(world.command('attention', 'list', '--json'))[0]['key_id']
        world.command('keys', 'settle', str(key), '--as', 'give-up', '--note', 'the number was used', '--by', 'ann', '--force')
        world.wait('the end of its request', lambda: world.count('bank_files', 'given_up_at IS NOT NULL') == 1)
        world.decide('files', 'cancel', '1', '--cut-off-now')
        world.wait('the new file', lambda: world.is_state('sent', 1))
        os.remove(taken)
        check_equal(world.bank.waiting(), ['payouts-00000002.xml'], 'files at the bank')


# What no line can say, and files in other forms.

def changed(data, more='', head=''):
    """The report without its summary, with entries and a part of its group header."""
    text = re.sub('<TxsSummry>.*</TxsSummry>', '', data.decode())
    return text.replace('</GrpHdr>', head + '</GrpHdr>').replace('</Ntfctn>', more + '</Ntfctn>').encode()


def entry(cents, direction, status, inner, more=''):
    return (f'<Ntry><Amt Ccy="EUR">{cents / 100:.2f}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{more}<Sts><Cd>{status}</Cd></Sts>'
            f'<NtryDtls>{inner}</NtryDtls></Ntry>')


def details(booking):
    return f'<TxDtls><Refs><EndToEndId>{booking.end_to_end}</EndToEndId></Refs></TxDtls>'


def what_no_line_can_say_is_set_aside(settings):
    """Issue 39, number 3: a fee or a pending entry stopped its whole report, and a reversed return would have been a payment."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world, 4)
        more = (entry(490, 'DBIT', 'BOOK', '') + entry(1001, 'DBIT', 'PDNG', details(booked[1]))
                + entry(1002, 'DBIT', 'BOOK', details(booked[2]), '<RvslInd>true</RvslInd>'))
        world.bank.write('camt054-1.xml', changed(camt054(1, booked[:1], []), more))
        world.bank.write('camt054-2.xml', camt054(2, [booked[3], booked[2]._replace(cents=5)], []))
        world.bank.write('camt054-3.xml', camt054(3, [booked[0]], [], references=False))   # With another key.
        world.fetch()
        world.wait('the lines of all', lambda: world.states() == {'paid': 2, 'sent': 2} and len(world.shown('reports')) == 3 and
                   all(one['state'] == 'imported' for one in world.shown('reports')))
        first = world.shown('reports')[0]
        check_equal([one['set_aside'] for one in world.shown('reports')], [3, 1, 1], 'items of the reports')
        items = world.shown('reports', 'show', str(first['id']))[0]['set_aside']
        check_equal([one['rule'].split(' ')[1] for one in items], ['Ntry/NtryDtls/TxDtls', 'Ntry/Sts', 'Ntry/RvslInd'], f'{items}')
        check('report_items_set_aside' in world.log(), 'the event')
        check_equal(world.run_command('files', 'cancel', '1', '--reason', 'x').returncode, 1, 'the file that the bank has')
        check_equal(world.run_command('reports', 'settle', str(first['id']), '--reason', 'x').returncode, 1, 'nothing by hand')
        said = ('--paid', booked[1].end_to_end)
        plan = world.decide('reports', 'settle', str(first['id']), *said, '--dry-run')
        check_equal((plan['lines'], world.states()), (1, {'paid': 2, 'sent': 2}), 'a dry run')
        check_equal(world.decide('reports', 'settle', str(first['id']), *said), plan, 'what is done')
        check_equal(world.states(), {'paid': 3, 'sent': 1}, 'payouts')
        check_equal(world.run_command('reports', 'skip', str(first['id']), '--reason', 'x').returncode, 1, 'a second decision')


def pages_of_a_message_have_one_effect(settings):
    """Issue 39, number 3: page 2 of a message was refused for good, as a message that came again, while the series went on."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world, 4)

        def page(number, of, last, paid):
            head = f'<MsgPgntn><PgNb>{of}</PgNb><LastPgInd>{"true" if last else "false"}</LastPgInd></MsgPgntn>'
            world.bank.write(f'page-{number}-{of}.xml', changed(camt054(number, paid, [], message='PAGED'), head=head))
        world.bank.write('a-later.xml', camt054(2, booked[3:], []))
        page(1, 1, False, booked[:1])
        world.fetch()
        world.wait('page 1', lambda: world.is_state('paid', 1))
        check('is number 2' in world.stopped('numbers without a gap')['found'], 'the next report waits for the last page')
        page(1, 3, True, booked[2:3])
        world.fetch()
        world.wait('page 3 to wait', lambda: 'number 3 of pages of PAGED, the next one is 2' in world.command('reports'))
        page(1, 2, False, booked[1:2])
        world.fetch()
        world.wait('all', lambda: world.is_state('paid', 4))
        check_equal({one['state'] for one in world.shown('reports')}, {'imported'}, 'reports')


def a_report_in_another_form_is_read(settings):
    """Issue 39, number 4: ill-formed text before the first element ended each server that read it."""
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world)
        world.bank.write('ill-formed.xml', b'\n' + camt054(1, booked[:1], []))
        world.fetch()
        world.stopped('camt.054 XML')
        text = camt054(1, booked[:1], []).decode().replace('encoding="UTF-8"', 'encoding="UTF-16"')
        world.bank.write('utf-16.xml', text.encode('utf-16'))
        old = camt054(2, booked[1:], []).decode().replace('001.08', '001.02').replace('<Sts><Cd>BOOK</Cd></Sts>', '<Sts> BOOK </Sts>')
        old = old.split('?>')[1].replace('Amt Ccy="EUR">', 'Amt Ccy="EUR">+00').replace('<Document', '<Envelope><Document')
        world.bank.write('version-2.xml', old.encode() + b'</Envelope>')
        world.fetch()
        world.wait('both', lambda: world.is_state('paid', 3))
        check(not world.dead(), 'the server lives')


def returns_of_nacha_in_other_forms_are_read(settings):
    with PayoutsWorld(settings.bin, form=NACHA) as world:
        world.start()
        for i in range(5):
            world.pay(f'k-{i}', 1000 + i, currency='USD', creditor_name='Jane', creditor_account='123', routing_number='021000021')
        booked = world.send_all()
        world.bank.write('a.ach', nacha_returns(1, booked[:1]).replace(b'\n', b''))
        world.bank.write('b.ach', b'\xef\xbb\xbf' + nacha_returns(2, booked[1:2]).replace(b' \n', b'\r') + b'\r\x1a')
        world.bank.write('c-d.ach', nacha_returns(3, booked[2:3]) + nacha_returns(4, []).replace(b'9' * 94 + b'\n', b''))
        dishonored = nacha_returns(5, booked[3:4]).replace(b'799R03', b'799R61')
        world.bank.write('e.ach', dishonored)
        world.bank.write('f.ach', nacha_returns(6, booked[4:]).replace(b'\n', b'  \r\n'))
        world.fetch()
        world.wait('the returns', lambda: world.states() == {'returned': 4, 'sent': 1})
        reports = world.shown('reports')
        check_equal([(one['state'], one['set_aside']) for one in reports], [('imported', int(i == 3)) for i in range(5)], 'reports')
        world.decide('reports', 'skip', str(reports[3]['id']))
        check_equal(world.shown('reports')[3]['set_aside'], 0, 'the dishonored return')
        check_equal(world.states(), {'returned': 4, 'sent': 1}, 'its payout')


def two_lines_of_one_payout_are_refused(settings):
    with PayoutsWorld(settings.bin) as world:
        world.start()
        booked = sent_and_booked(world, 2)
        world.bank.report(booked, sum_off=1)
        world.fetch()
        world.wait('it to stop', lambda: [one['state'] for one in world.shown('reports')] == ['stopped'])
        ids = [one.end_to_end for one in booked]
        paid, returned, other = ('--paid', ids[0]), ('--returned', f'{ids[0]}=AC04'), ('--returned', f'{ids[0]}=AC01')
        for first, second in ((paid, returned), (returned, other), (paid, paid)):
            refused = world.run_command('reports', 'settle', '1', *first, '--paid', ids[1], *second, '--reason', 'x')
            check_equal(refused.returncode, 2, f'the end of {first} and {second}')
            said = f'{" ".join(first)} and {" ".join(second)} are lines of one payout'
            check(said in refused.stderr, f'{refused.stderr} does not name them: {said}')
        check_equal((world.states(), world.store.rows('SELECT count(*) FROM bank_report_lines')), ({'sent': 2}, [(0,)]), 'what has changed')
        world.decide('reports', 'settle', '1', *paid, '--returned', f'{ids[1]}=AC04')
        check_equal(world.states(), {'paid': 1, 'returned': 1}, 'payouts')


def cases(settings):
    forms = {
        'what no line can say is set aside, and the rest goes on': what_no_line_can_say_is_set_aside,
        'the pages of a message have one effect in any order': pages_of_a_message_have_one_effect,
        'a report in another form is read, and none ends the server': a_report_in_another_form_is_read,
        'returns of NACHA in other forms are read': returns_of_nacha_in_other_forms_are_read}
    on_both = {
        'a text that the bank does not take is refused alone': a_text_that_the_bank_does_not_take_is_refused_alone,
        'a cut-off sets a bad payout aside': a_cut_off_sets_a_bad_payout_aside,
        'odd files in the outbox stop no other': odd_files_in_the_outbox_stop_no_other,
        'a wrong report does not stop its series': a_wrong_report_does_not_stop_its_series,
        'a report is settled, skipped or replaced': a_report_is_settled_skipped_or_replaced,
        'a file is not cancelled against a report that waits': a_file_is_not_cancelled_against_a_report,
        'a refused file is made again': a_refused_file_is_made_again,
        'a file that is given up is made again': a_file_that_is_given_up_is_made_again}
    on_one = {
        'two lines by hand of one payout are refused': two_lines_of_one_payout_are_refused,
        'a NACHA file stays in its set': a_nacha_file_stays_in_its_set,
        'a transliteration is shown': a_transliteration_is_shown,
        'settings that no file can have end the start': settings_that_no_file_can_have_end_the_start,
        'a listing without an end is read to its limit': a_listing_without_an_end_is_read_to_its_limit}
    on_postgres = {
        'a report that stops while its gap is closed is imported': a_report_that_stops_while_its_gap_is_closed_is_imported}
    found = on_both | on_postgres if World.database != 'sqlite' else on_both | on_one
    return [(f'{prefix}: payouts: {name}', lambda run=run: run(settings))
            for prefix, group in (('right', found), ('form', forms)) for name, run in group.items()]
