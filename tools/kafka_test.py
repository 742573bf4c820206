"""The pure parts of tools/kafka and of the cluster it runs: settings, arguments, the protocol's fields, and pids."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'integration'))

import kafka_broker
import kafka_wire


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


tool = load('kafka')


def settings(*arguments, **more):
    lines = kafka_broker.settings_of(*arguments, **more).splitlines()
    return dict(line.split('=', 1) for line in lines)


class Settings(unittest.TestCase):
    def test_one_broker_is_its_own_controller(self):
        found = settings(1, [9092], [9093], '/data')
        self.assertEqual(found['controller.quorum.voters'], '1@127.0.0.1:9093')
        self.assertEqual(found['listeners'], 'BROKER://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093')
        self.assertEqual((found['default.replication.factor'], found['min.insync.replicas']), ('1', '1'))
        self.assertEqual(found['auto.create.topics.enable'], 'false')
        self.assertNotIn('authorizer.class.name', found)

    def test_of_three_brokers_two_must_have_a_record(self):
        found = settings(3, [1, 2, 3], [4, 5, 6], '/data')
        self.assertEqual(found['node.id'], '3')
        self.assertEqual(found['controller.quorum.voters'], '1@127.0.0.1:4,2@127.0.0.1:5,3@127.0.0.1:6')
        self.assertEqual(found['advertised.listeners'], 'BROKER://127.0.0.1:3')
        for name in ('default.replication.factor', 'offsets.topic.replication.factor'):
            self.assertEqual(found[name], '3')
        self.assertEqual(found['min.insync.replicas'], '2')
        self.assertEqual(found['unclean.leader.election.enable'], 'false')

    def test_every_address_is_on_loopback(self):
        for sasl in (False, True):
            for name, value in settings(2, [1, 2, 3], [4, 5, 6], '/data', sasl).items():
                if 'listeners' in name or 'voters' in name:
                    self.assertEqual(value.count(':'), value.count('127.0.0.1:') + value.count('//'), name)

    def test_with_sasl_nothing_is_open(self):
        found = settings(1, [9092], [9093], '/data', sasl=True)
        self.assertEqual(found['listener.security.protocol.map'], 'BROKER:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT')
        self.assertIn('StandardAuthorizer', found['authorizer.class.name'])
        self.assertEqual(found['allow.everyone.if.no.acl.found'], 'false')
        self.assertEqual(found['super.users'], 'User:admin')
        self.assertIn('user_pawl=', found['listener.name.broker.plain.sasl.jaas.config'])
        self.assertNotIn('user_pawl=', found['listener.name.controller.plain.sasl.jaas.config'])

    def test_the_id_of_a_cluster_is_no_option(self):
        found = {kafka_broker.new_cluster_id() for _ in range(200)}
        self.assertEqual(len(found), 200)
        self.assertEqual({(cluster[0], len(cluster)) for cluster in found}, {('A', 22)})

    def test_more_settings_win(self):
        found = settings(1, [9092], [9093], '/data', more={'num.partitions': 7, 'x.y': 'z'})
        self.assertEqual((found['num.partitions'], found['x.y']), ('7', 'z'))


class Arguments(unittest.TestCase):
    def refused(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            tool.arguments(words)
        return said.getvalue()

    def test_a_start(self):
        given = tool.arguments(['start', '--dir', 'd', '--brokers', '3', '--port', '5000', '--sasl', '--set', 'a=b=c'])
        self.assertEqual((given.dir, given.brokers, given.port, given.sasl, given.set), ('d', 3, 5000, True, [('a', 'b=c')]))

    def test_a_kill(self):
        given = tool.arguments(['kill', '--dir', 'd', '--broker', '2'])
        self.assertEqual((given.command, given.broker), ('kill', 2))

    def test_what_is_refused(self):
        self.assertIn('invalid choice', self.refused('start', '--dir', 'd', '--brokers', '2'))
        self.assertIn('1024', self.refused('start', '--dir', 'd', '--port', '80'))
        self.assertIn('NAME=VALUE', self.refused('start', '--dir', 'd', '--set', 'a'))
        self.assertIn('--dir', self.refused('stop'))
        self.assertIn('--broker', self.refused('kill', '--dir', 'd'))
        self.refused()


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_folder_without_a_cluster_is_named(self):
        for command in (['stop'], ['kill', '--broker', '1'], ['restart', '--broker', '1']):
            ended = subprocess.run([os.path.join(HERE, 'kafka'), *command, '--dir', self.folder], capture_output=True, text=True,
                                   check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(f'{self.folder} has no cluster', ended.stderr)

    def test_a_folder_with_other_files_is_left_alone(self):
        with open(os.path.join(self.folder, 'letter'), 'w', encoding='utf-8') as file:
            file.write('x')
        with self.assertRaisesRegex(kafka_broker.NoKafka, 'has other files'):
            kafka_broker.RealKafka(self.folder, 1, [1, 2]).create()
        self.assertEqual(os.listdir(self.folder), ['letter'])

    def test_brokers_and_ports_must_fit(self):
        for brokers, ports in ((2, [1, 2, 3, 4]), (3, [1, 2]), (1, [1, 1]), (1, None)):
            with self.assertRaises(kafka_broker.NoKafka):
                kafka_broker.RealKafka(self.folder, brokers, ports)

    def test_a_process_that_has_the_number_of_a_dead_broker_is_not_signalled(self):
        kafka = kafka_broker.RealKafka(self.folder, 1, [1, 2])
        os.makedirs(kafka.path(1))
        for start, alive in ((kafka_broker.started_at(os.getpid()), True), (1, False), ('', False)):
            with open(kafka.path(1, 'pid'), 'w', encoding='ascii') as file:
                file.write(f'{os.getpid()} {start}\n')
            self.assertEqual(kafka.pid(1), os.getpid() if alive else None)
        kafka.stop()   # Would end this test.
        with self.assertRaisesRegex(kafka_broker.NoKafka, 'does not run'):
            kafka.kill(1)
        with self.assertRaisesRegex(kafka_broker.NoKafka, 'broker 4: this cluster has 1'):
            kafka.kill(4)

    def test_no_java_names_the_package(self):
        path = os.environ['PATH']
        self.addCleanup(os.environ.__setitem__, 'PATH', path)
        os.environ['PATH'] = self.folder
        self.assertIn('apt-get install openjdk-17-jre-headless', kafka_broker.missing())
        with self.assertRaisesRegex(kafka_broker.NoKafka, 'apt-get install maven'):
            tool.fetch()


class Cause(unittest.TestCase):
    def test_the_last_causes_of_a_stack_are_the_ones_to_read(self):
        log = 'FATAL\nCaused by: a\n\tat x\nCaused by: port 1\n\tat x\nCaused by: in use\n\tat y\n\t... 6 more\n'
        self.assertEqual(kafka_broker.cause(log), 'port 1; in use')
        self.assertEqual(kafka_broker.cause('WARN slow\n'), 'WARN slow\n')


class Wire(unittest.TestCase):
    def test_fields_are_read_as_they_are_written(self):
        sent = kafka_wire.array([kafka_wire.text('ä'), kafka_wire.text(None)]) + struct.pack('>q', -7) + struct.pack('>i', -1)
        answer = kafka_wire.Answer(sent)
        self.assertEqual(answer.array(answer.text), ['ä', None])
        self.assertEqual(answer.number('q'), -7)
        self.assertEqual(answer.array(answer.text), [], 'a null array')

    def test_numbers_of_records_have_seven_bits_a_byte(self):
        for number, form in ((0, '00'), (-1, '01'), (1, '02'), (63, '7e'), (64, '8001'), (300, 'd804')):
            self.assertEqual(kafka_wire.varint(number).hex(), form)
        self.assertEqual((kafka_wire.counted(None).hex(), kafka_wire.counted(b'a').hex()), ('01', '0261'))

    def test_the_check_of_a_batch_is_castagnolis(self):
        self.assertEqual(kafka_wire.crc32c(b'123456789'), 0xE3069283)   # The check value of the catalogue of CRCs.

    def test_a_batch_says_how_long_it_is(self):
        made = kafka_wire.batch(b'k', None, {'ce_id': b'1'}, 1_000)
        self.assertEqual(struct.unpack_from('>qi', made), (0, len(made) - 12))
        self.assertEqual(struct.unpack_from('>bI', made, 16), (2, kafka_wire.crc32c(made[21:])))


if __name__ == '__main__':
    unittest.main()
