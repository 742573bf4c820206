"""Debian's OpenSSH server on a free port, for SFTP alone, with keys of its own. If root starts it, its user is nobody, else our own."""
import getpass
import os
import shutil
import signal
import socket
import subprocess

from ports import free_port
from world import check, end, wait_until

SSHD = '/usr/sbin/sshd'
CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
Subsystem sftp internal-sftp
ForceCommand internal-sftp
"""


def make_key(path):
    for old in (path, path + '.pub'):
        if os.path.exists(old):
            os.remove(old)
    subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path], check=True)


def fingerprint(path):
    return subprocess.run(['ssh-keygen', '-l', '-f', path], capture_output=True, text=True, check=True).stdout.split()[1]


class SftpServer:
    """Serves the folders inbox, archive and outbox. Starts and stops at any time, on the same port."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        self.user = 'nobody' if os.geteuid() == 0 else getpass.getuser()
        os.makedirs(folder)
        os.chmod(os.path.dirname(folder), 0o755)
        for name in ('inbox', 'archive', 'outbox'):
            os.mkdir(os.path.join(folder, name))
        make_key(os.path.join(folder, 'host_key'))
        make_key(os.path.join(folder, 'user_key'))
        self.user_key = folder + '.user_key'   # Of our service; the server can't read it.
        os.rename(os.path.join(folder, 'user_key'), self.user_key)
        for name in ('inbox', 'archive', 'outbox'):
            self.give(os.path.join(folder, name))
        self.start()

    def give(self, folder):
        """Gives a folder and what is in it to the server's user."""
        if os.geteuid() == 0:
            for where, _, names in os.walk(folder):
                for path in (where, *(os.path.join(where, name) for name in names)):
                    shutil.chown(path, self.user)

    @property
    def host_key(self):
        return fingerprint(os.path.join(self.folder, 'host_key.pub'))

    def change_host_key(self):
        self.stop()
        make_key(os.path.join(self.folder, 'host_key'))
        self.start()

    def start(self):
        config = os.path.join(self.folder, 'sshd_config')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(CONFIG.format(port=self.port, folder=self.folder))
        if os.geteuid() == 0:
            os.makedirs('/run/sshd', exist_ok=True)   # Root's sshd requires it; systemd makes it elsewhere.
        with open(self.folder + '.log', 'ab') as log:
            self.process = subprocess.Popen([SSHD, '-D', '-e', '-f', config], stdout=log, stderr=log)
        wait_until('sshd', self._answers)

    def _answers(self):
        check(self.process.poll() is None, f'sshd ended: {self.log()[-600:]}')
        try:
            with socket.create_connection(('127.0.0.1', self.port), timeout=2) as connection:
                return connection.recv(4) == b'SSH-'
        except OSError:
            return False

    def stop(self):
        """Also its children, which serve one connection each."""
        if self.process:
            with open(f'/proc/{self.process.pid}/task/{self.process.pid}/children', encoding='ascii') as file:
                children = [int(pid) for pid in file.read().split()]
            end(self.process)
            for pid in children:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process = None

    def log(self):
        with open(self.folder + '.log', encoding='utf-8', errors='replace') as file:
            return file.read()
