"""Receipts and points: jobs that fail, die, and are never done twice."""
import json
import signal
import socket
import time

from kill_cases import QUICK, SLOW
from phone import HERE_TO_THERE
from world import KILLED, World, check, check_equal, wait_until


MAILS = 3
STEERS = ('cancel', 'retry')


def mail_server_is_down(settings):
    with World(settings.bin, ['--retry-after-ms', '200,200,200,200,200,200,200,200,200,200,200,200']) as world:
        world.start_server()
        ride = world.phone().book('k')
        check_equal(ride.status, 201, 'the first ride')
        world.settle()
        world.provider.send_signal(signal.SIGSTOP)   # Stops charges and mails: the ride waits, and so does the mail.
        world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, 'k2')
        wait_until('it to begin', lambda: world.count('pawl_idempotency_keys') == 2)
        world.provider.send_signal(signal.SIGCONT)
        world.settle()
        check_equal(len(world.mails()), 2, 'receipts')


def refused_mails_die_once(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone('test_refused').book('k').status, 201, 'the ride is booked anyway')
        world.settle()
        check_equal(world.count('pawl_dead_jobs', "kind = 'send_receipt' AND last_error LIKE '%refused%'"), 1, 'dead letters')
        check_equal(world.count('users', "email = 'no@refused.example' AND points = 20"), 1, 'the other job was done')


def put_off_mails_come_later(settings):
    with World(settings.bin, QUICK) as world:
        world.start_server()
        check_equal(world.phone('test_later').book('k').status, 201, 'the ride')
        world.settle()
        check_equal((len(world.mails()), world.count('pawl_dead_jobs')), (1, 0), 'receipts, dead letters')
        check('"event":"job_failed"' in world.log(), 'the failure is in the log')


def never_answered_mails_are_given_up(settings):
    """A mail server that accepts the mail and cuts the connection: sent again with the same Message-ID, then dead."""
    with World(settings.bin, ['--retry-after-ms', '50,50', '--rider', 'test_cut cut@cut.example']) as world:
        world.start_server()
        check_equal(world.phone('test_cut').book('k').status, 201, 'the ride')
        wait_until('the dead letter', lambda: world.count('pawl_dead_jobs') == 1)
        check_equal(len({mail['message_id'] for mail in world.mails()}), 1, 'Message-IDs')
        check_equal(len(world.mails()), 3, 'tries: the first and two layers')


class SilentServer:
    """Accepts connections and never answers."""

    def __init__(self):
        self.socket = socket.create_server(('127.0.0.1', 0), backlog=500)
        self.port = self.socket.getsockname()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def a_silent_mail_server_stops_no_other_jobs(settings):
    """Before, four receipts held all workers for 5 s each: 60 jobs of another kind took 75.7 s (issue 18)."""
    with SilentServer() as silent, World(settings.bin, ['--smtp-url', f'smtp://127.0.0.1:{silent.port}']) as world:
        world.start_server()
        phone = world.phone()
        for i in range(60):
            check_equal(phone.book(f'k-{i}').status, 201, 'the ride')
        wait_until('the points of 60 rides', lambda: world.count('users', 'points = 1200') == 1, 3 * SLOW)
        check(world.count('pawl_jobs', "kind = 'send_receipt'") > 40, 'the receipts still wait')


def people_see_and_steer_jobs(settings, queue):
    """A cancelled handler stops long before its time-out; the job is a dead letter that can come back."""
    with SilentServer() as silent, World(settings.bin, ['--smtp-url', f'smtp://127.0.0.1:{silent.port}'], queue=queue) as world:
        world.start_server()
        where = ('--database', world.url, *world.queue.options)

        def jobs(*words):
            return json.loads(world.rides_command('jobs', *words, *where, '--json').stdout)

        def running():
            return jobs('list', '--state', 'running', '--kind', 'send_receipt')

        check_equal(world.phone().book('k').status, 201, 'the ride')
        wait_until('the receipt to run', lambda: [job['kind'] for job in jobs('list')] == ['send_receipt'] and running())
        job = jobs('list')[0]
        shown = jobs('show', job['id'])
        check_equal((shown['args']['email'], shown['state'], shown['tries']), ('jane@example.com', 'running', 1), 'its details')
        refused = world.rides_command('jobs', 'cancel', '--kind', 'send_receipt', *where, check_status=2)
        check('--reason' in refused.stderr, refused.stderr)
        began = time.monotonic()
        cancelled = {'cancelled': 1, 'running': 1, 'gone': 0, 'held': 0, 'at_work': 0}
        check_equal(jobs('cancel', job['id'], '--reason', 'a test'), cancelled, 'cancelled')
        wait_until('the handler to stop', lambda: '"job_stopped"' in world.log())
        check(time.monotonic() - began < 4 * SLOW, 'long before the 5 s of a mail')
        check_equal(jobs('list'), [], 'jobs')
        letters = world.queue.letters()
        check_equal([(letter['jid'], letter['error_kind']) for letter in letters], [(shown['jid'], 'cancelled')], 'dead letters')
        check_equal(world.count('pawl_audit_log', "action = 'cancel' AND detail LIKE '%a test%'"), 1, 'audit entries')
        gone = world.rides_command('jobs', 'cancel', job['id'], '--reason', 'a test', *where, check_status=1)
        check('none of these jobs is there' in gone.stderr, gone.stderr)
        world.rides_command('dlq', 'merge', letters[0]['id'], '--reason', 'a test', *where)
        wait_until('it to wait for its next try', lambda: jobs('list', '--state', 'retrying') != [])
        for name, count in (('default', 1), ('mails', 0)):   # --queue is the service's, and was taken for it.
            check_equal(len(jobs('list', '--queue-name', name)), count, f'jobs of {name}')
            listed = world.rides_command('dlq', 'list', '--queue-name', name, *where, '--json').stdout
            check_equal(json.loads(listed), [], f'dead letters of {name}')
        check_equal(jobs('retry', job['id'], '--reason', 'a test'), {'due': 1, 'left': 0}, 'tried again at once')
        wait_until('it to run', running)
        left = world.rides_command('jobs', 'retry', job['id'], '--reason', 'a test', *where, check_status=1)
        check('running' in left.stderr, left.stderr)


def a_dry_run_says_how_many(settings, queue):
    """Before, it showed the first jobs, and said of 200,000 only that there may be more."""
    with SilentServer() as silent, World(settings.bin, ['--smtp-url', f'smtp://127.0.0.1:{silent.port}'], queue=queue) as world:
        world.start_server()
        for n in range(3):
            check_equal(world.phone().book(f'k-{n}').status, 201, 'the ride')
        jobs = ('jobs', 'cancel', '--kind', 'send_receipt', '--dry-run', '--database', world.url, *world.queue.options)
        wait_until('three receipts', lambda: 'has 3 jobs.' in world.rides_command(*jobs).stdout)
        for limit, said in ((1, 'has 3 jobs; these are the first.'), (3, 'has 3 jobs.'), (9, 'has 3 jobs.')):
            shown = world.rides_command(*jobs, '--limit', str(limit)).stdout
            check(said in shown and 'There may be more' not in shown, f'{limit}: {shown}')
        one = json.loads(world.rides_command(*jobs, '--limit', '1', '--json').stdout)
        check_equal(len(one), 1, 'rows of JSON')
        alone = world.rides_command('jobs', 'retry', one[0]['id'], *jobs[4:]).stdout
        check('has 1 job.' in alone, f'of an id: {alone}')


def steering_is_killed(settings, act):
    """`jobs cancel` and `jobs retry` on Redis die at each of their fault points, and are run again."""
    options = ['--retry-after-ms', '3600000', '--rider', 'test_later late@later.example']
    with World(settings.bin, options, queue='redis') as world:
        world.start_server()
        for i in range(MAILS):
            check_equal(world.phone('test_later').booked(f'k-{i}').status, 201, 'a ride')
        where = ('--database', world.url, *world.queue.options)

        def states():
            listed = world.rides_command('jobs', 'list', '--kind', 'send_receipt', *where, '--json').stdout
            return [job['state'] for job in json.loads(listed)]

        def steer(status, point=None):
            fault = {'PAWL_FAULT_AT': f'{point}:1:kill9'} if point else {}
            world.rides_command('jobs', act, '--kind', 'send_receipt', '--reason', 'a test', *where, check_status=status,
                                environment=fault)

        waiting = ['retrying'] * MAILS
        done = [] if act == 'cancel' else ['due'] * MAILS
        wait_until('the receipts to wait for their next try', lambda: states() == waiting and world.queue.waiting() == MAILS)
        check_equal(world.stop_server(), 0, 'the exit code')
        before, after = steering_points(act)
        steer(KILLED, before)
        check_equal(states(), waiting, f'after a death at {before}')
        steer(KILLED, after)
        check_equal(states(), done, f'after a death at {after}')
        steer(0 if act == 'cancel' else 1)   # Nothing is left to do.
        check_equal(states(), done, 'after the last try')
        check_equal(world.queue.dead(), MAILS if act == 'cancel' else 0, 'dead letters')
        audited = world.count('pawl_audit_log', f"action = '{act}' AND detail LIKE '%a test%'")
        check_equal(audited, 2, 'audit entries: of each death')
        world.start_server()
        if act == 'retry':
            wait_until('the mails', lambda: len(world.mails()) == MAILS)
        world.stop_server()


def steering_points(act):
    return [f'redis.{act}.{when}' for when in ('before', 'after')]


def sidekiq_entries(now):
    """Entries of queue:default by whether they run, die with this word in their reason, or die at this try."""
    ms = int(now * 1000)

    def job(number, **more):
        return json.dumps({'retry': True, 'queue': 'default', 'class': 'add_points', 'args': [{'user': 1, 'points': 1}],
                           'jid': f'{number:024x}', 'created_at': now, 'enqueued_at': now} | more)

    def plain(text):
        return '{"class":"add_points","args":[{"user":1,"points":1}],"queue":"default",' + text + '}'
    wrapper = 'ActiveJob::QueueAdapters::SidekiqAdapter::JobWrapper'
    run = [job(1), job(2, created_at=ms, enqueued_at=ms), job(3, created_at=str(ms), enqueued_at=str(now)),
           job(4, created_at=None, enqueued_at=None), job(5, retry=False), job(6, retry=3), job(7, created_at=int(now)),
           job(8, bid='b', tags=['a', 'ü'], expiry=now + 600, encrypt=True, unique_for=600, dead=False, backtrace=True),
           job(9, args={'user': 1, 'points': 1}), plain('"class":"add_points","jid":"a1"'), job(11, x='y' * 2_000_000),
           job(12, retry_count=0, error_message='bad \0 \ud83d', error_class='X', failed_at=ms, retried_at=ms),
           job(13, created_at=10**15, failed_at=-1), job(14, expiry=None, retry_for=60)]
    dead = {job(20, expiry=now - 1): 'expired', job(21, expiry=ms - 1): 'expired', job(22, expiry=int(now) - 1): 'expired',
            plain('"no":"jid"'): 'no JSON object', plain('"jid":12345'): 'no JSON object', 'garbage{': 'no JSON object',
            '': 'no JSON object', '17': 'no JSON object', '[' * 2000 + ']' * 2000: 'no JSON object',
            job(23, **{'class': None}): 'no JSON object', job(24, args=[]): 'do not decode', job(25, args=[1]): 'do not decode',
            job(26, args=[{'user': 10**20, 'points': 1}]): 'do not decode',
            job(27, **{'class': wrapper, 'wrapped': 'X'}): 'no handler', job(28, **{'class': 'X\0'}): 'no handler'}
    tries = {job(30, retry=False, **{'class': 'Nobody'}): 1, job(31, retry=0, **{'class': 'Nobody'}): 1,
             job(32, retry=2, **{'class': 'Nobody'}): 3, job(33, retry=True, **{'class': 'Nobody'}): 7,
             job(34, retry_for=1, failed_at=now - 60, retry_count=1, **{'class': 'Nobody'}): 3}
    return run, dead, tries


def _json(value):
    """What a text says, if it is JSON; anything else as it is."""
    try:
        return json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return value


def odd_sidekiq_entries(settings):
    """Whatever another program puts into Sidekiq's lists is run once as its sender wants it, or is a dead letter with its reason."""
    with World(settings.bin, QUICK, queue='redis') as world:
        world.start_server()
        check_equal(world.phone().book('k').status, 201, 'the ride')
        world.settle()
        before, = world.rows('SELECT points FROM users WHERE id = 1')[0]
        now = round(time.time(), 3)   # The export may show a longer fraction as its neighbour.
        run, dead, tries = sidekiq_entries(now)
        redis = world.queue
        for entry in [*run, *dead, *tries]:
            redis.ask('LPUSH', 'queue:default', entry)
        redis.ask_raw(b'LPUSH', b'queue:default', b'{"class":"add_points","args":[{"user":1,"points":1}],"jid":"b","x":"\xff"}')
        redis.ask('ZADD', 'retry', now, 'broken')
        redis.ask('ZADD', 'schedule', -5, run[0].replace('0001"', '00a1"'), now + 1, run[0].replace('0001"', '00a2"'))
        redis.ask('ZADD', 'schedule', 'inf', 'never', int(now * 1000), 'in 50,000 years')
        wait_until('the others to end', lambda: redis.dead() >= len(dead) + len(tries) + 2 and redis.waiting() == 2)
        after, = world.rows('SELECT points FROM users WHERE id = 1')[0]
        check_equal(after - before, len(run) + 2, 'jobs that ran')
        letters = redis.letters()
        check_equal(len(letters), len(dead) + len(tries) + 2, 'dead letters')

        def is_of(letter, entry):
            return f'"{letter["jid"]}"' in entry or letter['args'] == entry or _json(letter['args']) == _json(entry)
        for entry, word in dead.items():
            found = [one['error'] for one in letters if is_of(one, entry)]
            check(any(word in error for error in found), f'{entry[:200]}: {found}')
        for entry, count in tries.items():
            found = [one['failures'] for one in letters if f'"{one["jid"]}"' in entry]
            check_equal(found, [count], f'failures of {entry}')
        check_equal(world.stop_server(), 0, 'the exit code')


def kafka_has_no_single_jobs(settings):
    """The commands say so without a connection, and what to use instead."""
    with World(settings.bin) as world:
        where = ('--database', world.url, '--queue', 'kafka://127.0.0.1:1')
        world.rides_command('migrate', '--database', world.url)
        for words in (['list'], ['show', '1'], ['cancel', '1', '--reason', 'a test'], ['retry', '--all', '--reason', 'a test']):
            refused = world.rides_command('jobs', *words, *where, check_status=1).stderr
            check('Kafka can neither search nor change single jobs' in refused and '`queues pause`' in refused, refused)
        check_equal(world.rides_command('jobs', 'list', '--in-database', *where, '--json').stdout, '[]\n', 'jobs in the database')


def a_clean_stop_loses_nothing(settings):
    """SIGTERM under load: every answer stays the same, every started request is finished after the restart."""
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '300']) as world:
        world.start_server()
        for i in range(20):
            world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, f'k-{i}')
        wait_until('charges', lambda: len(world.ledger()) >= 5)
        check_equal(world.stop_server(), 0, 'the exit code')
        begun = world.count('pawl_idempotency_keys')
        world.start_server()
        world.settle()
        check_equal(world.count('rides', "state = 'booked'"), begun, 'rides, one for each request begun')
        check_equal(len(world.ledger()), begun, 'charges')
        check_equal(len(world.mails()), begun, 'receipts')


def cases(settings):
    found = [(f'jobs: people see and steer jobs, {queue}', lambda queue=queue: people_see_and_steer_jobs(settings, queue))
             for queue in ('embedded', 'redis')]
    found += [(f'form: a dry run of jobs says how many it would change, {queue}', lambda queue=queue: a_dry_run_says_how_many(settings, queue))
              for queue in ('embedded', 'redis')]
    found += [(f'jobs: kill -9 of jobs {act} at each point, redis', lambda act=act: steering_is_killed(settings, act))
              for act in STEERS]
    found.append(('form: an entry of Sidekiq runs once as its sender wants it, or is a dead letter with its reason',
                  lambda: odd_sidekiq_entries(settings)))
    return found + [('jobs: ' + name, lambda run=run: run(settings)) for name, run in {
        'the provider hangs for a moment': mail_server_is_down,
        'a refused mail is a dead letter, once': refused_mails_die_once,
        'a mail that is put off comes later': put_off_mails_come_later,
        'a mail that is never acknowledged is tried as often as said': never_answered_mails_are_given_up,
        'a silent mail server stops no other jobs': a_silent_mail_server_stops_no_other_jobs,
        'Kafka has no single jobs': kafka_has_no_single_jobs,
        'SIGTERM under load loses nothing': a_clean_stop_loses_nothing,
    }.items()]
