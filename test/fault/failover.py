#!/usr/bin/env python3
"""A primary that is lost under load, and its standby promoted, again and again: PATRA_FAILOVERS times (3; 20 is a long test).

Workers and `serve` must go on by themselves, each time. Afterwards the store must equal the simulator's truth, each version of a
record must have one event, and a receiver outside must have got every event of the store and none that the store does not know: what
was told to the world is not forgotten. That last one rests on synchronous replication: with PATRA_FAILOVER_ASYNC=1 it fails.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'integration' / 'sim'))
import simtest  # noqa: E402
from postgres_pair import Pair, is_installed, wait_until  # noqa: E402
from receiver import HttpReceiver  # noqa: E402
from simtest import ROOT, Sim, check, equal  # noqa: E402

BUILD = pathlib.Path(os.environ.get('PATRA_BUILD', ROOT / 'build'))
FAILOVERS = int(os.environ.get('PATRA_FAILOVERS', '3'))
IS_SYNCHRONOUS = os.environ.get('PATRA_FAILOVER_ASYNC') is None
GOES_ON_S = 90  # a hung server is given up after 15 s, and so is an attempt to connect to it
DAYS = 58
SOURCE = 'test/data/sim-sources/generic-offset.yaml'


def day(number):
    return f'2026-{number // 31 + 1:02}-{number % 31 + 1:02}T00:00:00Z'


# ---- the world outside ----

class Receiver(HttpReceiver):
    """A webhook that remembers what it has taken."""

    def __init__(self):
        self.taken = {}  # id: key and version
        super().__init__()

    def take(self, path, headers, body):
        with self.lock:
            if headers['event_type'] != 'PatraProbe':
                self.taken[headers['webhook-id']] = (headers['patra-key'], headers['patra-version'])
        return 200

    def bus(self, folder):
        path = folder / 'receiver.yaml'
        path.write_text(f'bus: receiver\ntype: webhook\nurl: http://127.0.0.1:{self.server.server_port}/\nallow_plain: true\n'
                        'timeout: { connect: 2s, publish: 5s }\n')
        return path


# ---- patra ----

class Site:
    def __init__(self, pair, sim, receiver, folder):
        self.pair, self.sim, self.receiver, self.folder = pair, sim, receiver, folder
        self.env = {**os.environ, 'PATRA_STORE': pair.address(), 'PATRA_CONTACT': 'test@example.org'}
        self.log = folder / 'processes.log'
        self.processes = []
        self.must('init')
        self.must('source', 'apply', SOURCE, '--set', f'http.base_url={sim.http}', '--set', f'window.start={day(0)}', '--set',
                  'window.lookback=0s', '--set', 'endpoints.records.page.size=20', '--set', 'rate.per_second=40', '--set',
                  'rate.burst=5', '--set', 'operations.harvest.enabled=false')
        self.must('bus', 'apply', receiver.bus(folder))

    def patra(self, *words):
        with open(self.log, 'ab') as log:
            return subprocess.run([BUILD / 'patra', *map(str, words)], cwd=ROOT, env=self.env, stdout=log, stderr=log,
                                  timeout=300).returncode

    def must(self, *words):
        equal(self.patra(*words), 0, ' '.join(map(str, words)))

    def begin(self, *words):
        with open(self.log, 'ab') as log:
            self.processes.append(subprocess.Popen([BUILD / 'patra', *words], cwd=ROOT, env=self.env, stdout=log, stderr=log))

    def number(self, text):
        return int(self.pair.primary.sql(text, 'patra') or 0)

    def batches(self):
        return self.number('SELECT count(*) FROM ing_task_run_batch')

    def plan(self, to):
        """Commands of people may fail while there is no primary; they are repeated."""
        try:
            wait_until(lambda: self.patra('trigger', 'generic-offset', 'harvest', '--to', day(to)) == 0, 'a trigger')
        except AssertionError:
            print(self.log.read_text()[-3000:])
            raise

    def all_live(self):
        for process in self.processes:
            assert process.poll() is None, f'{process.args} ended with {process.returncode}: {self.log.read_text()[-3000:]}'
        return True

    def goes_on(self, before, label):
        """Batches and positions of the stream, both after the failover."""
        wait_until(lambda: self.all_live() and self.batches() > before, f'{label}: work goes on', GOES_ON_S)

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            equal(process.wait(60), 0, f'{process.args} ended in order')


# ---- how a primary is lost ----

def crash(site, chance):
    """What it has said lately has not reached the standby. Without synchronous replication the world hears of it all the same."""
    pair = site.pair
    receiver = int(pair.standby.receiver())
    os.kill(receiver, signal.SIGSTOP)
    told = len(site.receiver.taken)
    until = time.monotonic() + (chance.uniform(0.05, 1) if IS_SYNCHRONOUS else 30)
    while time.monotonic() < until and len(site.receiver.taken) < told + 50:
        time.sleep(0.01)
    pair.primary.end(signal.SIGQUIT)
    os.kill(receiver, signal.SIGTERM)
    os.kill(receiver, signal.SIGCONT)
    pair.promote()


def switch_over(site, _):
    site.pair.primary.end(signal.SIGINT)
    site.pair.promote()


def hang(site, _):
    """Its host stands still: connections stay open, new ones are taken and not answered."""
    site.pair.primary.signal_all(signal.SIGSTOP)
    site.pair.promote()


WAYS = [crash, switch_over, hang, crash]


def fail_over(site, number, chance):
    way = WAYS[number % len(WAYS)]
    before = site.batches()
    wait_until(lambda: site.all_live() and site.batches() > before, 'there is load')
    time.sleep(chance.uniform(0, 0.3))
    lost = site.pair.primary
    way(site, chance)
    begun = time.monotonic()
    before = site.batches()
    site.pair.follow()  # until then, no commit is answered
    site.goes_on(before, f'{way.__name__} {number}')
    print(f'  {number}: {way.__name__}, goes on after {time.monotonic() - begun:.1f} s, {site.batches()} batches', flush=True)
    if way is hang:
        lost.remove()


# ---- what must be true ----

RULES = {
    'records with events other than one per version':
        'SELECT count(*) FROM ing_record r WHERE r.version <> (SELECT count(*) FROM ing_outbox o WHERE o.record_id = r.id)',
    'batches twice':
        "SELECT count(*) FROM (SELECT 1 FROM ing_task_run_batch WHERE status_code = 'SUCCEEDED' AND page_no IS NOT NULL"
        ' GROUP BY task_id, page_no HAVING count(*) > 1) AS t',
    'tasks that are not done':
        "SELECT count(*) FROM ing_task WHERE status_code NOT IN ('SUCCEEDED', 'FAILED', 'PARTIAL')",
}


def check_truth(site, receiver):
    verify = subprocess.run([BUILD / 'patra-sim', 'verify', '--store', site.pair.primary.address('patra'), '--protocol', 'generic',
                             '--source', 'generic-offset', '--from', day(0), '--to', day(DAYS), '--url', site.sim.http],
                            capture_output=True, text=True)
    equal(verify.returncode, 0, verify.stdout + verify.stderr)
    equal(site.patra('cursor', 'verify'), 0, 'cursor verify')
    for label, sql in RULES.items():
        equal(site.number(sql), 0, label)
    check(site.number('SELECT count(*) FROM ing_record') > 1000, 'there was work')

    rows = site.pair.primary.sql('SELECT event_id, version FROM ing_outbox', 'patra').split()
    stored = dict(row.split('|') for row in rows)
    wait_until(lambda: len(receiver.taken) >= len(stored), 'all events are delivered', 120)
    equal(sorted(set(receiver.taken) - set(stored))[:5], [], 'events that the world has, and the store does not')
    equal(sorted(set(stored) - set(receiver.taken))[:5], [], 'events that the world does not have')
    equal(len(set(receiver.taken.values())), len(receiver.taken), 'two events of one version')


def test_a_standby_that_is_promoted_under_load_loses_nothing():
    chance = random.Random(1)
    receiver = Receiver()
    with Pair(IS_SYNCHRONOUS) as pair, Sim('--records', '12000', '--audit-off', 'repeat') as sim:
        site = Site(pair, sim, receiver, pathlib.Path(sim.folder.name))
        site.begin('serve', '--workers', '2', '--lease', '5s')
        site.begin('work', '--workers', '2', '--lease', '5s')
        site.begin('work', '--workers', '2', '--lease', '5s')
        for number in range(FAILOVERS):
            site.plan(3 + (DAYS - 3) * (number + 1) // FAILOVERS)
            fail_over(site, number, chance)
        site.plan(DAYS)
        wait_until(lambda: site.all_live() and site.number(RULES['tasks that are not done']) == 0, 'all is done', 300)
        check_truth(site, receiver)
        site.end()


if not is_installed():
    print('  skipped: PostgreSQL is not installed')
    print('fault-failover: 0 passed, 0 failed, 1 skipped')
    sys.exit(0)
sys.exit(simtest.run('fault-failover', globals()))
