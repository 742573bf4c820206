"""One Chromium for all cases of a run; each case has its own browsers (with own cookies) and tabs."""
import atexit
import concurrent.futures
import itertools
import json
import os
import subprocess
import threading

import node
from world import WAIT_S, NotSo


class Chromium:
    """The process of tests/node/chromium.mjs. Thread-safe."""
    _one, _lock = None, threading.Lock()

    @classmethod
    def shared(cls):
        with cls._lock:
            if cls._one is None:
                cls._one = cls()
            return cls._one

    def __init__(self):
        folder = node.install()
        self.process = subprocess.Popen(['node', os.path.join(folder, 'chromium.mjs'), node.CHROMIUM, str(int(3 * WAIT_S * 1000))],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.numbers, self.waiting, self.writing = itertools.count(), {}, threading.Lock()
        atexit.register(self.close)
        ready = self.waiting[-1] = concurrent.futures.Future()
        threading.Thread(target=self._read, daemon=True).start()
        self.version = ready.result(8 * WAIT_S)

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            waiting = self.waiting.pop(answer['id'])
            if 'error' in answer:
                waiting.set_exception(NotSo(answer['error']))
            else:
                waiting.set_result(answer['value'])
        for waiting in list(self.waiting.values()):
            waiting.set_exception(NotSo(f'the driver of Chromium has ended with {self.process.wait()}'))

    def ask(self, verb, **given):
        waiting = concurrent.futures.Future()
        with self.writing:
            number = next(self.numbers)
            self.waiting[number] = waiting
            self.process.stdin.write(json.dumps({'id': number, 'do': verb} | given) + '\n')
            self.process.stdin.flush()
        return waiting.result(4 * WAIT_S)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Browser:
    """A browser without cookies, as a context manager."""
    names = itertools.count()

    def __init__(self, site, javascript=True, scheme='light', width=1280):
        self.name, self.site = f'browser-{next(self.names)}', site
        self.chromium = Chromium.shared()
        self.chromium.ask('open', context=self.name, javascript=javascript, site=site, scheme=scheme, width=width)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.chromium.ask('close', context=self.name)

    def tab(self, path=None):
        return Tab(self, path)

    def cookies(self):
        return self.chromium.ask('cookies', context=self.name)


class Tab:
    def __init__(self, browser, path):
        self.browser, self.name = browser, f'tab-{next(Browser.names)}'
        browser.chromium.ask('tab', context=browser.name, page=self.name)
        if path:
            self.go(path)

    def _ask(self, verb, **given):
        return self.browser.chromium.ask(verb, page=self.name, **given)

    def go(self, path):
        """The status."""
        return self._ask('go', path=path)

    def fill(self, **fields):
        self._ask('fill', fields=fields)

    def click(self, selector, times=1):
        """Clicks, and does not wait for the navigation."""
        self._ask('click', selector=selector, times=times)

    def reload(self):
        self._ask('reload')

    def back(self):
        self._ask('back')

    def run(self, script):
        return self._ask('run', script=script)

    def html(self, content):
        self._ask('html', content=content)

    def count(self, selector):
        return self._ask('count', selector=selector)

    def attribute(self, selector, name):
        return self._ask('attribute', selector=selector, name=name)

    def text(self, selector='body'):
        return self._ask('text', selector=selector)

    def shows(self, heading):
        """Waits until the tab shows the heading; returns the address."""
        return self._ask('shows', heading=heading)

    def press(self, key):
        self._ask('press', key=key)

    def choose(self, selector, value):
        self._ask('choose', selector=selector, value=value)

    def axe(self):
        """The rules of axe-core that the page breaks; the tab needs JavaScript."""
        return self._ask('axe')

    def picture(self, path):
        """A screenshot."""
        self._ask('picture', path=path)

    @property
    def heading(self):
        return self._ask('heading')

    @property
    def url(self):
        return self._ask('url')

    @property
    def answers(self):
        return self._ask('answers')

    @property
    def console(self):
        return self._ask('console')
