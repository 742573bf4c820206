"""The OpenAPI document of Rocket Rides: valid, complete, and true of what the server answers. Needs tools/install full."""
import json
import os
import subprocess

import node
from python_packages import environment
from world import WAIT_S, World, check, check_equal

DATABASES = ('sqlite',)   # The document does not depend on the database.
ROUTES = {('/rides', 'post'), ('/rides', 'get'), ('/rides/{id}', 'get'), ('/rides/{id}', 'delete'), ('/rides/{id}/refund', 'post'),
          ('/trips', 'post'), ('/trips/{id}', 'get'), ('/trips/{id}/pick-up', 'post'), ('/bookings/{key}', 'get'),
          ('/users/{email}', 'put'), ('/idempotency-keys/{key}', 'get')}


def document_of(settings):
    done = subprocess.run([os.path.join(settings.bin, 'rides'), 'openapi'], capture_output=True, text=True, timeout=WAIT_S, check=False)
    check_equal(done.returncode, 0, f'rides openapi: {done.stderr}')
    return json.loads(done.stdout)


def validate(document):
    return subprocess.run(['node', os.path.join(node.install(), 'openapi.mjs')], input=json.dumps(document), capture_output=True,
                          text=True, timeout=6 * WAIT_S, check=False)


def is_valid(settings):
    document = document_of(settings)
    valid = validate(document)
    check_equal((valid.returncode, valid.stdout.strip()), (0, '3.1'), f'the validator: {valid.stderr}')
    document['paths']['/rides']['post']['parameters'][0]['in'] = 'nowhere'
    check_equal(validate(document).returncode, 1, 'the validator on a document with a mistake')


def has_all_routes(settings):
    found = {(path, method) for path, methods in document_of(settings)['paths'].items() for method in methods}
    check_equal(found, ROUTES, 'the routes')


def answers_are_described(settings):
    """Each status that a client gets is in the document, with its content type."""
    document = document_of(settings)
    with World(settings.bin) as world:
        world.start_server()
        phone = world.phone()
        seen = [('/rides', 'post', phone.book('k')), ('/rides', 'post', phone.book('k')),
                ('/rides', 'post', phone.send('POST', '/rides', {'origin': 1}, key='k2')),
                ('/rides', 'post', phone.send('POST', '/rides', {'origin': 1})),
                ('/rides', 'post', world.phone('nobody').book('k3')),
                ('/rides', 'get', phone.get('/rides')),
                ('/rides/{id}', 'get', phone.get('/rides/999'))]
    for path, method, answer in seen:
        responses = document['paths'][path][method]['responses']
        described = responses.get(str(answer.status)) or responses.get(f'{answer.status // 100}XX')
        check(described is not None, f'{method} {path} answered {answer.status}, which is not described')
        if answer.status >= 400:
            kind = answer.headers.get('content-type')
            check(kind in described['content'], f'{method} {path} answered {answer.status} as {kind}')


SCHEMATHESIS = 'schemathesis==4.32.5'
GENERATE_S = 20


def schemathesis():
    """The program in an environment of its own, or None if PyPI is not to be had."""
    folder = environment('test-python', SCHEMATHESIS)
    return folder and os.path.join(folder, 'bin', 'schemathesis')


def generated_requests_are_answered_as_described(settings):
    """Requests that a program makes from the document: right ones, wrong ones, and those at the limits of each type."""
    program = schemathesis()
    if program is None:
        print(f'        {SCHEMATHESIS} is not to be had, so no requests were made from the document')
        return
    with World(settings.bin, judged=False) as world:
        world.start_server('--account-in-flight', '0', '--tenant-in-flight', '0')
        file = os.path.join(world.folder, 'openapi.json')
        with open(file, 'w', encoding='utf-8') as out:
            json.dump(document_of(settings), out)
        # The document has the types, not what a request's problem() finds, so a request that fits may be refused.
        done = subprocess.run(
            [program, 'run', file, '--url', f'http://127.0.0.1:{world.port}', '-H', 'Authorization: Bearer test_jane',
             '--phases', 'coverage,fuzzing', '--max-time', str(GENERATE_S), '--exclude-checks', 'positive_data_acceptance',
             '--continue-on-failure', '--no-color'],
            env=os.environ | {'SCHEMATHESIS_HOOKS': 'schemathesis_hooks', 'PYTHONPATH': os.path.dirname(os.path.abspath(__file__))},
            cwd=world.folder, capture_output=True, text=True, timeout=GENERATE_S + 10 * WAIT_S, check=False)
        check_equal(done.returncode, 0, f'schemathesis: {done.stdout[-4000:]}{done.stderr[-500:]}')
        check(' generated' in done.stdout, f'no requests were made: {done.stdout[-1000:]}')


def cases(settings):
    missing = node.programs_missing(browser=False)
    if not settings.everything:
        return []   # npm is run by ./test --full only; browser_cases prints that.

    def run(case):
        check(missing is None, f'{missing}')
        case(settings)
    return [('openapi: ' + name, lambda case=case: run(case)) for name, case in {
        'the document is valid': is_valid, 'it has all routes': has_all_routes, 'each answer is described': answers_are_described,
        'generated requests are answered as described': generated_requests_are_answered_as_described}.items()]
