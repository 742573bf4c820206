"""Spring Kafka for tests: compiles the program of tests/spring with the libraries that `tools/kafka fetch` has got, and runs it."""
import glob
import json
import os
import subprocess
import tempfile
import threading

import kafka_broker
from kafka_broker import JVM, ROOT, SPRING
from world import WAIT_S, NotSo, end, wait_until

SOURCE = os.path.join(ROOT, 'tests', 'spring', 'SpringRetries.java')
JARS = os.path.join(SPRING, '*')
PATIENCE_S = 3 * WAIT_S   # A JVM and two applications start, beside other cases.
COMPILER = 'org.eclipse.jdt.internal.compiler.batch.Main'


def missing():
    """What must be installed or fetched first, or None."""
    if not glob.glob(os.path.join(SPRING, 'spring-kafka-*.jar')):
        return 'there is no Spring Kafka in build/kafka: tools/kafka fetch'
    return kafka_broker.missing()


class SpringRetries:
    """The program, and the records that it has read: dictionaries, see say() in it."""

    def __init__(self, folder, **properties):
        classes = tempfile.mkdtemp(dir=folder)
        jars = ':'.join(os.path.join(SPRING, name) for name in os.listdir(SPRING))   # The compiler knows no *.
        compiled = subprocess.run(['java', '-cp', JARS, COMPILER, '-17', '-proc:none', '-cp', jars, '-d', classes, SOURCE],
                                  capture_output=True, text=True, check=False)
        if compiled.returncode:
            raise NotSo(f'{SOURCE} was not compiled: {compiled.stderr}')
        self.log_path = os.path.join(classes, 'log')
        self.records = []
        with open(self.log_path, 'wb') as log:
            self.process = subprocess.Popen(
                ['java', *JVM, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', f'{classes}:{JARS}',
                 *(f'-D{name}={value}' for name, value in properties.items()), 'SpringRetries'],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.records.append(json.loads(line))

    def close(self):
        end(self.process)
        self.process.stdin.close()
        self.reader.join()
        self.process.stdout.close()

    def send(self, topic, job, kind, arguments):
        self.process.stdin.write(f'{topic} {job} {kind} {arguments}\n')
        self.process.stdin.flush()

    def wait_for(self, topic, job):
        """The first record of that job which Spring has read from the topic."""
        def found():
            if self.process.poll() is not None:
                raise NotSo(f'Spring has ended with {self.process.returncode}: {self.log()}')
            return next((record for record in list(self.records) if (record['topic'], record['key']) == (topic, job)), None)
        try:
            return wait_until(f'{job} in {topic}', found, PATIENCE_S)
        except NotSo as error:
            seen = [(record['topic'], record['key']) for record in self.records]
            raise NotSo(f'{error}; Spring has read {seen} and says {self.log()[-1500:]}') from None

    def log(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as file:
            return file.read()
