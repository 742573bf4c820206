"""tools/check_events finds violations of its rules, and none in this project."""
import os
import tempfile
import unittest

from check_error_pages_test import HERE, load

events = load('check_events')

ROW = '| `gone` | warning | `queue`, `count` | Wait. |\n'
CALL = 'log::limited_warning("gone", name, {{"queue", name}, {"count", count(1)}});\n'


class Events(unittest.TestCase):
    def findings(self, source, page, path='src/a.cpp'):
        with tempfile.TemporaryDirectory() as root:
            for name, text in ((path, source), (events.PAGE, page)):
                os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                    file.write(text)
            return list(events.findings(root))

    def test_an_event_with_its_row_has_no_finding(self):
        self.assertEqual(self.findings(CALL, ROW), [])

    def test_an_event_without_a_row_is_found_with_its_line(self):
        self.assertIn('src/a.cpp:2: other has no row', self.findings(CALL + 'pawl::log::error(\n    "other"\n);\n', ROW)[0])

    def test_a_row_without_an_event_is_found(self):
        self.assertIn('no source logs other', self.findings(CALL, ROW + '| `other` | info | | Nothing. |\n')[0])

    def test_another_level_or_other_fields_are_found(self):
        self.assertIn('as warning', self.findings(CALL, ROW.replace('warning', 'error, alert'))[0])
        self.assertIn('count, queue', self.findings(CALL, ROW.replace(', `count`', ''))[0])

    def test_warnings_and_alerts_are_events_too(self):
        for source in ('return base::Warning{\n    "other",', 'on_warning({.event = "other", .code = ""});',
                       'constexpr std::string_view event = "other";', 'warn(\n    "other",', 'on_warning(\n    {"other",',
                       'constexpr std::array alert_events{"gone", "other"};'):
            self.assertIn('other has no row', self.findings(CALL + source, ROW)[0], source)

    def test_events_of_tests_do_not_count(self):
        self.assertIn('no source', self.findings(CALL, ROW, 'src/a_test.cpp')[0])

    def test_this_project_has_no_finding(self):
        self.assertEqual(list(events.findings(os.path.dirname(HERE))), [])


if __name__ == '__main__':
    unittest.main()
