#!/usr/bin/env python3
"""`patra top` in a terminal of the test's own (a pty): what it shows, how it takes another size, colours, its end."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import PATRA, Store  # noqa: E402
from simtest import ROOT, Sim, check, equal  # noqa: E402

STORE = None
COLOUR = re.compile(rb'\x1b\[[0-9;]*3[1-7](;[0-9]+)*m')
ESCAPES = re.compile(rb'\x1b[\[\]()][0-9;?]*[ -/]*[@-~]|\x1b[=>78]|\x0f|\x0e')


class Top:
    def __init__(self, *options, rows=24, columns=80, **variables):
        self.master, slave = pty.openpty()
        self.resize(rows, columns, tell=False)
        env = {**STORE.env, 'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8', **variables}
        if 'NO_COLOR' not in variables:
            env.pop('NO_COLOR', None)
        self.process = subprocess.Popen([PATRA, 'top', *options], cwd=ROOT, env=env, stdin=slave, stdout=slave,
                                        stderr=subprocess.PIPE, start_new_session=True)
        os.close(slave)
        self.raw = b''

    def resize(self, rows, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def read_until(self, condition, what, seconds=60):
        """Reads what is drawn until it is as it should be; returns it without escapes."""
        until = time.monotonic() + seconds
        while not condition(ESCAPES.sub(b' ', self.raw)):
            assert time.monotonic() < until and self.process.poll() is None, f'{what}: {self.raw[-2000:]}'
            if select.select([self.master], [], [], 0.1)[0]:
                self.raw += os.read(self.master, 1 << 16)
        return ESCAPES.sub(b' ', self.raw)

    def press(self, key):
        os.write(self.master, key)

    def end(self):
        self.press(b'q')
        until = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < until, 'q does not end it'
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.raw += os.read(self.master, 1 << 16)
                except OSError:
                    break
        equal((self.process.wait(60), self.process.stderr.read()), (0, b''), 'its end')
        os.close(self.master)


def test_it_shows_everything_at_80_by_24_and_ends_by_q():
    top = Top()
    text = top.read_until(lambda text: b'nobody publishes' in text, 'the last line')
    for part in [b'Nothing needs a person', b'Sources', b'crossref', b'Running', b'Gates', b'Events', b'the stream']:
        check(part in text, f'{part}')
    top.end()
    check(b'\x1b[?1049h' in top.raw and top.raw.rstrip().endswith((b'\x1b[?1049l', b'\x1b>', b'\x1b[?1l\x1b>', b'\x1b[?1l')),
          f'the terminal is as it was: {top.raw[-60:]}')


def test_colours_are_off_when_that_is_asked_for():
    STORE.patra('pause', 'crossref', '--reason', 'a test')
    try:
        for options, variables, wanted in [((), {}, True), (('--no-color',), {}, False), ((), {'NO_COLOR': '1'}, False)]:
            top = Top(*options, **variables)
            top.read_until(lambda text: b'paused' in text and b'nobody publishes' in text, 'the pause')
            equal(bool(COLOUR.search(top.raw)), wanted, f'colours with {options} {variables}')
            top.end()
    finally:
        STORE.patra('resume', 'crossref')


def test_it_takes_another_size():
    top = Top(rows=5, columns=40)
    text = top.read_until(lambda text: b'Sources' in text, 'the first lines')
    check(b'nobody publishes' not in text, 'five lines')
    for _ in range(40):
        top.press(b'j')
    top.read_until(lambda text: b'the stream' in text, 'scrolled to the end')
    top.raw = b''
    top.resize(40, 160)
    text = top.read_until(lambda text: b'nobody publishes' in text and b'crossref' in text, 'all of it')
    check(b'scroll' in text, 'the first line as a whole')
    top.end()


def test_a_change_shows_by_itself():
    top = Top()
    top.read_until(lambda text: b'nobody publishes' in text, 'the first round')
    STORE.patra('pause', 'crossref', '--reason', 'a test')
    try:
        top.read_until(lambda text: b'paused' in text, 'the pause shows')
    finally:
        STORE.patra('resume', 'crossref')
    top.end()


def test_without_a_terminal_it_says_so():
    done = subprocess.run([PATRA, 'top'], cwd=ROOT, env=STORE.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    equal(done.returncode, 2, 'exit code')
    check(b'needs a terminal' in done.stderr and b'patra status' in done.stderr, done.stderr.decode())
    equal(done.stdout, b'', 'nothing is printed')
    top = Top(TERM='no-such-terminal')
    error = top.process.stderr.read()
    check(top.process.wait(60) != 0 and b'no-such-terminal' in error, f'{error}')


def main():
    global STORE
    with Sim('--records', '2000') as sim:
        STORE = Store(sim)
        return simtest.run('integration-top', globals())


sys.exit(main())
