"""A world of real processes around Payouts: its server, an OpenSSH server, and the bank behind that."""
import json
import os
import shutil
import subprocess
import tempfile
import time

from file_bank import Bank
from phone import Phone
from ports import free_port
from sftp_server import SftpServer
from stores import STORES, NoTables
from world import KILLED, NotSo, World, check, check_equal, end, wait_until

SLOW = float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))
IBANS = ('GB29NWBK60161331926819', 'NO9386011117947', 'DE89370400440532013000')
SEPA = {'iso20022': {'debtor_name': 'Rocket Rides', 'debtor_account': 'DE89370400440532013000', 'currency': 'EUR'}}
ISO = {'iso20022': SEPA['iso20022'] | {'characters': 'xml'}}
NACHA = {'nacha': {'destination': '091000019', 'destination_name': 'The bank', 'origin': '1234567890', 'origin_name': 'Rocket Rides',
                   'company_name': 'Rocket Rides', 'company_id': '1234567890', 'description': 'PAYOUT'}}
TRIES_MAX = 200


class PayoutsWorld:
    """As a context manager it ends all of its processes. `deaths` counts those of the server."""

    def __init__(self, bin_folder, form=None, data=None, bank_folder=None, **settings):
        self.program = os.path.join(os.path.abspath(bin_folder), 'payouts')
        self.folder = tempfile.mkdtemp(prefix='pawl-payouts-')
        self.data = data or self.folder
        self.cluster = None
        self.port = free_port()
        self.store = STORES[World.database](self)
        self.sftp = SftpServer(bank_folder or os.path.join(self.folder, 'bank'))
        self.bank = Bank(self.sftp.folder)
        self.server, self.faults, self.deaths = None, [], 0
        self.host_key, self.sftp_port = self.sftp.host_key, self.sftp.port
        self.form, self.sftp_settings, self.settings = form or ISO, settings.pop('sftp', {}), settings
        self.keys = {}   # Of each payout that was accepted: its key to its id.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.server)
        self.sftp.stop()
        self.store.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_settings(self):
        path = os.path.join(self.folder, 'settings.json')
        sftp = {'host': '127.0.0.1', 'port': self.sftp_port, 'user': self.sftp.user, 'host_keys': [self.host_key],
                'key_file': self.sftp.user_key, 'inbox': self.bank.inbox, 'archive': self.bank.archive,
                'outbox': self.bank.outbox, 'timeout_ms': int(2000 * SLOW)} | self.sftp_settings
        settings = {'sftp': sftp, 'cut_off': '0 0 1 1 *', 'fetch': '0 0 1 1 *', 'execution_in_days': 1,
                    'lease_ms': int(3000 * SLOW), 'retry_ms': [100] * 20,
                    'clients': [{'token': 'shop', 'account': 'shop'}, {'token': 'ops', 'account': 'ops', 'is_operator': True}]}
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(settings | self.form | self.settings, file)
        os.chmod(path, 0o600)
        return path

    # The server.

    def start(self, fault_log=None):
        """Starts it, with the next of `faults`; again, if that kills it before it answers."""
        while True:
            environment = os.environ | {'PAYOUTS_SETTINGS': self.write_settings()}
            if self.faults:
                environment['PAWL_FAULT_AT'] = self.faults.pop(0)
            if fault_log:
                environment['PAWL_FAULT_LOG'] = fault_log
            with open(os.path.join(self.folder, 'serve.log'), 'ab') as log:
                self.server = subprocess.Popen([self.program, 'serve', '--listen', f'127.0.0.1:{self.port}', '--database',
                                                self.store.url], stdout=log, stderr=log, env=environment)
            wait_until('Payouts', lambda: self.dead() or self.answers())
            if not self.dead():
                return
            self.note_death()

    def dead(self):
        return self.server.poll() is not None

    def note_death(self):
        check_equal(self.server.returncode, KILLED, f'how Payouts ended: {self.log()[-800:]}')
        self.deaths += 1

    def revive(self):
        if self.dead():
            self.note_death()
            self.start()

    def kill(self):
        self.server.kill()
        self.server.wait()

    def stop(self):
        self.server.terminate()
        check_equal(self.server.wait(30 * SLOW), 0, f'the exit code; the log: {self.log()[-800:]}')

    def answers(self):
        try:
            return Phone(self.port, 'shop', timeout=2).get('/livez').status == 200
        except OSError:
            return False

    def log(self):
        with open(os.path.join(self.folder, 'serve.log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    # Requests, each repeated under its key over any number of deaths.

    def ask(self, token, path, body, key):
        for _ in range(TRIES_MAX):
            self.revive()
            try:
                answer = Phone(self.port, token, timeout=10 * SLOW).send('POST', path, body, key=key)
            except OSError:
                continue
            if answer.status not in (409, 500, 502, 503):
                return answer
            time.sleep(0.02)
        raise NotSo(f'{path} has no final answer: {answer}')

    def pay(self, key, cents=1000, **changes):
        body = {'amount': cents, 'currency': 'EUR', 'creditor_name': 'Jané & Söhne', 'creditor_account': IBANS[cents % 3],
                'reference': f'Rides {key}'} | changes
        answer = self.ask('shop', '/payouts', {name: value for name, value in body.items() if value is not None}, key)
        if answer.status == 201:
            check_equal(self.keys.setdefault(key, answer.json['id']), answer.json['id'], f'the id of {key}')
        return answer

    def cut_off(self):
        check_equal(self.ask('ops', '/cut-offs', {}, None).status, 202, 'a cut-off')

    def fetch(self):
        check_equal(self.ask('ops', '/report-fetches', {}, None).status, 202, 'a fetch')

    # What happened.

    def wait(self, what, condition, limit_s=None):
        """As wait_until, but restarts the server after deaths."""
        def true_now():
            self.revive()
            try:
                return condition()
            except (OSError, NoTables):
                return False
        try:
            return wait_until(what, true_now, limit_s and limit_s * SLOW)
        except NotSo as error:
            raise NotSo(f'{error}; states {self.states()}; reports {self.shown("reports")}; the log: {self.log()[-1500:]}') from None

    def states(self):
        return dict(self.store.rows('SELECT state, count(*) AS n FROM payouts GROUP BY state'))

    def is_state(self, state, count):
        return self.states().get(state, 0) == count

    def count(self, table, where='1 = 1'):
        return self.store.rows(f'SELECT count(*) AS n FROM {table} WHERE {where}')[0][0]

    def shown(self, *words):
        """The lines of `payouts files`, `payouts reports` and others."""
        return [json.loads(line) for line in self.command(*words).splitlines()]

    def run_command(self, *words, **environment):
        return subprocess.run([self.program, *words, '--database', self.store.url], capture_output=True, text=True, timeout=60,
                              env=os.environ | {'PAYOUTS_SETTINGS': self.write_settings()} | environment, check=False)

    def command(self, *words):
        """What an operator's command prints."""
        done = self.run_command(*words)
        check_equal(done.returncode, 0, f'payouts {" ".join(words)}: {done.stderr}')
        return done.stdout

    def decide(self, *words):
        return json.loads(self.command(*words, '--reason', 'the bank says so', '--by', 'ann'))

    def send_all(self, limit_s=None):
        """A cut-off; returns what the bank booked, when nothing waits any more."""
        self.cut_off()
        self.wait('all files to be sent', self.all_sent, limit_s)
        return self.bank.take()

    def all_sent(self):
        return not self.states().get('collected') and self.all_out()

    def all_out(self):
        return self.count('bank_files', 'sent_at IS NULL') == 0

    def stopped(self, rule):
        """Waits until a report is stopped by this rule, and returns it."""
        return self.wait(f'a report stopped by "{rule}"', lambda: next(
            (one for one in self.shown('reports') if one['state'] == 'stopped' and rule in one['rule']), None))

    def check_all(self, repeats=None, temporary_max=0):
        """Every accepted payout is booked once by the bank, from one file; the files are those of the database."""
        self.bank.take()
        check_equal(len(self.bank.booked), len(self.keys), 'bookings at the bank')
        ids = {name for (name,) in self.store.rows('SELECT end_to_end_id FROM payouts')}
        check_equal(set(self.bank.booked), ids, 'their end-to-end ids')
        rows = self.store.rows('SELECT name, sha256 FROM bank_files ORDER BY number')
        check_equal(dict(rows), self.bank.files, 'the files, by name and hash')
        left = [name for name in os.listdir(self.bank.inbox) if name.endswith('.tmp')]
        check(len(left) <= temporary_max, f'temporary files that are left: {left}')
        if repeats is not None:
            check_equal(self.bank.repeats, repeats, 'files that the bank got again')
