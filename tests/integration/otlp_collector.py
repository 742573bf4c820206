"""A collector of OTLP over HTTP, in its JSON form, that reads as strictly as the specification is."""
import http.server
import json
import re
import threading
import time

HEX = re.compile(r'[0-9a-f]+')
SPAN = {'traceId', 'spanId', 'traceState', 'flags', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes',
        'links', 'status'}
KINDS = {1: 'internal', 2: 'server', 3: 'client', 4: 'producer', 5: 'consumer'}
NANOSECONDS = 10**9


class Malformed(Exception):
    """What is wrong with a request."""


def want(truth, what):
    if not truth:
        raise Malformed(what)


def members(value, known, needed=()):
    want(isinstance(value, dict), f'no object: {value!r}')
    want(set(value) <= set(known), f'unknown members: {set(value) - set(known)}')
    want(set(needed) <= set(value), f'members that are missing: {set(needed) - set(value)}')
    return value


def identifier(text, digits):
    want(isinstance(text, str) and len(text) == digits and HEX.fullmatch(text) and set(text) != {'0'}, f'no id of {digits} digits: {text!r}')
    return text


def time_of(text):
    want(isinstance(text, str) and text.isdigit(), f'no time: {text!r}')
    want(abs(int(text) - time.time_ns()) < 600 * NANOSECONDS, f'a time that is not near now: {text}')
    return int(text)


def attributes_of(listed):
    found = {}
    for one in listed:
        members(one, ('key', 'value'), ('key', 'value'))
        [(kind, value)] = members(one['value'], ('stringValue', 'intValue')).items()
        want(isinstance(value, str) and one['key'] not in found, f'attribute {one}')
        found[one['key']] = int(value) if kind == 'intValue' else value
    return found


class Span:
    def __init__(self, sent, service):
        members(sent, SPAN, ('traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'))
        self.service = service
        self.trace, self.id = identifier(sent['traceId'], 32), identifier(sent['spanId'], 16)
        self.parent = identifier(sent['parentSpanId'], 16) if 'parentSpanId' in sent else None
        self.state, self.name, self.kind = sent.get('traceState', ''), sent['name'], KINDS[sent['kind']]
        self.start, self.end = time_of(sent['startTimeUnixNano']), time_of(sent['endTimeUnixNano'])
        want(self.start <= self.end, f'{self.name} ends before it begins')
        want(sent['flags'] == 1, f'{self.name} is not sampled')
        self.attributes = attributes_of(sent.get('attributes', ()))
        self.links = [(identifier(link['traceId'], 32), identifier(link['spanId'], 16)) for link in sent.get('links', ())]
        self.failed = members(sent.get('status', {}), ('code', 'message')).get('code') == 2

    def __repr__(self):
        return f'<{self.name} {self.id} in {self.parent or self.trace} {self.attributes}>'


def spans_of(body):
    """All spans of an ExportTraceServiceRequest."""
    found = []
    for of_resource in members(json.loads(body), ('resourceSpans',), ('resourceSpans',))['resourceSpans']:
        members(of_resource, ('resource', 'scopeSpans'), ('resource', 'scopeSpans'))
        service = attributes_of(of_resource['resource']['attributes'])['service.name']
        for of_scope in of_resource['scopeSpans']:
            members(of_scope, ('scope', 'spans'), ('scope', 'spans'))
            found += [Span(sent, service) for sent in of_scope['spans']]
    return found


class Collector:
    """Listens from its begin; a case may let it refuse, hang, or be away."""

    def __init__(self, port):
        self.port, self.url = port, f'http://127.0.0.1:{port}'
        self.status, self.delay_s = 200, 0
        self.requests, self.refused, self.problems, self.found = [], 0, [], []
        self.lock = threading.Lock()
        self.server = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):   # The name that http.server wants.
                body = self.rfile.read(int(self.headers['Content-Length']))
                status = collector.take(self.path, dict(self.headers), body)
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', '2')
                self.end_headers()
                self.wfile.write(b'{}')

            def log_message(self, *_):
                """Nobody reads it."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A client that was killed."""

        self.server = Server(('127.0.0.1', self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def take(self, path, headers, body):
        if self.delay_s:
            time.sleep(self.delay_s)
        with self.lock:
            if self.status != 200:
                self.refused += 1
                return self.status
            self.requests.append((headers, body))
            try:
                want(path == '/v1/traces' and headers.get('Content-Type') == 'application/json', f'{path} {headers}')
                self.found += spans_of(body)
            except Exception as wrong:   # Any error of the decoder is a fault of the request.
                self.problems.append(f'{type(wrong).__name__}: {wrong}: {body[:2000]!r}')
            return 200

    def spans(self, **attributes):
        """Those that have these attributes; `name` is the span's."""
        name = attributes.pop('name', None)
        wanted = {key.replace('__', '.'): value for key, value in attributes.items()}.items()
        with self.lock:
            return [span for span in self.found if (name is None or span.name == name) and wanted <= span.attributes.items()]
