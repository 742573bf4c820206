"""Prometheus scrapes a server, an alert of deploy/ fires with its labels and ends again, and no process is left."""
import http.server
import threading
import unittest

from ports import free_port
from prometheus import Prometheus
from stores import alive
from world import NotSo, wait_until

HEALTHY = 'pawl_build_info{version="1"} 1\npawl_attention{reason="in-doubt"} 0\npawl_ready 1\n'
WAITING = HEALTHY.replace('"in-doubt"} 0', '"in-doubt"} 2')


class Metrics:
    """A server of one text on /metrics; as a context manager it listens."""

    def __init__(self, text):
        self.text, metrics = text, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header('Content-Type', 'text/plain; version=0.0.4')
                self.end_headers()
                self.wfile.write(metrics.text.encode())

            def log_message(self, *_):
                """Silent."""

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', free_port()), Handler)
        self.address = '127.0.0.1:%d' % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class PrometheusTest(unittest.TestCase):
    def test_an_alert_fires_with_its_labels_and_ends_with_its_cause(self):
        with Metrics(HEALTHY) as metrics, Prometheus({'pawl-rides': [metrics.address]}) as watch:
            wait_until('a scrape', lambda: watch.query('pawl_attention'))
            self.assertEqual(watch.query('up'), [({'__name__': 'up', 'job': 'pawl-rides', 'instance': metrics.address}, 1.0)])
            self.assertEqual(watch.alerts(), {})

            metrics.text = WAITING
            wait_until('the alert', watch.alerts)
            self.assertEqual(watch.alerts(), {'PawlAttention': [{'job': 'pawl-rides', 'reason': 'in-doubt', 'severity': 'page'}]})
            self.assertEqual(watch.query('2 * max(pawl_attention)'), [({}, 4.0)])

            metrics.text = HEALTHY
            wait_until('its end', lambda: not watch.alerts())

    def test_it_ends_with_its_block_also_if_that_fails(self):
        with self.assertRaises(NotSo):
            with Prometheus({}) as watch:
                raise NotSo('planted')
        self.assertFalse(alive(watch.process.pid))

    def test_an_expression_that_does_not_parse_is_an_error_with_its_reason(self):
        with Prometheus({}) as watch:
            with self.assertRaisesRegex(RuntimeError, 'parse error'):
                watch.query('sum(')


if __name__ == '__main__':
    unittest.main()
