"""PostgreSQL behind TLS: which certificates the server accepts, and that all its connections are encrypted."""
import os
import shutil
import signal
import subprocess

from database_cases import QUICK, Crowd
from pgbouncer import PgBouncer
from stores import Cluster
from world import WAIT_S, World, check, check_equal, wait_until

DATABASES = ('postgres',)
PASSWORD = 'secret_word'
# Only encrypted connections; the server's role has a password besides.
HBA = """
hostssl all pawl  127.0.0.1/32 trust
hostssl all rider 127.0.0.1/32 scram-sha-256
"""


def openssl(*arguments):
    subprocess.run(['openssl', *arguments], check=True, capture_output=True)


class Authority:
    """Its own CA, in a folder; creates keys and certificates."""

    def __init__(self, folder, name):
        self.folder = folder
        self.key, self.certificate = os.path.join(folder, name + '.key'), os.path.join(folder, name + '.crt')
        openssl('req', '-x509', *self.new_key(self.key), '-out', self.certificate, '-subj', f'/CN={name}', '-days', '2')

    @staticmethod
    def new_key(path):
        return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path]

    def certify(self, names, key, certificate):
        """Writes the key and a certificate for `DNS:a,IP:b`."""
        request = os.path.join(self.folder, 'request')
        openssl('req', *self.new_key(key), '-out', request, '-subj', '/CN=database', '-addext', f'subjectAltName={names}')
        openssl('x509', '-req', '-in', request, '-CA', self.certificate, '-CAkey', self.key, '-CAcreateserial',
                '-copy_extensions', 'copy', '-out', certificate, '-days', '2')


class TlsCluster(Cluster):
    """PostgreSQL with ssl=on, a certificate of its own CA, and another CA that is not trusted."""

    def __init__(self):
        super().__init__()
        self.authority, self.other = Authority(self.folder, 'authority'), Authority(self.folder, 'other')
        self.key, self.certificate = os.path.join(self.folder, 'server.key'), os.path.join(self.folder, 'server.crt')
        hba = os.path.join(self.folder, 'hba')
        with open(hba, 'w', encoding='ascii') as file:
            file.write(HBA)
        self.certify('DNS:localhost,IP:127.0.0.1')
        for setting in (f'hba_file={hba}', 'ssl=on', f'ssl_key_file={self.key}', f'ssl_cert_file={self.certificate}'):
            self.settings += ('--set', setting)

    def certify(self, names):
        self.authority.certify(names, self.key, self.certificate)
        os.chmod(self.key, 0o600)   # PostgreSQL accepts no key that others may read.
        if os.geteuid() == 0:
            shutil.chown(self.key, 'postgres')

    def reload(self):
        """Reloads the certificate, for new connections."""
        self.process.send_signal(signal.SIGHUP)

    def names(self):
        """The names in its current certificate."""
        done = subprocess.run(['openssl', 's_client', '-starttls', 'postgres', '-connect', f'127.0.0.1:{self.port}'],
                              stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=WAIT_S)
        return subprocess.run(['openssl', 'x509', '-noout', '-ext', 'subjectAltName'], input=done.stdout, check=True,
                              capture_output=True).stdout.decode()


class TlsWorld(World):
    """Rocket Rides with a role that has a password and owns only its database."""

    def __init__(self, settings, cluster):
        super().__init__(settings.bin, QUICK, cluster=cluster)
        self.store._on('postgres', "DO $$ BEGIN IF to_regrole('rider') IS NULL THEN CREATE ROLE rider LOGIN"
                                   f" PASSWORD '{PASSWORD}'; END IF; END $$")
        self.store._on('postgres', f'ALTER DATABASE {self.store.database} OWNER TO rider')

    def serve_on(self, host, parameters):
        """Whether the server runs."""
        self.server_url = f'postgres://rider:{PASSWORD}@{host}:{self.cluster.port}/{self.store.database}?{parameters}'
        return self.start_server()

    def check_refused(self, host, parameters, *words):
        """The start fails with PAWL0008 and libpq's message, without the password."""
        before = len(self.log()) if self.server else 0
        check(not self.serve_on(host, parameters), f'it serves on {host} with {parameters}')
        told = self.log()[before:]
        check_equal(self.server.returncode, 1, f'the exit code: {told}')
        for word in ('PAWL0008', *words):
            check(word in told, f'"{word}" is not in: {told}')
        check(PASSWORD not in told, f'it prints the password: {told}')


def verified(settings):
    """All of its connections are encrypted, also later ones; and it works as usual."""
    with TlsCluster() as cluster, TlsWorld(settings, cluster) as world:
        trusted = f'sslmode=verify-full&sslrootcert={cluster.authority.certificate}'
        check(world.serve_on('localhost', trusted), f'it serves: {world.log()}')
        crowd = Crowd(world)
        for _ in range(3):
            booked = len(crowd.answers)
            wait_until('some rides', lambda booked=booked: len(crowd.answers) > booked + 30)
            world.rows("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'pawl'")
        crowd.finish()
        found = world.rows('SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)'
                           " WHERE application_name = 'pawl'")
        check_equal(found, [(True, 'TLSv1.3')], 'its connections: encrypted, protocol')
        check_equal(world.stop_server(), 0, 'the exit code')
        check(world.serve_on('127.0.0.1', trusted), 'an address that the certificate names is as good')
        check_equal(world.stop_server(), 0, 'the exit code')


def refused(settings):
    with TlsCluster() as cluster, TlsWorld(settings, cluster) as world:
        trusted, other = cluster.authority.certificate, cluster.other.certificate
        world.check_refused('localhost', f'sslmode=verify-full&sslrootcert={other}', 'certificate verify failed')
        world.check_refused('localhost', f'sslmode=verify-ca&sslrootcert={other}', 'certificate verify failed')
        world.check_refused('localhost', f'sslmode=verify-full&sslrootcert={trusted}.not', 'does not exist')
        world.check_refused('127.0.0.1', 'sslmode=disable', 'no encryption')
        cluster.certify('DNS:elsewhere.example')
        cluster.reload()
        wait_until('the other certificate', lambda: 'elsewhere' in cluster.names())
        world.check_refused('localhost', f'sslmode=verify-full&sslrootcert={trusted}', 'does not match host name', 'elsewhere')
        check(world.serve_on('localhost', f'sslmode=verify-ca&sslrootcert={trusted}'), 'verify-ca ignores the name')


def through_pgbouncer(settings):
    """Encrypted on both sides of it, and each side verifies the certificate of the next."""
    with TlsCluster() as cluster:
        key, certificate = os.path.join(cluster.folder, 'bouncer.key'), os.path.join(cluster.folder, 'bouncer.crt')
        cluster.authority.certify('DNS:localhost', key, certificate)
        if os.geteuid() == 0:
            shutil.chown(key, 'postgres')

        def bouncer(authority):
            return PgBouncer(cluster.port, more='\n'.join([
                'server_tls_sslmode = verify-full', f'server_tls_ca_file = {authority.certificate}', 'client_tls_sslmode = require',
                f'client_tls_key_file = {key}', f'client_tls_cert_file = {certificate}']))
        trusted = f'prepared=off&sslmode=verify-full&sslrootcert={cluster.authority.certificate}'
        with World(settings.bin, QUICK, cluster=cluster) as world:
            with bouncer(cluster.authority) as right:
                world.server_url = f'postgres://pawl@localhost:{right.port}/{world.store.database}?{trusted}'
                check(world.start_server(), f'it serves: {world.log()}')
                check_equal(world.phone().booked('k').status, 201, 'a ride')
                found = world.rows('SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)'
                                   " WHERE datname = current_database() AND pid <> pg_backend_pid()")
                check_equal(found, [(True, 'TLSv1.3')], 'its connections to PostgreSQL: encrypted, protocol')
                world.settle()
                check_equal(world.stop_server(), 0, 'the exit code')
            said = len(world.log())
            with bouncer(cluster.other) as wrong:
                world.server_url = f'postgres://pawl@localhost:{wrong.port}/{world.store.database}?{trusted}'
                check(not world.start_server(), 'it serves behind a PgBouncer that does not trust PostgreSQL')
                check('PAWL0008' in world.log()[said:] and 'certificate verify failed' in wrong.log(), f'{world.log()[said:]}\n{wrong.log()}')


def cases(settings):
    found = {'its certificate is verified, and all is encrypted': verified, 'what it must not trust is refused': refused,
             'PgBouncer verifies PostgreSQL, and is verified': through_pgbouncer}
    return [('tls: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
