"""Servers and rounds by hand whose settings differ from those of the servers that run (issue 38, part 3)."""
import json
import threading

from nodes_cases import NEVER, ms
from strange_provider import CHARGED, StrangeProvider
from world import Node, World, check, check_equal, wait_until

OPTIONS = ['--lease-ms', ms(1500), '--phase-deadline-ms', ms(500), '--job-lease-ms', ms(3000), '--job-timeout-ms', ms(2000)]


class HangingProvider(World):
    """Calls that the provider carries out and never answers."""

    def __init__(self, settings, complete_after_ms=NEVER):
        super().__init__(settings.bin, [*OPTIONS, '--complete-after-ms', str(complete_after_ms)],
                         provider_options=['--delay-ms', '60000'])

    def leave(self, phone, names):
        """The provider ends with these calls in flight: they are in doubt, and their keys are free."""
        before = len(self.ledger())
        answers = {}
        clients = [threading.Thread(target=lambda name=name: answers.update({name: phone.book(name)})) for name in names]
        for client in clients:
            client.start()
        wait_until('the calls', lambda: len(self.ledger()) == before + len(names))
        self.kill_provider()
        for client in clients:
            client.join()
        check_equal({name: answer.type for name, answer in answers.items()}, dict.fromkeys(names, 'provider-unavailable'), 'answers')

    def answer_again(self):
        self.provider_options = []
        self.start_provider()

    def hang_again(self):
        self.kill_provider()
        self.provider_options = ['--delay-ms', '60000']
        self.start_provider()

    def attention(self):
        return json.loads(self.pawl_command('attention', 'list', '--json').stdout)


def another_node(world):
    node = Node(world, len(world.nodes) + 1)
    world.nodes.append(node)
    node.start()
    node.wait()
    return node


def round_with_another_url(settings):
    """`rides completer --once --stripe-url OTHER` put three calls on the attention list that a server would have repeated."""
    names = ['a', 'b', 'c']
    with HangingProvider(settings) as world, StrangeProvider(CHARGED) as other:
        world.start_server()
        world.leave(world.phone(), names)

        def by_hand(port):
            return world.rides_command('completer', '--once', '--json', '--database', world.url, *OPTIONS, '--complete-after-ms', '1',
                                       '--stripe-url', f'http://127.0.0.1:{port}', check_status=None)
        done = by_hand(other.port)
        check_equal(done.returncode, 1, f'the exit code: {done.stdout}')
        check('PAWL0025' in done.stderr and 'stripe is' in done.stderr, f'which setting: {done.stderr}')
        check_equal(world.stop_server(), 0, 'the exit code')
        # No server shows its settings: the keys are left to one.
        done = by_hand(other.port)
        check_equal((done.returncode, json.loads(done.stdout)['left']), (1, 3), f'keys that it left: {done.stdout}')
        check('"key_left"' in done.stderr and 'PAWL0018' in done.stderr, f'and why: {done.stderr}')
        check_equal((world.attention(), other.requests), ([], []), 'the attention list, and calls to the other provider')

        world.answer_again()
        world.start_server()
        for name in names:
            check_equal(wait_until(name, lambda name=name: world.phone().book(name)).status, 201, name)
        check_equal((len(world.ledger()), len({line['key'] for line in world.ledger()})), (3, 3), 'charges, and their keys')


def servers_with_two_urls(settings):
    """A server leaves a call to the other one, which runs and called it; when that one has changed too, a person decides."""
    with HangingProvider(settings) as world, StrangeProvider(CHARGED) as other:
        one = another_node(world)
        first = world.stripe
        world.leave(one.phone(), ['k'])
        world.stripe = other.port
        two = another_node(world)
        world.stripe = first
        answer = two.phone().book('k')
        check_equal((answer.status, answer.type, answer.json['retry'], answer.json['code']), (503, 'other-server', True, 'PAWL0018'),
                    f'a repeat at the other server: {answer}')
        check('retry-after' in answer.headers, 'Retry-After')
        # Restarted with its provider, it has not claimed the key yet; its settings tell.
        check_equal(one.stop(), 0, 'the exit code')
        one.start()
        one.wait()
        wait_until('its settings', lambda: world.count('pawl_servers', "settings LIKE '%stripe%'") == 2)
        check_equal(two.phone().book('k').type, 'other-server', 'a repeat at the other server')
        check_equal((world.attention(), other.requests), ([], []), 'the attention list, and calls to the other provider')
        world.answer_again()
        check_equal(one.phone().book('k').status, 201, 'a repeat at the server that made the call')
        check(two.phone().book('k').replayed, 'its answer at the other one')

        world.hang_again()
        world.leave(one.phone(), ['late'])
        check_equal(one.stop(), 0, 'the exit code')
        check_equal(two.phone().book('late').type, 'needs-attention', 'nobody calls the first provider any more')
        check_equal([entry['reason'] for entry in world.attention()], ['elsewhere'], 'the attention list')


def different_settings(settings):
    """Servers whose settings differ say so by name, with both values, in the log, `servers list` and `doctor`."""
    with World(settings.bin, OPTIONS) as world:
        one = another_node(world)
        world.options = ['--lease-ms', ms(60000), *OPTIONS[2:], '--retry-after-ms', '100,200', '--site', 'https://rides.example']
        two = another_node(world)

        def differ(node):
            lines = [json.loads(line) for line in node.log().splitlines() if '"settings_differ"' in line]
            return {line['setting']: (line['here'], line['there']) for line in lines}
        wait_until('both to say so', lambda: 'queue default' in differ(one) and 'queue default' in differ(two))
        check_equal(set(differ(one)), {'lease', 'site', 'queue default'}, 'settings')
        check_equal(differ(one)['lease'], (f'{ms(1500)} ms', f'{ms(60000)} ms'), 'values at one')
        check_equal(differ(two), {name: (there, here) for name, (here, there) in differ(one).items()}, 'values at the other')
        listed = json.loads(world.pawl_command('servers', 'list', '--json').stdout)
        check(f'lease {ms(1500)} ms' in listed[0]['differs'] and f'lease {ms(60000)} ms' in listed[1]['differs'], f'the list: {listed}')
        done = world.rides_command('doctor', '--json', '--database', world.url, *OPTIONS, check_status=None)
        found = [one['found'] for one in json.loads(done.stdout)['findings'] if one['code'] == 'PAWL0025' and one['severity'] == 'warning']
        check(len(found) == 1 and 'lease is' in found[0] and 'site is' in found[0], f'doctor: {found}')
        check('tokens' not in done.stdout, f'settings that are the same: {done.stdout}')
        # With a lease of a quarter it would take over requests that are at work, as the first server may.
        check_equal(one.stop(), 0, 'the exit code')
        world.provider_options = ['--delay-ms', '60000']
        world.kill_provider()
        world.start_provider()
        client = threading.Thread(target=two.phone().book, args=['k'])
        client.start()
        wait_until('the call', lambda: len(world.ledger()) == 1)
        refused = world.rides_command('completer', '--once', '--database', world.url, '--lease-ms', ms(1500), '--complete-after-ms', '1',
                                      '--phase-deadline-ms', ms(500), '--stripe-url', f'http://127.0.0.1:{world.stripe}', check_status=1)
        check('PAWL0025' in refused.stderr and 'lease is' in refused.stderr, f'a round with a short lease: {refused.stderr}')
        check_equal(world.rows("SELECT attempt FROM pawl_idempotency_keys WHERE idempotency_key = 'k'"), [(1,)], 'attempts')
        world.kill_provider()
        client.join()


def cases(settings):
    found = {'a round by hand with another provider leaves calls in doubt to the servers': round_with_another_url}
    if World.database == 'postgres':
        found |= {'a server leaves a call to a running server that calls its provider': servers_with_two_urls,
                  'servers with different settings say which': different_settings}
    return [('right: ' + name, lambda run=run: run(settings)) for name, run in found.items()]
