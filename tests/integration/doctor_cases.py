"""`doctor` finds what would go wrong at a deploy, and `check` rows that break an invariant; both write nothing."""
import concurrent.futures
import json
import os
import time

from clock_cases import LIBRARY
from kill_cases import QUICK
from stores import Cluster
from world import World, check, check_equal, wait_until

SEVERE = ('warning', 'error')


def findings(world, *words, environment=None, options=()):
    """The exit code, and what the doctor found, by check."""
    done = world.rides_command('doctor', '--json', '--verbose', *words, '--database', world.url, *world.queue.options, *options,
                               check_status=None, environment=environment)
    check(done.stdout, f'the doctor ended with {done.returncode}: {done.stderr}')
    found = {}
    for one in json.loads(done.stdout)['findings']:
        found.setdefault(one['check'], []).append(one)
    return done.returncode, found


def severe(found, name):
    return [one for one in found[name] if one['severity'] in SEVERE]


def served(world):
    """Two rides and their jobs are done, and the server is stopped."""
    world.start_server()
    for key in ('k-1', 'k-2'):
        check_equal(world.phone().booked(key).status, 201, 'a ride')
    world.settle()
    check_equal(world.stop_server(), 0, 'the exit code')


def healthy(settings, queue):
    """Beside a running server, exit code 0: this machine's disk may be as full as it is."""
    own = Cluster('--durable') if World.database == 'postgres' else None
    if own:
        own.start()
    try:
        with World(settings.bin, QUICK, cluster=own, queue=queue) as world:
            world.start_server()
            check_equal(world.phone().booked('k').status, 201, 'a ride')
            world.settle()
            before = world.rows('SELECT id, attempt, last_run_at FROM pawl_idempotency_keys')
            code, found = findings(world)
            check_equal([one for name in found for one in severe(found, name) if name != 'disk'], [], 'findings')
            check_equal(code, 0 if not severe(found, 'disk') else 1, 'the exit code')
            check_equal(len(found), 13, f'checks: {sorted(found)}')
            check_equal(world.rows('SELECT id, attempt, last_run_at FROM pawl_idempotency_keys'), before, 'the keys')
            said = world.rides_command('doctor', '--database', world.url, *world.queue.options, check_status=code).stdout
            check('0 errors, ' in said and 'in order' in said, f'the table: {said}')
            pawl = world.pawl_command('doctor', '--json', check_status=None)
            check_equal([one['check'] for one in json.loads(pawl.stdout)['findings'] if 'does not know' in one['found']], ['open_points'],
                        f'what pawl can not check: {pawl.stdout}')
    finally:
        if own:
            own.__exit__()


def stranded_keys(settings):
    with World(settings.bin, QUICK) as world:
        served(world)
        ((first,), (second,)) = world.rows('SELECT id FROM pawl_idempotency_keys ORDER BY idempotency_key')
        world.change("UPDATE pawl_idempotency_keys SET status = 'open', recovery_point = 'ride_gone' WHERE id = ?", first)
        world.change("UPDATE pawl_idempotency_keys SET status = 'open', recovery_point = 'ride_created', recovery_data = ?"
                     ' WHERE id = ?', '{"card_secret": 1}', second)
        code, found = findings(world)
        check_equal(code, 3, 'the exit code')
        check_equal([(one['severity'], one['code'], one['ids']) for one in found['open_points']],
                    [('error', 'PAWL0007', [first]), ('error', 'PAWL0007', [second])], 'the keys')
        check('ride_gone' in str(found['open_points']) and 'card_secret' not in str(found), f'the point, and no data: {found}')
        world.change("UPDATE pawl_idempotency_keys SET operation = 'fly_rocket'")
        code, found = findings(world)
        check_equal((code, len(found['open_points'])), (3, 2), 'an unknown operation at two points')


def jobs_without_handler(settings):
    with World(settings.bin, QUICK) as world:
        served(world)
        for table, more, value in (('pawl_jobs', ', state', ", 'ready'"), ('pawl_staged_jobs', '', '')):
            for kind in ('send_telegram', 'send_receipt'):
                world.change(f'INSERT INTO {table} (jid, queue, kind, args, run_at, created_at{more})'
                             f" VALUES ('{kind} {table}', 'default', '{kind}', '[]', '2999-01-01T00:00:00.000Z',"
                             f" '2026-01-01T00:00:00.000Z'{value})")
        code, found = findings(world)
        check_equal(code, 3, 'the exit code')
        check_equal(sorted(one['found'].split(',')[0].split(' with')[0] for one in found['open_jobs']),
                    ['2 jobs of kind send_receipt', '2 jobs of kind send_telegram'], 'the jobs')


def migrations(settings):
    with World(settings.bin, QUICK) as world:
        served(world)
        applied = world.rows('SELECT name FROM pawl_migrations ORDER BY name')
        check_equal(findings(world)[1]['migrations'][0]['severity'], 'ok', 'all migrations')
        none = world.rides_command('migrate', '--dry-run', '--json', '--database', world.url).stdout
        check_equal(json.loads(none), [], 'nothing to migrate')
        ((last,),) = world.rows("SELECT max(name) FROM pawl_migrations WHERE owner = 'rides'")
        world.change('DELETE FROM pawl_migrations WHERE name = ?', last)
        code, found = findings(world)
        check_equal([one['severity'] for one in found['migrations']], ['warning'], 'a pending one')
        check(code in (1, 3) and last in found['migrations'][0]['found'], f'which one: {found["migrations"]}')
        pending = json.loads(world.rides_command('migrate', '--dry-run', '--json', '--database', world.url).stdout)
        check_equal(pending, [{'owner': 'rides', 'name': last}], 'what would run')
        check_equal(len(world.rows('SELECT name FROM pawl_migrations')), len(applied) - 1, 'migrations after a dry run')
        check('lacks migrations of rides' in world.rides_command('check', '--database', world.url, check_status=1).stderr, 'check refuses')
        later = "INSERT INTO pawl_migrations (owner, name, applied_at, needs) VALUES ('pawl', ?, '2026-01-01T00:00:00.000Z', ?)"
        world.change(later, 'migration_0100_later', '')
        check('note' in [one['severity'] for one in findings(world)[1]['migrations']], 'one that only expands')
        world.change(later, 'migration_0101_other', 'migration_0101_other')
        code, found = findings(world)
        check_equal(code, 3, 'the exit code')
        check('PAWL0003' in [one['code'] for one in found['migrations']], f'one that this binary can not live with: {found}')


def an_empty_database(settings):
    """Before the first deploy: all is pending, and nothing is created."""
    with World(settings.bin, QUICK) as world:
        if world.database == 'sqlite':
            world.rides_command('doctor', '--database', world.url, check_status=2)
            check(not os.path.exists(world.store.path), 'the file was not made')
            open(world.store.path, 'w', encoding='ascii').close()
        _, found = findings(world)
        check_equal([one['severity'] for one in found['migrations']], ['warning', 'warning'], "Pawl's and the application's")
        pending = json.loads(world.rides_command('migrate', '--dry-run', '--json', '--database', world.url).stdout)
        check_equal({one['owner'] for one in pending}, {'pawl', 'rides'}, 'what would run')
        # So the file still has no tables.
        check('no tables' in world.rides_command('keys', 'list', '--database', world.url, check_status=2).stderr, 'still no tables')


def readable_secret(settings):
    with World(settings.bin, QUICK) as world:
        secret = os.path.join(world.folder, 'secret')
        with open(secret, 'w', encoding='ascii') as file:
            file.write('0123456789' * 5 + '\n')
        os.chmod(secret, 0o600)
        world.options += ['--secret-file', secret]
        served(world)
        options = ('--secret-file', secret)
        check_equal(severe(findings(world, options=options)[1], 'files'), [], 'a private file')
        os.chmod(secret, 0o644)
        code, found = findings(world, options=options)
        (one,) = severe(found, 'files')
        check_equal((one['severity'], one['code']), ('warning', 'PAWL0015'), 'a readable one')
        check(code in (1, 3) and '0123456789' not in str(found), f'exit code {code}, without the secret: {found}')
        check_equal(findings(world)[1]['settings'][0]['severity'], 'error', 'no secret file')
        with open(secret, 'w', encoding='ascii') as file:
            file.write('9876543210' * 5 + '\n')
        check_equal(findings(world, options=options)[1]['settings'][0]['severity'], 'warning', 'an unknown secret')
        check_equal(world.count('pawl_installation_secret_verifiers'), 1, 'secrets: the doctor records none')


def clock_ahead(settings):
    """The doctor's machine is ten minutes behind: SQLite's times are in its future, and PostgreSQL's clock is ahead."""
    with World(settings.bin, QUICK) as world:
        served(world)
        code, found = findings(world, environment={'LD_PRELOAD': LIBRARY, 'FAKETIME': '-10m', 'FAKETIME_DONT_FAKE_MONOTONIC': '1'})
        check_equal(code, 3, 'the exit code')
        said = {'sqlite': 'in the future', 'postgres': 'ahead of this machine'}[world.database]
        check(said in str(severe(found, 'clock')), f'what it says of the clock: {found["clock"]}')


def evicting_redis(settings):
    with World(settings.bin, QUICK, queue='redis') as world:
        world.start_server()
        world.queue.ask('CONFIG', 'SET', 'appendfsync', 'everysec')
        check_equal([one['code'] for one in severe(findings(world)[1], 'queue')], ['PAWL0012'], 'a Redis that may lose a second')
        world.queue.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
        code, found = findings(world)
        check_equal((code, [one['code'] for one in severe(found, 'queue')]), (3, ['PAWL0011']), 'a Redis that evicts')
        world.queue.go_away()
        code, found = findings(world)
        check_equal((code, [one['severity'] for one in found['queue']]), (3, ['error']), 'no Redis')
        world.queue.come_back()


def kafka(settings):
    with World(settings.bin, QUICK, queue='kafka') as world:
        world.start_server()
        check_equal(world.phone().booked('k').status, 201, 'a ride')
        world.settle()
        found = findings(world)[1]['queue']
        check(not severe({'queue': found}, 'queue') and 'is not there yet' not in str(found), f'a broker with all topics: {found}')
        world.stop_server()
        world.queue.go_away()
        code, found = findings(world)
        check_equal((code, [one['severity'] for one in found['queue'] if one['severity'] != 'note']), (3, ['error']), 'no broker')


def not_durable(settings):
    """tools/postgres syncs nothing without --durable."""
    with World(settings.bin, QUICK) as world:
        served(world)
        code, found = findings(world)
        if world.database == 'sqlite':
            return check_equal(severe(found, 'durability'), [], 'a file on disk')
        check_equal((code, [one['code'] for one in severe(found, 'durability')]), (3, ['PAWL0009']), 'fsync = off')


def a_storm_keeps_the_invariants(settings):
    """Requests of many clients, and the server killed three times meanwhile: `check` finds nothing, then a broken row."""
    with World(settings.bin, [*QUICK, '--charge-once', '--rider', 'test_doubt charged500@example.com']) as world:
        world.start_server()
        deadline = time.monotonic() + 60

        def client(number):
            token = ('test_jane', 'test_joe', 'test_refused', 'test_doubt', 'test_poor')[number % 5]
            for i in range(8):
                while time.monotonic() < deadline:
                    try:
                        if world.phone(token).book(f'k-{number}-{i}').status in (201, 402, 502):
                            break
                    except OSError:
                        pass
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            clients = [pool.submit(client, number) for number in range(10)]
            for kill in range(3):
                wait_until('some requests', lambda kill=kill: world.count('pawl_idempotency_keys') > 10 * (kill + 1))
                world.check_invariants()
                world.kill_server()
                world.start_server()
            for one in clients:
                one.result()
        world.check_invariants()
        check(world.count('pawl_attention') > 0, 'requests in doubt')
        world.stop_server()
        world.check_invariants()
        world.change("UPDATE pawl_idempotency_keys SET response_body = NULL WHERE idempotency_key = 'k-0-0'")
        broken = json.loads(world.pawl_command('check', '--json', check_status=1).stdout)
        check_equal([(one['invariant'], one['count'], len(one['examples'])) for one in broken], [('finished_keys', 1, 1)], 'the broken row')
        check('finished_keys: 1 rows' in world.pawl_command('check', check_status=1).stdout, 'the table')
        world.pawl_command('check', '--max', '0', check_status=2)


def cases(settings):
    found = [(f'doctor: a healthy world, {queue}', lambda queue=queue: healthy(settings, queue)) for queue in ('embedded', 'redis')]
    found += [('doctor: ' + name, lambda run=run: run(settings)) for name, run in {
        'keys at unknown points, and damaged ones': stranded_keys,
        'jobs without a handler': jobs_without_handler,
        'migrations': migrations,
        'an empty database': an_empty_database,
        'a secret that all can read': readable_secret,
        'a Redis that evicts': evicting_redis,
        'Kafka': kafka,
        'durability': not_durable,
    }.items()]
    if LIBRARY:
        found.append(('doctor: a clock that is ahead', lambda: clock_ahead(settings)))
    found.append(('check: a storm with kills breaks no invariant', lambda: a_storm_keeps_the_invariants(settings)))
    return found
