"""Deploys: servers of one release are replaced by servers of the other and back, while clients repeat their requests."""
import collections
import concurrent.futures
import http.server
import json
import os
import random
import signal
import subprocess
import threading
import time

from never_cases import ONCE, Doubtful
from phone import HERE_TO_THERE, Phone
from ports import free_port
from world import WAIT_S, NotSo, World, check, check_equal, end, wait_until

CLIENTS = 12
CALL_TIMEOUT_S = 5   # Of deploy_server.cpp.
# Where release 1 leaves a request whose call at this path is held back, and where release 2 does.
POINTS = {1: {'/checks': 'entered', '/charges': 'checked'},
          2: {'/checks': 'ordered', '/charges': 'checked', '/notices': 'charged'}}


class Provider(http.server.ThreadingHTTPServer):
    """Carries out each key once. A held account gets 503 for one path, after its request was carried out."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            done = self.server.carry_out(self.path, self.headers['Idempotency-Key'], asked['payment'])
            time.sleep(self.server.delay_s)
            held = self.server.held.get(asked['account']) == self.path
            body = json.dumps({'id': done}).encode()
            self.send_response(503 if held else 201)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(('127.0.0.1', 0), self.Handler)
        self.held, self.delay_s = {}, 0.02
        self.lock, self.done = threading.Lock(), {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *what):
        self.shutdown()
        super().__exit__(*what)

    def carry_out(self, path, key, payment):
        with self.lock:
            return self.done.setdefault((path, key), (f'{path[1:]}-{len(self.done)}', payment))[0]

    def count(self, path):
        """By payment: how often it was carried out."""
        with self.lock:
            return collections.Counter(payment for (at, _), (_, payment) in self.done.items() if at == path)


class Server:
    """A process of tests/integration/deploy_server.cpp, of either release in turn."""

    def __init__(self, world, provider, number):
        self.world, self.name = world, f'server-{number}'
        self.port, self.operate = free_port(), free_port()
        self.environment = os.environ | {'PROVIDER': f'http://127.0.0.1:{provider.server_port}'}
        self.process = self.release = None

    def start(self, release):
        program = os.path.join(os.path.dirname(self.world.rides), f'deploy_server_{release}')
        if not os.access(program, os.X_OK):
            raise NotSo(f'there is no program {program}; build it: cmake --build --preset dev --target deploy_server_{release}')
        self.release = release
        with open(os.path.join(self.world.folder, self.name + '.log'), 'ab') as log:
            self.process = subprocess.Popen(
                [program, 'serve', '--database', self.world.url, '--listen', f'127.0.0.1:{self.port}', '--workers', '4',
                 '--operate', f'127.0.0.1:{self.operate}', '--pre-stop-delay-s', '1'],
                stdout=log, stderr=log, env=self.environment)
        wait_until(f'{self.name} to be ready', lambda: self.alive() and self.ready())

    def alive(self):
        check(self.process.poll() is None, f'{self.name} ended with {self.process.returncode}: {self.log()[-600:]}')
        return True

    def stop(self):
        """SIGTERM; the last line of the log, once the process has ended."""
        self.process.send_signal(signal.SIGTERM)
        check_equal(self.process.wait(WAIT_S + 20), 0, f'the exit code of {self.name}')
        return self.events('stopped')[-1]

    def get(self, path):
        return Phone(self.operate, timeout=WAIT_S).get(path)

    def ready(self):
        try:
            return self.get('/readyz').status == 200
        except OSError:
            return False

    def pay(self, key):
        """The account of a payment is its key."""
        return Phone(self.port, timeout=WAIT_S).send('POST', '/payments', {'account': key}, key=key)

    def log(self):
        return self.world.log(self.name)

    def events(self, event):
        return [json.loads(line) for line in self.log().splitlines() if f'"event":"{event}"' in line]


class Fleet:
    """The servers and their load balancer, which sends requests to those that were ready a moment ago."""

    def __init__(self, world, provider):
        self.servers = [Server(world, provider, n + 1) for n in range(3 if world.database == 'postgres' else 1)]
        self.ready, self.over = [], threading.Event()
        self.balancer = threading.Thread(target=self.probe)

    def __enter__(self):
        try:
            for server in self.servers:
                server.start(1)
        except BaseException:
            self.end()
            raise
        self.balancer.start()
        wait_until('the load balancer', lambda: self.ready)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.balancer.join()
        self.end()

    def end(self):
        for server in self.servers:
            end(server.process)

    def probe(self):
        while not self.over.wait(0.1):
            self.ready = [server for server in self.servers if server.ready()]


class Clients:
    """Each makes one payment after the other, and repeats it at any server until it has its final answer."""

    def __init__(self, fleet, seed):
        self.fleet, self.lock, self.enough = fleet, threading.Lock(), threading.Event()
        self.finals, self.refused, self.lost, self.wrong = {}, collections.Counter(), collections.Counter(), []
        self.pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)
        self.lives = [self.pool.submit(self.live, i, random.Random(f'{seed} {i}')) for i in range(CLIENTS)]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.enough.set()
        self.pool.shutdown()
        for life in () if kind else self.lives:
            life.result()

    def live(self, name, chance):
        n = 0
        while not self.enough.is_set():
            key, limit = f'client-{name}-{n}', time.monotonic() + 2 * WAIT_S
            while not self.paid(key, chance):
                check(time.monotonic() < limit, f'{key} has no final answer; {self.refused}, {self.lost}')
                time.sleep(0.05)
            n += 1
            time.sleep(chance.random() * 0.2)

    def paid(self, key, chance):
        ready = self.fleet.ready
        if not ready:
            return False
        try:
            answer = chance.choice(ready).pay(key)
        except OSError as error:
            with self.lock:
                self.lost[type(error).__name__ if error.errno else str(error)] += 1
            return False
        with self.lock:
            if answer.status in (409, 503):
                self.refused[answer.status, answer.type] += 1
                return False
            if answer.status != 201:
                self.wrong.append(f'{key}: {answer}')
            self.finals[key] = answer.body
        return True

    def go_on(self, payments=30):
        wanted = len(self.finals) + payments
        wait_until(f'{payments} payments', lambda: len(self.finals) >= wanted or self.wrong, 2 * WAIT_S)
        check_equal(self.wrong, [], 'wrong answers')


class Deploy:
    """What an operator does, and what is true afterwards."""

    def __init__(self, world, provider, fleet, clients):
        self.world, self.provider, self.fleet, self.clients = world, provider, fleet, clients
        self.held = []   # All keys that were held at a point.
        self.last_held = time.monotonic()

    def release(self, release):
        """One server after the other."""
        for server in self.fleet.servers:
            server.stop()
            server.start(release)
            self.clients.go_on()

    def hold(self, release):
        """One key at each point. Their clients go away after one try."""
        self.last_held = time.monotonic()
        keys = {f'held-by-{release}-at-{point}': point for point in POINTS[release].values()}
        for path, key in zip(POINTS[release], keys):
            self.provider.held[key] = path
            answer = self.fleet.servers[0].pay(key)
            check(answer.status == 503, f'the provider refuses {key}: {answer}')
        check_equal(self.points(keys), keys, 'the points of the keys')
        self.held += keys
        return keys

    def points(self, keys):
        found = dict(self.world.rows('SELECT idempotency_key, recovery_point FROM pawl_idempotency_keys'))
        return {key: found[key] for key in keys}

    def finish(self, keys):
        """By the servers: no client repeats them. Their back-off has doubled since they were held: it is as long as that time."""
        limit = 2 * WAIT_S + time.monotonic() - self.last_held
        wait_until(f'{keys} to be finished', lambda: set(self.points(keys).values()) == {'finished'}, limit)

    def check_stranded(self, keys):
        """No server of release 1 continues them, all say so."""
        for server in self.fleet.servers:
            for key in keys:
                answer = server.pay(key)
                check_equal((answer.status, answer.type, answer.json.get('code')), (503, 'stranded', 'PAWL0007'), f'{key}: {answer}')
            for point in ('ordered', 'charged'):
                series = f'pawl_keys_stranded{{operation="pay",point="{point}"}} 1\n'.encode()
                wait_until(f'the metric of {point}', lambda of=server, series=series: series in of.get('/metrics').body)
        wait_until('the log to name each point', lambda: set(keys.values()) <= {
            line['point'] for server in self.fleet.servers for event in ('stranded_keys', 'key_stranded') for line in server.events(event)})

    def check_all(self):
        clients, world = self.clients, self.world
        wait_until('all keys to be finished', lambda: world.unsettled() == 0)
        payments = len(clients.finals) + len(self.held)
        check_equal(world.count('pawl_idempotency_keys'), payments, 'keys')
        for path in ('/checks', '/charges', '/notices'):
            often = {payment: times for payment, times in self.provider.count(path).items() if times != 1}
            check_equal(often, {}, f'payments that were carried out more than once at {path}')
        check_equal(len(self.provider.count('/charges')), payments, 'charged payments')
        wait_until('all receipts', lambda: world.count('receipts') == payments)
        check_equal((world.count('pawl_dead_jobs'), world.count('pawl_attention')), (0, 0), 'dead jobs, keys on the attention list')
        sample = self.held + random.Random(payments).sample(sorted(clients.finals), 10)
        for key in sample:
            answers = {server.pay(key).body for server in self.fleet.servers} | {clients.finals.get(key)} - {None}
            check_equal(len(answers), 1, f'the answers to {key}: {answers}')


def forth_and_back(settings):
    """And forth again: the newer release finishes what the older one could not."""
    with World(settings.bin, judged=False) as world, Provider() as provider, Fleet(world, provider) as fleet:
        with Clients(fleet, settings.seed) as clients:
            deploy = Deploy(world, provider, fleet, clients)
            clients.go_on()
            old = deploy.hold(1)
            deploy.release(2)
            provider.held.clear()
            deploy.finish(old)
            new = deploy.hold(2)
            deploy.release(1)
            provider.held.clear()
            deploy.check_stranded(new)
            began = time.monotonic()
            fleet.servers[0].stop()
            fleet.servers[0].start(2)   # The others stay what they are, and know the points as little as before.
            deploy.finish(new)
            took = time.monotonic() - began
            deploy.release(2)
        if world.database == 'postgres':
            check_equal(dict(clients.lost), {}, 'requests without an answer')
        deploy.check_all()
        print(f'deploy: {len(clients.finals)} payments; refused and repeated: {dict(clients.refused)}; without an answer:'
              f' {dict(clients.lost)}; stranded keys were finished {took:.1f} s after the stop', flush=True)


def a_stop_waits_for_a_call(settings):
    """One that takes nearly as long as it may."""
    with World(settings.bin, judged=False) as world, Provider() as provider, Fleet(world, provider) as fleet:
        server = fleet.servers[-1]
        provider.delay_s = CALL_TIMEOUT_S - 1
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            client = pool.submit(server.pay, 'k')
            wait_until('the charge', lambda: provider.count('/charges'))
            stopped = server.stop()
            check_equal(client.result().status, 201, 'the answer of a client during the stop')
        left = {name: stopped[name] for name in ('keys_left', 'in_doubt')}
        check_equal(left, {'keys_left': 0, 'in_doubt': 0}, 'what the stop left')
        check_equal(world.unsettled(), 0, 'unsettled keys')


def a_drain_is_too_short(settings):
    """A call that is never repeated is in doubt; with a call key: contract_cases.stopping_while_the_provider_hangs."""
    with World(settings.bin, ONCE, provider_options=['--delay-ms', '60000']) as world:
        world.start_server('--drain-s', '2')
        check('"event":"drain_too_short"' in world.log(), 'a warning of a drain shorter than a call')
        world.phone().send_and_hang_up('POST', '/rides', HERE_TO_THERE, 'k')
        wait_until('the charge', world.ledger)
        check_equal(world.stop_server(), 0, 'the exit code')
        stopped = json.loads(world.log().splitlines()[-1])
        check_equal((stopped['event'], stopped['in_doubt']), ('stopped', 1), 'the keys left in doubt')
        world.start_server()
        (one,) = wait_until('the attention list', Doubtful(world, None).waiting)
        check_equal((one['reason'], one['recovery_point']), ('in-doubt', 'ride_created'), 'what waits for a person')
        check('"event":"attention_added"' in world.log(), 'the log says so')
        check_equal(len(world.ledger()), 1, 'charges')


def cases(settings):
    return [('deploy: to the next release and back, under load', lambda: forth_and_back(settings)),
            ('deploy: a stop waits for a call in flight', lambda: a_stop_waits_for_a_call(settings)),
            ('deploy: a drain is shorter than a call that is never repeated', lambda: a_drain_is_too_short(settings))]
