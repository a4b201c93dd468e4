"""What the simulator's tests share: a server on free ports, raw requests, checks that count.

A test is a function named test_*; run() runs them in the order of the file and prints the harness's closing
line. The binary is PATRA_BUILD/patra-sim.
"""
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path(os.environ.get('PATRA_BUILD', ROOT / 'build')) / 'patra-sim'
POLITE = 'patra-test/1 (mailto:test@example.org)'


class Sim:
    """A running simulator; ends with the context."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory(prefix='patra-sim-test.')
        ready = pathlib.Path(self.folder.name) / 'ready'
        self.process = subprocess.Popen([BINARY, 'serve', '--until-eof', '--ready-file', ready, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not ready.exists():
            if self.process.poll() is not None:
                raise AssertionError(f'patra-sim ended with {self.process.returncode}')
            time.sleep(0.01)
        words = ready.read_text().split()
        self.http = next(word for word in words if word.startswith('http://'))
        self.https = next((word for word in words if word.startswith('https://')), None)
        self.other = next((word[6:] for word in words if word.startswith('other=')), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        code = self.process.wait(60)
        self.process.stdin.close()
        self.folder.cleanup()
        check(code == 0, f'patra-sim ended with {code} after SIGTERM')

    def stop(self):
        self.process.terminate()

    def connect(self, base=None):
        url = urllib.parse.urlsplit(base or self.http)
        return socket.create_connection((url.hostname, url.port), timeout=60)

    def get(self, path, headers=(), **how):
        return self.ask('GET', path, headers, **how)

    def ask(self, method, path, headers=(), body=b'', base=None, agent=POLITE):
        """One request on a connection of its own: a Reply."""
        with self.connect(base) as wire:
            host = urllib.parse.urlsplit(base or self.http).netloc
            wire.sendall(request(method, path, headers, body, agent, host=host))
            return read_all(wire)

    def audit(self, query=''):
        return json.loads(self.get('/_sim/audit' + query).body)

    def broken(self):
        """The rules that were broken, with their counts."""
        counts = self.audit()['summary']['violations']
        return {rule: count for rule, count in counts.items() if count}

    def faults(self, text):
        reply = self.ask('POST', '/_sim/faults', body=text.encode())
        check(reply.status == 200, f'plan refused: {reply.body}')

    def clear_faults(self):
        self.ask('DELETE', '/_sim/faults')


class Reply:
    def __init__(self, raw, ending):
        self.raw = raw
        self.ending = ending  # 'end', 'reset'
        head, _, self.body = raw.partition(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        self.status = int(lines[0].split()[1]) if lines[0].startswith('HTTP/') else None
        self.headers = {name.lower(): value.strip()
                        for name, _, value in (line.partition(':') for line in lines[1:])}

    @property
    def length(self):
        return int(self.headers['content-length'])

    def json(self):
        return json.loads(self.body)


def request(method, path, headers=(), body=b'', agent=POLITE, close=True, host='sim.test'):
    lines = [f'{method} {path} HTTP/1.1', f'Host: {host}', *headers]
    if agent:
        lines.append(f'User-Agent: {agent}')
    if close:
        lines.append('Connection: close')
    if body:
        lines.append(f'Content-Length: {len(body)}')
    return '\r\n'.join(lines + ['', '']).encode() + body


def read_all(wire):
    raw = bytearray()
    try:
        while piece := wire.recv(1 << 20):
            raw += piece
        return Reply(bytes(raw), 'end')
    except ConnectionResetError:
        return Reply(bytes(raw), 'reset')


def reset(wire):
    """Ends a connection with RST, as a killed client's kernel does."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    wire.close()


failures = []


def check(condition, label):
    if not condition:
        caller = traceback.extract_stack(limit=2)[0]
        failures.append(f'{caller.filename}:{caller.lineno}: {label}')


def equal(got, wanted, label):
    if got != wanted:
        caller = traceback.extract_stack(limit=2)[0]
        failures.append(f'{caller.filename}:{caller.lineno}: {label}: {repr(got)[:300]}, wanted {repr(wanted)[:300]}')


def run(name, tests):
    passed = failed = 0
    for test, function in list(tests.items()):
        if not test.startswith('test_') or (sys.argv[1:] and sys.argv[1] not in test):
            continue
        failures.clear()
        try:
            function()
        except Exception:
            failures.append(traceback.format_exc())
        for failure in failures:
            print('  ' + failure)
        print(('FAIL ' if failures else 'ok   ') + test, flush=True)
        passed, failed = passed + (not failures), failed + bool(failures)
    print(f'{name}: {passed} passed, {failed} failed, 0 skipped')
    return 1 if failed or not passed else 0
