"""Which clients get JSON and which a page: by what each client library sends of its own accord."""
import re
import urllib.parse

from kill_cases import QUICK
from operator_page_cases import TOKENS, Paged
from phone import HERE_TO_THERE, Phone, raw_exchange
from world import World, check, check_equal

DATABASES = ('sqlite',)   # Heads do not depend on the database.

FORM = {'Content-Type': 'application/x-www-form-urlencoded'}
# The default Accept; None: the library sends none. Those that prefer HTML are BROWSERS.
LIBRARIES = {
    'curl': '*/*', 'Python requests': '*/*', 'Python urllib': None, 'httpx': '*/*', 'aiohttp': '*/*', 'Go net/http': None, 'node fetch': '*/*',
    'undici.request': None, 'axios': 'application/json, text/plain, */*', 'got': None, 'got for JSON': 'application/json',
    'Java HttpClient': None, 'OkHttp': None, 'Apache HttpClient': None, '.NET HttpClient': None, 'Ruby Net::HTTP': '*/*', 'Faraday': '*/*',
    'Guzzle': None, 'reqwest': '*/*', 'hyper': None, 'Postman': '*/*', 'wget': '*/*', 'HTTPie': 'application/json, */*;q=0.5',
    'Spring RestTemplate': 'text/plain, application/json, application/*+json, */*', 'an empty one': '',
    'JSON, then HTML': 'application/json, text/html;q=0.9', 'no HTML': 'text/html;q=0, */*', 'both alike': 'text/html, application/json'}
BROWSERS = {
    'Firefox': 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'Chrome': 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,'
              'application/signed-exchange;v=b3;q=0.7',
    'Safari': 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Internet Explorer': 'text/html, application/xhtml+xml, image/jxr, */*',
    # A GET without a token is like a navigation, and HTML is what it prefers.
    'Java HttpURLConnection': 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'}
TOKEN = {'Authorization': 'Bearer test_jane'}


def is_json(answer):
    return answer.status // 100 != 3 and 'json' in answer.headers['content-type'] and isinstance(answer.json, dict)


def is_page(answer):
    return answer.status == 303 or answer.headers['content-type'].startswith('text/html')


def signed_in(world):
    """The headers of a session, and the token of its forms."""
    sent = urllib.parse.urlencode({'email': 'jane@example.com', 'token': 'test_jane'})
    answer = Phone(world.port).send('POST', '/sign-in', sent, FORM | {'Authorization': ''})
    session = {'Authorization': '', 'Cookie': answer.headers['set-cookie'].split(';')[0]}
    page = Phone(world.port).send('GET', '/bookings/' + 'a' * 32, headers=session | {'Accept': BROWSERS['Safari']})
    return session, re.search(rb'name="form_token" value="([^"]*)"', page.body)[1].decode()


def every_client(world):
    """A program with a token named text/html among others, and got a redirect and a page after it had been charged."""
    session, form_token = signed_in(world)
    form = urllib.parse.urlencode(HERE_TO_THERE | {'idempotency_key': 'f', 'form_token': form_token})
    wrong = urllib.parse.urlencode({'origin_lat': 91, 'idempotency_key': 'w', 'form_token': form_token})
    requests = {   # (method, path, body, more headers, key): whether only a program can have sent it.
        'a ride': (('GET', '/rides/1', None, {}, None), False),
        'a booking': (('POST', '/rides', HERE_TO_THERE, {}, 'k'), True),
        'a wrong booking': (('POST', '/rides', {'origin_lat': 91}, {}, 'w2'), True),
        'a form': (('POST', '/rides', form, FORM, None), False),
        'a wrong form': (('POST', '/rides', wrong, FORM, None), False),
        'a form with a key in the header': (('POST', '/rides', urllib.parse.urlencode(HERE_TO_THERE), FORM, 'h'), True),
        'no ride': (('GET', '/rides/4711', None, {}, None), False),
        'no path': (('GET', '/none', None, {}, None), False),
        'no method': (('GET', '/trips', None, {}, None), False),
        'a deletion': (('DELETE', '/rides/4711', None, {}, None), True)}
    check_equal(world.phone().book('k').status, 201, 'the first')
    for client, accept in (LIBRARIES | BROWSERS).items():
        sent = {} if accept is None else {'Accept': accept}
        for request, ((method, path, body, more, key), by_program) in requests.items():
            for who, credentials in {'a token': TOKEN, 'a wrong token': {'Authorization': 'Bearer wrong'}, 'nothing': {'Authorization': ''},
                                     'a session': session}.items():
                answer = Phone(world.port).send(method, path, body, sent | more | credentials, key)
                page = client in BROWSERS and not by_program and who in ('nothing', 'a session')
                check(is_page(answer) if page else is_json(answer), f'{client} asks with {who} for {request}: {answer} {answer.headers}')
    check_equal(world.count('rides'), 3, 'rides: one for each key')


def pages_alone(world):
    """What is only a page, and each early refusal: a token or JSON gets JSON there too."""
    for client, accept in (LIBRARIES | BROWSERS).items():
        sent = {} if accept is None else {'Accept': accept}
        for path in ('/', '/book', '/pages.css'):
            answer = Phone(world.port).send('GET', path, headers=sent | TOKEN)
            check_equal((answer.status, answer.type), (404, 'not-found'), f'{client} asks with a token for {path}')
            check(not is_json(Phone(world.port).send('GET', path, headers=sent | {'Authorization': ''})), f'{client} asks for {path}')
        for path in ('/sign-in', '/sign-out'):
            for body, more in (({'email': 'jane@example.com', 'token': 'test_jane'}, {'Authorization': ''}), ('a=b', FORM | TOKEN)):
                answer = Phone(world.port).send('POST', path, body, sent | more)
                check(is_json(answer) and 'set-cookie' not in answer.headers, f'{client} posts to {path}: {answer}')
    head = f'Host: a\r\nAuthorization: Bearer test_jane\r\nAccept: {BROWSERS["Chrome"]}\r\n'
    for status, request in {
            400: f'GET /rides HTTP/1.1\r\n{head}Bad Name: a\r\n\r\n', 413: f'POST /rides HTTP/1.1\r\n{head}Content-Length: 2000000\r\n\r\n',
            414: f'GET /{"a" * 9000} HTTP/1.1\r\n{head}\r\n', 431: f'GET /rides HTTP/1.1\r\n{head}A: {"a" * 40000}\r\n\r\n',
            501: f'POST /rides HTTP/1.1\r\n{head}Transfer-Encoding: gzip\r\n\r\n', 505: f'GET /rides HTTP/3.0\r\n{head}\r\n'}.items():
        answer = raw_exchange(world.port, request.encode())
        check(answer.status == status and is_json(answer), f'{status}: {answer}')


def quota(settings):
    with World(settings.bin, [*QUICK], judged=False) as world:
        world.start_server('--tenant-rate', '0.01', '--tenant-burst', '1')
        for n in range(3):
            answer = Phone(world.port).send('GET', '/rides', headers=TOKEN | {'Accept': BROWSERS['Chrome']})
            check(is_json(answer) and answer.status == (429 if n else 200), f'request {n}: {answer}')


def operators_page(settings):
    with Paged(settings) as paged:
        paged.start()
        token = {'Authorization': f'Bearer {TOKENS["oli"][1]}'}
        for client, accept in (LIBRARIES | BROWSERS).items():
            sent = {} if accept is None else {'Accept': accept}
            for path in ('/', '/keys', '/keys/1', '/none', '/sign-in', '/api', '/api/keys', '/api/none'):
                answer = Phone(paged.port).send('GET', path, headers=sent | token)
                check('json' in answer.headers['content-type'], f'{client} asks with a token for {path}: {answer}')
                for credentials in (token, {'Authorization': ''}):
                    answer = Phone(paged.port).send('POST', path, {'token': TOKENS['oli'][1]}, sent | credentials)
                    check('json' in answer.headers['content-type'], f'{client} posts JSON to {path}: {answer}')
        check(is_page(Phone(paged.port).send('GET', '/', headers={'Authorization': ''})), 'the sign-in of a browser')
    with Paged(settings) as paged:
        paged.start('--operator-proxies', '127.0.0.1', '--operator-header', 'X-User')
        answer = Phone(paged.port).send('GET', '/queues', headers=token | {'X-User': 'oli'})
        check(is_page(answer) and answer.status == 200, f'a page, if the proxy adds the token: {answer}')


def cases(settings):
    def in_one_world(row):
        with World(settings.bin, [*QUICK], judged=False) as world:
            world.start_server()
            row(world)
    return [('form: each client library gets JSON, and each browser a page', lambda: in_one_world(every_client)),
            ('form: a path of pages alone and an early refusal answer a program in JSON', lambda: in_one_world(pages_alone)),
            ('form: a refusal by quota is JSON for a token', lambda: quota(settings)),
            ('form: the page for operators answers a program in JSON', lambda: operators_page(settings))]
