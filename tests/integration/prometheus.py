"""Debian's Prometheus with the rules of deploy/: it scrapes given servers each second, and says which alerts fire.

    with Prometheus({'pawl-rides': ['127.0.0.1:9180']}) as watch:
        wait_until('the alert', lambda: 'PawlStoreDown' in watch.alerts())
"""
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from ports import free_port

PROGRAM = '/usr/bin/prometheus'
RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'deploy', 'prometheus', 'pawl.rules.yml')
START_S = 30 * float(os.environ.get('PAWL_TEST_SLOWNESS', '1'))


class Prometheus:
    """Listens on loopback, and keeps its data in a folder of its own; as a context manager it starts, and ends itself."""

    def __init__(self, targets):
        """targets: {name of the job, such as 'pawl-rides': addresses of /metrics, as 'host:port'}."""
        self.folder = tempfile.mkdtemp(prefix='pawl-prometheus-')
        self.port = free_port()
        self.process = None
        with open(RULES, encoding='utf-8') as file:   # A group's interval replaces the global one.
            rules = file.read().replace('interval: 5s', 'interval: 1s').replace('interval: 2m', 'interval: 1s')
        self._write('rules.yml', rules)
        self._write('prometheus.yml', json.dumps({   # JSON is YAML.
            'global': {'scrape_interval': '1s', 'scrape_timeout': '1s', 'evaluation_interval': '1s'},
            'rule_files': ['rules.yml'],
            'scrape_configs': [{'job_name': job, 'static_configs': [{'targets': list(addresses)}]} for job, addresses in targets.items()]}))

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def _start(self):
        """Returns when it answers."""
        if not os.access(PROGRAM, os.X_OK):
            raise RuntimeError(f'{PROGRAM} is missing: run tools/install test')
        with open(os.path.join(self.folder, 'log'), 'ab') as log:
            self.process = subprocess.Popen(
                ['setpriv', '--pdeathsig=KILL', '--', PROGRAM, f'--config.file={self.folder}/prometheus.yml',
                 f'--storage.tsdb.path={self.folder}/data', f'--web.listen-address=127.0.0.1:{self.port}'], stdout=log, stderr=log)
        end = time.monotonic() + START_S
        while not self._ready():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f'Prometheus does not start: {self.log()[-2000:]}')
            time.sleep(0.05)

    def _ready(self):
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/-/ready', timeout=1) as answer:
                return answer.status == 200
        except OSError:
            return False

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(os.path.join(self.folder, 'log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def _ask(self, path, **parameters):
        url = f'http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}'
        try:
            with urllib.request.urlopen(url, timeout=START_S) as answer:
                return json.load(answer)['data']
        except urllib.error.HTTPError as error:
            raise RuntimeError(f'Prometheus refuses {path}: {error.read().decode()}') from error

    def alerts(self):
        """The firing alerts: {name: [labels of each]}."""
        firing = {}
        for alert in self._ask('alerts')['alerts']:
            if alert['state'] == 'firing':
                labels = dict(alert['labels'])
                firing.setdefault(labels.pop('alertname'), []).append(labels)
        return firing

    def query(self, expr):
        """The instant vector of an expression: [(labels, number)]. Those of a scalar are empty."""
        data = self._ask('query', query=expr)
        if data['resultType'] == 'scalar':
            return [({}, float(data['result'][1]))]
        return [(each['metric'], float(each['value'][1])) for each in data['result']]
