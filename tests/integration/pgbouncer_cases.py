"""Rocket Rides behind PgBouncer in transaction mode, with more connections than PgBouncer has: all promises still hold."""
import concurrent.futures

import nodes_cases
from database_cases import QUICK, Crowd, times
from pgbouncer import PgBouncer
from world import World, check, check_equal, wait_until

DATABASES = ('postgres',)
# Settings that PgBouncer itself restores for each client.
TRACKED = {'application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone'}


class BouncedWorld(World):
    """Its servers use their database through their own PgBouncer; the case itself connects directly."""
    parameters = 'prepared=off'
    pool = 4

    def __enter__(self):
        self.bouncer = PgBouncer(self.store.cluster.port, self.pool)
        self.server_url = f'{self.bouncer.url(self.store.database)}?{self.parameters}'
        try:
            self.bouncer.start()
            return super().__enter__()
        except BaseException:
            self.bouncer.__exit__()
            raise

    def __exit__(self, *why):
        try:
            super().__exit__(*why)
        finally:
            self.bouncer.__exit__()


def is_restarted(settings):
    """Killed or stopped under load: service returns by itself, no ride is lost or doubled."""
    with BouncedWorld(settings.bin, QUICK) as world:
        world.start_server()
        crowd = Crowd(world)
        for n in range(times(settings, 4, 20, 200)):
            booked = len(crowd.answers)
            wait_until('some rides', lambda booked=booked: len(crowd.answers) > booked + 15)
            if n % 2:
                world.bouncer.stop()
            else:
                world.bouncer.kill()
            answer = world.phone().book('down')
            check_equal((answer.status, 'retry-after' in answer.headers), (503, True), f'while it is down: {answer}')
            world.bouncer.start()
            wait_until('service to be back', lambda: world.phone().get('/rides').status == 200)
        wait_until('its ride', lambda: world.phone().book('down').status == 201)
        crowd.answers['down'] = world.phone(), world.phone().book('down')
        crowd.finish()


def its_connections(world):
    """Session settings on each shared connection: {pid: row}. All queries run at once, or they would use one connection."""
    look = ("SELECT pg_backend_pid(), current_setting('statement_timeout'), current_setting('lock_timeout'),"
            " current_setting('idle_in_transaction_session_timeout'), current_setting('transaction_isolation'),"
            " current_setting('transaction_read_only'), (SELECT count(*) FROM pg_prepared_statements),"
            " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),"
            " (SELECT count(*) FROM pg_listening_channels()),"
            " (SELECT coalesce(string_agg(name, ','), '') FROM pg_settings WHERE source = 'session'), pg_sleep(1)")
    found = {}

    def looked_at_all():
        # On a busy machine one query may end before the last begins.
        with concurrent.futures.ThreadPoolExecutor(world.bouncer.pool) as pool:
            for rows in pool.map(lambda _: world.bouncer.told(world.store.database, look), range(world.bouncer.pool)):
                found.update({row[0]: row[1:-1] for row in rows})
        return len(found) >= world.bouncer.pool
    wait_until('a query on each connection', looked_at_all)
    return found


def leaves_no_state(settings):
    """Time-outs, isolation, locks, statements: no state of our transactions outlives them."""
    with BouncedWorld(settings.bin, QUICK) as world:
        world.start_server()
        crowd = Crowd(world)
        wait_until('some rides', lambda: len(crowd.answers) > 100)
        wait_until('all connections to be in use',
                   lambda: world.bouncer.server_connections(world.store.database) == world.bouncer.pool)
        crowd.finish()
        check_equal(world.stop_server(), 0, 'the exit code')
        for *row, of_session in its_connections(world).values():
            check_equal(row, ['0', '0', '0', 'read committed', 'off', '0', '0', '0'], 'state left on a connection')
            check(set(filter(None, of_session.split(','))) <= TRACKED, f'settings of the session: {of_session}')


class OneConnectionWorld(BouncedWorld):
    """All connections of its servers share one to PostgreSQL, which so has every prepared statement until it is replaced."""
    pool = 1


HINT = 'behind PgBouncer in transaction mode add prepared=off to the URL'


def named_statements(settings):
    """Without prepared=off: the log names the fix, the client gets a retry, and no ride is lost."""
    with OneConnectionWorld(settings.bin, QUICK) as world:
        right = world.server_url
        world.server_url = world.bouncer.url(world.store.database) + '?connections=1'
        check(world.start_server(), f'it serves: {world.log()}')
        first = world.phone().book('before')
        check_equal(first.status, 201, f'on one connection: {first}')
        before = len(world.log())
        world.bouncer.reconnect(world.store.database)
        answer = wait_until('an unknown prepared statement', lambda: next(
            (one for one in [world.phone().book('meanwhile')] if one.status != 409), None))
        check_equal((answer.status, 'retry-after' in answer.headers), (503, True), f'what the client gets: {answer}')
        check(HINT in world.log()[before:], f'the hint is not in: {world.log()[before:][:500]}')
        world.kill_server()

        world.server_url = right
        check(world.start_server(), f'it serves: {world.log()}')
        wait_until('the ride', lambda: world.phone().book('meanwhile').status == 201)
        check_equal(world.phone().book('before').body, first.body, 'a repeat')
        world.settle()
        check_equal((len(world.ledger()), world.count('rides')), (2, 2), 'charges and rides')
        check_equal(world.rides_command('attention', 'list', '--database', world.url).stdout.count('book_ride'), 0, 'attention')


def cases(settings):
    behind = {'kind': BouncedWorld}
    found = {
        'three servers, 64 clients, the same key': lambda: nodes_cases.one_key(settings, 0, **behind),
        'three servers, the same new user': lambda: nodes_cases.one_user(settings, **behind),
        'three servers, each is killed in turn': lambda: nodes_cases.nodes_die(settings, settings.seed, **behind),
        'three servers, each hangs in turn': lambda: nodes_cases.nodes_hang(settings, settings.seed, **behind),
        'it is killed and stopped, over and over': lambda: is_restarted(settings),
        'its connections are left as they were': lambda: leaves_no_state(settings),
        'named statements are refused with a hint': lambda: named_statements(settings),
    }
    return [('pgbouncer: ' + name, run) for name, run in found.items()]
