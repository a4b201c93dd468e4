"""What the tests of the served API share: a store with records of the simulator, and a server of it."""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
from simtest import ROOT, equal  # noqa: E402

PATRA = pathlib.Path(os.environ.get('PATRA_BUILD', ROOT / 'build')) / 'patra'
IS_SLOW = 'asan' in str(PATRA)


class Store:
    """A store with a source in it, and records harvested from the simulator."""

    def __init__(self, sim=None):
        self.folder = tempfile.TemporaryDirectory(prefix='patra-api-test.')
        self.env = {**os.environ, 'PATRA_STORE': f'sqlite:{self.folder.name}/patra.db',
                    'PATRA_CONTACT': 'test@example.org'}
        self.patra('init')
        base = f'{sim.http}/crossref' if sim else 'http://127.0.0.1:1/crossref'
        self.patra('source', 'apply', 'sources/crossref.yaml', '--set', f'http.base_url={base}', '--set',
                   'http.allow_plain_http=true', '--set', 'rate.per_second=1000', '--set', 'rate.provider_limit=1000',
                   '--set', 'rate.burst=100')
        if sim:
            self.patra('harvest', 'crossref', '--from', '2026-03-01', '--to', '2026-03-03')
        self.reads = self.patra('token', 'new', 'reader').strip()
        self.operates = self.patra('token', 'new', 'ops', '--scope', 'operate').strip()

    def patra(self, *words, codes=(0,)):
        done = subprocess.run([PATRA, *words], cwd=ROOT, env=self.env, capture_output=True, timeout=120)
        assert done.returncode in codes, (f'patra {" ".join(words)}: {done.returncode} {done.stderr.decode()}')
        return done.stdout.decode()


class Server:
    """`patra serve --role api` on a free port; ends with the context, and must end well."""

    def __init__(self, store, *options, roles='api'):
        self.store = store
        self.log = pathlib.Path(store.folder.name) / f'log.{time.monotonic_ns()}'
        with open(self.log, 'wb') as out:
            self.process = subprocess.Popen(
                [PATRA, 'serve', '--role', roles, '--listen', '127.0.0.1:0', '--log-format', 'json', *options], cwd=ROOT,
                env=store.env, stderr=out, stdout=out)
        self.port = None
        until = time.monotonic() + 60
        while self.port is None:
            for line in self.log.read_text().splitlines():
                event = json.loads(line)
                if event.get('event') == 'listening':
                    self.port = event['port']
            assert self.process.poll() is None and time.monotonic() < until, self.log.read_text()
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        equal(self.process.wait(60), 0, 'exit code after SIGTERM')

    def ask(self, method, target, token=None, headers=None, body=None, tls=None, source='127.0.0.1'):
        wire = (http.client.HTTPSConnection('localhost', self.port, timeout=60, context=tls) if tls else
                http.client.HTTPConnection('127.0.0.1', self.port, timeout=60, source_address=(source, 0)))
        sent = dict(headers or {})
        if token:
            sent['Authorization'] = f'Bearer {token}'
        if body is not None:
            body = json.dumps(body)
            sent.setdefault('Content-Type', 'application/json')
        wire.request(method, target, body=body, headers=sent)
        reply = wire.getresponse()
        reply.text = reply.read().decode()
        wire.close()
        return reply

    def get(self, target, **how):
        return self.ask('GET', target, **how)

    def post(self, target, body=None, **how):
        return self.ask('POST', target, body=body if body is not None else {}, **how)

    def memory(self):
        for line in pathlib.Path(f'/proc/{self.process.pid}/status').read_text().splitlines():
            if line.startswith('VmRSS'):
                return int(line.split()[1])
