"""A bank for the service in tests/packages/transfers: it books a transfer once for each key, and prints each cheque."""
import http.server
import json
import threading


class Bank:
    """As a context manager, a server on loopback. `done`: it has done something, and does not answer before it may."""

    def __init__(self):
        self.transfers, self.cheques, self.notices = {}, [], {}
        self.done, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()
        bank = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):   # pylint: disable=invalid-name
                asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                status, answer = bank.answer(self.path, self.headers.get('Idempotency-Key'), asked)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Says nothing."""

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """A killed client does not read its answer."""

        self.server = Server(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}'

    def answer(self, path, key, asked):
        if asked.get('payee') == 'closed':
            return 422, {'why': 'this account is closed', 'code': 17}
        if path == '/notices':
            self.notices.setdefault(key, asked['text'])
            return 201, {}
        if path == '/transfers':
            self.transfers.setdefault(key, asked['cents'])
            reference = f't{len(self.transfers)}'
        else:
            self.cheques.append(asked['cents'])
            reference = f'c{len(self.cheques)}'
        if not self.may_answer.is_set():
            self.done.set()
            self.may_answer.wait(20)
        return 201, {'reference': reference}

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.may_answer.set()
        self.server.shutdown()
        self.server.server_close()
