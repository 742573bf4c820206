"""PostgreSQL with a standby: a server whose connections reach it, and one whose primary and standby change places."""
import libpq
from database_cases import PATIENT, QUICK, Crowd
from operator_cases import Operated
from proxy import Proxy
from stores import TIMEOUT_S, Cluster
from world import World, check, check_equal, wait_until

DATABASES = ('postgres',)
HINT = 'is it a standby? Pawl needs the primary'


def follows(standby, primary):
    wait_until('the standby to follow', lambda: libpq.execute(
        primary.url(), "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn = pg_current_wal_lsn()", TIMEOUT_S))
    check_equal(libpq.execute(standby.url(), 'SELECT pg_is_in_recovery()', TIMEOUT_S), [('t',)], 'a standby')


def leaves_a_standby(settings):
    """A proxy led to the standby for a while: 503 meanwhile, and no connection stays there afterwards."""
    with Cluster() as primary, Cluster('--standby-of', str(primary.port)) as standby, Proxy(primary.port) as proxy, \
            Operated(settings, base=PATIENT, cluster=primary) as operated:
        world = operated.world
        follows(standby, primary)
        world.server_url = standby.url(world.store.database)
        check(not world.start_server(), 'it starts at a standby')
        check(HINT in world.log(), f'it says what it is: {world.log()[-1000:]}')
        world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
        operated.start()
        check_equal(world.phone().booked('before').status, 201, 'a ride')
        world.settle()
        follows(standby, primary)
        proxy.target, said = standby.port, len(world.log())
        world.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE application_name = 'pawl' AND datname = current_database()")
        for n in range(5):
            answer = world.phone().book(f'meanwhile-{n}')
            check_equal((answer.status, 'retry-after' in answer.headers), (503, True), f'at a standby: {answer}')
        check(HINT in world.log()[said:], f'the log says what it is: {world.log()[-1000:]}')
        wait_until('it to be not ready', lambda: 'store' in operated.failed_checks())
        proxy.target = primary.port
        wait_until('its connections to leave the standby', lambda: all(
            world.phone().book(f'meanwhile-{n}').status == 201 for n in range(5)))
        wait_until('it to be ready', operated.ready)
        world.settle()
        check_equal((len(world.ledger()), world.count('rides')), (6, 6), 'charges and rides')


def they_change_places(settings):
    """A switchover under load: the primary stops, its standby is promoted, and the old primary follows it."""
    with Cluster() as one, Cluster('--standby-of', str(one.port)) as other, World(settings.bin, QUICK, cluster=one) as world:
        world.server_url = (f'postgres://pawl@127.0.0.1:{one.port},127.0.0.1:{other.port}/{world.store.database}'
                            '?target_session_attrs=read-write')
        world.start_server()
        crowd = Crowd(world)
        primary, standby = one, other
        for _ in range(2):
            booked = len(crowd.answers)
            wait_until('some rides', lambda booked=booked: len(crowd.answers) > booked + 15)
            primary.stop()
            check_equal(libpq.execute(standby.url(), 'SELECT pg_promote()', TIMEOUT_S), [('t',)], 'the promotion')
            primary.settings = ('--standby-of', str(standby.port))
            primary.start()
            primary, standby = standby, primary
            world.store.cluster = primary
            booked = len(crowd.answers)
            wait_until('rides at the new primary', lambda booked=booked: len(crowd.answers) > booked + 15, 60)
            follows(standby, primary)
        crowd.finish()


def cases(settings):
    return [('form: a server leaves a standby that a proxy led it to', lambda: leaves_a_standby(settings)),
            ('form: a primary and its standby change places under load', lambda: they_change_places(settings))]
