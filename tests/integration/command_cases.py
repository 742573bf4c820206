"""The operator's commands: of the service's own program, and of `pawl`, which has only the database."""
import concurrent.futures
import datetime
import email.utils
import json
import os
import pwd
import re
import subprocess
import time

from kill_cases import QUICK
from never_cases import ONCE
from phone import HERE_TO_THERE
from strange_provider import StrangeProvider, http
from world import WAIT_S, World, check, check_equal, open_terminal, wait_until


def a_paused_queue_waits(settings, queue):
    """`rides queues` was documented, but the program had no such command."""
    with World(settings.bin, QUICK, queue=queue) as world:
        def queues(*words):
            return world.rides_command('queues', *words, '--database', world.url, *world.queue.options)
        world.start_server()
        queues('pause', '--reason', 'the mail server burns', '--by', 'ann')
        paused = json.loads(queues('list', '--json').stdout)
        check_equal([(line['queue'], line['paused_by']) for line in paused if line['paused_since']], [('default', 'ann')], 'pauses')
        wait_until('the server to know', lambda: _untouched(world), 30)
        queues('resume', '--reason', 'it is out', '--by', 'ann')
        wait_until('all receipts', lambda: len(world.mails()) == world.count('rides'))
        world.settle()
        acts = [action for (action,) in world.rows('SELECT action FROM pawl_audit_log ORDER BY id')]
        check_equal([act for act in acts if act in ('pause', 'resume')], ['pause', 'resume'], 'the audit')


def _untouched(world):
    """A ride whose receipt is not sent within a second: a server may be late by half a second."""
    sent = len(world.mails())
    check_equal(world.phone().booked(f'k-{world.count("rides")}').status, 201, 'a ride')
    try:
        wait_until('a receipt', lambda: len(world.mails()) > sent, 1)
    except AssertionError:
        return True
    return False


def pawl_by_the_database_alone(settings, queue):
    with World(settings.bin, QUICK, queue=queue) as world:
        world.start_server()
        check_equal(world.phone('test_refused').booked('k').status, 201, 'a ride')
        wait_until('the dead letter', lambda: world.unsettled() == 0 and world.queue.dead() == 1, world.queue.patience_s)

        keys = json.loads(world.pawl_command('keys', 'list', '--json').stdout)
        check_equal([key['key'] for key in keys], ['k'], 'keys')
        shown = json.loads(world.pawl_command('keys', 'show', '--key', 'k', '--json').stdout)
        check_equal(shown['operation'], 'book_ride', 'the operation of the key')
        letters = json.loads(world.pawl_command('dlq', 'list', '--json').stdout)
        check_equal([letter['kind'] for letter in letters], ['send_receipt'], 'dead letters')
        world.pawl_command('dlq', 'purge', letters[0]['id'], '--reason', 'test data')
        check_equal(world.queue.dead(), 0, 'dead letters')
        world.pawl_command('queues', 'list')
        world.pawl_command('reaper', '--once')
        for missing in ('graph', 'completer'):
            check(missing in world.pawl_command(missing, check_status=2).stderr, f'{missing}, which needs the operations')


def pawl_decides(settings):
    """Recorded by a program that does not know the operation, carried out by the server that does."""
    with World(settings.bin, [*QUICK, '--charge-once', '--rider', 'test_doubt charged500@example.com']) as world:
        world.start_server()
        check_equal(world.phone('test_doubt').book('k').status, 502, 'a ride in doubt')
        refused = world.pawl_command('keys', 'settle', '--key', 'k', '--as', 'happened', '--note', 'seen', check_status=1)
        check('--result' in refused.stderr, f'what is missing: {refused.stderr}')
        value = json.dumps({'id': world.ledger()[0]['id']})
        world.pawl_command('keys', 'settle', '--key', 'k', '--as', 'happened', '--result', 'Charge', '--value', value,
                           '--note', 'it is in their dashboard', '--by', 'ann')
        wait_until('it to be carried out', lambda: world.unsettled() == 0)
        check_equal(world.phone('test_doubt').book('k').status, 201, 'the answer')


def a_damaged_row(settings):
    """Issue 16, number 14: one row with an attempt beyond int made every list of keys fail."""
    with World(settings.bin, [*QUICK, '--charge-once', '--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        for key in ('k-1', 'k-2'):
            check_equal(world.phone().booked(key).status, 201, 'a ride')
            check_equal(world.phone('test_doubt').book('doubt-' + key).status, 502, 'a ride in doubt')
        check_equal(world.phone('test_refused').booked('refused').status, 201, 'a ride')
        wait_until('the dead letter', lambda: world.count('pawl_dead_jobs') == 1 and world.queue.waiting() == 0)
        check_equal(world.stop_server(), 0, 'the exit code')
        # PostgreSQL's columns hold no number beyond int, but invalid times.
        damage = {'sqlite': ('attempt', '3000000000'), 'postgres': ('created_at', "'infinity'")}[world.database]
        world.change(f'UPDATE pawl_idempotency_keys SET {damage[0]} = {damage[1]} WHERE idempotency_key IN (?, ?)', 'k-1', 'doubt-k-1')
        times = {'sqlite': 'failures = 3000000000', 'postgres': "first_failed_at = 'infinity'"}[world.database]
        world.change(f'UPDATE pawl_dead_jobs SET {times}')
        attention = {'sqlite': 'attempt = 3000000000', 'postgres': "since = 'infinity'"}[world.database]
        world.change(f'UPDATE pawl_attention SET {attention} WHERE key_id = (SELECT id FROM pawl_idempotency_keys WHERE idempotency_key = ?)',
                     'doubt-k-1')

        keys = {key['key']: key for key in json.loads(world.pawl_command('keys', 'list', '--json').stdout)}
        check_equal(sorted(keys), ['doubt-k-1', 'doubt-k-2', 'k-1', 'k-2', 'refused'], 'all keys are listed')
        check(damage[0] in keys['k-1']['damaged'] and keys['k-1'][damage[0]] is None, f'its problem: {keys["k-1"]}')
        check('damaged' not in keys['k-2'], 'the others are undamaged')
        said = world.pawl_command('keys', 'list').stdout
        check(f'PAWL0022: id {keys["k-1"]["id"]} is damaged: {damage[0]}' in said, f'the table says so: {said}')
        shown = json.loads(world.pawl_command('keys', 'show', '--key', 'k-1', '--json').stdout)
        check(damage[0] in shown['damaged'] and shown['operation'] == 'book_ride', f'it is shown: {shown}')
        check('PAWL0022' in world.pawl_command('keys', 'show', '--key', 'k-1').stdout, 'and in the table')
        waiting = json.loads(world.pawl_command('attention', 'list', '--json').stdout)
        check_equal(sorted('damaged' in one for one in waiting), [False, True], 'damaged rows of the attention list')
        refused = world.rides_command('keys', 'settle', '--key', 'doubt-k-1', '--as', 'give-up', '--note', 'x', '--database', world.url,
                                      '--charge-once', check_status=1)
        check('PAWL0022' in refused.stderr, f'it is not settled: {refused.stderr}')
        letters = json.loads(world.pawl_command('dlq', 'list', '--json').stdout)
        check('damaged' in letters[0], f'a damaged dead letter: {letters}')
        world.pawl_command('dlq', 'show', letters[0]['id'])
        world.pawl_command('queues', 'list')


def an_expired_key_is_shown(settings):
    """Issue 16, number 21: `keys show --key` said that there was no such key, though its tombstone had the answer."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('old').status, 201, 'a ride')
        check_equal(world.phone().book('new').status, 201, 'another')
        world.settle()
        world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE idempotency_key = 'old'")
        world.pawl_command('reaper', '--once')
        check_equal(world.count('pawl_idempotency_keys'), 1, 'keys that are left')
        shown = json.loads(world.pawl_command('keys', 'show', '--key', 'old', '--json').stdout)
        check_equal((shown['status'], shown['response_status']), ('expired', 201), 'its registry row')
        check(shown['location'].startswith('/rides/') and shown['expired_at'], f'where it is, and when it expired: {shown}')
        check_equal(json.loads(world.pawl_command('keys', 'show', str(shown['id']), '--json').stdout), shown, 'by its id')
        world.change('DELETE FROM pawl_idempotency_keys')   # No other account has had a request since.
        refused = world.pawl_command('keys', 'show', '--key', 'old', check_status=1).stderr
        check('--account' in refused, f'the missing option: {refused}')
        owner = ('--account', 'jane@example.com', '--tenant', 'rides')
        check_equal(json.loads(world.pawl_command('keys', 'show', '--key', 'old', *owner, '--json').stdout), shown, 'by its owner')
        refused = world.pawl_command('keys', 'retry', str(shown['id']), check_status=1).stderr
        check('expired at' in refused, f'why it is refused: {refused}')


def exit_codes(settings):
    """Issue 16, number 21: 0 done, 1 it could not be done, 2 wrong arguments, as docs/command_line.md says."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        check_equal(world.phone('test_refused').book('refused').status, 201, 'a ride whose receipt dies')
        wait_until('the dead letter', lambda: world.count('pawl_dead_jobs') == 1 and world.queue.waiting() == 0)
        check_equal(world.stop_server(), 0, 'the exit code')
        ((key,),) = world.rows("SELECT id FROM pawl_idempotency_keys WHERE idempotency_key = 'k'")
        ((letter,),) = world.rows('SELECT id FROM pawl_dead_jobs')
        why = ('--reason', 'x')
        for words, expected in [
            (('keys', 'list'), 0), (('keys', 'list', '--limit', '0'), 2), (('keys', 'list', '--status', 'no'), 2),
            (('keys', 'list', '--below', '4711'), 1), (('keys', 'list', '--help'), 0), (('keys',), 2),
            (('keys', 'show', key), 0), (('keys', 'show', '4711'), 1), (('keys', 'show', 'x'), 2), (('keys', 'show'), 2),
            (('keys', 'show', '--key', 'none'), 1), (('keys', 'show', key, '--key', 'k'), 2), (('keys', 'show', key, '--account', 'a'), 2),
            (('keys', 'retry', key), 1), (('keys', 'settle', key, '--as', 'give-up', '--note', 'x'), 1),
            (('keys', 'settle', key, '--as', 'give-up'), 2), (('keys', 'settle', key, '--as', 'no', '--note', 'x'), 2),
            (('attention', 'list'), 0), (('attention', 'show', key), 1), (('attention', 'list', '--limit', '-1'), 2),
            (('dlq', 'list'), 0), (('dlq', 'list', '--older-than', '3'), 2), (('dlq', 'show', '4711'), 1), (('dlq', 'show'), 2),
            (('dlq', 'purge', letter), 2), (('dlq', 'purge', *why), 2), (('dlq', 'merge', '--all'), 2), (('dlq', 'merge', *why), 2),
            (('dlq', 'purge', '4711', *why), 1), (('dlq', 'purge', letter, '--dry-run'), 0), (('dlq', 'purge', letter, *why), 0),
            (('dlq', 'export'), 0), (('dlq', 'export', '--to', '/nowhere/letters'), 1),
            (('queues', 'list'), 0), (('queues', 'pause'), 2), (('queues', 'pause', 'defualt', *why), 1), (('queues', 'pause', *why), 0),
            (('queues', 'resume', 'defualt'), 1), (('queues', 'resume'), 0), (('reaper',), 2), (('reaper', '--once'), 0), (('migrate',), 0),
            (('no-such-command',), 2), (('keys', 'list', '--no-such-option'), 2), (('--version',), 0), (('--help',), 0),
            (('keys', 'list', '--database', 'mysql://x'), 2), (('dlq', 'list', '--queue', 'pigeon'), 2),
        ]:
            world.pawl_command(*map(str, words), check_status=expected)
        for act in ('pause', 'resume'):
            told = world.pawl_command('queues', act, 'defualt', *why, check_status=1).stderr
            check('"defualt"' in told and 'Known: default' in told, f'which queues there are: {told}')
        for options in (('--listen', 'nowhere'), ('--stripe-url', 'http://stripe.example')):
            world.rides_command('serve', '--database', world.url, *options, check_status=2)
        where = ('--database', world.url)
        for words, expected in [(('graph', 'book_ride'), 0), (('graph', 'no_such'), 2), (('graph',), 2), (('completer', '--once'), 0),
                                (('completer',), 2), (('keys', 'list', '--lease-ms', '1'), 2)]:
            world.rides_command(*words, *where, check_status=expected)
        world.rides_command('keys', 'list', check_status=2, program='pawl')   # No database is given.


def queues_outside_are_listed(settings, queue):
    """Issue 16, number 21: with Redis or Kafka `queues list` was empty although jobs waited there."""
    with World(settings.bin, QUICK, queue=queue) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        world.settle()
        world.pawl_command('queues', 'pause', '--reason', 'a test')
        wait_until('the server to know', lambda: _untouched(world), 60)

        def lines():
            listed = json.loads(world.pawl_command('queues', 'list', '--json').stdout)
            return [line for line in listed if line['where'] == queue and line['ready'] > 0]
        (line,) = wait_until('the jobs to arrive there', lines, world.queue.patience_s)
        check_equal((line['queue'], line['reason']), ('default', 'a test'), 'the queue, and its pause')
        world.pawl_command('queues', 'resume')
        wait_until('all to be done', lambda: not lines(), world.queue.patience_s)


def who_did_it(settings):
    """Issue 16, number 21: without SUDO_USER and USER, as under cron, the audit said "operator"."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        nobody = {'USER': '', 'SUDO_USER': '', 'PAWL_DATABASE': world.url}
        for environment in (nobody, nobody | {'USER': 'ann'}, nobody | {'USER': 'root', 'SUDO_USER': 'bob'}):
            world.rides_command('queues', 'pause', '--reason', 'x', environment=environment, program='pawl')
            world.rides_command('queues', 'resume', environment=environment, program='pawl')
        actors = [actor for (actor,) in world.rows("SELECT actor FROM pawl_audit_log WHERE action = 'pause' ORDER BY id")]
        check_equal(actors, [pwd.getpwuid(os.getuid()).pw_name, 'ann', 'bob'], 'the actors')


def piped_tables_are_whole(settings):
    """Issue 16, number 21: a line of a table was cut to 160 characters even in a file or a pipe."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        world.settle()
        long = 'an error, and ' + 'ü' * 150 + ' its end'
        world.change('UPDATE pawl_idempotency_keys SET error = ?', long)
        check(long in world.pawl_command('keys', 'list').stdout, 'the whole error')
        ours, theirs = open_terminal()
        try:
            subprocess.run([os.path.join(os.path.dirname(world.rides), 'pawl'), 'keys', 'list', '--database', world.url],
                           stdout=theirs, check=True, timeout=60)
            shown = os.read(ours, 65536).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        check('its end' not in shown and '...' in shown, f'on a terminal it is cut: {shown}')


def texts_of_providers(settings):
    """Ids of 1 MB made `attention list` print 19 MB, and a provider's characters reached the terminal as they came."""
    evil = 'ch_\u202egnp.exe\u2066 \x1b[2J\x07\x9b31m \r paid\u061c\u200f'
    obeyed = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069]')
    with World(settings.bin, [*ONCE, '--rider', 'test_doubt 500@example.com']) as world:
        world.start_server()
        for n in range(20):
            world.phone('test_doubt').book(f'k-{n}')
        wait_until('the attention list', lambda: world.count('pawl_attention') == 20)
        check_equal(world.stop_server(), 0, 'the exit code')
        key = world.rows('SELECT min(key_id) FROM pawl_attention')[0][0]
        world.change('UPDATE pawl_attention SET detail = ? WHERE key_id = ?', evil + 'x' * 1_000_000, key)
        world.change('UPDATE pawl_idempotency_keys SET error = ? WHERE id = ?', evil + 'x' * 3_000_000, key)
        for words, most in ((('attention', 'list'), 20_000), (('attention', 'list', '--json'), 30_000), (('keys', 'list'), 20_000),
                            (('attention', 'show', str(key)), 1_100_000), (('attention', 'show', str(key), '--json'), 1_100_000),
                            (('keys', 'show', str(key)), 1_200_000), (('keys', 'timeline', str(key)), 1_200_000)):
            said = world.pawl_command(*words).stdout
            check(len(said) < most, f'{words}: {len(said)} characters')
            check(not obeyed.search(said), f'a terminal obeys {words}: {obeyed.findall(said)[:5]}')
            if '--json' in words:
                json.loads(said)
        shown = json.loads(world.pawl_command('attention', 'show', str(key), '--json').stdout)
        check_equal(shown['detail'], evil + 'x' * 1_000_000, 'what a program reads')
        check('\\u202e' in world.pawl_command('attention', 'show', str(key)).stdout, 'what a person sees')


def pawl_makes_its_tables(settings):
    with World(settings.bin) as world:
        check_equal(world.rides_command('keys', 'list', check_status=2, program='pawl').stdout, '', 'without a database')
        world.pawl_command('migrate')
        check_equal(json.loads(world.pawl_command('keys', 'list', '--json').stdout), [], 'keys of a new database')
        wrong = world.pawl_command('kyes', check_status=2)
        check('kyes' in wrong.stderr, f'the error: {wrong.stderr}')
        told = world.pawl_command('--help').stdout
        check('PAWL_DATABASE' in told and 'dlq' in told, f'--help: {told}')


def retry_rows():
    """What a server says first, then 201: the exit code, the tries, and the least wait in ms before the second one."""
    def again(value, status=503):
        return http(status, b'', [f'Retry-After: {value}'])

    def at(form):
        return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)).strftime(form)
    done = http(201, b'{"ok":true}')
    return {
        'a date': (again(at('%a, %d %b %Y %H:%M:%S GMT')), 0, 2, 1500),
        'a date of RFC 850': (again(at('%A, %d-%b-%y %H:%M:%S GMT')), 0, 2, 1500),
        'a date of asctime': (again(at('%a %b %e %H:%M:%S %Y')), 0, 2, 1500),
        'the past': (again('Wed, 21 Oct 2015 07:28:00 GMT'), 0, 2, 0),
        'a fraction': (again('2.5'), 0, 2, 0), 'negative': (again('-5'), 0, 2, 0), 'words': (again('soon'), 0, 2, 0),
        'a list': (again('1, 3'), 0, 2, 0), 'zero': (again('0', 429), 0, 2, 0), 'more than a deadline': (again('9' * 20), 4, 1, 0),
        'early hints': (b'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' + done, 0, 1, 0),
        'continue': (b'HTTP/1.1 100 Continue\r\n\r\n' + done, 0, 1, 0),
        'trailers': (b'HTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\n{"ok"\r\n6\r\n:true}\r\n0\r\n'
                     b'X: y\r\n\r\n', 0, 1, 0),
        'HTTP/1.0': (b'HTTP/1.0 201 x\r\nContent-Type: application/json\r\n\r\n{"ok":true}', 0, 1, 0),
        'two equal lengths': (b'HTTP/1.1 201 x\r\nContent-Length: 11\r\nContent-Length: 11\r\n\r\n{"ok":true}', 0, 1, 0),
        '307': (http(307, b'', ['Location: /other']), 0, 1, 0), '409': (http(409, b''), 0, 2, 0), '425': (http(425, b''), 0, 2, 0),
        '500, not to be repeated': (http(500, b'', ['Stripe-Should-Retry: false']), 4, 1, 0),
        '402, to be repeated': (http(402, b'', ['Stripe-Should-Retry: true']), 0, 2, 0), 'closed': (None, 0, 2, 0)}


def pawl_request_reads_each_form(settings):
    """`pawl request` waits as a server asks in any form of the standards, and reads each form of an answer."""
    for name in retry_rows():
        first, code, tries, wait_ms = retry_rows()[name]   # Its date is of now.
        with StrangeProvider(http(201, b'{"ok":true}'), [first]) as server:
            done = subprocess.run(
                [os.path.join(settings.bin, 'pawl'), 'request', 'POST', f'http://127.0.0.1:{server.port}/', '--data', '{}', '--key', 'k',
                 '--deadline-ms', '30000', '--wait-ms', '50', '--wait-max-ms', '100'],
                capture_output=True, text=True, timeout=WAIT_S, check=False)
        check_equal((done.returncode, len(server.requests)), (code, tries), f'{name}: {done.stderr}')
        check_equal(set(server.keys()), {'k'}, f'{name}: the keys')
        if wait_ms:
            waited = int(done.stderr.partition('again in ')[2].split()[0])
            check(wait_ms <= waited <= 5000, f'{name}: {done.stderr}')


def pawl_requests(settings):
    """A ride by `pawl request` whose server dies after the charge and is restarted; and its messages without a server."""
    with World(settings.bin, QUICK, judged=False) as world:
        world.start_server(fault='engine.call.after:1:kill9')
        file = os.path.join(world.folder, 'ride.key')
        words = ['request', 'POST', f'http://127.0.0.1:{world.port}/rides', '--data', json.dumps(HERE_TO_THERE),
                 '--header', 'Authorization: Bearer test_jane']
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(world.rides_command, *words, '--key-file', file, '--tries', '50', '--wait-ms', '200',
                                '--wait-max-ms', '400', program='pawl')
            wait_until('the server to die', world.dead)
            check(world.start_server(), 'it starts again')
            done = asked.result()
        check_equal(json.loads(done.stdout)['message'][:5], 'Paid.', 'the body')
        for said in ('made the key ', 'try 1: lost: ', '; again in ', 'answered 201'):
            check(said in done.stderr, f'it says "{said}": {done.stderr}')
        again = world.rides_command(*words, '--key-file', file, program='pawl')
        check_equal(again.stdout, done.stdout, 'the same command again')
        check('answered 201, replayed' in again.stderr, f'the stored answer: {again.stderr}')
        check_equal(len(world.ledger()), 1, 'charges')
        other = [*words[:4], json.dumps(HERE_TO_THERE | {'origin_lat': 1}), *words[5:]]
        refused = world.rides_command(*other, '--key-file', file, check_status=1, program='pawl')
        check('answered 422' in refused.stderr and 'try 2' not in refused.stderr, f'never repeated: {refused.stderr}')
        world.rides_command(*words, check_status=1, program='pawl')   # Without a key: 400.
        world.kill_server()
        quick = ('--deadline-ms', '300', '--wait-ms', '50')
        fresh = os.path.join(world.folder, 'fresh.key')
        told = world.rides_command(*words, '--key-file', fresh, *quick, check_status=3, program='pawl')
        check('It was not done.' in told.stderr, f'without a server: {told.stderr}')
        # Issue 16, number 15: this run can't know whether an earlier run sent the key.
        for earlier in (['--key-file', fresh], ['--key-file', file], ['--key', 'k-2']):
            told = world.rides_command(*words, *earlier, *quick, check_status=4, program='pawl')
            check('an earlier one with the same key may have' in told.stderr, f'without a server: {told.stderr}')
        empty = os.path.join(world.folder, 'empty.key')
        with open(empty, 'w', encoding='ascii'):
            pass
        told = world.rides_command(*words, '--key-file', empty, check_status=2, program='pawl')
        check('holds no key' in told.stderr, f'an empty file: {told.stderr}')
        # With --key "$KEY" an unset variable must not turn it into a request without a key.
        for wrong in (['--key', ''], ['--key-file', ''], ['--key', 'a b'], ['--key', 'a', '--entity', 'b', 'c', 'd'],
                      ['--header', 'x'], ['--tries', '0'], ['--data', '@/nowhere'], ['--key-file', '/nowhere/key']):
            world.rides_command(*words, *wrong, check_status=2, program='pawl')


def numbers_are_decimal(settings):
    """CLI11 reads 010 as eight and 0x10 as sixteen: another lease than was typed."""
    with World(settings.bin) as world:
        for words in (['serve', '--lease-ms', '010'], ['serve', '--calls-max', '0x10'], ['serve', '--retry-after-ms', '100,010'],
                      ['serve', '--tenant-in-flight', '010'], ['provider', '--delay-ms', '010'], ['simulate', '--rides', '010'],
                      ['completer', '--once', '--lease-ms', '010']):
            said = world.rides_command(*words, check_status=2).stderr
            check('is not a number' in said, f'{words}: {said}')


def times_of_commands(settings):
    """Times were parsed in two places, with two languages, and a wrong one ended with 1."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        hold = ('keys', 'hold', '--all', '--dry-run')
        takes = {('keys', 'list'): ('--since', '--until'), ('keys', 'search', 'k'): ('--since', '--until'), hold: ('--since',),
                 ('reconcile',): ('--since', '--until'), ('restored', '--note', 'a test'): ('--as-of',),
                 ('restored', '--note', 'a test', '--as-of', '1h'): ('--lost-until',)}
        where = ['--database', world.url, '--stripe-url', f'http://127.0.0.1:{world.stripe}']
        for command, options in takes.items():
            for option in options:
                for wrong in ('x', '2x', '2026-11-21', 'yesterday', '-2h', '2026-11-21T25:00:00Z', ''):
                    if wrong == '' and command[0] != 'restored':
                        continue   # As if it were not given.
                    done = world.rides_command(*command, f'{option}={wrong}', *where, check_status=2)
                    check(option in done.stderr, f'{command} {option} {wrong}: {done.stderr}')
        for given in ('2h', '1d', '2020-01-01T00:00:00Z', '2020-01-01T00:00:00.000Z', '2020-01-01T01:00:00+01:00'):
            (row,) = json.loads(world.rides_command('keys', 'list', '--since', given, '--json', '--database', world.url).stdout)
            check_equal(row['key'], 'k', f'since {given}')
            world.rides_command('keys', 'hold', '--all', '--since', given, '--dry-run', '--database', world.url)
            compared = world.rides_command('reconcile', '--since', given, '--json', *where, check_status=None)
            check_equal(compared.returncode, 0, f'reconcile since {given}: {compared.stderr}')
        world.rides_command('restored', '--as-of', '1h', '--note', 'a test', *where)


def how_long_keys_are_kept(settings):
    """Only the code of an application could say it."""
    with World(settings.bin, [*QUICK, '--keep-keys', '2h', '--keep-expired', '30d']) as world:
        world.start_server()
        answer = world.phone().book('k')
        left = email.utils.parsedate_to_datetime(answer.headers['idempotency-expires']).timestamp() - time.time()
        check(7_000 < left <= 7_200, f'Idempotency-Expires is in {left} s')
        check('"keep_keys_h":2' in world.log(), 'the event `started`')
        where = ('--database', world.url)
        for wrong in (('--keep-keys', '72'), ('--keep-keys', '90m'), ('--keep-expired', '1h'), ('--keep-keys', '0h')):
            done = world.rides_command('reaper', '--once', *wrong, *where, check_status=2)
            check('keep' in done.stderr, f'{wrong}: {done.stderr}')


def cases(settings):
    found = [(f'command: a paused queue waits, {queue}', lambda queue=queue: a_paused_queue_waits(settings, queue))
             for queue in ('embedded', 'redis')]
    found += [(f'command: pawl on {queue}, by the database alone', lambda queue=queue: pawl_by_the_database_alone(settings, queue))
              for queue in ('embedded', 'redis', 'kafka')]
    found.append(('command: pawl decides what a server carries out', lambda: pawl_decides(settings)))
    found.append(('command: numbers are decimal', lambda: numbers_are_decimal(settings)))
    found.append(('command: pawl requests', lambda: pawl_requests(settings)))
    found.append(('form: pawl request waits as a server asks, in each form of it', lambda: pawl_request_reads_each_form(settings)))
    found += [(f'command: what waits in {queue} is listed', lambda queue=queue: queues_outside_are_listed(settings, queue))
              for queue in ('redis', 'kafka')]
    found += [('command: ' + name, lambda run=run: run(settings)) for name, run in {
        'an expired key is shown': an_expired_key_is_shown,
        'exit codes': exit_codes,
        'who did it': who_did_it,
        'piped tables are whole': piped_tables_are_whole,
    }.items()]
    found.append(('right: long and odd texts of a provider leave lists short and the terminal alone', lambda: texts_of_providers(settings)))
    found.append(('form: every time of a command is a time or an age, and a wrong one ends with 2', lambda: times_of_commands(settings)))
    found.append(('form: how long keys are kept is an option', lambda: how_long_keys_are_kept(settings)))
    found.append(('command: a damaged row', lambda: a_damaged_row(settings)))
    found.append(('command: pawl makes its tables', lambda: pawl_makes_its_tables(settings)))
    return found
