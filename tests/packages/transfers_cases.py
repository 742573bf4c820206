"""The service in tests/packages/transfers, built with the installed packages, on SQLite and on PostgreSQL."""
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'integration'))

# pylint: disable=wrong-import-position
from bank import Bank
from phone import Phone
from ports import free_port
from stores import Cluster
from world import WAIT_S, check, check_equal, wait_until

PROJECT = os.path.join(HERE, 'transfers')
LINES_MAX = 250   # Of the service with its CMake and SQL; its test is not counted.


class Transfers:
    """The program on a database; as a context manager, its server."""

    def __init__(self, program, database, bank, log):
        self.program, self.database, self.bank, self.log = program, database, bank, log
        self.port, self.server = free_port(), None
        self.phone = Phone(self.port)   # The service takes everybody: the token does not count.

    def __enter__(self):
        self.start()
        return self

    def start(self):
        self.server = subprocess.Popen(
            [self.program, 'serve', '--database', self.database, '--listen', f'127.0.0.1:{self.port}'],
            env=os.environ | {'BANK': self.bank.url}, stderr=self.log, stdout=self.log, cwd=os.path.dirname(self.program))
        wait_until('the server', self.answers)

    def answers(self):
        try:
            return self.phone.get('/accounts/jane').status == 200
        except OSError:
            return False

    def kill(self):
        self.server.kill()
        self.server.wait()

    def __exit__(self, *_):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            check_equal(self.server.wait(WAIT_S), 0, 'the end of the server')

    def post(self, path, key, payer, payee, cents):
        answer = self.phone.send('POST', path, {'payer': payer, 'payee': payee, 'cents': cents}, key=key)
        return answer.status, answer.json

    def cents(self, name):
        return self.phone.get(f'/accounts/{name}').json['cents']

    def command(self, *words):
        return subprocess.run([self.program, *words, '--database', self.database], check=True, capture_output=True, text=True,
                              cwd=os.path.dirname(self.program)).stdout


def same(found, expected):
    check_equal(found, expected, 'Transfers')


def pays_once_and_gives_back(service, bank):
    paid = service.post('/transfers', 'k1', 'jane', 'joe', 300)
    same(paid, (201, {'id': paid[1]['id'], 'payer': 'jane', 'payee': 'joe', 'cents': 300, 'state': 'paid', 'reference': 't1'}))
    same(service.post('/transfers', 'k1', 'jane', 'joe', 300), paid)
    same(service.post('/transfers', 'k2', 'jane', 'jim', 300), (422, {'why': 'there is no such payee'}))
    same(service.post('/transfers', 'k3', 'jane', 'joe', 800), (422, {'why': 'the payer has too little money'}))
    same(service.post('/cheques', 'k4', 'jane', 'closed', 100), (422, {'why': 'this account is closed'}))
    same((service.cents('jane'), service.cents('joe')), (700, 300))
    same(list(bank.transfers.values()), [300])
    wait_until('the notice', lambda: list(bank.notices.values()) == ['jane sent you 300 cents'])


def dies_when_the_bank_has_done_it(service, bank, path, key, payee):
    bank.may_answer.clear()
    bank.done.clear()
    body = json.dumps({'payer': 'jane', 'payee': payee, 'cents': 200})
    asked = subprocess.Popen(['curl', '-s', '-H', f'Idempotency-Key: {key}', '--json', body, f'127.0.0.1:{service.port}{path}'],
                             stdout=subprocess.DEVNULL)
    check(bank.done.wait(WAIT_S), 'the bank was not called')
    service.kill()
    asked.wait(WAIT_S)
    bank.may_answer.set()
    service.start()


def a_transfer_goes_on_if_the_server_dies(service, bank):
    dies_when_the_bank_has_done_it(service, bank, '/transfers', 'k5', 'joe')
    wait_until('the transfer', lambda: service.post('/transfers', 'k5', 'jane', 'joe', 200)[0] == 201)
    same(list(bank.transfers.values()), [300, 200])
    same((service.cents('jane'), service.cents('joe')), (500, 500))


def a_cheque_is_printed_once_if_the_server_dies(service, bank):
    dies_when_the_bank_has_done_it(service, bank, '/cheques', 'k6', 'anna')
    # However often it is repeated: it waits for a person, who asks the bank and says how it ended.
    wait_until('the attention list', lambda: 'k6' in service.command('attention', 'list'))
    status, problem = service.post('/cheques', 'k6', 'jane', 'anna', 200)
    same((status, problem['type']), (502, '/errors/needs-attention'))
    same(bank.cheques, [200])
    same(service.cents('jane'), 300)
    told = service.command('attention', 'settle', '--key', 'k6', '--account', 'anonymous', '--as', 'happened',
                           '--result', 'Accepted', '--value', '{"reference": "c1"}', '--dry-run')
    check('"state":"paid","reference":"c1"' in told, told)


def build(place, check_call):
    """The folder of the programs."""
    place.install()
    folder = place.fresh('transfers')
    check_call('cmake', '-S', PROJECT, '-B', folder, '-G', 'Ninja', '-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Wshadow -Werror',
               f'-DCMAKE_PREFIX_PATH={place.installed}')
    check_call('cmake', '--build', folder)
    return folder


def lines_of_the_service():
    counted = 0
    for name in os.listdir(PROJECT):
        if name not in ('README.md', 'transfers_test.cpp'):
            with open(os.path.join(PROJECT, name), encoding='utf-8') as file:
                counted += len(file.read().splitlines())
    return counted


def run(folder, database):
    with open(os.path.join(folder, 'log'), 'ab') as log, Bank() as bank, \
            Transfers(os.path.join(folder, 'transfers'), database, bank, log) as service:
        pays_once_and_gives_back(service, bank)
        a_transfer_goes_on_if_the_server_dies(service, bank)
        if database.startswith('sqlite:'):   # On PostgreSQL a call that may not be repeated keeps its lease of 30 s.
            a_cheque_is_printed_once_if_the_server_dies(service, bank)


def run_on_postgres(folder):
    with Cluster() as cluster:
        run(folder, cluster.url())
