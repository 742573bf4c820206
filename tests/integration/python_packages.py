"""Packages of PyPI for a case, in an environment of its own below build/."""
import fcntl
import os
import subprocess
import sys

import node


def environment(name, *arguments):
    """The environment's folder, with what `pip install ARGUMENTS` installs; None if PyPI is not to be had."""
    folder = os.path.join(node.ROOT, 'build', name)
    done = os.path.join(folder, 'installed')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(done):
            for command in ([sys.executable, '-m', 'venv', folder], [os.path.join(folder, 'bin', 'pip'), 'install', '-q', *arguments]):
                if subprocess.run(command, capture_output=True, timeout=300, check=False).returncode != 0:
                    return None
            with open(done, 'w', encoding='utf-8'):
                pass
    return folder
