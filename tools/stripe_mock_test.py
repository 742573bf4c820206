"""The pure parts of tools/stripe_mock: what is missing, and arguments."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'integration'))

import stripe_mock


def load(name):
    loader = importlib.machinery.SourceFileLoader(name + '_tool', os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name + '_tool', loader))
    loader.exec_module(module)
    return module


tool = load('stripe_mock')


class Missing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for patch in (unittest.mock.patch.dict(os.environ, {'PATH': self.folder}),
                      unittest.mock.patch.object(stripe_mock, 'FOLDER', os.path.join(self.folder, 'v1')),
                      unittest.mock.patch.object(stripe_mock, 'PROGRAM', os.path.join(self.folder, 'v1', 'stripe-mock'))):
            patch.start()
            self.addCleanup(patch.stop)

    def go(self, script):
        path = os.path.join(self.folder, 'go')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n' + script)
        os.chmod(path, 0o755)

    def test_no_go_names_where_to_get_it(self):
        self.assertRegex(stripe_mock.missing(), r'^there is no Go; Go 1\.22 or later is needed: https://go\.dev/dl')
        with self.assertRaisesRegex(stripe_mock.NoStripeMock, 'there is no Go'):
            stripe_mock.fetch()

    def test_an_old_go_is_named(self):
        self.go('echo go version go1.19.8 linux/amd64')
        self.assertIn('Go is go1.19;', stripe_mock.missing())

    def test_a_new_go_is_enough_and_a_failed_fetch_says_why(self):
        self.go('[ "$1" = version ] && echo go version go1.100.0 linux/amd64 && exit; echo no route to proxy >&2; exit 3')
        self.assertIsNone(stripe_mock.missing())
        with self.assertRaisesRegex(stripe_mock.NoStripeMock, 'ended with 3: no route to proxy; does this machine reach'):
            stripe_mock.fetch()

    def test_a_fetched_program_needs_no_go(self):
        os.makedirs(stripe_mock.FOLDER)
        with open(stripe_mock.PROGRAM, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n')
        os.chmod(stripe_mock.PROGRAM, 0o755)
        self.assertIsNone(stripe_mock.missing())
        self.assertEqual(stripe_mock.command(7000)[:3], [stripe_mock.PROGRAM, '-http-addr', '127.0.0.1:7000'])


class Arguments(unittest.TestCase):
    def test_a_port(self):
        self.assertEqual(tool.arguments(['run', '--port', '7000']).port, 7000)
        self.assertEqual(tool.arguments(['run']).port, tool.PORT)
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            tool.arguments(['run', '--port', '80'])
        self.assertIn('1024 to 65535', said.getvalue())


if __name__ == '__main__':
    unittest.main()
