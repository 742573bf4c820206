"""tools/install does not start the services that it installs: Debian would start PgBouncer, Redis, Prometheus, cron and sshd at once."""
import os
import subprocess
import tempfile
import unittest

INSTALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'install')
BOOKWORM = 'VERSION_CODENAME=bookworm' in open('/etc/os-release', encoding='utf-8').read()

# All packages are installed except those in MISSING. apt-get prints whether services may start meanwhile.
PROGRAMS = {
    'dpkg-query': 'for last; do :; done\ncase " $MISSING " in *" $last "*) exit 1 ;; esac\necho installed\n',
    'apt-get': 'echo "apt-get $*; policy $(sh "$PAWL_POLICY_RC_D" 2>/dev/null; echo $?)" >>"$LOG"\nexit ${APT_ENDS:-0}\n',
    'systemctl': 'echo "systemctl $*" >>"$LOG"\n',
    'sudo': 'exec "$@"\n',
}


@unittest.skipUnless(BOOKWORM, 'tools/install supports only Debian 12')
class Install(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.policy = os.path.join(self.folder, 'policy-rc.d')
        self.log = os.path.join(self.folder, 'log')
        for name, text in PROGRAMS.items():
            path = os.path.join(self.folder, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n' + text)
            os.chmod(path, 0o755)

    def install(self, missing, apt_ends=0):
        environment = dict(os.environ, PATH=self.folder + ':' + os.environ['PATH'], MISSING=missing, LOG=self.log,
                           PAWL_POLICY_RC_D=self.policy, APT_ENDS=str(apt_ends))
        ended = subprocess.run([INSTALL, 'full'], env=environment, capture_output=True, text=True, check=False)
        said = ''
        if os.path.exists(self.log):
            with open(self.log, encoding='utf-8') as file:
                said = file.read()
        return ended.returncode, said

    def test_installed_packages_are_not_installed_again(self):
        self.assertEqual(self.install(''), (0, ''))

    def test_no_service_starts_at_its_installation_or_at_the_next_boot(self):
        same = [(name, name) for name in ('redis-server', 'pgbouncer', 'prometheus', 'cron')]
        for package, service in (*same, ('openssh-server', 'ssh')):
            ended, said = self.install(package)
            self.assertEqual(ended, 0, said)
            self.assertIn(f'{package}; policy 101\n', said)
            self.assertIn(f'systemctl disable {service}\n', said)
            self.assertFalse(os.path.exists(self.policy), 'the policy file was not removed')

    def test_the_policy_file_is_removed_even_if_apt_get_fails(self):
        ended, said = self.install('redis-server', apt_ends=100)
        self.assertEqual(ended, 1)
        self.assertIn('policy 101', said)
        self.assertFalse(os.path.exists(self.policy))

    def test_an_existing_policy_file_stays_unchanged(self):
        with open(self.policy, 'w', encoding='utf-8') as file:
            file.write('exit 104\n')
        _, said = self.install('redis-server')
        self.assertIn('policy 104', said)
        self.assertTrue(os.path.exists(self.policy))

    def test_an_installed_service_stays_unchanged(self):
        _, said = self.install('libhiredis-dev')
        self.assertNotIn('policy 101', said)
        self.assertNotIn('systemctl', said)


if __name__ == '__main__':
    unittest.main()
