"""Two simultaneous runs never get the same port, and an ended run frees its ports."""
import os
import socket
import subprocess
import sys
import unittest

import ports

HERE = os.path.dirname(os.path.abspath(__file__))
# A run: it prints its ports, and keeps them until its input ends.
RUN = f'''
import sys
from ports import free_port
print(*[free_port() for _ in range({ports.BLOCK // 20})], flush=True)
sys.stdin.read()
'''


class Run:
    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, '-c', RUN], cwd=HERE, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.ports = {int(port) for port in self.process.stdout.readline().split()}
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Ports(unittest.TestCase):
    def test_runs_at_once_have_no_port_in_common(self):
        with Run() as one, Run() as two, Run() as three:
            self.assertEqual(len(one.ports | two.ports | three.ports), 3 * ports.BLOCK // 20)

    def test_the_ports_of_a_killed_run_are_reused(self):
        for _ in range(2 * (ports.END - ports.FIRST) // ports.BLOCK):
            with Run() as run:
                self.assertEqual(len(run.ports), ports.BLOCK // 20)

    def test_a_port_that_another_program_has_is_not_given(self):
        port = ports.free_port()
        with socket.create_server(('127.0.0.1', port + 1)):
            self.assertNotEqual(ports.free_port(), port + 1)

    def test_no_port_is_given_that_a_browser_refuses(self):
        given = {ports.free_port() for _ in range(2 * ports.BLOCK)}
        self.assertGreater(len(given), ports.BLOCK // 2)
        self.assertFalse(given & ports.UNSAFE)

    def test_all_ports_are_below_those_of_clients(self):
        with open('/proc/sys/net/ipv4/ip_local_port_range', encoding='ascii') as file:
            self.assertLessEqual(ports.END, int(file.read().split()[0]))


if __name__ == '__main__':
    unittest.main()
