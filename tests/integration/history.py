"""The requests and answers of a run's clients, ordered by time: the input of history_check.py.

Three kinds of events, one JSON object per line of a file:
  call      a request with an Idempotency-Key: its sender (client), its key (scope, key), its content (request: a hash of
            method, path and body; makes: the kind of effect that a success has), when it began and ended by the
            monotonic clock in ns, and the answer: status, type of a problem, hash of the body, headers, effect (the id
            that the answer names). Without an answer `ended` and all of these are null; hung_up: the client did not wait
  effect    a booking of the provider: kind, id, and its key
  mark      an event that the rules depend on: "faults-end", "retention-over" (a test made keys old)
"""
import hashlib
import json
import threading
import time

KEPT_HEADERS = ('idempotent-replayed', 'idempotency-expires', 'content-type', 'location', 'retry-after')


def digest(*parts):
    text = '\0'.join(part if isinstance(part, str) else part.decode('latin-1') for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class History:
    """Thread-safe. A call is recorded at its start, as it may have an effect but no answer."""

    def __init__(self):
        self.events = []
        self.lock = threading.Lock()

    def began(self, token, key, method, path, body, hung_up=False):
        """Returns the call, for ended(). A key belongs to the account; that of a refund or a pick-up belongs to the tenant."""
        refund = path.endswith('/refund')
        of_tenant = refund or path.endswith('/pick-up')
        call = {'event': 'call', 'client': threading.current_thread().name, 'scope': 'tenant' if of_tenant else ACCOUNTS.get(token, token),
                'key': key, 'request': digest(method, path, canonical(body)), 'makes': 'refund' if refund else 'charge',
                'began': time.monotonic_ns(), 'ended': None, 'status': None, 'hung_up': hung_up}
        with self.lock:
            self.events.append(call)
        return call

    @staticmethod
    def ended(call, answer):
        call |= {'type': answer.type, 'body': digest(answer.body), 'effect': effect_of(answer, call['makes']),
                 'headers': {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers},
                 'status': answer.status, 'ended': time.monotonic_ns()}

    def mark(self, name):
        with self.lock:
            self.events.append({'event': 'mark', 'name': name, 'at': time.monotonic_ns()})

    def with_effects(self, ledger):
        """All events, including the provider's bookings from its ledger. A capture takes the money of its charge."""
        with self.lock:
            events = [dict(event) for event in self.events]
        kinds = {'charge': 'charge', 'capture': 'charge', 'refund': 'refund'}
        return events + [{'event': 'effect', 'kind': kinds[line['kind']], 'id': line['id'], 'key': line['key']}
                         for line in ledger if line['kind'] in kinds]


ACCOUNTS = {'test_renewed': 'test_jane'}   # Another token of the same account.


def canonical(body):
    """Two spellings of the same JSON are the same request."""
    try:
        return json.dumps(json.loads(body), sort_keys=True)
    except (TypeError, ValueError):
        return body or ''


def effect_of(answer, kind):
    """The charge or refund that a success names."""
    if not 200 <= answer.status < 300:
        return None
    try:
        return answer.json.get(kind)
    except (ValueError, AttributeError):
        return None


def save(path, events):
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(event) + '\n' for event in events)


def load(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file if line.strip()]
