"""The disk is full, or read-only: 503, no data lost, and normal service when the space returns."""
import os
import subprocess
import threading

from kill_cases import QUICK
from world import World, check, check_equal, wait_until

DATABASES = ('sqlite',)   # A file of ours, on disks that are filled and broken.


class SmallDisk:
    """A tmpfs of a few MiB as the world's data folder."""

    def __init__(self, world, mib=32):
        self.world, self.path = world, os.path.join(world.folder, 'disk')
        os.mkdir(self.path)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={mib}m', 'tmpfs', self.path], check=True)
        world.data = self.path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.world.server and self.world.server.poll() is None:
            self.world.kill_server()
        subprocess.run(['umount', '-l', self.path], check=True)

    def fill(self):
        """Takes all the space that is left."""
        with open(os.path.join(self.path, 'filler'), 'ab', buffering=0) as file:
            for size in (65536, 4096, 512):
                try:
                    while True:
                        file.write(b'x' * size)
                except OSError:
                    pass

    def free(self):
        os.remove(os.path.join(self.path, 'filler'))


class Riders:
    """Threads that book without a pause, and keep each answer."""

    def __init__(self, world, count):
        self.world, self.stopping, self.answers = world, threading.Event(), {}
        self.threads = [threading.Thread(target=self.ride, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def ride(self, i):
        n = 0
        while not self.stopping.is_set():
            key = f'k-{i}-{n}'
            try:
                self.answers[key] = self.world.phone().book(key)
            except OSError as error:
                self.answers[key] = error
            n += 1
            self.stopping.wait(0.02)   # Rides of a few seconds must fit the disk when it has space again.

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def of(self, status):
        return [key for key, answer in list(self.answers.items()) if getattr(answer, 'status', None) == status]


def full_disk(settings):
    with World(settings.bin, QUICK) as world, SmallDisk(world) as disk:
        world.start_server()
        riders = Riders(world, 8)
        try:
            wait_until('some rides', lambda: len(riders.of(201)) > 20)
            disk.fill()
            wait_until('the disk to be full', lambda: len(riders.of(503)) > 20)
            check(not world.dead(), 'the server lives')
            disk.free()
            seen = len(riders.of(201))
            wait_until('it to heal', lambda: len(riders.of(201)) > seen + 50)
        finally:
            riders.stop()
        statuses = {getattr(answer, 'status', answer) for answer in riders.answers.values()}
        check_equal(statuses, {201, 503}, 'answers')
        told = sorted(riders.of(201))
        world.kill_server()   # Rides that were answered must be on the disk.
        durable = {key for (key,) in world.rows("SELECT idempotency_key FROM pawl_idempotency_keys WHERE status = 'finished'")}
        check_equal([key for key in told if key not in durable], [], 'answers without a durable row')
        world.start_server()
        for key in riders.of(503):
            wait_until(f'{key} to be booked', lambda key=key: world.phone().book(key).status == 201)
        world.settle()
        check_equal(len(world.ledger()), len(riders.answers), 'charges, one for each key')


def full_disk_between_charge_and_record(settings):
    # Long enough to fill the disk before the answer, also on a busy machine.
    with World(settings.bin, QUICK, provider_options=['--delay-ms', '3000']) as world, SmallDisk(world) as disk:
        world.start_server()
        first = threading.Thread(target=lambda: answers.append(world.phone().book('k')))
        answers = []
        first.start()
        wait_until('the charge', world.ledger)
        disk.fill()
        first.join()
        check_equal(answers[0].status, 503, 'no answer without a record')
        disk.free()
        answer = wait_until('the ride', lambda: booked(world, 'k'))
        world.settle()
        check_equal((len(world.ledger()), world.count('rides'), len(world.mails())), (1, 1, 1), 'charges, rides, mails')
        check_equal(world.phone().book('k').body, answer.body, 'the repeat')


def booked(world, key):
    answer = world.phone().book(key)
    return answer if answer.status == 201 else None


def read_only_at_start(settings):
    with World(settings.bin, QUICK) as world, SmallDisk(world) as disk:
        world.start_server()
        check_equal(world.phone().book('k').status, 201, 'while it can be written')
        world.stop_server()
        subprocess.run(['mount', '-o', 'remount,ro', disk.path], check=True)
        world.start_server(wait=False)
        check_equal(world.server.wait(20), 1, 'the exit code')
        check('rides.db' in world.log()[-400:], f'the log names the file: {world.log()[-400:]}')
        subprocess.run(['mount', '-o', 'remount,rw', disk.path], check=True)
        world.start_server()
        check(world.phone().book('k').replayed, 'the answer is still there')


def file_is_no_database(settings):
    with World(settings.bin, QUICK) as world:
        with open(f'{world.data}/rides.db', 'wb') as file:
            file.write(b'This is a letter to my landlord.\n' * 200)
        world.start_server(wait=False)
        check_equal(world.server.wait(20), 1, 'the exit code')
        check('not a database' in world.log(), f'the log names the error: {world.log()[-300:]}')
        with open(f'{world.data}/rides.db', 'rb') as file:
            check(file.read().startswith(b'This is a letter'), 'the file is unchanged')


def cases(settings):
    found = {
        'disk: full under load, heals when space returns': full_disk,
        'disk: full between charge and record': full_disk_between_charge_and_record,
        'disk: read-only at the start': read_only_at_start,
        'disk: the file is no database': file_is_no_database,
    }
    if os.geteuid() != 0:
        print('the cases of a full disk need root (mount) and are left out', flush=True)
        found = {name: run for name, run in found.items() if 'no database' in name}
    return [(name, lambda run=run: run(settings)) for name, run in found.items()]
