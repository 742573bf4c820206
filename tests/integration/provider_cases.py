"""What the payment provider may do, and what becomes of the ride."""
from world import World, check, check_equal, wait_until

QUICK = ['--lease-ms', '1500', '--phase-deadline-ms', '500', '--complete-after-ms', '100']


def ride(settings, customer, expect, charges, provider_options=()):
    """Books for a customer whose name tells the provider what to do; repeats until the answer is final."""
    rider = ['--rider', f'test_rider {customer}@example.com']
    with World(settings.bin, QUICK + rider, provider_options=list(provider_options)) as world:
        world.start_server()
        statuses = []

        def final():
            answer = world.phone('test_rider', timeout=60).book('k')
            statuses.append(answer.status)
            return answer if answer.status not in (409, 500, 503) else None
        answer = wait_until('a final answer', final)
        check_equal(answer.status, expect, f'the answer after {statuses}: {answer}')
        check_equal(len(world.ledger()), charges, 'charges')
        again = world.phone('test_rider').book('k')
        check_equal((again.status, again.body), (answer.status, answer.body), 'the repeat')
        if expect == 502:
            check_equal(world.count('attention'), 1, 'on the attention list')
        elif expect == 201:
            check_equal(world.count('rides', "state = 'booked'"), 1, 'booked rides')


def cases(settings):
    table = {
        'an honest charge': ('honest', 201, 1),
        'a declined card: the refusal is the answer': ('declined', 402, 0),
        'a slow answer': ('slow', 201, 1),
        '503 once: repeated under the same key': ('503once', 201, 1),
        '429 once: repeated': ('429once', 201, 1),
        'a stored 500 that was no charge: to a person': ('500', 502, 0),
        'a stored 500 that was a charge: to a person': ('charged500', 502, 1),
        'a charge that is booked late': ('late', 201, 1),
    }
    found = [('provider: ' + name, lambda row=row: ride(settings, *row)) for name, row in table.items()]
    if settings.everything:   # These wait for the time-out of a call, 25 s.
        found.append(('provider: charged, but the first answer never comes', lambda: ride_with_time(settings, 'once')))
    return found


def ride_with_time(settings, customer):
    rider = ['--rider', f'test_rider {customer}@example.com']
    with World(settings.bin, QUICK + rider) as world:
        world.start_server()

        def final():
            answer = world.phone('test_rider', timeout=60).book('k')
            return answer if answer.status == 201 else None
        wait_until('the ride', final, 90)
        check_equal(len(world.ledger()), 1, 'charges')
        check(world.count('rides', "state = 'booked'") == 1, 'the ride is booked')
