"""tools/check_deploy finds violations of its rules, and none in this project; promtool accepts the rules, and their tests pass."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PROMETHEUS = os.path.join(ROOT, 'deploy', 'prometheus')


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


deploy = load('check_deploy')
STORE_DOWN = f'{deploy.PAGES}/pawl_store_down.md'


class Copy:
    """A copy of what the check reads; as a context manager it removes itself."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        os.mkdir(os.path.join(self.root, 'docs'))
        for path in ('deploy', deploy.PAGES):
            shutil.copytree(os.path.join(ROOT, path), os.path.join(self.root, path))
        for path in (deploy.METRICS, deploy.COMMANDS):
            shutil.copy(os.path.join(ROOT, path), os.path.join(self.root, path))
        for path in ('src', 'apps'):
            os.symlink(os.path.join(ROOT, path), os.path.join(self.root, path))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def replace(self, path, old, new):
        text = deploy.read(self.root, path)
        assert old in text, f'{path} has no {old!r}'
        self.write(path, text.replace(old, new, 1))

    def write(self, path, text):
        with open(os.path.join(self.root, path), 'w', encoding='utf-8') as file:
            file.write(text)


class CheckDeploy(unittest.TestCase):
    def found(self, path, old, new, check=deploy.check_metrics):
        with Copy() as copy:
            copy.replace(path, old, new)
            return '\n'.join(check(copy.root))

    def test_this_project_has_no_finding(self):
        self.assertEqual(list(deploy.findings(ROOT)), [])

    def test_a_metric_that_is_not_in_the_list_is_found(self):
        self.assertIn('PawlKeysStuck: pawl_keys_stick is not in docs/metrics.md',
                      self.found(deploy.RULES, '(pawl_keys_stuck)', '(pawl_keys_stick)'))
        self.assertIn('Open keys: pawl_open is not in docs/metrics.md', self.found(deploy.DASHBOARD, '(pawl_keys_open{', '(pawl_open{'))
        self.assertIn('PawlStoreDown: pawl_store_up is not in', self.found(deploy.METRICS, '| `pawl_store_up` |', '| `pawl_store` |'))

    def test_a_histogram_is_known_by_the_names_of_its_series_only(self):
        self.assertIn('pawl_call_duration_seconds is not in',
                      self.found(deploy.RULES, 'pawl_call_duration_seconds_sum{', 'pawl_call_duration_seconds{'))

    def test_a_label_that_a_metric_does_not_have_is_found(self):
        self.assertIn('PawlTakeovers: pawl_attempt_events_total has no label kind',
                      self.found(deploy.RULES, '{event="fenced"}', '{kind="fenced"}'))
        self.assertIn('PawlDeadJobs: none of its metrics has the label name',
                      self.found(deploy.RULES, 'max by (job, queue) (pawl_dead_jobs)', 'max by (job, name) (pawl_dead_jobs)'))
        self.assertIn('PawlDeadJobs: none of its metrics has the label name',
                      self.found(deploy.RULES, 'dead jobs in {{ $labels.queue }}', '{{ $labels.name }}'))

    def test_an_alert_without_its_page_and_a_page_without_its_alert_are_found(self):
        found = self.found(deploy.RULES, '- alert: PawlStoreDown\n', '- alert: PawlStoreAway\n', deploy.check_alerts)
        self.assertIn('PawlStoreAway has no page: write docs/runbook/pawl_store_away.md', found)
        self.assertIn('docs/runbook/pawl_store_down.md: it belongs to no alert', found)
        self.assertIn('its runbook_url must be /docs/runbook/pawl_store_away.md', found)

    def test_a_checklist_that_the_index_does_not_link_is_found(self):
        self.assertIn('growth.md: it belongs to no alert',
                      self.found(f'{deploy.PAGES}/README.md', '(growth.md)', '(backup.md)', deploy.check_alerts))

    def test_the_index_says_the_severity_of_the_rule(self):
        self.assertIn('the line of PawlStoreDown, with its severity page',
                      self.found(f'{deploy.PAGES}/README.md', '(pawl_store_down.md) | page', '(pawl_store_down.md) | ticket',
                                 deploy.check_alerts))

    def test_an_alert_without_a_description_or_a_known_severity_is_found(self):
        self.assertIn('PawlAttention: it needs summary',
                      self.found(deploy.RULES, '          description: "On the', '          text: "On the', deploy.check_alerts))
        self.assertIn('PawlAttention: its severity', self.found(deploy.RULES, '{severity: page}', '{severity: loud}', deploy.check_alerts))

    def test_a_page_of_another_alert_or_without_a_part_is_found(self):
        self.assertIn('must begin with "# PawlStoreDown: "', self.found(STORE_DOWN, '# PawlStoreDown', '# PawlStoreUp', deploy.check_alerts))
        for part in deploy.PARTS:
            self.assertIn('must have the parts', self.found(STORE_DOWN, part, '## Else', deploy.check_alerts))

    def test_a_command_or_an_option_that_does_not_exist_is_found(self):
        for wrong in ('keys shew 17', 'mirgate', 'keys'):
            with self.subTest(wrong):
                found = self.found(STORE_DOWN, '`rides keys list --status open`', f'`rides {wrong}`', deploy.check_commands)
                self.assertEqual('there is no command' in found, wrong != 'keys', found)
        self.assertIn('has the option --state-of',
                      self.found(STORE_DOWN, '`rides keys list --status open`', '`rides keys list --state-of open`', deploy.check_commands))
        self.assertIn('no command "keys shew"',
                      self.found(f'{deploy.PAGES}/pawl_attention.md', '    rides keys show 17', '    rides keys shew 17',
                                 deploy.check_commands))

    def test_panels_with_one_id_or_one_place_are_found(self):
        self.assertIn('the id 101 is used twice', self.found(deploy.DASHBOARD, '"id": 102', '"id": 101', deploy.check_dashboard))
        self.assertIn('Latency: it overlaps',
                      self.found(deploy.DASHBOARD, '"gridPos": {"x": 6, "y": 7,', '"gridPos": {"x": 5, "y": 7,', deploy.check_dashboard))
        self.assertIn('must be the variable',
                      self.found(deploy.DASHBOARD, '"uid": "${datasource}"}, "gridPos"', '"uid": "mine"}, "gridPos"', deploy.check_dashboard))

    def test_a_legend_that_gives_two_series_one_name_is_found(self):
        for old, new, finding in (
                (' {{point}} {{where}}"', ' {{where}}"', 'Alerts that fire: its legend needs the label point'),
                ('"legendFormat": "{{queue}} {{state}}"', '"legendFormat": "{{queue}}"', 'Jobs by state: its legend needs the label state'),
                ('"showLegend": true, ', '', 'Alerts that fire: its legend needs the field showLegend')):
            with self.subTest(new):
                self.assertIn(finding, self.found(deploy.DASHBOARD, old, new, deploy.check_queries))

    def test_a_gauge_without_a_window_is_found(self):
        self.assertIn('Ready: pawl_ready needs a window',
                      self.found(deploy.DASHBOARD, 'min_over_time(pawl_ready{job=\\"$job\\"}[$__rate_interval])', 'pawl_ready{job=\\"$job\\"}',
                                 deploy.check_queries))


class Promtool(unittest.TestCase):
    def promtool(self, *arguments):
        program = shutil.which('promtool')
        self.assertIsNotNone(program, 'promtool is missing, of the package prometheus: run tools/install test')
        ended = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def test_it_reads_as_many_rules_as_the_check_does(self):
        said = self.promtool('check', 'rules', os.path.join(ROOT, deploy.RULES))
        rules = deploy.rules_of(deploy.read(ROOT, deploy.RULES))
        self.assertEqual(int(re.search(r'(\d+) rules found', said).group(1)), len(rules))

    def test_it_accepts_the_example_of_a_configuration(self):
        self.promtool('check', 'config', os.path.join(PROMETHEUS, 'prometheus.yml'))

    def test_it_parses_each_expression_of_the_dashboard(self):
        texts = [each.text.replace('$__rate_interval', '1m').replace('$job', 'pawl') for each in deploy.expressions(ROOT)
                 if each.path == deploy.DASHBOARD]
        rules = {'groups': [{'name': 'dashboard', 'rules': [{'record': f'panel:{number}', 'expr': text} for number, text in enumerate(texts)]}]}
        with tempfile.NamedTemporaryFile('w', suffix='.yml') as file:
            json.dump(rules, file)   # JSON is YAML.
            file.flush()
            self.assertIn(f'{len(texts)} rules found', self.promtool('check', 'rules', file.name))
        self.assertGreater(len(texts), 30)

    def test_each_alert_fires_when_it_must_and_at_no_other_time(self):
        files = sorted(glob.glob(os.path.join(PROMETHEUS, 'tests', '*.yml')))
        self.assertEqual(self.promtool('test', 'rules', *files).count('SUCCESS'), len(files))

    def test_each_alert_has_a_case(self):
        cases = ''.join(deploy.read(ROOT, path) for path in glob.glob(os.path.join(PROMETHEUS, 'tests', '*.yml')))
        for rule in deploy.rules_of(deploy.read(ROOT, deploy.RULES)):
            if not rule.record:
                self.assertIn(f'alertname: {rule.name}\n        exp_alerts:', cases)


if __name__ == '__main__':
    unittest.main()
