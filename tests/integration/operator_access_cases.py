"""The page for operators and its API against outsiders: wrong tokens, replaced tokens, and what others have put into Redis."""
import concurrent.futures
import json
import re
import urllib.parse

import libpq
from kill_cases import QUICK
from operator_page_cases import FORM, TOKENS, Paged
from phone import Phone
from world import World, check, check_equal, wait_until


def sign_in(paged, token, headers=None):
    return Phone(paged.port).send('POST', '/sign-in', urllib.parse.urlencode({'token': token}), FORM | {'Authorization': ''} | (headers or {}))


def wrong_tokens(settings):
    """The API had no limit and logged no wrong token; the page counted right ones and those of other sites."""
    with Paged(settings) as paged:
        paged.start('--operator-proxies', '127.0.0.1')

        def at(client):
            return {'Forwarded': f'for={client}'}
        for _ in range(30):
            check_equal(paged.api('/', headers=at('203.0.113.1')).status, 200, 'a right token of the API')
            check_equal(sign_in(paged, TOKENS['oli'][1], at('203.0.113.1')).status, 303, 'a right token of the page')
            for other in ({'Origin': 'https://evil.example'}, {'Sec-Fetch-Site': 'cross-site'}, {'Origin': 'null'}):
                check_equal(sign_in(paged, 'wrong-token-0123456789', at('203.0.113.1') | other).status, 403, f'another site: {other}')
        for n in range(5):
            check_equal(paged.api('/', token=f'wrong-token-{n}-012345678', headers=at('203.0.113.1')).status, 401, f'wrong token {n}')
            check_equal(sign_in(paged, f'wrong-{n}', at('203.0.113.1')).status, 401, f'wrong token {n} of the page')
        for refused in (paged.api('/', token='wrong-token-0123456789', headers=at('203.0.113.1')), sign_in(paged, 'wrong', at('203.0.113.1'))):
            check_equal(refused.status, 429, 'one more, of the API and of the page')
            check(1 <= int(refused.headers['retry-after']) <= 6, f'{refused.headers}')
        check_equal(paged.api('/', headers=at('203.0.113.1')).status, 200, 'the right token of the API')
        check_equal(sign_in(paged, TOKENS['oli'][1], at('203.0.113.1')).status, 303, 'that of the page')
        check_equal(paged.api('/', 'ann', headers=at('203.0.113.1')).status, 429, 'a right token that was not used there before')
        check_equal(paged.api('/', 'ann', headers=at('203.0.113.2')).status, 200, 'the same from elsewhere')
        lines = [json.loads(line) for line in paged.world.log().splitlines() if '"event":"operator_refused"' in line]
        check_equal({line['address'] for line in lines if 'address' in line}, {'203.0.113.1'}, 'who it was')
        counted = paged.metrics()['pawl_log_events_total', (('event', 'operator_refused'), ('level', 'warning'))]
        check(counted >= 13 and len(lines) < 60, f'{len(lines)} lines of {counted} refused tokens')


def a_replaced_token(settings):
    with Paged(settings) as paged:
        paged.start()

        def get(session, path='/queues'):
            return Phone(paged.port).send('GET', path, headers={'Authorization': '', 'Cookie': session})

        def session_of(name):
            return sign_in(paged, TOKENS[name][1]).headers['set-cookie'].split(';')[0]
        oli, vic = session_of('oli'), session_of('vic')
        check_equal((get(oli).status, get(vic).status), (200, 200), 'sessions')
        replaced = TOKENS | {'oli': ('operator', 'another-token-of-oli-0123')}
        paged.write(replaced)
        check_equal((get(oli).status, get(vic).status), (401, 200), 'after one token was replaced')
        paged.write(TOKENS)
        check_equal(get(oli).status, 401, 'when the old token is back')
        oli = session_of('oli')
        paged.write(TOKENS | {'oli': ('viewer', TOKENS['oli'][1])})
        page = get(oli)
        check_equal((page.status, b'oli, viewer' in page.body), (200, True), 'another role')
        paged.write({name: who for name, who in TOKENS.items() if name != 'oli'})
        check_equal(get(oli).status, 401, 'a name that is removed')


def dead_letters_of_any_bytes(settings):
    """Ruby and others may have put anything there: a letter that is not JSON made the page answer 500, a large one 8 s."""
    deep = b'{"class":"A","jid":"a","args":[' + b'[' * 30 + b']' * 30 + b']}'
    members = {'text': b'no JSON', 'bytes': b'\xff\xfe\x00\x9b2J', 'number': b'7', 'list': b'[1]', 'empty': b'', 'half': b'{"class":',
               'deep': deep, 'deeper': b'[' * 5_000, 'no jid': b'{"class":"A","args":[]}', 'odd': b'{"class":"A","jid":"\\ud800","args":7}',
               'bidi': '{"class":"A\u202e","jid":"b","args":[],"error_message":"\u202egnp","error_class":"X"}'.encode(),
               'bad bytes in JSON': b'{"class":"A","jid":"c","args":["\xff"]}', 'large': b'x' * (16 << 20)}
    with Paged(settings, base=QUICK, queue='redis') as paged:
        paged.start()
        redis = paged.world.queue
        for n, member in enumerate(members.values()):
            redis.ask_raw(b'ZADD', b'dead', str(1_795_250_000 + n).encode(), member)

        def sent_by_redis():
            return int(re.search(r'total_net_output_bytes:(\d+)', redis.ask('INFO', 'stats'))[1])
        before = sent_by_redis()
        found = paged.api('/dead')
        check_equal(found.status, 200, f'the list: {found.body[:300]}')
        check_equal(len(found.json['letters']), len(members), 'dead letters')
        large = next(letter for letter in found.json['letters'] if '16777216 bytes' in letter['error'])
        page = Phone(paged.port).send('GET', '/dead', headers={'Authorization': '', 'Cookie': sign_in(
            paged, TOKENS['ann'][1]).headers['set-cookie'].split(';')[0]})
        check_equal(page.status, 200, 'the page')
        check(sent_by_redis() - before < 4 << 20, f'Redis has sent {sent_by_redis() - before} bytes')
        for letter in found.json['letters']:
            one = paged.api(f"/dead/{letter['id']}")
            check_equal(one.status, 200, f'{letter}: {one.body[:300]}')
        shown = paged.api(f"/dead/{large['id']}/reveal", 'oli', {})
        check(shown.status == 200 and len(shown.body) < 3 << 20, f'{shown.status}, {len(shown.body)} bytes')
        said = paged.world.rides_command('dlq', 'list', '--database', paged.world.url, *redis.options).stdout
        check(not re.search('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]', said), 'a terminal obeys the list')
        purged = paged.api('/dead/purge', 'ann', {'reason': 'test', 'confirmed': 'yes'})
        check_equal((purged.status, redis.ask('ZCARD', 'dead')), (200, 0), f'a purge of all: {purged.body[:300]}')
        check('operators_page_failed' not in paged.world.log(), 'the page has a defect')


def slow_queries(settings):
    """Two slow queries of one operator took both threads of the page for as long as they lasted."""
    with Paged(settings) as paged:
        paged.start()
        world = paged.world
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            lock = pool.submit(libpq.execute, world.url, 'BEGIN; LOCK TABLE pawl_audit_log; SELECT pg_sleep(12); COMMIT', 60)
            wait_until('the lock', lambda: world.rows(
                "SELECT 1 AS a FROM pg_locks WHERE relation = 'pawl_audit_log'::regclass AND mode = 'AccessExclusiveLock' AND granted"))
            slow = [pool.submit(paged.api, '/audit', 'ann') for _ in range(3)]
            wait_until('the first one to wait', lambda: world.rows(
                "SELECT 1 AS a FROM pg_locks WHERE relation = 'pawl_audit_log'::regclass AND NOT granted"))
            check_equal(paged.api('/servers', 'vic').status, 200, "another operator's request")
            check(not all(one.done() for one in slow), 'it waited for all slow ones')
            for answer in (one.result() for one in slow):
                check_equal((answer.status, 'longer than 2 s' in answer.json['detail']), (503, True), f'a slow one: {answer}')
            check(not lock.done(), 'the slow ones waited for the end of the lock')
            lock.result()


def page_of(paged, session, path):
    return Phone(paged.port).send('GET', path, headers={'Authorization': '', 'Cookie': session})


def wrong_filters(settings):
    """A view whose filter was wrong was 404, and its form was gone with all that had been typed."""
    with Paged(settings) as paged:
        paged.start()
        session = sign_in(paged, TOKENS['vic'][1]).headers['set-cookie'].split(';')[0]
        for path, query, why in (
                ('/keys', 'since=2x', '--since is 2x'), ('/keys', 'until=noon', '--until is noon'), ('/keys', 'reference=ch_1', 'NAME=ID'),
                ('/keys', 'limit=0', 'limit is 1 to 500'), ('/keys', 'below=x', 'not a whole number'),
                ('/jobs', 'key_id=x', 'not a whole number'), ('/dead', 'sample=x', 'not a whole number'),
                ('/dead', 'failures_min=99999', 'at most 10000')):
            check_equal(paged.api(f'{path}?{query}').status, 400, f'the API: {path}?{query}')
            page = page_of(paged, session, f'{path}?{query}&error=typed+text')
            check_equal(page.status, 400, f'{path}?{query}')
            for text in (why, 'role="search"', 'value="typed text"', 'role="alert"'):
                check(text in page.body.decode(), f'{path}?{query}: no {text} in {page.body}')
        check('value="2x"' in page_of(paged, session, '/keys?since=2x').body.decode(), 'the wrong filter itself')
        check_equal(paged.api('/keys?below=4711').status, 409, 'a page after a key that is gone')
        check_equal(paged.api('/keys/4711').status, 404, 'no key')


def a_damaged_time_line(settings):
    """One damaged row of a time line made the key and its entry 404."""
    with Paged(settings) as paged:
        paged.start()
        key = paged.doubt()
        (first,) = paged.world.rows("SELECT id FROM pawl_idempotency_keys WHERE idempotency_key = 'first'")[0]
        where = ('--database', paged.world.url)
        whole = json.loads(paged.world.rides_command('keys', 'timeline', str(first), '--json', *where).stdout)
        paged.world.change("UPDATE pawl_key_events SET events = '{' WHERE key_id IN (?, ?) AND attempt = 1", key, first)
        session = sign_in(paged, TOKENS['oli'][1]).headers['set-cookie'].split(';')[0]
        check(len(whole) > 1, f'events: {whole}')
        for path in (f'/keys/{first}', f'/keys/{key}', f'/attention/{key}'):
            shown = paged.api(path)
            check_equal(shown.status, 200, f'the API: {path}: {shown}')
            check('do not decode' in shown.body.decode(), f'{shown}')
            check_equal(page_of(paged, session, path).status, 200, path)
        check('damaged (PAWL0022)' in page_of(paged, session, f'/keys/{first}').body.decode(), 'the page')
        said = paged.world.rides_command('keys', 'timeline', str(first), *where).stdout
        check('PAWL0022: attempt 1 is damaged: its events do not decode' in said, said)


def cases(settings):
    found = {'page and API share a limit of wrong tokens that right ones pass': wrong_tokens,
             "an operator's replaced token ends its sessions": a_replaced_token,
             'dead letters of any bytes are listed': dead_letters_of_any_bytes}
    if World.database == 'postgres':   # Where a lock of a table makes a query slow.
        found['slow queries of one operator leave the page to others'] = slow_queries
    return [(f'right: {name}', lambda run=run: run(settings)) for name, run in found.items()] + [
        ('form: a page with a wrong filter keeps its form', lambda: wrong_filters(settings)),
        ('form: a damaged time line hides neither its key nor the rest', lambda: a_damaged_time_line(settings))]
