"""Operators handle dead letters with `rides dlq`; the command may die and be run again."""
import json
import os

from kill_cases import QUICK
from world import World, check, check_equal, wait_until

MAILS = 6
ACTS = ('merge', 'purge')
POINTS = [f'queue.{act}.{when}' for act in ACTS for when in ('before', 'after')]
WHY = ('--reason', 'a test', '--by', 'ann')
# Fault points of external queues; each must be reached by a death there.
OUTSIDE = {'redis': ('before', 'after'), 'kafka': ('before', 'sent', 'after')}


def points_outside(queue, act):
    return [f'{queue}.{act}.{when}' for when in OUTSIDE[queue] if (act, when) != ('purge', 'sent')]


class Letters:
    """Receipts to a mailbox that does not exist; the server is stopped, so that no job runs meanwhile."""
    def __init__(self, world):
        self.world = world
        world.start_server()
        for i in range(MAILS):
            check_equal(world.phone('test_refused').booked(f'k-{i}').status, 201, 'a ride')
        self.wait_dead()
        check_equal(world.stop_server(), 0, 'the exit code')

    def wait_dead(self):
        """Waits until all are dead and no other work is left."""
        queue = self.world.queue
        wait_until('the dead letters', lambda: self.world.unsettled() == 0 and queue.waiting() == 0 and queue.dead() == MAILS,
                   queue.patience_s)

    def dlq(self, *words, status=0, fault=None, log=None):
        environment = {name: value for name, value in (('PAWL_FAULT_AT', fault), ('PAWL_FAULT_LOG', log)) if value}
        return self.world.rides_command('dlq', *words, '--database', self.world.url, *self.world.queue.options,
                                        check_status=status, environment=environment)

    def listed(self, *words):
        return json.loads(self.dlq('list', '--json', *words).stdout)

    def places(self):
        """(waiting jobs, dead letters); each job is in one place."""
        return self.world.count('pawl_jobs'), self.world.count('pawl_dead_jobs')


def worked_by_people(settings):
    with World(settings.bin, QUICK) as world:
        letters = Letters(world)
        check_equal(len(letters.listed()), MAILS, 'listed')
        check_equal(letters.listed('--kind', 'award_points'), [], 'of another kind')
        check_equal(len(letters.listed('--error', 'refused', '--younger-than', '1h', '--limit', '4')), 4, 'by a filter')
        check_equal(letters.listed('--older-than', '1d'), [], 'older')
        groups = letters.listed('--by-error')
        check_equal([(group['kind'], group['count']) for group in groups], [('send_receipt', MAILS)], 'by their error')
        of_one = json.loads(letters.dlq('show', groups[0]['sample'], '--json').stdout)
        check_equal(of_one['error_kind'], groups[0]['error_kind'], 'the kind of its error')
        check(of_one['history'][-1]['error'] == of_one['error'], f'its history: {of_one["history"]}')
        exported = [json.loads(line) for line in letters.dlq('export').stdout.splitlines()]
        check_equal(len({letter['jid'] for letter in exported}), MAILS, 'exported')
        letters.dlq('export', '--to', f'{world.folder}/letters.jsonl')
        with open(f'{world.folder}/letters.jsonl', encoding='utf-8') as file:
            check_equal(len(file.readlines()), MAILS, 'exported to a file')

        check('no dead letters chosen' in letters.dlq('purge', *WHY, status=2).stderr, 'refused without ids')
        check('--reason is missing' in letters.dlq('merge', '--all', status=2).stderr, 'refused without a reason')
        check('4711' in letters.dlq('show', '4711', status=1).stderr, 'an unknown id')
        letters.dlq('list', '--older-than', '3', status=2)
        letters.dlq('merge', '--all', '--dry-run')
        check_equal(letters.places(), (0, MAILS), 'jobs, dead letters, after a dry run')

        merged = json.loads(letters.dlq('merge', '--all', '--sample', '2', *WHY, '--json').stdout)
        check_equal(merged['done'], 2, 'a sample')
        letters.dlq('purge', exported[0]['id'], exported[1]['id'], exported[2]['id'], *WHY)
        check_equal(sum(letters.places()) in range(MAILS - 3, MAILS), True, 'what is left')
        letters.dlq('purge', exported[0]['id'], *WHY, status=1)
        world.start_server()
        world.settle()
        check_equal(world.count('pawl_audit_log', "action IN ('merge', 'purge') AND actor = 'ann'"), 2, 'in the audit')
        check_equal(len(world.mails()), 0, 'mails to nobody')


def killed_at(settings, point):
    """A killed command has happened or not; when run again, the result is the same."""
    act = point.split('.')[1]
    with World(settings.bin, QUICK) as world:
        letters = Letters(world)
        letters.dlq(act, '--all', *WHY, status=-9, fault=f'{point}:1:kill9')
        done = letters.world.count('pawl_dead_jobs') == 0
        check_equal(done, point.endswith('after'), 'done')
        letters.dlq(act, '--all', *WHY)
        check_equal(letters.places(), (MAILS if act == 'merge' else 0, 0), 'jobs, dead letters')
        check_equal(world.count('pawl_audit_log', f"action = '{act}'"), 1, 'in the audit')
        if act == 'merge':
            world.start_server()
            world.settle()
            check_equal(letters.places(), (0, MAILS), 'tried again, and dead again')
            ids = world.rows('SELECT count(DISTINCT jid) FROM pawl_dead_jobs')[0][0]
            check_equal(ids, MAILS, 'under their ids')


def killed_outside(settings, queue, act):
    """The command dies at each of its fault points in turn, and is run again; its effect happens once."""
    with World(settings.bin, QUICK, queue=queue) as world:
        letters = Letters(world)
        jids = {letter['jid'] for letter in exported(letters)}
        for point in points_outside(world.queue.name, act):
            letters.dlq(act, '--all', *WHY, status=-9, fault=f'{point}:1:kill9')
            if not letters.listed():   # It died after its work: there is nothing to repeat.
                world.start_server()
                if act == 'merge':
                    letters.wait_dead()
                check_equal(world.stop_server(), 0, 'the exit code')
        letters.dlq(act, '--all', *WHY, status=None)
        check_equal(letters.listed(), [], 'dead letters')
        world.start_server()
        if act == 'merge':
            letters.wait_dead()
            check_equal({letter['jid'] for letter in exported(letters)}, jids, 'under their ids')
        else:
            world.settle()
            check_equal(letters.listed(), [], 'dead letters after the purge')
        check(world.count('pawl_audit_log', f"action = '{act}' AND actor = 'ann'") >= 1, 'in the audit')


def exported(letters):
    return [json.loads(line) for line in letters.dlq('export').stdout.splitlines()]


def reached(bin_folder):
    """Which fault points the commands reach."""
    with World(bin_folder, QUICK) as world:
        letters = Letters(world)
        log = os.path.join(world.folder, 'faults')
        letters.dlq('merge', '--all', '--sample', '1', *WHY, log=log)
        letters.dlq('purge', '--all', *WHY, log=log)
        with open(log, encoding='utf-8') as file:
            return set(file.read().split('\n')[:-1])


def cases(settings):
    found = [('dead letters: worked by people', lambda: worked_by_people(settings))]
    return found + [(f'dead letters: kill -9 of the command, {point}', lambda point=point: killed_at(settings, point))
                    for point in POINTS] + [
        (f'dead letters: kill -9 of the command at each point, {act} on {queue}',
         lambda queue=queue, act=act: killed_outside(settings, queue, act)) for queue in OUTSIDE for act in ACTS]
