"""One world under chaos: its servers, its clients, and random faults."""
import collections
import concurrent.futures
import dataclasses
import random
import signal
import threading
import time

import history_check
from kill_cases import SLOW, in_sources
from phone import HERE_TO_THERE, Phone
from proxy import Proxy
from stores import Cluster
from world import KILLED, World, check, check_equal, wait_until

LEASE_S = 1.5 * SLOW
OPTIONS = ['--lease-ms', str(int(LEASE_S * 1000)), '--phase-deadline-ms', str(int(450 * SLOW)), '--complete-after-ms', '200',
           '--job-lease-ms', str(int(1500 * SLOW)), '--job-timeout-ms', str(int(1000 * SLOW)),
           '--retry-after-ms', ','.join(['200'] * 10 + ['1000'] * 10),   # No job dies while the provider is down.
           '--rider', 'test_poor declined@example.com', '--rider', 'test_unsure 503once@example.com']
TOKENS = ['test_jane', 'test_jane', 'test_joe', 'test_unsure', 'test_poor']
SETTLED_S = 60 * SLOW   # The goal is three leases; beyond this limit the run fails.


@dataclasses.dataclass
class Wanted:
    kills: int
    crashes: int
    resets: int
    seconds: float


@dataclasses.dataclass
class Told:
    """Counts of a world's faults."""
    done: collections.Counter
    calls: str
    minutes: float
    settled: list
    wrong: list

    def __str__(self):
        at = lambda part: self.settled[min(len(self.settled) - 1, int(part * len(self.settled)))] if self.settled else 0
        done = ', '.join(f'{count} {name}' for name, count in sorted(self.done.items()))
        lines = [f'{done}; {self.calls}; {self.done["kills"] / self.minutes:.0f} kills a minute in {self.minutes:.1f} min; '
                 f'settled after the end of faults: p50 {at(0.5):.2f}, p99 {at(0.99):.2f}, max {at(1):.2f} s; '
                 f'{len(self.wrong)} violations', *map(str, self.wrong)]
        return '\n'.join(lines)


class Chaos:
    def __init__(self, bin_folder, seed, wanted, clients):
        self.bin, self.seed, self.wanted, self.clients = bin_folder, seed, wanted, clients
        self.chance = random.Random(f'{seed} database')
        self.done = collections.Counter()
        self.enough = threading.Event()
        self.keys = set()   # (token, key) that a client asked for; some may have lost an answer.
        self.broken = []   # Exceptions that ended threads.

    def live(self):
        own = Cluster('--durable') if World.database == 'postgres' else None
        if own:
            own.start()
        try:
            with World(self.bin, OPTIONS, cluster=own) as world:
                return self.live_in(world)
        finally:
            if own:
                own.__exit__()

    def live_in(self, world):
        self.world = world
        self.points = sorted(point for point in in_sources() if point.startswith(('engine.', 'http.', 'queue.', 'worker.', world.database)))
        if world.database == 'sqlite' or not self.wanted.resets:
            return self.under_faults(None)
        with Proxy(world.store.cluster.port, self.seed) as proxy:
            world.server_url = f'postgres://pawl@127.0.0.1:{proxy.port}/{world.store.database}?sslmode=disable'
            return self.under_faults(proxy)

    def under_faults(self, proxy):
        world = self.world
        world.start_nodes(1 if world.database == 'sqlite' else 3)
        if proxy:
            proxy.chance = 0.001
        began = time.monotonic()
        threads = [threading.Thread(target=self.guarded, args=[self.ask_on, i], name=f'client {i}') for i in range(self.clients)]
        threads += [threading.Thread(target=self.guarded, args=[self.torment, node, i]) for i, node in enumerate(world.nodes)]
        threads.append(threading.Thread(target=self.guarded, args=[self.trouble_provider]))
        for thread in threads:
            thread.start()
        while not self.broken and time.monotonic() < began + self.wanted.seconds and not self.reached(proxy):
            time.sleep(0.1)
            # By this thread: PostgreSQL ends with the thread that started it.
            if self.done['crashes'] < self.wanted.crashes and self.chance.random() < 0.05:
                self.crash_database()
        minutes = (time.monotonic() - began) / 60
        self.enough.set()
        for thread in threads:
            thread.join()
        if proxy:
            proxy.chance, self.done['resets'] = 0, proxy.resets
        check(not self.broken, f'a thread of the run ended after {dict(self.done)}: {self.broken}')
        return self.settle(minutes, self.reached(proxy))

    def reached(self, proxy):
        return (self.done['kills'] >= self.wanted.kills and self.done['crashes'] >= self.wanted.crashes
                and (proxy.resets if proxy else 0) >= self.wanted.resets)

    def guarded(self, run, *arguments):
        try:
            run(*arguments)
        except Exception as error:   # pylint: disable=broad-except
            self.broken.append(f'{type(error).__name__}: {error}')

    # Clients.

    def ask_on(self, number):
        chance = random.Random(f'{self.seed} client {number}')
        mine = []
        n = 0
        while not self.enough.is_set():
            if mine and chance.random() < 0.3:
                token, key = chance.choice(mine)
            else:   # Two clients count in step, so that both ask for each key.
                token, key = chance.choice(TOKENS[:1] if number % 2 else TOKENS), f'k-{number // 2}-{n}'
                n += 1
                mine.append((token, key))
            self.keys.add((token, key))
            self.ask(chance, token, key)
            time.sleep(chance.random() * 0.05)

    def ask(self, chance, token, key):
        """A few tries; then the key waits until faults end."""
        for _ in range(chance.randrange(1, 12)):
            phone = chance.choice(self.world.nodes).phone(token, timeout=chance.choice([0.3, 2, 10]))
            try:
                what = chance.random()
                if what < 0.04:
                    phone.send_and_hang_up('POST', '/rides', HERE_TO_THERE, key)
                    continue
                answer = phone.book(key, **({'origin_lat': 1} if what < 0.14 else {}))
                if answer.final:
                    return
            except OSError:
                pass
            if self.enough.wait(chance.random() * 0.1):
                return

    # Faults.

    def torment(self, node, number):
        """Kills the server over and over, by a signal or a planted fault; sometimes it is paused, and woken or killed."""
        chance = random.Random(f'{self.seed} torment {number}')
        while not self.enough.is_set():
            self.run_to_death(chance, node)
            fault = None
            if chance.random() < 0.5:
                fault = f'{chance.choice(self.points)}:{chance.randrange(1, 30)}:{chance.choice(["kill9", "kill9", "stop"])}'
            node.start(fault=fault)

    def run_to_death(self, chance, node):
        end = time.monotonic() + chance.uniform(0.05, 1.2)
        while time.monotonic() < end and node.process.poll() is None and not self.enough.is_set():
            time.sleep(0.01)
        if self.stopped(node):   # It died by its fault: its clients must not wait for it.
            self.done['stops'] += 1
            self.enough.wait(chance.uniform(0.2, 2.5) * LEASE_S)
            node.wake()
            self.enough.wait(0.3)
        elif node.process.poll() is None and chance.random() < 0.1:
            node.process.send_signal(signal.SIGSTOP)   # Its planted fault may come first.
            self.done['stops'] += 1
            self.enough.wait(chance.uniform(0.2, 2.5) * LEASE_S)
            if chance.random() < 0.7:
                node.wake()
                self.enough.wait(0.3)
        node.kill()
        if node.process.returncode == 1 and (self.wanted.crashes or self.wanted.resets):
            self.done['starts without a database'] += 1
            return
        check_equal(node.process.returncode, KILLED, f'how {node.name} ended: {node.log()[-500:]}')
        self.done['kills'] += 1

    @staticmethod
    def stopped(node):
        try:
            with open(f'/proc/{node.process.pid}/stat', encoding='utf-8') as file:
                return file.read().rsplit(')', 1)[1].split()[0] == 'T'
        except OSError:
            return False

    def trouble_provider(self):
        chance = random.Random(f'{self.seed} provider')
        world = self.world
        while not self.enough.wait(chance.uniform(0.5, 3)):
            self.done['troubles of the provider'] += 1
            if chance.random() < 0.2:
                world.kill_provider()
                self.enough.wait(chance.random())
                world.start_provider()
                continue
            change = chance.choice([{'down': True}, {'delay_ms': 100}, {'delay_ms': 1000}])
            Phone(world.stripe).send('POST', '/_test/faults', change)
            self.enough.wait(chance.uniform(0.1, 1))
            Phone(world.stripe).send('POST', '/_test/faults', {'down': False, 'delay_ms': 0})

    def crash_database(self):
        cluster = self.world.store.cluster
        cluster.kill()
        time.sleep(self.chance.random() / 2)
        cluster.start()
        self.done['crashes'] += 1

    # The end of faults.

    def settle(self, minutes, reached):
        world = self.world
        for node in world.nodes:
            if node.process.poll() is None:
                node.kill()
        Phone(world.stripe).send('POST', '/_test/faults', {'down': False, 'delay_ms': 0})
        ended = time.monotonic()
        for node in world.nodes:
            node.start()
        for node in world.nodes:
            node.wait()
        world.history.mark('faults-end')
        with concurrent.futures.ThreadPoolExecutor(8, 'asks at the end') as pool:
            asked = pool.map(self.final, range(len(self.keys)), self.open_first())
            settled = self.settled_since(ended)
            for _ in asked:
                pass
        wait_until('the servers to finish all work', lambda: world.unsettled() == 0 and world.queue.waiting() == 0, SETTLED_S)
        return self.judge(minutes, sorted(settled), reached)

    def open_first(self):
        """All keys; unfinished ones first, as thousands of replays would delay them and the completer's back-off is minutes."""
        left = {row[0] for row in self.world.rows("SELECT idempotency_key FROM pawl_idempotency_keys WHERE status <> 'finished'")}
        return sorted(self.keys, key=lambda name: (name[1] not in left, name))

    def settled_since(self, ended):
        """Seconds for each key that was open when faults ended; clients still ask, and the completer may be in its back-off."""
        seconds, before = [], None
        while before is None or before:
            found = {row[0] for row in self.world.rows("SELECT id FROM pawl_idempotency_keys WHERE status <> 'finished'")}
            seconds += [time.monotonic() - ended] * len((before or found) - found)
            before = found
            if time.monotonic() > ended + SETTLED_S:
                raise AssertionError(f'{len(found)} keys are not settled {SETTLED_S:.0f} s after faults ended: {self.open_keys()}')
            time.sleep(0.02)
        return seconds

    def open_keys(self):
        return self.world.rows('SELECT idempotency_key, status, recovery_point, attempt, lease_until, completer_runs, completer_next_at '
                               "FROM pawl_idempotency_keys WHERE status <> 'finished' ORDER BY id LIMIT 20")

    def final(self, n, name):
        token, key = name
        phone = self.world.nodes[n % len(self.world.nodes)].phone(token)

        def told():
            answer = phone.book(key)
            if answer.status == 422:   # The other request came first.
                answer = phone.book(key, origin_lat=1)
            return answer.final
        wait_until(f'{name} to be final', told, SETTLED_S)

    def judge(self, minutes, settled, reached):
        world = self.world
        events = world.history.with_effects(world.ledger())
        wrong = [] if reached else [f'in {minutes:.1f} minutes only {dict(self.done)} of {self.wanted}']
        wrong += history_check.violations(events, within_s=SETTLED_S)
        booked = world.count('rides', "state = 'booked'")
        for what, found, expected in (('charges, and rides that are booked', len(world.ledger()), booked),
                                      ('points', world.rows('SELECT sum(points) FROM users')[0][0], 20 * booked),
                                      ('receipts', len({mail['message_id'] for mail in world.mails()}), booked),
                                      ('dead jobs', world.queue.dead(), 0)):
            if found != expected:
                wrong.append(f'{what}: {found}, expected {expected}')
        world.judged = False   # It was checked above.
        return Told(self.done, history_check.summary(events), minutes, settled, wrong)
