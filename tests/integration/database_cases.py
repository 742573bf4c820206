"""PostgreSQL fails under the server: killed, stopped, its connections cut, its answers lost, its disk full.

No ride is lost or doubled, and service returns by itself.
"""
import concurrent.futures
import itertools
import os
import subprocess
import threading
import time

from proxy import Proxy
from stores import Cluster
from world import NotSo, World, check, check_equal, wait_until

DATABASES = ('postgres',)
QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '200', '--job-lease-ms', '3000',
         '--job-timeout-ms', '2000']
# For cases in which no attempt may fail, however busy the machine is.
PATIENT = ['--lease-ms', '60000', '--phase-deadline-ms', '20000', *QUICK[4:]]
TRY_AGAIN = (409, 502, 503)


class Crowd:
    """Clients that book one ride after the other, each repeated with its key until the answer is final."""

    def __init__(self, world, phones=12):
        self.world, self.numbers, self.answers = world, itertools.count(), {}
        self.enough = threading.Event()
        self.strange = []
        self.pool = concurrent.futures.ThreadPoolExecutor(phones)
        self.tasks = [self.pool.submit(self._ride) for _ in range(phones)]

    def _ride(self):
        phone = self.world.phone(['test_jane', 'test_joe'][next(self.numbers) % 2])
        while not self.enough.is_set():
            key = f'crowd-{next(self.numbers)}'
            self.answers[key] = phone, self._book(phone, key)
            time.sleep(0.02)   # The receipts must keep up.

    def _book(self, phone, key):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                answer = phone.book(key)
            except OSError:
                continue
            if answer.status == 201:
                return answer
            if answer.status not in TRY_AGAIN:
                self.strange.append(answer)
            time.sleep(0.02)
        raise NotSo(f'{key} has no final answer after 60 s')

    def finish(self):
        """All rides end; each repeat gets the same answer; one charge, one ride, one receipt for each."""
        self.enough.set()
        for task in self.tasks:
            task.result()
        world, count = self.world, len(self.answers)
        check(not self.strange, f'{len(self.strange)} answers that are not 429 or 503: {self.strange[:3]}')
        world.settle()
        for key, (phone, first) in self.answers.items():
            again = phone.book(key)
            check_equal((again.status, again.body), (201, first.body), f'a repeat of {key}')
        check_equal(len({line['key'] for line in world.ledger()}), count, 'keys in the ledger')
        check_equal((len(world.ledger()), world.count('rides')), (count, count), 'charges and rides')
        receipts = {mail['message_id'] for mail in world.mails()}
        check_equal(len(receipts), count, 'receipts by Message-ID')
        check(not world.dead(), 'the server lives')
        return count


def times(settings, sample, full, long):
    return {'sample': sample, 'full': full, 'long': long}[settings.mode]


def crashes(settings):
    with Cluster('--durable') as cluster, World(settings.bin, QUICK, cluster=cluster) as world:
        world.start_server()
        crowd = Crowd(world)
        for n in range(times(settings, 2, 10, 100)):
            booked = len(crowd.answers)
            wait_until('some rides', lambda booked=booked: len(crowd.answers) > booked + 15)
            if n % 2:
                cluster.stop_at_once()
            else:
                cluster.kill()
            answer = world.phone().book('down')
            check_equal((answer.status, 'retry-after' in answer.headers), (503, True), f'while it is down: {answer}')
            cluster.start()
            wait_until('service to be back', lambda: world.phone().get('/rides').status == 200)
        wait_until('its ride', lambda: world.phone().book('down').status == 201)
        crowd.answers['down'] = world.phone(), world.phone().book('down')
        crowd.finish()


def terminated(settings):
    """pg_terminate_backend: as by an administrator or a failover."""
    with World(settings.bin, QUICK) as world:
        world.start_server()
        crowd = Crowd(world)
        ended = 0
        wanted = times(settings, 20, 100, 1000)
        while ended < wanted:
            ended += world.rows('SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity '
                                "WHERE application_name = 'pawl' AND datname = current_database() AND random() < 0.3")[0][0]
            time.sleep(0.05)
        crowd.finish()


def idle_connections_end(settings):
    """As by an idle time-out of the database or a proxy: clients notice nothing, as no statement was running."""
    with World(settings.bin, PATIENT) as world:
        world.start_server()
        for n in range(times(settings, 10, 50, 500)):
            idle = ("FROM pg_stat_activity WHERE application_name = 'pawl' AND datname = current_database()"
                    " AND state = 'idle'")
            ended = {pid for pid, _ in world.rows(f'SELECT pid, pg_terminate_backend(pid) {idle}')}
            wait_until('their end', lambda ended=ended: not ended & {pid for pid, in world.rows(f'SELECT pid {idle}')})
            answer = world.phone().book(f'k-{n}')
            check_equal(answer.status, 201, f'an unaffected answer: {answer}')
        world.settle()
        check_equal(world.log().count('attempt_refused'), 0, f'refusals: {world.log()}')


def resets(settings):
    """The network resets connections at any message."""
    with World(settings.bin, QUICK) as world, Proxy(world.store.cluster.port, settings.seed) as proxy:
        world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
        world.start_server()
        proxy.chance = 0.01
        crowd = Crowd(world)
        wanted = times(settings, 30, 200, 2000)
        wait_until(f'{wanted} resets', lambda: proxy.resets >= wanted, 600)
        proxy.chance = 0
        crowd.finish()


def commits_without_an_answer(settings):
    """The database commits and its answer is lost: no request may fail or wait for a lease because of it."""
    with World(settings.bin, PATIENT) as world, Proxy(world.store.cluster.port) as proxy:
        world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
        world.start_server('--workers', '1')
        world.settle()
        for n in range(10):
            proxy.swallow = 1   # For the next commit: the claim's.
            answer = world.phone().book(f'claim-{n}')
            check_equal(answer.status, 201, f'the row was read, and the request continued: {answer}')
        check(proxy.swallowed >= 10, f'{proxy.swallowed} answers were swallowed')
        check_equal(world.count('pawl_idempotency_keys', 'attempt > 1'), 0, 'take-overs')
        wait_until('the receipts', lambda: world.count('pawl_jobs') == 0, 60)
        check_equal((len(world.ledger()), world.count('rides')), (10, 10), 'charges and rides')


def every_commit_without_an_answer(settings):
    with World(settings.bin, QUICK) as world, Proxy(world.store.cluster.port) as proxy:
        world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
        world.start_server()
        proxy.swallow = times(settings, 50, 200, 2000)
        crowd = Crowd(world)
        wait_until('the last of them', lambda: proxy.swallow == 0, 600)
        crowd.finish()


def a_silent_network(settings):
    """No byte arrives and no connection is closed: requests end soon after their deadline."""
    with World(settings.bin, QUICK) as world, Proxy(world.store.cluster.port) as proxy:
        world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
        world.start_server()
        check_equal(world.phone().book('before').status, 201, 'before')
        proxy.silent = True
        began = time.monotonic()
        answer = world.phone(timeout=30).book('meanwhile')
        took = time.monotonic() - began
        check_equal(answer.status, 503, f'an answer while the network is silent: {answer}')
        check(took < 15, f'it took {took:.1f} s')
        proxy.silent = False
        wait_until('the ride', lambda: world.phone().book('meanwhile').status == 201, 60)
        check_equal((len(world.ledger()), world.count('rides')), (2, 2), 'charges and rides')


def a_full_tablespace(settings):
    """The disk of the database is full: 503, no answer without a durable row, and normal service when space returns."""
    with Cluster() as cluster:
        disk = os.path.join(cluster.folder, 'small')
        os.mkdir(disk)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk], check=True)
        try:
            os.makedirs(f'{disk}/space')
            subprocess.run(['chown', '-R', 'postgres', disk], check=True)
            with World(settings.bin, QUICK, cluster=cluster) as world:
                world.store._on('postgres', f"CREATE TABLESPACE small LOCATION '{disk}/space'")
                world.store._on('postgres', f'ALTER DATABASE {world.store.database} SET TABLESPACE small')
                world.start_server()
                check_equal(world.phone().book('before').status, 201, 'with space')
                with open(f'{disk}/filler', 'wb', buffering=0) as filler:
                    try:
                        while True:
                            filler.write(b'x' * 4096)
                    except OSError:
                        pass
                refused = None
                booked = ['before']
                for n in range(400):   # Free pages of the tables are used up first.
                    answer = world.phone().book(f'full-{n}')
                    if answer.status != 201:
                        refused = answer
                        break
                    booked.append(f'full-{n}')
                check(refused is not None, 'the disk was never full')
                check_equal((refused.status, 'retry-after' in refused.headers), (503, True), f'on a full disk: {refused}')
                check(not world.dead(), 'the server lives')
                os.remove(f'{disk}/filler')
                wait_until('the ride', lambda: world.phone().book(f'full-{n}').status == 201, 60)
                booked.append(f'full-{n}')
                world.settle()
                check_equal((len(world.ledger()), world.count('rides')), (len(booked), len(booked)), 'charges and rides')
        finally:
            subprocess.run(['umount', '-l', disk], check=False)


def a_role_without_ddl(settings):
    """One role migrates and owns the tables; the server's role may only read and write rows."""
    with World(settings.bin, QUICK) as world:
        database, on = world.store.database, world.store._on
        serves, migrates = f'serves_{database}', f'migrates_{database}'
        on('postgres', f'CREATE ROLE {serves} LOGIN; CREATE ROLE {migrates} LOGIN;'
                       f' ALTER DATABASE {database} OWNER TO {migrates}')
        world.server_url = world.url.replace('pawl@', f'{serves}@')
        check(not world.start_server(), 'it serves without privileges')
        check('permission denied for schema public' in world.log(), f'it names the missing privilege: {world.log()}')
        on(database, f'ALTER DEFAULT PRIVILEGES FOR ROLE {migrates} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {serves}')
        world.rides_command('migrate', '--database', world.url.replace('pawl@', f'{migrates}@'))
        check(world.start_server(), f'it serves: {world.log()}')
        first = world.phone().book('k')
        ride = first.json['ride']
        check_equal(world.phone().book('k').body, first.body, 'a repeat')
        check_equal((world.phone().refund(ride).status, world.phone().put_user('new@example.com').status), (201, 201),
                    'a refund, a new user')
        check_equal(world.log().count('no_preallocated_ids'), 1, 'it logs that it has no right on the sequence')
        world.settle()
        for command in (('keys', 'list'), ('attention', 'list'), ('reaper', '--once'), ('completer', '--once')):
            world.rides_command(*command, '--database', world.server_url)


def another_encoding(settings):
    """Some texts could not be stored in it, others would be stored as bytes that are no text."""
    with World(settings.bin, QUICK) as world:
        for encoding in ('LATIN1', 'SQL_ASCII'):
            name, said = f'{world.store.database}_{encoding.lower()}', len(world.log()) if world.server else 0
            world.store._on('postgres', f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
            world.server_url = world.url.replace(world.store.database, name)
            check(not world.start_server(), f'it serves on {encoding}')
            told = world.log()[said:]
            check(f'PAWL0008: the database {world.server_url} has the encoding {encoding}: Pawl needs one with' in told, told)
            world.store._on('postgres', f'DROP DATABASE {name}')


def cases(settings):
    scenarios = {
        'it is killed and stopped, over and over': crashes,
        'its backends are terminated': terminated,
        'its idle connections end': idle_connections_end,
        'connections are reset at any message': resets,
        'a claim is committed and the answer lost': commits_without_an_answer,
        'commits of all kinds lose their answers': every_commit_without_an_answer,
        'the network is silent': a_silent_network,
        'its disk is full': a_full_tablespace,
        'the role of the server may create nothing': a_role_without_ddl,
    }
    return [*(('postgres: ' + name, lambda run=run: run(settings)) for name, run in scenarios.items()),
            ('form: a database in another encoding than UTF-8 is refused', lambda: another_encoding(settings))]
