#!/usr/bin/env python3
"""reads.py [BATCHES [RECORDS [WORD...]]]: how long the reads of API and boards take in a store with a long history, and what a harvest loses by them.

`patra serve --role api` on a store as history.py fills it (1,000,000 batches, 10,000,000 records), asked over HTTP, RATE times a second, one question
after the other. First with nothing else running, then beside `patra harvest` of patra-sim in another process; that harvest also runs
without reads, in turn. Printed: P50 and P95 of each question, alone and beside, and the ratio of the speeds of harvests, median of pairs. WORDs
are stores. Wanted: each P95 200 ms or less, and 0.95 of the speed. Asserts nothing.
"""
import http.client
import itertools
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

import history
from sim_sources import FROM, TO, crossref
from stores import BUILD, run, simulator

RATE, TIMES, PAIRS, HARVESTED = 10, 20, 3, 300000

# {id} a record that is there, {no} an id that is not, {task} a task and its run, {batch} a number of a batch of it; another one each time.
QUESTIONS = (
    '/', '/runs', '/runs/plan/1', '/runs/task/{task}', '/runs/run/{task}', '/runs/batch/{task}/{batch}', '/cursors', '/cursors/daily', '/gate', '/events',
    '/errors', '/records', '/records/daily', '/records/daily/{id}', '/why/daily/{id}', '/v1/status', '/v1/sources', '/v1/gates', '/v1/plans', '/v1/plans/1',
    '/v1/plans/1/lineage', '/v1/plans/1/trace', '/v1/tasks', '/v1/tasks?status=failed', '/v1/tasks/{task}', '/v1/tasks/{task}/runs', '/v1/tasks/{task}/trace',
    '/v1/runs/{task}/batches', '/v1/runs/{task}/batches/{batch}', '/v1/runs/{task}/trace', '/v1/cursors', '/v1/cursors/daily', '/v1/cursor-timeline/daily',
    '/v1/coverage/daily', '/v1/queue', '/v1/errors', '/v1/records/daily', '/v1/records/daily?since=7d', '/v1/records/daily/{id}', '/v1/record-counts', '/v1/why/daily/{id}',
    '/v1/why/daily/{no}', '/v1/quarantine', '/v1/signals', '/v1/outbox', '/v1/parked', '/v1/projections', '/v1/alerts', '/metrics',
)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Api:
    def __init__(self, environment):
        self.port = free_port()
        self.process = subprocess.Popen([BUILD / 'patra', 'serve', '--role', 'api', '--listen', f'127.0.0.1:{self.port}'],
                                        env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.ask('/readyz')[0] != 200:
            time.sleep(0.05)

    def ask(self, target):
        """The status of the answer, and the seconds that it took."""
        from_s = time.monotonic()
        try:
            connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
            connection.request('GET', target)
            response = connection.getresponse()
            response.read()
            return response.status, time.monotonic() - from_s
        except OSError:
            return 0, time.monotonic() - from_s
        finally:
            connection.close()

    def close(self):
        self.process.terminate()
        self.process.wait()


class Asking:
    """Questions in turn, RATE a second; `took` has the seconds of each."""

    def __init__(self, api, batches, records):
        self.api, self.batches, self.records, self.numbers, self.took = api, batches, records, itertools.count(1), {}
        self.questions = itertools.cycle(QUESTIONS) # goes on where it was left

    def once(self, question):
        n = next(self.numbers)
        words = {'id': history.doi(n * 104729 % self.records + 1), 'no': f'none{n}', 'task': n * 7919 % history.TASKS + 1,
                 'batch': n % (self.batches // history.TASKS) + 1}
        target = question.format(**{k: urllib.parse.quote(str(v), safe='') for k, v in words.items()})
        status, seconds = self.api.ask(target)
        if status != 200:
            sys.exit(f'{target}: {status}')
        self.took.setdefault(question, []).append(seconds)

    def until(self, done):
        for question in self.questions:
            if done():
                return
            next_s = time.monotonic() + 1 / RATE
            self.once(question)
            time.sleep(max(0, next_s - time.monotonic()))


def harvest(environment, folder, base, number):
    """The seconds of a harvest of a source of its own: all its records are new."""
    path = folder / 'reads.yaml'
    path.write_text(crossref(base, source=f'reads{number}'))
    run([BUILD / 'patra', 'source', 'apply', path], environment)
    return run([BUILD / 'patra', 'harvest', f'reads{number}', '--from', FROM, '--to', TO, '--workers', '1', '--quiet'], environment)['seconds']


def beside(asking, work):
    """What `work` returns, with questions asked while it runs."""
    ended = threading.Event()
    thread = threading.Thread(target=asking.until, args=(ended.is_set,))
    thread.start()
    try:
        return work()
    finally:
        ended.set()
        thread.join()


def middle(seconds, share):
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))] * 1e3


def measure(store, folder, base, batches, records):
    environment = {'PATRA_STORE': history.of(store, batches, records), 'PATRA_MODULES': str(BUILD)}
    api = Api(environment)
    try:
        alone, busy, ratios, numbers = Asking(api, batches, records), Asking(api, batches, records), [], itertools.count(int(time.time()))
        for _ in range(TIMES):
            for question in QUESTIONS:
                alone.once(question)
                time.sleep(1 / 40) # fewer than an address may ask for
        for _ in range(PAIRS):
            without = harvest(environment, folder, base, next(numbers))
            ratios.append(without / beside(busy, lambda: harvest(environment, folder, base, next(numbers))))
    finally:
        api.close()
    print(f'{store.name}, {batches:,} batches, {records:,} records, load {os.getloadavg()[0]:.1f}')
    print(f'  a harvest of {HARVESTED:,} beside {RATE} reads a second, of its speed without: {statistics.median(ratios):.2f} '
          f'({min(ratios):.2f} to {max(ratios):.2f})')
    print(f'  {"":36} {"P50 ms":>8} {"P95 ms":>8}   {"beside":>8} {"P95 ms":>8}')
    for question in sorted(QUESTIONS, key=lambda q: -middle(alone.took[q], 0.95)):
        other = busy.took.get(question, [float('nan')])
        print(f'  {question:36} {middle(alone.took[question], 0.5):8.1f} {middle(alone.took[question], 0.95):8.1f}   '
              f'{middle(other, 0.5):8.1f} {middle(other, 0.95):8.1f}', flush=True)


def main():
    numbers = [int(w) for w in sys.argv[1:] if w.isdigit()]
    batches, records = numbers + [10**6, 10**7][len(numbers):]
    with history.stores([w for w in sys.argv[1:] if not w.isdigit()]) as (folder, stores), simulator(HARVESTED) as base:
        for store in stores:
            measure(store, folder, base, batches, records)


if __name__ == '__main__':
    main()
