"""Payouts: two servers, one of which is paused in an upload until another file has the payouts."""
import json
import os
import signal

from payouts_world import SLOW, PayoutsWorld
from ports import free_port
from world import World, check_equal, end, wait_paused, wait_until


def given_up_while_paused(settings, point, at_the_bank):
    """Issue 38, number 5: a server that was paused in an upload renamed its file after that was given up, and another had its payouts."""
    with PayoutsWorld(settings.bin, settle_after_ms=500) as world:
        world.faults = [f'{point}:1:stop']
        world.start()
        for i in range(3):
            world.pay(f'k-{i}', 1000 + i)
        world.cut_off()
        paused = world.server
        wait_paused(paused, 'Payouts')
        try:
            key = str(next(one['id'] for one in json.loads(world.command('keys', 'list', '--json')) if one['operation'] == 'send_file'))
            wait_until('the end of its lease', lambda: world.run_command('attention', 'add', key, '--reason', 'bank').returncode == 0)
            world.command('attention', 'settle', key, '--as', 'give-up', '--note', 'the bank has none', '--by', 'ann', '--force')
            world.port = free_port()
            world.start()
            world.wait('the end of its request', lambda: world.count('bank_files', 'given_up_at IS NOT NULL') == 1)
            there = os.path.join(world.bank.archive, 'payouts-00000001.xml')
            if at_the_bank:   # As if the paused server had done it a moment ago.
                name, = os.listdir(world.bank.inbox)
                os.rename(os.path.join(world.bank.inbox, name), there)
            world.decide('files', 'cancel', '1', '--cut-off-now')
            if at_the_bank:
                world.wait('the attention list', lambda: 'given up and cancelled' in world.command('attention', 'list', '--json'))
                check_equal(os.listdir(world.bank.inbox), [], 'files at the bank')
                os.remove(there)
                second = str(json.loads(world.command('attention', 'list', '--json'))[0]['key_id'])
                world.command('keys', 'retry', second, '--reason', 'the bank has removed it')
            world.wait('the second file', lambda: world.is_state('sent', 3))
            check_equal(os.listdir(world.bank.inbox), ['payouts-00000002.xml'], 'files and temporary names')
            paused.send_signal(signal.SIGCONT)
            wait_until('the paused server to go on', lambda: 'file_not_sent' in world.log())
            paused.terminate()
            paused.wait(30 * SLOW)
            check_equal(os.listdir(world.bank.inbox), ['payouts-00000002.xml'], 'files and temporary names at the end')
        finally:
            end(paused)


def cases(settings):
    if World.database == 'sqlite':   # It has one server.
        return []
    return [(f'right: payouts: a file given up while its server was paused at {point} {ending}',
             lambda point=point, there=there: given_up_while_paused(settings, point, there))
            for point, there, ending in (('sftp.lookup.after', False, 'is not created'), ('sftp.check.after', False, 'is not renamed'),
                                         ('sftp.check.after', True, 'and is at the bank stops the file in its place'))]
