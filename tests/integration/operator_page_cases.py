"""The page for operators and its API: who may see and do what, and each kind of trouble settled by a person in a real browser."""
import contextlib
import json
import os
import re
import time
import urllib.parse

import node
from browser import Browser
from hold_cases import in_an_hour, without_provider
from kill_cases import QUICK
from never_cases import ONCE
from night_cases import without
from operator_cases import Operated
from phone import Phone
from world import World, check, check_equal, wait_until

TOKENS = {'ann': ('admin', 'token-of-ann-0123456789'), 'oli': ('operator', 'token-of-oli-0123456789'),
          'vic': ('viewer', 'token-of-vic-0123456789')}
VIEWS = ['/', '/keys', '/keys/1', '/attention', '/stuck', '/queues', '/jobs', '/dead', '/providers', '/flow', '/schedules', '/servers',
         '/audit']
DOUBT = [*ONCE, '--rider', 'test_doubt 500@example.com', '--settle-after-s', '30']
FORM = {'Content-Type': 'application/x-www-form-urlencoded'}
SENT_BY_BROWSER = FORM | {'Authorization': ''}   # No token.


class Paged(Operated):
    """A world whose server has the page."""

    def __init__(self, settings, *options, base=DOUBT, **world):
        super().__init__(settings, *options, base=base, **world)
        self.file = os.path.join(self.world.folder, 'operators')
        self.write(TOKENS)
        self.browsers = contextlib.ExitStack()
        self.stack.callback(self.browsers.close)

    def write(self, tokens):
        with open(self.file, 'w', encoding='utf-8', opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.writelines(f'{name} {role} {token}\n' for name, (role, token) in tokens.items())

    def start(self, *more):
        super().start('--operators', self.file, *more)
        check_equal(self.world.phone().booked('first').status, 201, 'a ride')

    def api(self, path, name='vic', body=None, headers=None, token=None):
        return Phone(self.port, token=token or TOKENS[name][1]).send(
            'GET' if body is None else 'POST', '/api' + path, None if body is None else urllib.parse.urlencode(body),
            FORM | (headers or {}))

    def doubt(self, key='doubt'):
        """A request that only a person can settle; its id."""
        self.world.phone('test_doubt').book(key)
        wait_until('the attention list', lambda: self.world.count('pawl_attention'))
        return self.world.rows('SELECT key_id FROM pawl_attention')[0][0]

    def browser(self, **how):
        return self.browsers.enter_context(Browser(f'http://127.0.0.1:{self.port}', **how))

    def signed_in(self, name, **how):
        tab = self.browser(**how).tab('/')
        tab.shows('Sign in')
        tab.fill(token=TOKENS[name][1])
        tab.click('main button')
        tab.shows('Overview')
        return tab

    def audit(self):
        return [(actor, action) for actor, action in self.world.rows('SELECT actor, action FROM pawl_audit_log ORDER BY id')]


def roles(settings):
    with Paged(settings) as paged:
        paged.start()
        key = paged.doubt()
        check_equal(Phone(paged.port).send('GET', '/api/', headers={'Authorization': ''}).status, 401, 'without a token')
        check_equal(paged.api('/', token='token-of-nobody-000000').status, 401, 'with an unknown token')
        for view in [*VIEWS, f'/attention/{key}']:
            check_equal(paged.api(view).status, 200, f'{view} for a viewer')
        check_equal(paged.api('/keys/987654').status, 404, 'an unknown key')
        check_equal(paged.api('/keys?limit=501').status, 400, 'a list that is too long')
        settle = {'as': 'give-up', 'note': 'test', 'confirmed': 'yes'}
        purge = {'reason': 'test', 'confirmed': 'yes'}
        for path, body in [(f'/keys/{key}/retry', {}), (f'/keys/{key}/hold', {'reason': 'test'}), (f'/keys/{key}/reveal', {}),
                           (f'/attention/{key}/settle', settle), ('/queues/default/pause', {'reason': 'test'}),
                           ('/dead/merge', purge), ('/dead/purge', purge)]:
            check_equal(paged.api(path, 'vic', body).status, 403, f'{path} for a viewer')
        check_equal(paged.api('/dead/purge', 'oli', purge).status, 403, 'a purge for an operator')
        check_equal(paged.api('/dead/purge', 'ann', purge).status, 200, 'a purge for an admin')
        check_equal(paged.api(f'/attention/{key}/settle', 'oli', settle | {'force': 'yes'}).status, 403, 'a forced decision')
        check_equal(paged.api(f'/attention/{key}/settle', 'oli', settle | {'note': ''}).status, 400, 'a decision without a note')
        check_equal(paged.audit(), [], 'what was done')
        check_equal(paged.api('/queues/default/pause', 'oli', {'reason': 'test'}).status, 200, 'a pause')
        check_equal(paged.api('/queues/default/resume', 'oli', {}).status, 200, 'its end')
        check_equal([actor for actor, _ in paged.audit()], ['oli', 'oli'], 'who did it')
        # Those of jobs and dead letters: revealed_jobs().
        for path, body, detail in ((f'/keys/{key}/reveal', {}, 'key'), (f'/attention/{key}/reveal', {}, 'attention'),
                                   (f'/attention/{key}/settle', settle | {'confirmed': ''}, 'plan of settle give-up')):
            check_equal(paged.api(path, 'oli', body).status, 200, path)
            row = paged.world.rows('SELECT actor, action, key_id, detail FROM pawl_audit_log ORDER BY id DESC LIMIT 1')[0]
            check_equal(tuple(row), ('oli', 'reveal', key, detail), f'the audit of {path}')
        charge = paged.world.rows("SELECT stripe_charge_id FROM rides WHERE state = 'booked'")[0][0]
        for query in (f'text={charge}', f'reference=charge%3D{charge}', 'text=first', 'state=finished&since=1h'):
            (found,) = paged.api(f'/keys?{query}').json
            check_equal(found['key'], 'first', query)
        check_equal([row['id'] for row in paged.api('/keys?state=attention').json], [key], 'those that wait for a person')
        check_equal(paged.api('/keys?reference=nonsense').status, 400, 'a reference without a name')


def other_sites(settings):
    """A form of another site, or of another session, changes nothing; and a name that is removed is out at once."""
    with Paged(settings) as paged:
        paged.start()
        sign_in = Phone(paged.port).send('POST', '/sign-in', urllib.parse.urlencode({'token': TOKENS['oli'][1]}), SENT_BY_BROWSER)
        check_equal(sign_in.status, 303, 'signed in')
        cookie = sign_in.headers['set-cookie']
        check('HttpOnly' in cookie and 'SameSite=Strict' in cookie, cookie)
        mine = {'Cookie': cookie.split(';')[0], 'Authorization': ''}
        page = Phone(paged.port).send('GET', '/queues', headers=mine)
        token = re.search(rb'name="form_token" value="(\w+)"', page.body)[1].decode()
        for header in ('content-security-policy', 'x-content-type-options', 'referrer-policy', 'cache-control'):
            check(header in page.headers, f'{header}: {page.headers}')
        check("default-src 'none'" in page.headers['content-security-policy'], page.headers['content-security-policy'])

        def pause(headers, form_token=token):
            return Phone(paged.port).send(
                'POST', '/queues/default/pause', urllib.parse.urlencode({'form_token': form_token, 'reason': 'test'}),
                mine | FORM | headers).status
        check_equal(pause({}, form_token='0' * 64), 403, "another session's form")
        check_equal(pause({}, form_token=''), 403, 'a form without a token')
        check_equal(pause({'Origin': 'https://evil.example'}), 403, "another site's form")
        check_equal(pause({'Sec-Fetch-Site': 'cross-site'}), 403, "another site's form, as the browser says")
        check_equal(pause({'Cookie': 'pawl_operator=' + '0' * 64}), 401, 'an unknown session')
        check_equal(paged.audit(), [], 'what was done')
        check_equal(pause({'Origin': f'http://127.0.0.1:{paged.port}', 'Sec-Fetch-Site': 'same-origin'}), 303, 'our own form')
        paged.write({name: TOKENS[name] for name in ('ann', 'vic')})
        check_equal(Phone(paged.port).send('GET', '/queues', headers=mine).status, 401, 'the session of a name that is removed')
        check_equal(paged.api('/', 'oli').status, 401, 'its token')
        with open(paged.file, 'a', encoding='utf-8') as file:
            file.write('nonsense\n')
        check_equal(paged.api('/', 'ann').status, 401, 'while the file has an error')
        check(paged.events('operators_file_invalid'), 'it is logged')
        tries = [Phone(paged.port).send('POST', '/sign-in', 'token=x', SENT_BY_BROWSER).status for _ in range(12)]
        check_equal((tries[0], tries[-1]), (401, 429), f'many tries: {tries}')


def wrong_options(settings):
    with Paged(settings) as paged:
        os.chmod(paged.file, 0o644)
        serve = ['serve', '--database', paged.world.url, '--listen', '127.0.0.1:0']
        done = paged.world.rides_command(*serve, '--operate', '127.0.0.1:0', '--operators', paged.file, check_status=2)
        check('chmod 600' in done.stderr, done.stderr)
        done = paged.world.rides_command(*serve, '--operators', paged.file, check_status=2)
        check('--operate' in done.stderr, done.stderr)
        operated = [*serve, '--operate', '127.0.0.1:0', '--operators', paged.file]
        os.chmod(paged.file, 0o600)
        for more in (['--operator-header', 'X-User'], ['--operator-proxies', 'proxy.example'], ['--operator-proxies', '::/0']):
            done = paged.world.rides_command(*operated, *more, check_status=2)
            check('proxies' in done.stderr or 'trusted proxy' in done.stderr, done.stderr)


def proxied(settings):
    """A proxy that has authenticated a person names them in a header; from elsewhere the header is nothing."""
    with Paged(settings) as paged:
        paged.start('--operator-header', 'X-Forwarded-User', '--operator-proxies', '127.0.0.1')

        def get(headers):
            return Phone(paged.port).send('GET', '/queues', headers={'Authorization': ''} | headers)
        answer = get({'X-Forwarded-User': 'oli'})
        check_equal((answer.status, b'oli, operator' in answer.body), (200, True), 'a person whom the proxy names')
        session = {'Cookie': answer.headers['set-cookie'].split(';')[0]}
        check_equal(get(session | {'X-Forwarded-User': 'oli'}).status, 200, 'their session')
        check_equal(get(session).status, 401, 'their session without the header')
        check(b'vic, viewer' in get(session | {'X-Forwarded-User': 'vic'}).body, "another person's session")
        check_equal(get({'X-Forwarded-User': 'joe'}).status, 401, 'a name that is not in the file')
        secure = get({'X-Forwarded-User': 'oli', 'X-Forwarded-Proto': 'https'}).headers['set-cookie']
        check('Secure' in secure, secure)
        # A form of another site is sent with the proxy's header, but can't have this one.
        named = {'Authorization': '', 'X-Forwarded-User': 'oli'}
        for path, body in (('/api/queues', None), ('/api/queues/default/pause', {'reason': 'test'})):
            method = 'POST' if body else 'GET'
            check_equal(Phone(paged.port).send(method, path, body, named).status, 401, f'{path} without X-Requested-With')
        check_equal(paged.audit(), [], 'what was done')
        asked = Phone(paged.port).send('GET', '/api/queues', headers=named | {'X-Requested-With': 'test'})
        check_equal(asked.status, 200, 'with it')
    with Paged(settings) as paged:
        paged.start('--operator-header', 'X-Forwarded-User', '--operator-proxies', '192.0.2.1')
        check_equal(Phone(paged.port).send('GET', '/queues', headers={'Authorization': '', 'X-Forwarded-User': 'ann'}).status, 401,
                    'the header from another address')


def settled(settings, javascript):
    """From the alarm on the overview to the decision, which is taken back once."""
    with Paged(settings) as paged:
        paged.start()
        key = paged.doubt()
        # On a busy machine the time in which the call may still be carried out could end before the page is asked.
        paged.world.change('UPDATE pawl_idempotency_keys SET called_at = ? WHERE id = ?', in_an_hour(), key)
        tab = paged.signed_in('oli', javascript=javascript)
        check_equal(tab.text('a.tile.bad').split(), ['1', 'attention'], 'the alarm')
        tab.click('a.tile.bad')
        tab.shows('Attention')
        tab.click(f'a[href="/attention/{key}"]')
        tab.shows('Needs a decision')
        act = f'form[action="/attention/{key}/settle"]'
        tab.choose(f'{act} select[name="as"]', 'did-not-happen')
        tab.fill(note='asked Stripe')
        tab.click(f'{act} button')
        tab.shows('Check it')
        check('may still be carried out until' in tab.text() and tab.count('button.danger') == 0, tab.text())
        for decision in ('first', 'second'):
            tab.go(f'/attention/{key}')
            tab.choose(f'{act} select[name="as"]', 'give-up')
            tab.fill(note='asked Stripe')
            tab.click(f'{act} button')
            tab.shows('Check it')
            check('Nothing is recorded yet' in tab.text(), tab.text())
            check_equal(paged.world.rows('SELECT settlement FROM pawl_attention')[0][0], None, 'a decision before it is confirmed')
            tab.click('button.danger')
            tab.shows('Needs a decision')
            check('you can take it back' in tab.text('.message'), tab.text())
            if decision == 'first':
                tab.click('text=Undo the decision')
                wait_until('the undo', lambda: 'is undone' in tab.text())
        paged.world.change('UPDATE pawl_attention SET settled_at = ?', '2020-01-01T00:00:00.000Z')   # Its 30 s are over.
        wait_until('the decision to be carried out', lambda: paged.world.count('pawl_attention') == 0)
        tab.go(f'/keys/{key}')
        check('oli' in tab.text('.table') and 'settled' in tab.text('.table'), tab.text('.table'))
        tab.go('/audit')
        words = tab.text('table')
        for action in ('settle give-up', 'undo settle', 'reveal'):
            check(action in words, f'{action}: {words}')


def revealed(settings):
    """What a customer sent and got is shown to those who ask for it, and that is written down."""
    with Paged(settings) as paged:
        paged.start()
        secret = '123456789'
        check_equal(paged.world.phone().booked('k', origin_lat=float('47.' + secret)).status, 201, 'a ride')
        key = paged.world.rows("SELECT id FROM pawl_idempotency_keys WHERE idempotency_key = 'k'")[0][0]
        tab = paged.signed_in('oli')
        tab.go(f'/keys/{key}')
        check(secret not in tab.text() and 'redacted' in tab.text(), tab.text())
        check(secret not in paged.api(f'/keys/{key}').body.decode(), 'the API')
        tab.click('text=Reveal what is redacted')
        tab.shows('Revealed')
        check(secret in tab.text(), tab.text())
        check_equal(paged.audit(), [('oli', 'reveal')], 'the audit')


def live(settings):
    """The page renews itself, but not under the hands of somebody who fills in a form."""
    with Paged(settings) as paged:
        paged.start()
        tab = paged.signed_in('oli')
        check_equal(tab.count('a.tile.bad'), 0, 'alarms')
        other = paged.signed_in('oli')
        other.go('/keys')
        other.fill(account='jane')
        key = paged.doubt()
        wait_until('the alarm', lambda: tab.count('a.tile.bad') == 1)
        time.sleep(6)
        check_equal(other.run('document.querySelector("[name=account]").value'), 'jane', 'what somebody has typed')
        other.go('/attention')
        check_equal(other.count(f'a[href="/attention/{key}"]'), 1, 'it is there')
        paged.world.kill_server()
        wait_until('the page to say that it is old', lambda: tab.count('main.old') == 1)
        check_equal([line for line in tab.console if 'Content Security' in line], [], 'blocked by the policy')


def accessible(settings):
    """No finding of axe on any page, in both colour schemes; narrow screens do not scroll sideways."""
    with Paged(settings) as paged:
        paged.start()
        key = paged.doubt()
        pages = [*VIEWS, f'/attention/{key}', '/nothing']
        for how in ({'scheme': 'light'}, {'scheme': 'dark', 'width': 360}):
            tab = paged.browser(**how).tab('/')
            check_equal(tab.axe(), [], f'axe: sign in, {how}')
            tab.fill(token=TOKENS['ann'][1])
            tab.click('main button')
            tab.shows('Overview')
            for page in pages:
                tab.go(page)
                check_equal(tab.axe(), [], f'axe: {page}, {how}')
                wide = tab.run('document.documentElement.scrollWidth - document.documentElement.clientWidth')
                check_equal(wide, 0, f'{page}, {how}: pixels beyond the screen')


def by_keyboard(settings):
    with Paged(settings) as paged:
        paged.start()
        tab = paged.browser().tab('/')
        tab.shows('Sign in')

        def focused():
            return tab.run('(document.activeElement.name || document.activeElement.textContent).trim()')

        def tab_to(what, most=40):
            for _ in range(most):
                tab.press('Tab')
                if focused() == what:
                    return
            check(False, f'{what} can not be reached with the Tab key')
        tab.press('Tab')
        check_equal(focused(), 'To the content', 'the first stop')
        tab_to('token')
        for letter in TOKENS['oli'][1]:
            tab.press(letter)
        tab.press('Enter')
        tab.shows('Overview')
        tab_to('Queues')
        tab.press('Enter')
        tab.shows('Queues')
        tab_to('Sign out')
        tab.press('Enter')
        tab.shows('Sign in')


def dead_letters(settings):
    with Paged(settings, base=[*without(QUICK, '--retry-after-ms'), '--retry-after-ms', '100']) as paged:
        paged.start()
        for n in range(3):
            check_equal(paged.world.phone('test_refused').booked(f'k-{n}').status, 201, 'a ride')
        wait_until('dead letters', lambda: paged.world.count('pawl_dead_jobs') == 3)
        tab = paged.signed_in('ann')
        tab.go('/dead')
        check_equal(tab.count('[aria-label="Dead letters by error"] tbody tr'), 1, 'groups')
        tab.click('[aria-label="Dead letters"] tbody a')
        wait_until('the dead letter', lambda: 'redacted' in tab.text())
        tab.click('text=Reveal what is redacted')
        tab.shows('Revealed')
        check('redacted' not in tab.text(), tab.text())
        tab.click('text=Back')
        wait_until('the dead letter again', lambda: 'redacted' in tab.text())
        tab.go('/dead')
        tab.click('[aria-label="Dead letters by error"] tbody a')
        wait_until('the group', lambda: 'kind=send_receipt' in tab.url)
        for verb, button, left in (('merge', 'put back', 3), ('purge', 'removed', 0)):
            tab.go('/dead?kind=send_receipt')
            act = f'form[action="/dead/{verb}"]'
            tab.run(f"document.querySelector('{act} [name=reason]').value = 'a test'")
            tab.click(f'{act} button')
            tab.shows('Check it')
            check_equal(paged.world.count('pawl_dead_jobs'), 3, 'dead letters before it is confirmed')
            tab.click('button.danger')
            wait_until('the message', lambda button=button: f'3 {button}' in tab.text())
            wait_until('the dead letters', lambda left=left: paged.world.count('pawl_dead_jobs') == left)
        check_equal(set(paged.audit()), {('ann', 'reveal'), ('ann', 'merge'), ('ann', 'purge')}, 'the audit')


def make_stuck(paged, stuck, stranded):
    """Each is a key: of one the completer has failed often, the other stands at a point of a later release."""
    later = in_an_hour()
    set_next = "UPDATE pawl_idempotency_keys SET completer_next_at = ?, {} WHERE idempotency_key = ? AND status = 'open'"
    paged.world.change(set_next.format('completer_runs = 5'), later, stuck)
    paged.world.change(set_next.format("completer_runs = 0, recovery_point = 'fare_agreed'"), later, stranded)


def listed(paged, program):
    said = paged.world.rides_command('keys', 'list', '--stuck', '--json', '--database', paged.world.url, program=program).stdout
    return json.loads(said)


def stuck_and_stranded(settings):
    with Paged(settings, base=QUICK) as paged:
        paged.start()
        check_equal(paged.api('/stuck').json, [], 'on a good day')
        without_provider(paged.world, 'stuck', 'stranded', 'waits')
        make_stuck(paged, 'stuck', 'stranded')
        ids = dict(paged.world.rows('SELECT idempotency_key, id FROM pawl_idempotency_keys'))
        rows = [row for row in paged.api('/stuck').json if row['id'] != ids['waits']]   # The completer may have tried that one often.
        check_equal([(row['id'], row['why'], row['recovery_point']) for row in rows],
                    [(ids['stuck'], 'stuck', 'ride_created'), (ids['stranded'], 'stranded', 'fare_agreed')], 'the list')
        check_equal((rows[0]['completer_runs'] >= 5, rows[0]['operation']), (True, 'book_ride'), 'its runs')
        check(rows[0]['error'] and rows[0]['completer_next_at'], f'its error and its next run: {rows[0]}')
        check_equal([row for row in listed(paged, 'rides') if row['id'] != ids['waits']], rows, 'what the command lists')
        known = [row['why'] for row in listed(paged, 'pawl') if row['id'] != ids['waits']]
        check_equal(known, ['stuck'], 'of a program without operations')
        wrong = paged.world.pawl_command('keys', 'list', '--stuck', '--status', 'open', check_status=2).stderr
        check('--stuck' in wrong and '--status' in wrong, f'it has no filter: {wrong}')
        counts = paged.api('/').json['now']
        check_equal((counts['stuck'] >= 1, counts['stranded']), (True, 1), 'the overview')
        check_equal([row['id'] for row in paged.api('/stuck?limit=1').json], [ids['stuck']], 'the oldest one')
        for name in ('stuck', 'stranded'):
            check_equal(paged.api(f'/keys/{ids[name]}/hold', 'oli', {'reason': 'test'}).status, 200, 'a hold')
        check_equal([row['why'] for row in paged.api('/stuck').json if row['id'] in (ids['stuck'], ids['stranded'])], ['stranded'],
                    'a key that is held is not stuck')


def provider_errors(settings):
    """Errors of one cause are one group, under their provider, whether the call may be repeated or not."""
    for base in (QUICK, ONCE):
        with Paged(settings, base=base) as paged:
            paged.start()
            without_provider(paged.world, 'a', 'b', 'c')

            def all_with_an_error():
                """Their groups. A request that the completer has just tried again has no error for a moment."""
                found = paged.api('/providers').json['errors']
                return found if sum(group['count'] for group in found) == 3 else None
            groups = wait_until('three requests with an error', all_with_an_error)
            check(all(group['provider'].startswith('stripe ') for group in groups), f'{groups}')
            check_equal(len({group['error_kind'] for group in groups}), len(groups), f'groups: {groups}')
            keys = [row[0] for row in paged.world.rows("SELECT id FROM pawl_idempotency_keys WHERE status = 'open'")]
            check(all(group['key_id'] in keys for group in groups), f'{groups} of {keys}')
            (waits,) = paged.api('/providers').json['providers']
            check_equal((waits['provider'].startswith('stripe '), waits['waiting']), (True, 3), f'what waits for it: {waits}')
            paged.world.change("UPDATE pawl_key_events SET events = '{' WHERE key_id = ?", keys[0])
            wait_until('the same beside a damaged time line', all_with_an_error)
            paged.world.start_provider()
            wait_until('the rides', lambda world=paged.world: all(world.phone().book(key).status == 201 for key in 'abc'))
            check_equal(paged.api('/providers').json['errors'], [], 'after the outage')


def revealed_jobs(settings):
    """The arguments of a job and of a dead letter are shown to those who ask for it, and that is written down."""
    with Paged(settings, base=[*without(QUICK, '--retry-after-ms'), '--retry-after-ms', '60000']) as paged:
        paged.start()
        check_equal(paged.world.phone('test_later').booked('k').status, 201, 'a ride')
        key = paged.world.rows("SELECT id FROM pawl_idempotency_keys WHERE idempotency_key = 'k'")[0][0]

        def reveal(path, what):
            check('redacted' in paged.api(path).json['args'], paged.api(path).body)
            check_equal(paged.api(f'{path}/reveal', 'vic', {}).status, 403, 'a reveal for a viewer')
            args = paged.api(f'{path}/reveal', 'oli', {}).json['args']
            check(isinstance(args, dict), f'the arguments: {args}')
            row = paged.world.rows('SELECT actor, action, key_id, detail FROM pawl_audit_log ORDER BY id DESC LIMIT 1')[0]
            check_equal(tuple(row), ('oli', 'reveal', key, f"{what} {path.rsplit('/', 1)[1]}"), 'the audit')
        failed = f'/jobs?kind=send_receipt&state=retrying&key_id={key}'
        wait_until('the job to fail', lambda: paged.api(failed).json)
        (job,) = paged.api(failed).json
        reveal(f"/jobs/{job['id']}", 'job')
        before = paged.audit()
        check_equal(paged.api('/jobs/987654/reveal', 'oli', {}).status, 409, 'an unknown job')
        check_equal(paged.audit(), before, 'its audit')
        check_equal(paged.api(f"/jobs/{job['id']}/cancel", 'oli', {'reason': 'test'}).status, 200, 'its end')
        (letter,) = paged.api('/dead?kind=send_receipt').json['letters']
        reveal(f"/dead/{letter['id']}", 'dead letter')


def write_samples(paged, minutes):
    """As a server writes them, of a morning with more and more requests."""
    now = time.time()
    for minute in range(minutes):
        at = time.strftime('%Y-%m-%dT%H:%M:00.000Z', time.gmtime(now - 60 * minute))
        count = 100 + (minutes - minute) % 37 + (minutes - minute) // 4
        sample = {'requests': count, 'failed': count % 5, 'p95_ms': [25, 50, 100][count % 3], 'open': count % 9, 'oldest_s': count % 4,
                  'attention': int(minute < 20), 'jobs': count % 11, 'dead': 0}
        paged.world.change('INSERT INTO pawl_samples (at, server, sample) VALUES (?, 77, ?)', at, json.dumps(sample))


def history(settings):
    """The plots are drawn of rows, so a restart does not end them."""
    with Paged(settings) as paged:
        paged.start()
        write_samples(paged, 30)
        paged.world.kill_server()
        paged.start()
        rows = paged.api('/?hours=1').json['history']
        check_equal((len(rows), max(row['requests'] for row in rows)), (30, 137), 'minutes')
        check_equal(paged.api('/?hours=0').status, 400, 'no hours')
        sign_in = Phone(paged.port).send('POST', '/sign-in', urllib.parse.urlencode({'token': TOKENS['vic'][1]}), SENT_BY_BROWSER)
        page = Phone(paged.port).send('GET', '/', headers={'Cookie': sign_in.headers['set-cookie'].split(';')[0], 'Authorization': ''})
        check(b'Requests a minute: now' in page.body and b'at most 137' in page.body, page.body)


def pictures(settings):
    """Of docs/howto/page.md: PAWL_PICTURES=docs/howto/page tests/integration/run --full --only 'operator page: pictures'"""
    with Paged(settings) as paged:
        paged.start()
        write_samples(paged, 700)
        key = paged.doubt()
        folder = os.environ['PAWL_PICTURES']
        tab = paged.signed_in('ann', width=1100)
        tab.picture(os.path.join(folder, 'overview.png'))
        tab.go(f'/attention/{key}')
        tab.picture(os.path.join(folder, 'attention.png'))
        without_provider(paged.world, 'stuck', 'stranded', *(f'k-{n}' for n in range(10)))
        make_stuck(paged, 'stuck', 'stranded')
        for page in ('stuck', 'providers'):
            tab.go(f'/{page}')
            tab.picture(os.path.join(folder, f'{page}.png'))


def cases(settings):
    found = {'roles': roles, "forms of other sites": other_sites, 'wrong options': wrong_options, 'behind a proxy': proxied,
             'plots after a restart': history, 'stuck and stranded': stuck_and_stranded, 'errors of providers': provider_errors,
             'reveal of jobs': revealed_jobs}
    browsing = {'a doubt is settled': lambda s: settled(s, True), 'a doubt is settled, without JavaScript': lambda s: settled(s, False),
                'what is redacted': revealed, 'live': live, 'axe, dark and narrow': accessible, 'by keyboard': by_keyboard,
                'dead letters are purged': dead_letters}
    if 'PAWL_PICTURES' in os.environ:
        browsing['pictures'] = pictures
    if World.database == 'sqlite' and settings.everything:   # The pages do not depend on the database.
        check(node.programs_missing(browser=True) is None, f'{node.programs_missing(browser=True)}')
        found |= browsing
    return [(f'operator page: {name}', lambda run=run: run(settings)) for name, run in found.items()]
