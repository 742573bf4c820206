"""What the tests ask a real Kafka broker, in its own protocol: topics, their partitions, leaders and lengths, a group's offsets,
access rules; and a record for a certain partition.

Not every Python has a Kafka module, and a JVM for each question would take seconds. The versions of the requests are the
last ones without compact fields; Kafka 4 still answers them.
"""
import socket
import struct
import time

TOPIC, GROUP = 2, 3   # Resources of access rules.
READ, WRITE, CREATE = 3, 4, 5   # Operations of access rules.
LITERAL, PREFIXED, ALLOW = 3, 4, 3
LATEST, EARLIEST = -1, -2
ACKNOWLEDGE_MS = 10_000   # How long a broker may take for a change of topics or a record: longer than for other requests.


def text(value):
    if value is None:
        return struct.pack('>h', -1)
    encoded = value.encode()
    return struct.pack('>h', len(encoded)) + encoded


def array(parts):
    parts = list(parts)
    return struct.pack('>i', len(parts)) + b''.join(parts)


def varint(number):
    """A number as records have it: zigzag, seven bits a byte."""
    left, found = (number << 1) ^ (number >> 63), bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)


def counted(value):
    return varint(-1) if value is None else varint(len(value)) + value


def crc32c(data):
    """Castagnoli's; Python has the other one."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def batch(key, value, headers, at_ms):
    """A batch of one record, of format 2."""
    fields = b''.join(counted(name.encode()) + counted(content) for name, content in headers.items())
    record = b'\0' + varint(0) + varint(0) + counted(key) + counted(value) + varint(len(headers)) + fields
    checked = struct.pack('>hiqqqhii', 0, 0, at_ms, at_ms, -1, -1, -1, 1) + counted(record)
    rest = struct.pack('>ibI', -1, 2, crc32c(checked)) + checked
    return struct.pack('>qi', 0, len(rest)) + rest


class Answer:
    """Reads the fields of an answer in their order."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        found, = struct.unpack_from('>' + form, self.data, self.at)
        self.at += struct.calcsize('>' + form)
        return found

    def text(self):
        length = self.number('h')
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def array(self, read):
        return [read() for _ in range(max(0, self.number('i')))]


class KafkaError(Exception):
    """The broker refuses, with Kafka's number of the error."""


class Connection:
    """To one broker; user is (name, password) if the broker asks for SASL/PLAIN."""

    def __init__(self, port, user=None, timeout_s=5):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout_s)
        self.stream = self.socket.makefile('rwb')
        if user:
            self.sign_in(*user)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def ask(self, api, version, body):
        sent = struct.pack('>hhi', api, version, 1) + text('pawl-tests') + body
        self.stream.write(struct.pack('>i', len(sent)) + sent)
        self.stream.flush()
        head = self.stream.read(4)
        if len(head) < 4:
            raise ConnectionError('the broker has closed the connection')
        data = self.stream.read(struct.unpack('>i', head)[0])
        answer = Answer(data)
        answer.number('i')   # Which request it answers: there is only one.
        return answer

    def sign_in(self, name, password):
        answer = self.ask(17, 1, text('PLAIN'))
        if error := answer.number('h'):
            raise KafkaError(f'SASL/PLAIN is refused: {error}')
        token = f'\0{name}\0{password}'.encode()
        answer = self.ask(36, 0, struct.pack('>i', len(token)) + token)
        if answer.number('h'):
            raise KafkaError(answer.text())

    def metadata(self):
        """(ids of the brokers, {topic: {partition: (leader, in-sync replicas)}})."""
        answer = self.ask(3, 4, struct.pack('>i?', -1, False))
        answer.number('i')
        brokers = answer.array(lambda: (answer.number('i'), answer.text(), answer.number('i'), answer.text())[0])
        answer.text()
        answer.number('i')

        def partition():
            answer.number('h')
            index, leader = answer.number('i'), answer.number('i')
            answer.array(lambda: answer.number('i'))
            return index, (leader, answer.array(lambda: answer.number('i')))

        def topic():
            answer.number('h')
            name = answer.text()
            answer.number('?')
            return name, dict(answer.array(partition))
        return sorted(brokers), dict(answer.array(topic))

    def change_topics(self, api, version, topic):
        self.socket.settimeout(2 * ACKNOWLEDGE_MS / 1000)
        answer = self.ask(api, version, array([topic]) + struct.pack('>i?', ACKNOWLEDGE_MS, False))
        answer.number('i')
        for name, error, why in answer.array(lambda: (answer.text(), answer.number('h'), answer.text())):
            if error:
                raise KafkaError(f'topic {name}: {why or error}')

    def create_topic(self, name, partitions=-1, replication=-1, **settings):
        """Names of settings with _ for Kafka's dots."""
        configs = array(text(key.replace('_', '.')) + text(str(value)) for key, value in settings.items())
        self.change_topics(19, 4, text(name) + struct.pack('>ih', partitions, replication) + array([]) + configs)

    def grow_topic(self, name, partitions):
        """To so many partitions in all."""
        self.change_topics(37, 1, text(name) + struct.pack('>ii', partitions, -1))

    def write(self, topic, partition, key, value, headers):
        """A record for a partition that this broker leads; all in bytes."""
        records = batch(key, value, headers, int(time.time() * 1000))
        body = array([text(topic) + array([struct.pack('>ii', partition, len(records)) + records])])
        self.socket.settimeout(2 * ACKNOWLEDGE_MS / 1000)
        answer = self.ask(0, 3, text(None) + struct.pack('>hi', -1, ACKNOWLEDGE_MS) + body)

        def written():
            answer.text()
            return answer.array(lambda: (answer.number('i'), answer.number('h'), answer.number('q'), answer.number('q')))
        (_, error, _, _), = answer.array(written)[0]
        if error:
            raise KafkaError(f'a record for {topic}-{partition}: {error}')

    def committed(self, group, topic, partitions):
        """{partition: offset} of a group that this broker coordinates; -1: none."""
        asked = text(topic) + array(struct.pack('>i', partition) for partition in partitions)
        answer = self.ask(9, 1, text(group) + array([asked]))

        def found():
            answer.text()
            return answer.array(lambda: (answer.number('i'), answer.number('q'), answer.text(), answer.number('h')))
        return {partition: offset for partition, offset, _, _ in answer.array(found)[0]}

    def allow(self, principal, resource, name, *operations, pattern=LITERAL):
        """Access rules; others are kept."""
        rules = (struct.pack('>b', resource) + text(name) + struct.pack('>b', pattern) + text(principal) + text('*')
                 + struct.pack('>bb', operation, ALLOW) for operation in operations)
        answer = self.ask(30, 1, array(rules))
        answer.number('i')
        for error, why in answer.array(lambda: (answer.number('h'), answer.text())):
            if error:
                raise KafkaError(f'an access rule: {why or error}')

    def offset(self, topic, partition, which=LATEST):
        """Of a partition that this broker leads."""
        wanted = text(topic) + array([struct.pack('>iq', partition, which)])
        answer = self.ask(2, 1, struct.pack('>i', -1) + array([wanted]))

        def found():
            answer.text()
            return answer.array(lambda: (answer.number('i'), answer.number('h'), answer.number('q'), answer.number('q')))
        (_, error, _, offset), = answer.array(found)[0]
        if error:
            raise KafkaError(f'the offset of {topic}-{partition}: {error}')
        return offset
