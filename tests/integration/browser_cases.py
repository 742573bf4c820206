"""Riders with a real browser (Chromium): whatever they click, and whatever fails meanwhile, one ride is booked and paid for.

Checked by the stand-in's ledger and the database, and by the pages that riders see. Needs tools/install full.
"""
import contextlib
import functools
import http.server
import re
import signal
import socket
import threading

import node
from browser import Browser
from kill_cases import QUICK
from murphy_cases import faults
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # The pages do not depend on the database.
ODD = '<img/src=x>&quot;@example.com'
# Other addresses follow from the token's name.
EMAILS = {'test_poor': 'declined@example.com', 'test_doubt': '500@example.com', 'test_odd': ODD}
ROUTE = {'origin_lat': '47.61', 'origin_lon': '-122.33', 'target_lat': '47.66', 'target_lon': '-122.35'}
BOOK = 'form[action="/rides"] button'
DONE, AT_WORK = 'Your rocket is on its way', 'Your ride is being booked'


class Riding:
    """A world with its server, and a browser that is signed in."""

    def __init__(self, settings, *options, slow_ms=0, rider='test_jane', javascript=True, port=None):
        provider = ['--delay-ms', str(slow_ms)] if slow_ms else []
        self.stack = contextlib.ExitStack()
        self.world = self.stack.enter_context(World(settings.bin, [*QUICK, *options], provider_options=provider, judged=False))
        self.rider, self.javascript, self.port = rider, javascript, port

    def __enter__(self):
        try:
            self.world.start_server('--access-log', f'{self.world.folder}/access')
            self.browser = self.new_browser(self.javascript)
            self.tab = self.signed_in(self.browser)
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *what):
        return self.stack.__exit__(*what)

    def site(self, port=None):
        return f'http://127.0.0.1:{port or self.world.port}'

    def new_browser(self, javascript=True, port=None):
        return self.stack.enter_context(Browser(self.site(port), javascript))

    def signed_in(self, browser, rider=None):
        tab = browser.tab('/')
        rider = rider or self.rider
        tab.fill(email=EMAILS.get(rider, rider.removeprefix('test_') + '@example.com'), token=rider)
        tab.click('button.main')
        tab.shows('Book a rocket')
        return tab

    def sign_in_anew(self):
        """Signs in; pages that are open still belong to the previous session."""
        tab = self.browser.tab('/rides')
        tab.click('text=Sign out')
        tab.shows('Fly with Rocket Rides')
        self.signed_in(self.browser)

    def form(self, tab=None, **changes):
        """Opens a new form and fills it in; returns its address."""
        tab = tab or self.tab
        tab.go('/book')
        tab.fill(**ROUTE | changes)
        return tab.url

    def sent(self):
        """How many bookings the server received."""
        with open(f'{self.world.folder}/access', encoding='utf-8') as file:
            return len(re.findall('"method":"POST","route":"/rides"', file.read()))

    @contextlib.contextmanager
    def provider_held(self):
        """Meanwhile the provider neither answers nor books charges."""
        self.world.provider.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.world.provider.send_signal(signal.SIGCONT)

    def one_ride(self, state='booked'):
        check_equal(self.world.rows('SELECT state FROM rides'), [(state,)], 'rides')
        check_equal(len(self.world.ledger()), int(state == 'booked'), 'charges')
        check_equal(self.world.count('pawl_idempotency_keys'), 1, 'keys')


def double_click(settings, javascript=True):
    with Riding(settings, slow_ms=1500, javascript=javascript) as riding:
        riding.form()
        riding.tab.click(BOOK, times=2)
        check(riding.tab.shows(DONE).endswith('/rides/1'), f'the page at the end: {riding.tab.url}')
        wait_until('the access log', lambda: riding.sent() == 2)   # Both were sent.
        riding.one_ride()


def reload_of_the_answer(settings):
    with Riding(settings) as riding:
        riding.form()
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        for _ in range(3):
            riding.tab.reload()
            riding.tab.shows(DONE)
        wait_until('the access log', lambda: riding.sent() == 1)
        riding.one_ride()


def back_and_send_again(settings):
    with Riding(settings) as riding:
        form = riding.form()
        riding.tab.click(BOOK)
        ride = riding.tab.shows(DONE)
        riding.tab.back()
        # The browser shows its old form, or asks the server, which redirects.
        if riding.tab.count(BOOK):
            riding.tab.click(BOOK)
        check_equal(riding.tab.shows(DONE), ride, 'the page at the end')
        riding.tab.go(form)
        check_equal(riding.tab.url, ride, 'the redirect of the address of the form')
        riding.one_ride()


def two_tabs(settings, javascript=True):
    """Two tabs submit one form at the same time: the second waits until the first is done."""
    with Riding(settings, javascript=javascript) as riding:
        other = riding.browser.tab(riding.form())
        other.fill(**ROUTE)
        with riding.provider_held():
            riding.tab.click(BOOK)
            wait_until('the first to be begun', lambda: riding.world.count('rides') == 1)
            other.click(BOOK)
            check(re.search('/bookings/[0-9a-f]{32}$', other.shows(AT_WORK)), 'an address that can be reloaded without submitting')
            # It may be between two pages at any moment.
            for selector, what in (('meta[http-equiv=refresh]', 'the refresh'), ('svg.route', 'the route meanwhile')):
                wait_until(what, lambda shown=selector: other.count(shown) == 1)
        for tab in (riding.tab, other):
            check(tab.shows(DONE).endswith('/rides/1'), f'the page at the end: {tab.url}')
        wait_until('the access log', lambda: riding.sent() == 2)
        riding.one_ride()


def another_route_in_the_second_tab(settings):
    with Riding(settings) as riding:
        other = riding.browser.tab(riding.form())
        other.fill(**ROUTE | {'target_lat': '12.5'})
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        other.click(BOOK)
        other.shows('This form was sent before, with another route')
        check_equal(posted(other)['status'], 422, 'the status')
        check_equal(other.count('form[action="/rides"]'), 0, 'no form to submit again')
        other.click('text=See what became of it')
        check(other.shows(DONE).endswith('/rides/1'), f'the page at the end: {other.url}')
        riding.one_ride()


def posted(tab):
    """The last answer to a form of the tab."""
    return [answer for answer in tab.answers if answer['method'] == 'POST'][-1]


class Cutter:
    """A proxy that cuts the connection at the answer to a booking, once it is armed."""

    def __init__(self, port, at=b'POST /rides'):
        self.target, self.at, self.armed, self.cuts = port, at, False, 0
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):   # Until it is closed.
            while True:
                client, _ = self.listening.accept()
                server = socket.create_connection(('127.0.0.1', self.target))
                posted = threading.Event()
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(*ends, posted), daemon=True).start()

    def _pass(self, source, target, up, posted):
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                if up and part.startswith(self.at):
                    posted.set()
                if not up and posted.is_set() and self.armed:
                    self.cuts += 1
                    break
                target.sendall(part)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self):
        self.listening.close()


def connection_lost(settings):
    """The answer is lost repeatedly: the rider reloads, or goes back."""
    with Riding(settings) as riding, contextlib.closing(Cutter(riding.world.port)) as line:
        tab = riding.signed_in(riding.new_browser(port=line.port))
        form = riding.form(tab)
        line.armed = True
        tab.click(BOOK)
        wait_until('the browser to give up', lambda: tab.url.startswith('chrome-error:'))
        check(line.cuts > 0 and riding.world.count('rides') == 1, f'the line was cut {line.cuts} times')
        line.armed = False
        tab.go(form)
        check(tab.shows(DONE).endswith('/rides/1'), f'the page at the end: {tab.url}')
        riding.one_ride()

        # The same with a reload after a lost answer, which submits the form again.
        again = riding.form(tab)
        line.armed = True
        tab.click(BOOK)
        wait_until('the browser to give up again', lambda: tab.url.startswith('chrome-error:'))
        line.armed = False
        with contextlib.suppress(Exception):
            tab.reload()   # The browser's own error page.
        if not tab.url.endswith('/rides/2'):
            tab.go(again)
        check(tab.shows(DONE).endswith('/rides/2'), f'the page at the end: {tab.url}')
        check_equal((riding.world.count('rides'), len(riding.world.ledger())), (2, 2), 'rides, charges')


def killed_in_the_call(settings):
    """The server dies while the card is charged, and starts again: the ride is finished, and paid for once."""
    with Riding(settings, slow_ms=10_000) as riding:
        form = riding.form()
        riding.tab.click(BOOK)
        wait_until('the charge', riding.world.ledger)
        riding.world.kill_server()
        faults(riding.world, delay_ms=0)
        riding.world.start_server('--access-log', f'{riding.world.folder}/access')
        riding.tab.go(form)
        check(riding.tab.heading in (AT_WORK, DONE), f'the heading: {riding.tab.heading}')
        check(riding.tab.shows(DONE).endswith('/rides/1'), f'the page at the end: {riding.tab.url}')
        riding.one_ride()


def declined(settings):
    with Riding(settings, rider='test_poor') as riding:
        form = riding.form()
        riding.tab.click(BOOK)
        check_equal(riding.tab.shows('Your card was declined'), form, 'the address')
        check('Nothing was charged' in riding.tab.text('main'), riding.tab.text('main'))
        riding.tab.reload()
        riding.tab.shows('Your card was declined')
        riding.one_ride('refused')
        check_equal(len(riding.world.ledger('decline')), 1, 'times that the card was tried')
        riding.tab.click('text=Book again')
        riding.tab.shows('Book a rocket')
        check(riding.tab.url != form, 'a new try has a new key')


def provider_down(settings):
    """The rider waits on one page, which shows the result when it is done; a second submission is the same booking."""
    with Riding(settings) as riding:
        faults(riding.world, down=True)
        form = riding.form()
        riding.tab.click(BOOK)
        check_equal(riding.tab.shows(AT_WORK), form, 'the address')
        check('nothing more to do' in riding.tab.text('main'), riding.tab.text('main'))
        faults(riding.world, down=False)
        check(riding.tab.shows(DONE).endswith('/rides/1'), f'the page at the end: {riding.tab.url}')
        riding.one_ride()


def needs_a_person(settings):
    """The page of a booking in doubt says so and offers no new booking; after the settlement it shows the result."""
    with Riding(settings, '--rider', 'test_doubt 500@example.com', rider='test_doubt') as riding:
        riding.form()
        riding.tab.click(BOOK)
        riding.tab.shows('A person is looking into your payment')
        check("Please don't book this ride again" in riding.tab.text('main'), riding.tab.text('main'))
        check_equal(riding.tab.attribute('meta[http-equiv=refresh]', 'content'), '30', 'the page refreshes by itself')
        check_equal(riding.tab.count('a[href="/book"], form[action="/rides"]'), 0, 'ways to book')
        key = str(riding.world.rows('SELECT key_id FROM pawl_attention')[0][0])
        riding.world.rides_command('keys', 'settle', key, '--as', 'give-up', '--note', 'asked the provider', '--database', riding.world.url)
        wait_until('it to be settled', lambda: riding.world.unsettled() == 0)
        riding.tab.reload()
        riding.tab.shows('The ride was not booked')
        riding.one_ride('given_up')


def too_many(settings):
    """429 before the form is read; the same form books later. A page that was only read reloads by itself."""
    with Riding(settings, '--tenant-in-flight', '1') as riding:
        other = riding.signed_in(riding.new_browser(), 'test_joe')
        riding.form(other)
        riding.form()
        with riding.provider_held():
            riding.tab.click(BOOK)
            wait_until('the first to be begun', lambda: riding.world.count('rides') == 1)
            other.click(BOOK)
            other.shows('Too many bookings come in just now')
        answer = posted(other)
        check_equal((answer['status'], answer['headers'].get('retry-after')), (429, '1'), 'the status, Retry-After')
        riding.tab.shows(DONE)
        other.reload()
        check(other.shows(DONE).endswith('/rides/2'), f'the page at the end: {other.url}')
        check_equal((riding.world.count('rides'), len(riding.world.ledger())), (2, 2), 'rides, charges: one of each rider')


def expired(settings):
    with Riding(settings) as riding:
        stale = riding.browser.tab(riding.form())
        stale.fill(**ROUTE)
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        riding.world.settle()
        riding.world.stop_server()
        riding.world.change("UPDATE pawl_idempotency_keys SET expires_at = '2020-01-01T00:00:00.000Z'")
        riding.world.start_server('--access-log', f'{riding.world.folder}/access')
        wait_until('the key to be reaped', lambda: riding.world.count('pawl_idempotency_keys') == 0)
        stale.click(BOOK)
        stale.shows('This form is too old')
        stale.click('text=See that ride')
        check(stale.shows(DONE).endswith('/rides/1'), f'the page at the end: {stale.url}')
        check_equal((riding.world.count('rides'), len(riding.world.ledger())), (1, 1), 'rides, charges')


def wrong_field(settings):
    with Riding(settings) as riding:
        form = riding.form(target_lat='91')
        riding.tab.run("document.querySelector('form[action=\"/rides\"]').noValidate = true")
        riding.tab.click(BOOK)
        wait_until('the notice', lambda: riding.tab.count('[role=alert]') == 1)
        check_equal(posted(riding.tab)['status'], 400, 'the status')
        check('To, Latitude: Must be from -90 to 90.' in riding.tab.text('[role=alert]'), riding.tab.text('[role=alert]'))
        check_equal(riding.tab.attribute('#target_lat', 'aria-invalid'), 'true', 'the field is marked')
        check_equal(riding.tab.run("document.getElementById('origin_lon').value"), '-122.33', 'valid input is kept')
        check_equal(riding.world.count('rides'), 0, 'rides')
        riding.tab.fill(target_lat='47.66')
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        riding.tab.go(form)
        check(riding.tab.url.endswith('/rides/1'), f'the corrected form used the key: {riding.tab.url}')
        riding.one_ride()


@contextlib.contextmanager
def foreign_page(content):
    """Another site's page, on a port of its own."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):   # noqa: N802, a name of the library's
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def other_sites(settings):
    """Another site knows the key, the route, even the token, and submits them with the rider's browser."""
    with Riding(settings) as riding:
        key = riding.form().rsplit('/', 1)[1]
        token = riding.tab.attribute('form[action="/rides"] [name=form_token]', 'value')
        form = lambda token: (f'<form id="f" method="post" action="{riding.site()}/rides">'
                              + ''.join(f'<input name="{name}" value="{value}">' for name, value in
                                        (ROUTE | {'idempotency_key': key, 'form_token': token}).items())
                              + '</form><script>document.getElementById("f").submit()</script>')
        # Another site gets no cookie of ours; another port of ours does, as browsers do not separate ports.
        for host, stolen, told in (('localhost', '', 'Fly with Rocket Rides'), ('localhost', token, 'Fly with Rocket Rides'),
                                   ('127.0.0.1', '', "This form can't be used any more"),
                                   ('127.0.0.1', token, "This form can't be used any more")):
            with foreign_page(form(stolen)) as port:
                tab = riding.browser.tab(f'http://{host}:{port}/')
                tab.shows(told)
                check_equal(tab.count('form[action="/rides"]'), 0, 'no form that one more click would submit')
            with foreign_page(f'''<script>fetch("{riding.site()}/rides", {{method: "POST", mode: "no-cors", credentials: "include",
                                  headers: {{"Content-Type": "application/x-www-form-urlencoded"}},
                                  body: "idempotency_key={key}&form_token={stolen}"}})
                                  .finally(() => document.body.innerHTML = "<h1>sent</h1>")</script><body></body>''') as port:
                riding.browser.tab(f'http://{host}:{port}/').shows('sent')
            with foreign_page(f'<iframe src="{riding.site()}/bookings/{key}"></iframe><h1>framed</h1>') as port:
                riding.browser.tab(f'http://{host}:{port}/').shows('framed')
        wait_until('the access log', lambda: riding.sent() >= 4)
        check_equal((riding.world.count('rides'), riding.world.count('pawl_idempotency_keys'), len(riding.world.ledger())), (0, 0, 0),
                    'rides, keys, charges')
        # Tries to sign the rider in as another rider.
        with foreign_page(f'<form id="f" method="post" action="{riding.site()}/sign-in"><input name="email" value="joe@example.com">'
                          '<input name="token" value="test_joe"></form>'
                          '<script>document.getElementById("f").submit()</script>') as port:
            riding.browser.tab(f'http://localhost:{port}/').shows('Fly with Rocket Rides')
        riding.tab.go('/rides')
        check('jane@example.com' in riding.tab.text('header'), riding.tab.text('header'))


SAFE_HEADERS = {'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'same-origin',
                'cache-control': 'no-store', 'cross-origin-opener-policy': 'same-origin'}


def safe_pages(settings):
    """Each page has its headers, a rider's text is never HTML, no script sees the cookie, and a session can be ended."""
    email = ODD
    with Riding(settings, '--rider', f'test_odd {email}', rider='test_odd') as riding:
        tab = riding.tab
        check_equal(tab.text('.rider'), email, 'the address, as text')
        check_equal(tab.count('.rider *'), 0, 'elements in it')
        for path, status in (('/book', 200), ('/rides', 200), ('/rides/7', 404), ('/nowhere', 404), ('/pages.css', 200)):
            check_equal(tab.go(path), status, f'the status of {path}')
            headers = [answer for answer in tab.answers if answer['url'].endswith(tab.url)][-1]['headers']
            found = {name: headers.get(name) for name in SAFE_HEADERS}
            check_equal(found, SAFE_HEADERS, f'the headers of {path}')
            policy = headers['content-security-policy']
            check("default-src 'none'" in policy and 'unsafe' not in policy and 'script-src' not in policy, f'the policy of {path}: {policy}')
        tab.go('/book')
        check_equal(tab.run('document.cookie'), '', 'the cookies that a script sees')
        cookie, = riding.browser.cookies()
        check_equal((cookie['httpOnly'], cookie['sameSite'], cookie['secure']), (True, 'Lax', False), 'the cookie, on loopback by HTTP')
        check_equal([said for said in tab.console if 'Content Security Policy' in said], [], 'violations of the policy by our own pages')
        tab.click('text=Sign out')
        tab.shows('Fly with Rocket Rides')
        check_equal(riding.browser.cookies(), [], 'cookies')
        check_equal(tab.go('/rides'), 401, 'without a session')
        tab.shows('Fly with Rocket Rides')
        tab.fill(email='jane@example.com', token='no such token')
        tab.click('button.main')
        wait_until('the notice', lambda: tab.count('[role=alert]') == 1)
        tab.fill(email='jane@example.com', token='test_jane')
        tab.click('button.main')
        tab.shows('Your rides')   # The page that the rider wanted.


def session_over_in_the_form(settings):
    """A form submitted after its session ended books no ride; after a sign-in the same form is there, with its key."""
    with Riding(settings) as riding:
        form = riding.form()
        other = riding.browser.tab('/rides')
        other.click('text=Sign out')
        other.shows('Fly with Rocket Rides')
        riding.tab.click(BOOK)
        riding.tab.shows('Fly with Rocket Rides')
        check('Your booking was not sent on.' in riding.tab.text('[role=alert]'), riding.tab.text('main'))
        check_equal(riding.world.count('rides'), 0, 'rides')
        riding.tab.fill(email='jane@example.com', token='test_jane')
        riding.tab.click('button.main')
        check_equal(riding.tab.shows('Book a rocket'), form, 'the page at the end')
        riding.tab.fill(**ROUTE)
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        riding.one_ride()


SAMPLE = {'a double click', 'without JavaScript, two tabs'}


def cases(settings):
    found = {
        'a double click': double_click, 'a double click without JavaScript': functools.partial(double_click, javascript=False),
        'two tabs': two_tabs, 'without JavaScript, two tabs': functools.partial(two_tabs, javascript=False),
        'reload of the answer': reload_of_the_answer, 'back, and sent again': back_and_send_again,
        'another route in the second tab': another_route_in_the_second_tab, 'the connection is lost': connection_lost,
        'the server is killed in the call': killed_in_the_call, 'a declined card': declined, 'the provider is down': provider_down,
        'a person must look': needs_a_person, 'too many at work': too_many, 'a form whose key has expired': expired,
        'a wrong field': wrong_field, 'pages of other sites': other_sites, 'pages are safe': safe_pages,
        'the session ends before the form is sent': session_over_in_the_form}
    return with_a_browser(settings, found)


def with_a_browser(settings, found):
    """The cases of these functions by name, if their programs are installed."""
    missing = node.programs_missing(browser=True)
    if not settings.everything and (missing or not node.installed()):
        print(f'skipped: the cases with a browser: {missing or "npm is asked by ./test --full only"}', flush=True)
        return []

    def run(case):
        check(missing is None, f'{missing}')
        case(settings)
    return [('browser: ' + name, lambda case=case: run(case)) for name, case in found.items() if settings.everything or name in SAMPLE]
