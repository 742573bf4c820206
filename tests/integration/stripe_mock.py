"""stripe-mock: Stripe's own test server, which checks every request by Stripe's OpenAPI description. tools/stripe_mock runs it for people.

It keeps nothing: each answer is made of the description's examples and of the request. A key is no memory of an answer.
"""
import fcntl
import os
import re
import shutil
import socket
import subprocess
import time

from ports import free_port

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
MODULE = 'github.com/stripe/stripe-mock'
VERSION = 'v0.203.0'   # Its description has the API version Stripe::tested_version (apps/rides/stripe.hpp).
FOLDER = os.path.join(ROOT, 'build', 'stripe-mock', VERSION)
PROGRAM = os.path.join(FOLDER, 'stripe-mock')
GO_NEEDED = (1, 22)
FETCH_S = 300
START_S = 20 * float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))


class NoStripeMock(Exception):
    """What is missing, or what stripe-mock said; for people."""


def go_missing():
    """What must be installed to fetch it, or None."""
    needed = '.'.join(map(str, GO_NEEDED))
    where = f'Go {needed} or later is needed: https://go.dev/dl, or golang-go from bookworm-backports'
    if not shutil.which('go'):
        return f'there is no Go; {where}'
    said = subprocess.run(['go', 'version'], capture_output=True, text=True, check=False).stdout
    found = re.search(r'go(\d+)\.(\d+)', said)
    if not found or tuple(map(int, found.groups())) < GO_NEEDED:
        return f'Go is {found.group(0) if found else "unknown"}; {where}'
    return None


def missing():
    """What keeps it from running, or None: it is there, or can be fetched."""
    return None if os.access(PROGRAM, os.X_OK) else go_missing()


def fetch():
    """The program, at its version, from the Go module proxy. If several processes ask at once, one fetches it."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(FOLDER + '.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.access(PROGRAM, os.X_OK):
            return PROGRAM
        if why := go_missing():
            raise NoStripeMock(why)
        done = subprocess.run(['go', 'install', f'{MODULE}@{VERSION}'], capture_output=True, text=True, timeout=FETCH_S, check=False,
                              env=os.environ | {'GOBIN': FOLDER, 'GOTOOLCHAIN': 'local'})
        if done.returncode:
            raise NoStripeMock(f'go install {MODULE}@{VERSION} ended with {done.returncode}: {done.stderr.strip()[-300:]}; '
                               'does this machine reach the Go module proxy?')
    return PROGRAM


def command(port):
    # Without -https-addr it also listens for HTTPS, on every address of the machine, at a fixed port.
    return [fetch(), '-http-addr', f'127.0.0.1:{port}', '-https-addr', '127.0.0.1:0', '-strict-version-check']


class StripeMock:
    """A context manager: starts it on a free port of loopback, and ends it."""

    def __init__(self, log):
        self.port, self.log, self.process = free_port(), log, None

    def __enter__(self):
        # It ends with the thread that starts it: a case's, which waits for it.
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(['setpriv', '--pdeathsig=KILL', '--', *command(self.port)], stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _wait(self):
        end = time.monotonic() + START_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(('127.0.0.1', self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        with open(self.log, encoding='utf-8', errors='replace') as log:
            raise NoStripeMock(f'it does not listen on port {self.port}: {log.read()[-300:]}')
