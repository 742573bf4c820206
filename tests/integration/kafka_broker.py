"""A real Apache Kafka on loopback: one or three brokers in KRaft mode, each its own JVM. tools/kafka runs it for people.

Its folder has cluster.json, and for each broker a folder with its settings, pid, log and data. The programs are those that
`tools/kafka fetch` has put into build/kafka.
"""
import base64
import concurrent.futures
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import time
import uuid

from kafka_wire import CREATE, EARLIEST, GROUP, PREFIXED, READ, TOPIC, WRITE, Connection, KafkaError

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
LIBRARIES = os.path.join(ROOT, 'build', 'kafka', 'lib')
SPRING = os.path.join(ROOT, 'build', 'kafka', 'spring')   # Of spring.py; the broker does without.
NOBODY = ('nobody', 'nogroup')   # Who runs the brokers if we are root.
ADMIN = ('admin', 'admin-secret')   # The brokers themselves and the tests; loopback only.
USER = ('pawl', 'pawl-secret')   # The client under test: the access rules say what it may do.
START_S = 90 * float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
STOP_S = 15
# Small and quick to start. The broker's own default heap is 1 GB. Its log has warnings, and the groups' rebalances.
JVM = ['-Xms64m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true',
       '-Dorg.slf4j.simpleLogger.showDateTime=true', '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
       '-Dorg.slf4j.simpleLogger.log.org.apache.kafka.coordinator.group.GroupMetadataManager=info']

# A tied broker ends with the thread that started it: this one lives as long as the process.
STARTER = concurrent.futures.ThreadPoolExecutor(1)


class NoKafka(Exception):
    """What is missing, or what the brokers said; for people."""


def missing():
    """What must be installed or fetched first, or None."""
    if not shutil.which('java'):
        return 'there is no Java: apt-get install openjdk-17-jre-headless'
    if not glob.glob(os.path.join(LIBRARIES, 'kafka_*.jar')):
        return 'there is no Kafka in build/kafka: tools/kafka fetch'
    return None


def jaas(accepts):
    """Our own name, and on a server the accounts that it accepts."""
    accounts = ''.join(f' user_{name}="{password}"' for name, password in accepts)
    return ('org.apache.kafka.common.security.plain.PlainLoginModule required '
            f'username="{ADMIN[0]}" password="{ADMIN[1]}"{accounts};')


def settings_of(node, ports, controllers, data, sasl=False, more=None):
    """The settings of broker `node`; ports and controllers are those of the brokers 1, 2, 3 in this order. `more` wins."""
    protocol = 'SASL_PLAINTEXT' if sasl else 'PLAINTEXT'
    count = len(ports)
    replicas, in_sync = (3, 2) if count >= 3 else (1, 1)
    settings = {
        'process.roles': 'broker,controller',
        'node.id': node,
        'controller.quorum.voters': ','.join(f'{i}@127.0.0.1:{port}' for i, port in enumerate(controllers, 1)),
        'controller.listener.names': 'CONTROLLER',
        'listeners': f'BROKER://127.0.0.1:{ports[node - 1]},CONTROLLER://127.0.0.1:{controllers[node - 1]}',
        'advertised.listeners': f'BROKER://127.0.0.1:{ports[node - 1]}',
        'inter.broker.listener.name': 'BROKER',
        'listener.security.protocol.map': f'BROKER:{protocol},CONTROLLER:{protocol}',
        'log.dirs': data,
        # Production's answers: no topic by mistake, and none that loses jobs.
        'auto.create.topics.enable': 'false',
        'unclean.leader.election.enable': 'false',
        'default.replication.factor': replicas,
        'min.insync.replicas': in_sync,
        'offsets.topic.replication.factor': replicas,
        'transaction.state.log.replication.factor': replicas,
        'transaction.state.log.min.isr': in_sync,
        'share.coordinator.state.topic.replication.factor': replicas,
        'share.coordinator.state.topic.min.isr': in_sync,
        # Small: a few topics of tests.
        'num.partitions': 3,
        'offsets.topic.num.partitions': 3,
        'group.initial.rebalance.delay.ms': 0,
        'num.network.threads': 2,
        'num.io.threads': 4,
        'log.cleaner.dedupe.buffer.size': 4 << 20,
    }
    if sasl:
        settings |= {
            'sasl.enabled.mechanisms': 'PLAIN',
            'sasl.mechanism.inter.broker.protocol': 'PLAIN',
            'sasl.mechanism.controller.protocol': 'PLAIN',
            'listener.name.broker.plain.sasl.jaas.config': jaas((ADMIN, USER)),
            'listener.name.controller.plain.sasl.jaas.config': jaas((ADMIN,)),
            'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
            'super.users': f'User:{ADMIN[0]}',
            'allow.everyone.if.no.acl.found': 'false',
        }
    settings |= more or {}
    return ''.join(f'{name}={value}\n' for name, value in settings.items())


def new_cluster_id():
    """22 characters. The first is no -, which would begin an option of Kafka's command."""
    return base64.urlsafe_b64encode(b'\0' + uuid.uuid4().bytes[1:]).decode().rstrip('=')


def started_at(pid):
    """When a process started, in ticks since the boot, or None: a number that has another start is another process."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
            fields = file.read().rsplit(')', 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == 'Z' else int(fields[19])


def cause(log):
    """The last two causes that a broker's log names, or its last lines."""
    causes = [line for line in log.splitlines() if line.startswith('Caused by: ')]
    return '; '.join(line.removeprefix('Caused by: ') for line in causes[-2:]) or log[-1500:]


def as_unprivileged(command, tied=False):
    """Tied: it ends with the thread that starts it; see STARTER."""
    user = [f'--reuid={NOBODY[0]}', f'--regid={NOBODY[1]}', '--clear-groups'] if os.geteuid() == 0 else []
    return ['setpriv', *user, *(['--pdeathsig=KILL'] if tied else []), '--', *command]


class RealKafka:
    """The cluster in a folder. Its brokers outlive this object, unless it is tied; another object finds them again."""

    def __init__(self, folder, brokers=1, ports=None, sasl=False, settings=None, tied=False):
        """All but tied only for a new folder. Ports: of the brokers, then of their controllers; settings: more of Kafka's."""
        self.folder = os.path.abspath(folder)
        self.tied, self.settings = tied, settings
        self.children = {}   # To wait for those that we started.
        if os.path.exists(self.state):
            with open(self.state, encoding='utf-8') as file:
                self.shape = json.load(file)
        else:
            if brokers not in (1, 3):
                raise NoKafka(f'{brokers} brokers: 1 or 3')
            if not ports or len(set(ports)) != 2 * brokers:
                raise NoKafka(f'{2 * brokers} ports are needed for {brokers} brokers: two each')
            self.shape = {'ports': list(ports[:brokers]), 'controllers': list(ports[brokers:]), 'sasl': sasl,
                          'cluster': new_cluster_id()}

    @property
    def state(self):
        return os.path.join(self.folder, 'cluster.json')

    @property
    def ports(self):
        return self.shape['ports']

    @property
    def nodes(self):
        return range(1, len(self.ports) + 1)

    @property
    def sasl(self):
        return self.shape['sasl']

    @property
    def bootstrap(self):
        return ','.join(f'127.0.0.1:{port}' for port in self.ports)

    def parameters(self, user=None):
        """What a URL of the queue needs besides the brokers."""
        if not self.sasl:
            return {}
        name, password = user or USER
        return {'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'PLAIN', 'sasl.username': name,
                'sasl.password': password}

    def path(self, node, name=''):
        return os.path.join(self.folder, f'broker-{node}', name)

    # Processes.

    def start(self):
        """Creates the cluster if there is none, starts all brokers, and returns when they answer."""
        if why := missing():
            raise NoKafka(why)
        if running := [node for node in self.nodes if self.pid(node)]:
            raise NoKafka(f'broker {running[0]} of {self.folder} runs already: tools/kafka stop --dir {self.folder}')
        if not os.path.exists(self.state):
            self.create()
        for node in self.nodes:
            self.run(node)
        self.wait(self.nodes)

    def create(self):
        if os.path.isdir(self.folder) and os.listdir(self.folder):
            raise NoKafka(f'{self.folder} has other files: choose an empty folder')
        os.makedirs(self.folder, exist_ok=True)
        formats = []
        for node in self.nodes:
            os.makedirs(self.path(node))
            with open(self.path(node, 'server.properties'), 'w', encoding='utf-8') as file:
                file.write(settings_of(node, self.ports, self.shape['controllers'], self.path(node, 'data'), self.sasl,
                                       self.settings))
        self.hand_over()
        for node in self.nodes:
            formats.append(subprocess.Popen(self.java(
                'kafka.tools.StorageTool', 'format', '--cluster-id', self.shape['cluster'], '--config',
                self.path(node, 'server.properties'), tied=True), cwd='/', stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True))
        said = [process.communicate()[0] for process in formats]
        for process, text in zip(formats, said):
            if process.returncode:
                raise NoKafka(f'the storage was not formatted: {text.strip()}')
        with open(self.state, 'w', encoding='utf-8') as file:   # Last: a folder with it is complete.
            json.dump(self.shape, file)

    def hand_over(self):
        """Gives the brokers' folders to the user that runs them, and says so if it may not enter them."""
        if os.geteuid() == 0:
            owner = pwd.getpwnam(NOBODY[0])
            for path in (self.folder, *(self.path(node) for node in self.nodes)):
                os.chown(path, owner.pw_uid, owner.pw_gid)
                os.chmod(path, 0o755)
        for path, mode in ((self.folder, '-w'), (LIBRARIES, '-r')):
            if subprocess.run(as_unprivileged(['test', mode, path, '-a', '-x', path]), cwd='/').returncode:
                raise NoKafka(f'the user {NOBODY[0]}, who runs the brokers, may not enter {path}: choose a folder that is '
                              'not below a closed one, such as /var/tmp/kafka')

    def java(self, program, *arguments, tied=False):
        return as_unprivileged(['java', *JVM, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp',
                                os.path.join(LIBRARIES, '*'), program, *arguments], tied)

    def run(self, node):
        """Starts one broker."""
        command = self.java('kafka.Kafka', self.path(node, 'server.properties'), tied=self.tied)
        with open(self.path(node, 'log'), 'ab') as log:
            child = STARTER.submit(subprocess.Popen, command, cwd='/', stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True).result()
        self.children[node] = child
        with open(self.path(node, 'pid'), 'w', encoding='ascii') as file:
            file.write(f'{child.pid} {started_at(child.pid)}\n')

    def pid(self, node):
        """Of a running broker, or None; a process that got the number of a dead one is not it."""
        try:
            with open(self.path(node, 'pid'), encoding='ascii') as file:
                pid, start = file.read().split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid) if start == str(started_at(int(pid))) else None

    def signal(self, node, number):
        if pid := self.pid(node):
            os.kill(pid, number)
        return pid

    def wait(self, nodes, limit_s=START_S):
        """Until these brokers answer, all of them know one another, and lead or follow all that they did."""
        end = time.monotonic() + limit_s
        for node in nodes:
            while not self.knows(node, nodes):
                if not self.pid(node):
                    raise NoKafka(f'broker {node} has ended: {cause(self.log(node))}')
                if time.monotonic() > end:
                    raise NoKafka(f'broker {node} does not answer after {limit_s:.0f} s: {cause(self.log(node))}')
                time.sleep(0.05)

    def knows(self, node, nodes):
        try:
            with self.connection(node) as broker:
                brokers, topics = broker.metadata()
            in_sync = [replicas for partitions in topics.values() for _, replicas in partitions.values()]
            whole = min(3, len(self.ports)) if set(nodes) == set(self.nodes) else 1
            return set(nodes) <= set(brokers) and all(len(replicas) >= whole for replicas in in_sync)
        except (OSError, KafkaError):
            return False

    def log(self, node):
        with open(self.path(node, 'log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def check_node(self, node):
        if node not in self.nodes:
            raise NoKafka(f'broker {node}: this cluster has {", ".join(map(str, self.nodes))}')

    def kill(self, node):
        """SIGKILL; returns when it has ended."""
        self.check_node(node)
        if not self.signal(node, signal.SIGKILL):
            raise NoKafka(f'broker {node} does not run')
        self.reap(node, STOP_S)

    def restart(self, node, wait=True):
        """Starts a broker that was killed."""
        self.check_node(node)
        if self.pid(node):
            raise NoKafka(f'broker {node} runs already')
        self.run(node)
        if wait:
            self.wait([node])

    def reap(self, node, limit_s):
        """Whether it ended within the limit."""
        end = time.monotonic() + limit_s
        while self.pid(node):
            if node in self.children:
                self.children[node].poll()
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        if node in self.children:
            self.children.pop(node).wait()
        if os.path.exists(self.path(node, 'pid')):
            os.remove(self.path(node, 'pid'))
        return True

    def stop(self, patience_s=STOP_S):
        """SIGTERM to all, SIGKILL to those that are too slow: the last controllers of a quorum wait for one another."""
        for node in self.nodes:
            self.signal(node, signal.SIGTERM)
        end = time.monotonic() + patience_s
        for node in self.nodes:
            if not self.reap(node, max(0, end - time.monotonic())):
                self.signal(node, signal.SIGKILL)
                self.reap(node, STOP_S)

    def remove(self):
        """Kills all and removes the folder: for tests."""
        for node in self.nodes:
            self.signal(node, signal.SIGKILL)
        for node in self.nodes:
            self.reap(node, STOP_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    # Contents.

    def connection(self, node=None):
        """To a broker, or to the first one that runs, as the administrator."""
        node = node or next((node for node in self.nodes if self.pid(node)), None)
        if node is None:
            raise NoKafka('no broker runs')
        return Connection(self.ports[node - 1], ADMIN if self.sasl else None)

    def topics(self):
        """{topic: {partition: (leader, in-sync replicas)}}, without Kafka's own."""
        with self.connection() as broker:
            found = broker.metadata()[1]
        return {name: partitions for name, partitions in found.items() if not name.startswith('__')}

    def leader(self, topic, partition=0):
        return self.topics()[topic][partition][0]

    def records(self, topic, partitions=None):
        """How many records a topic has got, over all partitions or these."""
        count = 0
        for partition, (leader, _) in self.topics().get(topic, {}).items():
            if partitions is not None and partition not in partitions:
                continue
            with self.connection(leader) as broker:
                count += broker.offset(topic, partition)
        return count

    def removed(self, topic):
        """How many records of a topic Kafka no longer has, over all partitions."""
        count = 0
        for partition, (leader, _) in self.topics().get(topic, {}).items():
            with self.connection(leader) as broker:
                count += broker.offset(topic, partition, EARLIEST)
        return count

    def make_topic(self, name, partitions=-1, replication=-1, **settings):
        with self.connection() as broker:
            broker.create_topic(name, partitions, replication, **settings)

    def grow_topic(self, name, partitions):
        """Returns at once; its brokers need a moment for new partitions."""
        with self.connection() as broker:
            broker.grow_topic(name, partitions)

    def write(self, topic, partition, key, value, headers):
        """A record of another program, as soon as the partition has a leader; texts or bytes."""
        encoded = lambda one: one.encode() if isinstance(one, str) else one
        end = time.monotonic() + START_S
        while True:
            try:
                with self.connection(self.leader(topic, partition)) as broker:
                    return broker.write(topic, partition, encoded(key), encoded(value),
                                        {name: encoded(one) for name, one in headers.items()})
            except (KafkaError, KeyError):
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def committed(self, group, topic, partitions):
        """{partition: offset of the group, or -1}; only with one broker, which coordinates all groups."""
        with self.connection() as broker:
            return broker.committed(group, topic, partitions)

    def unread(self, group, topic):
        """{partition: records after the group's offset}; only with one broker, which coordinates all groups."""
        partitions = sorted(self.topics()[topic])
        with self.connection() as broker:
            offsets = broker.committed(group, topic, partitions)
            return {partition: broker.offset(topic, partition) - max(0, offsets[partition]) for partition in partitions}

    def rebalances(self, group):
        """How often the group's members got new partitions, by the brokers' logs."""
        return sum(self.log(node).count(f'Preparing to rebalance group {group} ') for node in self.nodes)

    def allow_queue(self, prefix='pawl', group='pawl', user=USER[0]):
        """The least that a service needs (docs/howto/kafka.md): its topics, and its consumer groups."""
        with self.connection() as broker:
            broker.allow(f'User:{user}', TOPIC, prefix + '.', READ, WRITE, CREATE, pattern=PREFIXED)
            broker.allow(f'User:{user}', GROUP, group + '.', READ, pattern=PREFIXED)
