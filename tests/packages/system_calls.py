"""The system calls of `rides serve` while it books a ride, and those that the unit's SystemCallFilter allows."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

RIDE = '{"origin_lat": 47.61, "origin_lon": -122.33, "target_lat": 47.66, "target_lon": -122.35}'


def members(group, listed):
    """The calls of a group such as @system-service. `listed` returns what `systemd-analyze syscall-filter` prints for a group."""
    found = set()
    for word in (line.strip() for line in listed(group).split('\n')):
        if word.startswith('@') and word != group:
            found |= members(word, listed)
        elif re.fullmatch(r'\w+', word):
            found.add(word)
    return found


def listed_by_systemd(group):
    return subprocess.run(['systemd-analyze', 'syscall-filter', '--no-pager', group], capture_output=True, text=True, check=True).stdout


def allowed(unit, listed=listed_by_systemd):
    """As systemd reads its lines of SystemCallFilter=: the first is a list of what is allowed, one with ~ takes from it."""
    calls = set()
    for taken, group in re.findall(r'^SystemCallFilter=(~?)(\S+)$', unit, re.MULTILINE):
        calls = calls - members(group, listed) if taken else calls | members(group, listed)
    return calls


def named_in(trace):
    return set(re.findall(r'^\d+ +(\w+)\(', trace, re.MULTILINE))


def port_in(process):
    for line in process.stderr:
        if found := re.findall(r'port (\d+)', line):
            return found
    raise RuntimeError('the process ended without a port')


@contextlib.contextmanager
def running(command, folder, pid_of):
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            os.kill(pid_of(process), signal.SIGTERM)


def child_of(process):
    with open(f'/proc/{process.pid}/task/{process.pid}/children', encoding='utf-8') as children:
        return int(children.read().split()[0])


def used(bin_folder):
    """Books a ride with a traced server, which is not root; returns the names of its calls."""
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o777)
        as_user = ['-u', 'nobody'] if os.geteuid() == 0 else []
        rides, pawl = os.path.join(bin_folder, 'rides'), os.path.join(bin_folder, 'pawl')
        provider = [rides, 'provider', '--listen', '127.0.0.1:0', '--smtp', '127.0.0.1:0', '--ledger', 'ledger', '--mails', 'mails']
        with running(provider, folder, lambda process: process.pid) as stripe:
            api, mail = port_in(stripe)
            server = ['strace', '-f', '-qq', '-o', os.path.join(folder, 'trace'), *as_user,
                      rides, 'serve', '--listen', '127.0.0.1:0', '--database', 'sqlite:rides.db', '--access-log', 'access.log',
                      '--stripe-url', f'http://127.0.0.1:{api}', '--smtp-url', f'smtp://127.0.0.1:{mail}']
            with running(server, folder, child_of) as served:
                subprocess.run([pawl, 'request', 'POST', f'http://127.0.0.1:{port_in(served)[0]}/rides', '--key', 'k', '--data', RIDE,
                                '--header', 'Authorization: Bearer test_jane'], check=True, capture_output=True)
        with open(os.path.join(folder, 'trace'), encoding='utf-8', errors='replace') as trace:
            return named_in(trace.read())
    finally:
        shutil.rmtree(folder)
