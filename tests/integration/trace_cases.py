"""Traces: a client's traceparent in the row, at the provider and in the jobs, and the spans that a collector gets."""
import json
import os
import re
import subprocess
import time

import canary_cases
from kill_cases import QUICK, SLOW
from operator_cases import Operated
from otlp_collector import Collector
from phone import HERE_TO_THERE
from ports import free_port
from python_packages import environment
from world import KILLED, World, check, check_equal, wait_until

PACKAGE = 'opentelemetry-proto==1.45.2'
TRACE, SPAN = '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'
CLIENT = {'traceparent': f'00-{TRACE}-{SPAN}-01', 'tracestate': 'vendor=1'}


class Traced:
    """A world with a collector."""

    def __init__(self, settings, *options, base=QUICK, **world):
        self.collector = Collector(free_port())
        self.options = ['--otlp-url', self.collector.url, *options]
        self.world = World(settings.bin, base, **world)

    def __enter__(self):
        self.collector.start()
        try:
            self.world.__enter__()
        except BaseException:
            self.collector.stop()
            raise
        return self

    def __exit__(self, *what):
        try:
            self.world.__exit__(*what)
        finally:
            self.collector.stop()
        if what[0] is None:
            check(not self.collector.problems, f'malformed requests: {self.collector.problems[:3]}')

    def start(self, *more, **fault):
        return self.world.start_server(*self.options, '--access-log', f'{self.world.folder}/access', *more, **fault)

    def book(self, key, status=201, headers=None, token='test_jane'):
        answer = self.world.phone(token).send('POST', '/rides', HERE_TO_THERE, headers, key)
        check(answer.status == status, f'{key}: {answer}')
        return answer

    def end(self):
        """Its spans are flushed."""
        check_equal(self.world.stop_server(), 0, f'the exit code, after {self.world.log()[-400:]}')

    def the(self, **attributes):
        found = self.collector.spans(**attributes)
        check(len(found) == 1, f'{len(found)} spans with {attributes}: {found or self.collector.spans()}')
        return found[0]

    def access(self):
        with open(f'{self.world.folder}/access', encoding='utf-8') as file:
            return [json.loads(line) for line in file]

    def stored_traces(self):
        """Of each attempt, by its number."""
        found = {}
        for attempt, events in self.world.rows('SELECT attempt, events FROM pawl_key_events ORDER BY attempt, part'):
            for event in json.loads(events)['events']:
                if 'trace' in event:
                    found[attempt] = event['trace']
        return found

    def received(self):
        """The traceparents of the charges at the provider."""
        return [line.get('traceparent') for line in self.world.ledger()]


def quick(name, value):
    """QUICK with another value of an option."""
    return [value if before == name else word for before, word in zip(['', *QUICK], QUICK)]


def ids_of(traceparent):
    return tuple(traceparent[:55].split('-')[1:3])


def check_tree(spans, outside=()):
    """Parents resolve, in their own trace, and contain what a request waited for."""
    by_id = {span.id: span for span in spans}
    check_equal(len(by_id), len(spans), 'ids of spans')
    for span in spans:
        if span.parent and span.parent not in outside:
            check(span.parent in by_id, f'{span} has a parent that nobody knows')
            parent = by_id[span.parent]
            check_equal(span.trace, parent.trace, f'the trace of {span}')
            if span.kind != 'consumer':
                check(parent.start <= span.start and span.end <= parent.end, f'{span} is not within {parent}')


def a_ride_is_one_tree(settings):
    with Traced(settings) as one:
        one.start()
        one.book('k', headers=CLIENT)
        one.world.settle()
        told = one.world.rides_command('keys', 'timeline', '--key', 'k', '--database', one.world.url, '--json').stdout
        one.end()
        spans = one.collector.spans()
        request = one.the(name='POST /rides')
        check_equal((request.trace, request.parent, request.kind, request.state), (TRACE, SPAN, 'server', 'vendor=1'), 'the request')
        check_equal({span.trace for span in spans}, {TRACE}, 'traces')
        check_tree(spans, outside={SPAN})
        children = sorted(span.name for span in spans if span.parent == request.id)
        check_equal(children, ['call ride_created', 'job add_points', 'job send_receipt', 'keep ride_created', 'phase charge_created',
                               'phase started'], 'children of the request')
        call = one.the(name='call ride_created')
        check_equal((call.kind, call.attributes['pawl.result'], call.attributes['http.response.status_code'],
                     call.attributes['pawl.operation'], call.failed), ('client', 'Charge', 200, 'book_ride', False), 'the call')
        check(call.attributes['pawl.provider'].startswith('stripe'), f'{call}')
        check_equal(one.received(), [f'00-{TRACE}-{call.id}-01'], 'what the provider got')
        job = one.the(name='job send_receipt')
        check_equal((job.kind, job.attributes['pawl.result'], job.attributes['pawl.attempt'],
                     job.attributes['messaging.destination.name']), ('consumer', 'done', 1, 'default'), 'the job')
        check(request.attributes['pawl.key.hash'] in {line.get('key_hash') for line in one.access()}, f'{request}')
        check_equal((request.attributes['http.response.status_code'], request.attributes['http.route']), (201, '/rides'), 'the answer')
        check_equal({span.service for span in spans}, {'rides'}, 'the service')
        check_equal([line['trace_id'] for line in one.access() if line['route'] == '/rides'], [TRACE], 'the access log')
        check_equal([event['trace_id'] for event in json.loads(told) if event['trace_id']], [TRACE], 'the time line')
        check_equal(one.stored_traces(), {1: f'00-{TRACE}-{request.id}-01 vendor=1'}, 'the row')


def requests_without_a_trace_begin_one(settings):
    """A malformed traceparent is none: the request is served all the same."""
    with Traced(settings) as one:
        one.start()
        one.book('none')
        one.book('malformed', headers={'traceparent': f'00-{TRACE.upper()}-{SPAN}-01'})
        one.book('malformed-state', headers={'traceparent': f'00-{TRACE}-{SPAN}-01', 'tracestate': 'A=1'})
        one.world.settle()
        one.end()
        check_tree(one.collector.spans(), outside={SPAN})
        roots = [span for span in one.collector.spans(name='POST /rides') if not span.parent]
        check_equal(len({span.trace for span in roots} - {TRACE}), 2, f'new traces: {roots}')
        check_equal(len([span for span in one.collector.spans(name='POST /rides') if span.parent == SPAN and not span.state]), 1, 'states')


def by_the_official_schema(settings):
    folder = environment('test-otlp', PACKAGE)
    if folder is None:
        print(f'        {PACKAGE} is not to be had, so no request was parsed by the official schema')
        return
    with Traced(settings) as one:
        one.start()
        one.book('k', headers=CLIENT)
        one.world.kill_provider()
        one.book('down', 503)
        one.world.start_provider()
        one.world.settle()
        one.end()
        bodies = b'\n'.join(body for _, body in one.collector.requests)
        parsed = subprocess.run([os.path.join(folder, 'bin', 'python'), os.path.join(os.path.dirname(__file__), 'otlp_schema.py')],
                                input=bodies, capture_output=True, timeout=60, check=False)
        check(parsed.returncode == 0, parsed.stderr.decode()[-800:])
        check_equal(int(parsed.stdout), len(one.collector.spans()), 'spans')


def killed_in_the_call(settings):
    """The completer goes on in the same trace. The link names the span of the attempt that died."""
    with Traced(settings) as one:
        check(one.start(fault='engine.call.after:1:kill9'), one.world.log()[-300:])
        try:
            one.book('k', headers=CLIENT)
        except OSError:
            pass
        wait_until('the death', one.world.dead)
        check_equal(one.world.server.returncode, KILLED, 'how it ended')
        one.start()
        one.world.settle()
        one.end()
        traces = one.stored_traces()
        check_equal(ids_of(traces[1])[0], TRACE, 'the first attempt')
        attempt = one.the(name='attempt book_ride', pawl__by='completer')
        check_equal((attempt.trace, attempt.parent, attempt.links), (TRACE, None, [ids_of(traces[1])]), 'the link')
        check_equal((attempt.attributes['pawl.attempt'], attempt.attributes['pawl.outcome'], attempt.state), (2, 'completed', 'vendor=1'),
                    'the second attempt')
        check_equal(ids_of(traces[2]), (TRACE, attempt.id), 'the second attempt, stored')
        mine = {span.name for span in one.collector.spans() if span.parent == attempt.id}
        check_equal(mine, {'call ride_created', 'keep ride_created', 'phase charge_created', 'job send_receipt', 'job add_points'},
                    'its children')
        check_equal({span.trace for span in one.collector.spans()}, {TRACE}, 'traces')
        # The provider has booked the call that died, whose span nobody knows.
        check_equal([ids_of(text)[0] for text in one.received()], [TRACE], 'what the provider got')


def repeats_have_a_link(settings):
    """Of a client that asks again after a failure, and after the answer."""
    with Traced(settings, base=quick('--complete-after-ms', '60000')) as one:
        one.start()
        one.world.kill_provider()
        one.book('k', 503, CLIENT)
        one.world.start_provider()
        wait_until('the ride', lambda: one.world.phone().book('k').status == 201)
        one.book('k', headers={'traceparent': f'00-{TRACE[::-1]}-{SPAN}-01'})
        one.world.settle()
        one.end()
        first = one.the(name='POST /rides', http__response__status_code=503)
        booked, replayed = sorted(one.collector.spans(name='POST /rides', http__response__status_code=201), key=lambda span: span.start)
        check_equal((first.links, first.failed, first.attributes['pawl.outcome']), ([], True, 'provider-unavailable'), 'the first')
        check_equal((booked.links, booked.parent), ([(TRACE, first.id)], None), 'the repeat that booked')
        check_equal((replayed.trace, replayed.links, replayed.attributes['pawl.outcome']),
                    (TRACE[::-1], [(booked.trace, booked.id)], 'replayed'), 'the replay')
        failed = one.the(name='call ride_created', pawl__result='not-made')
        check_equal((failed.parent, failed.failed), (first.id, True), 'the call that was not made')


def sampling(settings):
    with Traced(settings, '--trace-ratio', '0') as one:
        one.start()
        one.book('root')
        one.book('unsampled', headers={'traceparent': f'00-{TRACE}-{SPAN}-00'})
        one.book('sampled', headers={'traceparent': f'00-{TRACE[::-1]}-{SPAN}-01'})
        one.world.settle()
        one.end()
        check_equal({span.trace for span in one.collector.spans()}, {TRACE[::-1]}, 'traces')
        root, unsampled, sampled = one.received()
        check(root.endswith('-00') and ids_of(root)[0] not in (TRACE, TRACE[::-1]), root)
        check(ids_of(unsampled)[0] == TRACE and unsampled.endswith('-00'), unsampled)
        check(ids_of(sampled)[0] == TRACE[::-1] and sampled.endswith('-01'), sampled)


def off(settings):
    """Without a collector a client's trace is passed on, and nothing is made."""
    with World(settings.bin, QUICK) as world:
        world.start_server('--access-log', f'{world.folder}/access')
        check_equal(world.phone().booked('plain').status, 201, 'a ride')
        check_equal(world.phone().send('POST', '/rides', HERE_TO_THERE, CLIENT, 'k').status, 201, 'a ride in a trace')
        check_equal([line.get('traceparent') for line in world.ledger()], [None, CLIENT['traceparent']], 'what the provider got')
        events = ' '.join(events for (events,) in world.rows('SELECT events FROM pawl_key_events'))
        check_equal(re.findall(r'"trace":"([^"]*)"', events), [f'{CLIENT["traceparent"]} vendor=1'], 'rows')
        world.settle()
        check_equal(world.stop_server(), 0, 'the exit code')
        with open(f'{world.folder}/access', encoding='utf-8') as file:
            check_equal([json.loads(line).get('trace_id') for line in file if '"/rides"' in line], [None, TRACE], 'the access log')


def by_the_standard_environment(settings):
    with Traced(settings) as one:
        one.options, one.world.environment = [], {'OTEL_EXPORTER_OTLP_ENDPOINT': one.collector.url + '/'}
        one.start()
        one.book('k')
        one.end()
        one.the(name='POST /rides')


def through(settings, queue):
    """The job's envelope carries the trace."""
    with Traced(settings, queue=queue) as one:
        one.start()
        one.book('k', headers=CLIENT)
        wait_until('the mail', one.world.mails, one.world.queue.patience_s * SLOW)
        one.world.settle(one.world.queue.patience_s * SLOW)
        one.end()
        request, job = one.the(name='POST /rides'), one.the(name='job send_receipt')
        check_equal((job.trace, job.parent, job.state), (TRACE, request.id, 'vendor=1'), 'the job')


def in_sidekiqs_payload(settings):
    """Where OpenTelemetry's instrumentation of Sidekiq looks for it."""
    with Traced(settings, '--workers', '0', queue='redis') as one:
        one.start()
        one.book('k', headers=CLIENT)
        wait_until('the jobs', lambda: one.world.queue.ask('LLEN', 'queue:default') == 2)
        payloads = [json.loads(text) for text in one.world.queue.ask('LRANGE', 'queue:default', 0, -1)]
        one.end()
        request = one.the(name='POST /rides')
        for payload in payloads:
            check_equal((payload['traceparent'], payload['tracestate']), (f'00-{TRACE}-{request.id}-01', 'vendor=1'), 'a payload')


def tries_of_a_job_are_in_one_trace(settings):
    """After a failure, and after its death and a merge."""
    with Traced(settings) as one:
        one.start()
        one.book('later', headers=CLIENT, token='test_later')
        one.book('dead', headers={'traceparent': f'00-{TRACE[::-1]}-{SPAN}-01'}, token='test_refused')
        wait_until('the dead letter', one.world.queue.dead)
        one.world.rides_command('dlq', 'merge', '--all', '--reason', 'again', '--by', 'ann', '--database', one.world.url)
        wait_until('its second death', one.world.queue.dead)
        one.world.settle()
        one.end()
        requests = {span.trace: span.id for span in one.collector.spans(name='POST /rides')}
        for trace, results in ((TRACE, ['retried', 'done']), (TRACE[::-1], ['dead', 'dead'])):
            tries = sorted((span for span in one.collector.spans(name='job send_receipt') if span.trace == trace),
                           key=lambda span: span.start)
            check_equal([span.attributes['pawl.result'] for span in tries], results, 'results')
            check_equal({span.parent for span in tries}, {requests[trace]}, 'parents')
            check_equal([span.failed for span in tries], [result != 'done' for result in results], 'failures')


class Troubled(Operated):
    """With an operator's listener, and a collector that does not take spans."""

    def __init__(self, settings, collector, *options):
        super().__init__(settings, '--otlp-url', collector.url, *options)
        self.start()

    def rides_go_on(self):
        began = time.monotonic()
        for n in range(20):
            check_equal(self.world.phone().booked(f'k-{n}').status, 201, 'a ride')
        self.world.settle()
        return time.monotonic() - began

    def dropped(self):
        return self.value('pawl_trace_spans_total', result='dropped')


def the_collector_is_down(settings):
    with Troubled(settings, Collector(free_port())) as one:
        one.rides_go_on()
        wait_until('dropped spans', one.dropped)
        check(one.events('spans_dropped'), 'the log says so')
        check_equal(one.value('pawl_trace_spans_total', result='sent'), 0, 'sent spans')


def the_collector_refuses(settings):
    """It is busy for a while: its spans are sent again, and none is lost."""
    with Collector(free_port()) as collector:
        collector.status = 503
        with Troubled(settings, collector) as one:
            one.rides_go_on()
            wait_until('a refusal', lambda: collector.refused)
            collector.status = 200
            wait_until('spans', lambda: one.value('pawl_trace_spans_total', result='sent') > 100)
            check_equal(one.dropped(), 0, 'dropped spans')
            check_equal(one.world.stop_server(), 0, 'the exit code')
            check_equal(len(collector.spans(name='POST /rides')), 20, 'requests')
            check_tree(collector.spans())


def the_collector_hangs(settings):
    """Rides do not wait for it, and neither does the stop."""
    with Collector(free_port()) as collector:
        collector.delay_s = 60
        with Troubled(settings, collector) as one:
            took = one.rides_go_on()
            check(took < 15 * SLOW, f'20 rides took {took:.1f} s')
            began = time.monotonic()
            check_equal(one.world.stop_server(), 0, 'the exit code')
            check(time.monotonic() - began < 10 * SLOW, f'the stop took {time.monotonic() - began:.1f} s')


def no_secret_is_sent(settings):
    """Of those that clients and operators give to the server, and of fifty more in keys and headers."""
    more = [f'canary{os.urandom(8).hex()}' for _ in range(50)]
    canaries = canary_cases.CANARIES
    names = canary_cases.c
    with Traced(settings, '--rider', f'{names.token} jane@example.com', '--rider', f'test_mailbox {names.mailbox}@refused.example',
                '--rider', f'test_unsure 500{names.unsure}@example.com', judged=False) as one:
        with open(f'{one.world.folder}/headers', 'w', encoding='utf-8', opener=lambda *a: os.open(*a, mode=0o600)) as file:
            file.write(f'Authorization: Bearer {more[0]}\n')
        one.world.environment = {'STRIPE_API_KEY': 'sk_test_' + names.stripe_secret}
        one.start('--otlp-headers-file', f'{one.world.folder}/headers')
        flows = canary_cases.Canaries(one.world)
        for live in (flows.succeed, flows.refuse, flows.fail):
            live()
        for text in more[1:]:
            one.book(text, headers={'X-Secret': text, 'Cookie': text, 'baggage': f'user={text}', 'traceparent': text})
        one.end()
        check(len(one.collector.spans()) > 300, f'{len(one.collector.spans())} spans')
        check_equal({headers.get('Authorization') for headers, _ in one.collector.requests}, {f'Bearer {more[0]}'}, 'the token')
        sent = b'\n'.join(body for _, body in one.collector.requests).decode()
        for name, text in (canaries | dict(zip(more, more)) | {'a number': canary_cases.CARD_NUMBER, 'an account': 'jane@'}).items():
            found = canary_cases.in_any_form(text).search(sent)
            check(not found, f'{name} was sent: {sent[max(0, found.start() - 200):found.end()] if found else ""}')
        check(more[0] not in one.world.log(), "the collector's token is in the log")


def cases(settings):
    found = {'a ride is one tree': a_ride_is_one_tree, 'requests without a trace begin one': requests_without_a_trace_begin_one,
             "by OpenTelemetry's own schema": by_the_official_schema, 'killed in the call': killed_in_the_call,
             'repeats have a link': repeats_have_a_link, 'sampling': sampling, 'off': off,
             'by the standard environment': by_the_standard_environment, "in Sidekiq's payload": in_sidekiqs_payload,
             'tries of a job are in one trace': tries_of_a_job_are_in_one_trace, 'the collector is down': the_collector_is_down,
             'the collector refuses': the_collector_refuses, 'the collector hangs': the_collector_hangs,
             'no secret is sent': no_secret_is_sent,
             'through Redis': lambda settings: through(settings, 'redis'), 'through Kafka': lambda settings: through(settings, 'kafka')}
    return [(f'traces: {name}', lambda run=run: run(settings)) for name, run in found.items()]
