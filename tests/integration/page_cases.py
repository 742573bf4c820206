"""Rocket Rides' pages in a real browser: none leads away from a booking that may still charge the card."""
from browser_cases import AT_WORK, BOOK, DONE, ROUTE, Riding, with_a_browser
from world import check, check_equal, wait_until

HELD = 'Your booking is on hold'
DATABASES = ('sqlite',)   # The pages do not depend on the database.


def crafted_links(settings):
    """Before, a link with a made-up key showed a form whose booking led to another form, while the first could still charge the card."""
    with Riding(settings) as riding:
        for crafted in ('..%2Fbook', 'a%2Fb', 'a%3Fb', 'a%23b', 'a%25b'):
            check_equal(riding.tab.go(f'/bookings/{crafted}'), 404, f'the status of {crafted}')
            check_equal(riding.tab.count('form[action="/rides"]'), 0, f'forms of {crafted}')
        ride = riding.world.phone().booked('r').json['ride']
        wait_until('a refund', lambda: riding.world.phone().refund(ride).status == 201)   # On a busy machine a phase may miss its deadline.
        riding.tab.go(f'/bookings/ride-{ride}-refund')
        check_equal(riding.tab.heading, 'Book a rocket', 'a key of a refund is not a booking')


def form_of_an_older_sign_in(settings):
    """Before, its page offered a new form while its booking was in progress, and its sign-out did nothing."""
    with Riding(settings) as riding:
        form = riding.form()
        stale = riding.browser.tab(form)
        stale.fill(**ROUTE)
        with riding.provider_held():
            riding.tab.click(BOOK)
            wait_until('the first to be begun', lambda: riding.world.count('rides') == 1)
            riding.sign_in_anew()
            stale.click(BOOK)
            stale.shows("This form can't be used any more")
            check_equal(stale.count('a[href="/book"].button'), 0, 'links to a new form')
            stale.click('text=See what became of it')
            stale.shows(AT_WORK)
        check(stale.shows(DONE).endswith('/rides/1'), f'the page at the end: {stale.url}')
        riding.one_ride()
        riding.sign_in_anew()
        stale.click('text=Sign out')
        stale.shows('Fly with Rocket Rides')
        check_equal(stale.go('/rides'), 401, 'signed out')


def on_hold(settings):
    """An operator holds the booking: the rider is asked to wait, on each page, and gets the ride after the release."""
    with Riding(settings) as riding:
        riding.form()
        riding.tab.click(BOOK)
        riding.tab.shows(DONE)
        riding.world.kill_provider()
        riding.form()
        riding.tab.click(BOOK)
        booking = riding.tab.shows(AT_WORK)
        key = booking.rsplit('/', 1)[1]
        options = ['--key', key, '--database', riding.world.url]
        riding.world.rides_command('keys', 'hold', '--reason', 'which card?', *options)
        riding.tab.shows(HELD)
        riding.tab.go('/rides')
        check_equal(riding.tab.text('.rides li:first-child .state'), 'on hold', 'the list')
        riding.tab.click('.rides li:first-child a')
        riding.tab.shows(HELD)
        riding.world.start_provider()
        riding.world.rides_command('keys', 'release', *options)
        wait_until('the ride', lambda: riding.world.unsettled() == 0)
        riding.tab.go(booking)
        riding.tab.shows(DONE)


def cases(settings):
    return with_a_browser(settings, {'crafted links': crafted_links, 'a form of an older sign-in': form_of_an_older_sign_in,
                                     'an operator holds the booking': on_hold})
