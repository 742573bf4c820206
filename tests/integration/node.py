"""Packages of the tests from npm: by the lock file of tests/node, into build/test-node."""
import contextlib
import fcntl
import filecmp
import os
import shutil
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
SOURCES = os.path.join(ROOT, 'tests', 'node')
FOLDER = os.path.join(ROOT, 'build', 'test-node')
NODE_NEEDED = 18   # Debian 12's version.
NPM_LIMIT_S = 300
CHROMIUM = shutil.which('chromium')
NEEDED = 'tools/install full brings it'


class NotThere(Exception):
    """Why these tests can't run here, in a sentence."""


def programs_missing(browser):
    """A sentence, or None."""
    if browser and CHROMIUM is None:
        return f'chromium is not installed; {NEEDED}'
    for program in ('node', 'npm'):
        if shutil.which(program) is None:
            return f'{program} is not installed; {NEEDED}'
    version = subprocess.run(['node', '--version'], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip('v').split('.')[0]) < NODE_NEEDED:
        return f'node is {version}, and {NODE_NEEDED} is needed'
    return None


def lock_text(folder):
    with open(os.path.join(folder, 'package-lock.json'), encoding='utf-8') as file:
        return file.read()


def installed():
    """Whether the packages of the lock file are installed."""
    marker = os.path.join(FOLDER, 'installed')
    return os.path.exists(marker) and lock_text(FOLDER) == lock_text(SOURCES)


def bring(name):
    """Copies one of our files in one step: another case may be about to run it."""
    source, target = os.path.join(SOURCES, name), os.path.join(FOLDER, name)
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        shutil.copy(source, target + '.new')
        os.replace(target + '.new', target)


def install():
    """The folder with node_modules and our scripts. If several processes ask at once, one creates it."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = installed()
        for name in os.listdir(SOURCES):
            bring(name)
        if ready:
            return FOLDER
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(FOLDER, 'installed'))
        done = subprocess.run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], cwd=FOLDER, capture_output=True,
                              text=True, timeout=NPM_LIMIT_S, check=False)
        if done.returncode != 0:
            raise NotThere(f'npm ci failed: {done.stderr.strip()[-300:]}')
        with open(os.path.join(FOLDER, 'installed'), 'w', encoding='utf-8'):
            pass
    return FOLDER
