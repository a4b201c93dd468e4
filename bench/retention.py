#!/usr/bin/env python3
"""retention.py [BATCHES [RECORDS [DAYS [WORD...]]]]: what others notice of `patra retention` over a long history, and what it leaves.

A store as history.py fills it (1,000,000 batches, 1,000,000 records), of 200 days, of which DAYS (90) are kept. `patra harvest` of patra-sim, pages of 100, runs
in a second process, of a new source when all records of one are there, and a third one, `patra serve --role api`, is asked for a status, a record and a
list of batches by turns; for PAUSE seconds without retention, then while `patra retention` runs, then a second time, with nothing left to do. Printed: P50, P99
and the five longest of the times between two batches of the harvest and of the reads; how many rows tables had before and after; what `cursor verify`,
`why` and `trace` said afterwards; and the size of the store, then with as many batches as were removed. WORDs are stores. Wanted: nothing above 100 ms that
is not there without retention. Asserts nothing.
"""
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import history
from reads import Api
from sim_sources import FROM, TO, crossref
from stores import BUILD, Sqlite, run, simulator

PAUSE, HARVESTED = 60, 1000000
READS = ('/v1/status', '/v1/records/daily/{id}', '/v1/runs/{task}/batches')
TABLES = ('ing_task_run_batch', 'ing_cursor_event', 'ing_listed_id', 'ing_retained_file')


class Beside:
    """A harvest after the other, and a read after the other."""

    def __init__(self, store, environment, folder, base, api, records):
        self.store, self.environment, self.folder, self.base, self.api, self.records = store, environment, folder, base, api, records
        self.ended, self.took, self.numbers = threading.Event(), [], itertools.count(int(time.time()))

    def harvest(self):
        """Few sources, because every one makes a status longer."""
        while not self.ended.is_set():
            name = f'live{next(self.numbers)}'
            path = self.folder / 'retention.yaml'
            path.write_text(crossref(self.base, source=name, page=100, days=1))
            run([BUILD / 'patra', 'source', 'apply', path], self.environment)
            process = subprocess.Popen([BUILD / 'patra', 'harvest', name, '--from', FROM, '--to', TO, '--workers', '1', '--quiet'],
                                       env={**os.environ, **self.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None:
                if self.ended.wait(0.05):
                    process.terminate()

    def read(self):
        for n, target in zip(itertools.count(1), itertools.cycle(READS)):
            if self.ended.is_set():
                return
            self.took.append(self.api.ask(target.format(id=history.doi(n * 104729 % self.records + 1).replace('/', '%2F'),
                                                        task=n * 7919 % history.TASKS + 1))[1])
            time.sleep(0.03)

    def run(self, work):
        """What `work` returns, with both beside it: the gaps between batches, and the reads, in seconds."""
        self.ended.clear()
        self.took = []
        first = int(self.store.ask(self.environment['PATRA_STORE'], 'SELECT max(id) FROM ing_task_run_batch'))
        threads = [threading.Thread(target=f) for f in (self.harvest, self.read)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(1)
            result = work()
        finally: # also when this program is to end
            self.ended.set()
            for thread in threads:
                thread.join()
        at = 'created_at' if isinstance(self.store, Sqlite) else 'CAST(extract(epoch FROM created_at) * 1000000 AS bigint)'
        rows = [line.split('|') for line in self.store.ask(
            self.environment['PATRA_STORE'], f'SELECT plan_id, {at} FROM ing_task_run_batch WHERE id > {first} ORDER BY id').splitlines()]
        gaps = [(int(b[1]) - int(a[1])) / 1e6 for a, b in itertools.pairwise(rows) if a[0] == b[0]]
        return result, gaps, self.took


def patra(environment, *words):
    """What a command says first, and its exit code."""
    from_s = time.monotonic()
    done = subprocess.run([BUILD / 'patra', *words], env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip().splitlines()
    return f'exit code {done.returncode} in {(time.monotonic() - from_s) * 1e3:.0f} ms: {said[-1] if said else ""}'


def show(name, gaps, reads):
    def line(seconds):
        ordered = sorted(seconds)
        return f'P50 {statistics.median(ordered) * 1e3:6.1f} P99 {ordered[len(ordered) * 99 // 100] * 1e3:6.1f} longest {" ".join(f"{s * 1e3:.1f}" for s in ordered[:-6:-1])} ms of {len(ordered)}'
    print(f'  {name:20} between batches: {line(gaps)}\n  {"":20} a read: {line(reads)}', flush=True)


def rows(store, dsn):
    return {table: int(store.ask(dsn, f'SELECT count(*) FROM {table}')) for table in TABLES}


AGAIN = ("INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, before_token, after_token, expr_hash, idempotent_key, status_code,"
         " request_digest, response_digest, stats, has_next, created_at) SELECT b.run_id, b.task_id, b.slice_id, b.plan_id, 1000000 + n, {bytes 'u' || n},"
         " {bytes 'u' || (n + 1)}, b.expr_hash, 'again' || n, b.status_code, b.request_digest, b.response_digest, b.stats, b.has_next, b.created_at"
         " FROM (SELECT * FROM ing_task_run_batch WHERE id = {batches}) AS b, {series}")


def again(store, dsn, batches, count):
    """As many batches as were removed; how the size was before, and is after."""
    if not isinstance(store, Sqlite):
        store.ask(dsn, 'VACUUM ing_task_run_batch') # as autovacuum does in its time
    size = store.size(dsn)
    store.fill(dsn, history.written(store, AGAIN, {'batches': batches, 'count': count}))
    return size, store.size(dsn)


def measure(store, folder, base, batches, records, days):
    dsn = history.of(store, batches, records)
    environment = {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}
    api = Api(environment)
    beside = Beside(store, environment, folder, base, api, records)
    before = rows(store, dsn)
    print(f'{store.name}, {batches:,} batches, {records:,} records, load {os.getloadavg()[0]:.1f}')
    try:
        with tempfile.TemporaryDirectory(prefix='retained.') as name:
            show('without', *beside.run(lambda: time.sleep(PAUSE))[1:])
            for turn in ('with retention', 'the second time'):
                spent, gaps, reads = beside.run(lambda: run([BUILD / 'patra', 'retention', '--keep', f'{days}d', name], environment))
                show(turn, gaps, reads)
                print(f'    {spent["seconds"]:.1f} s, CPU {spent["cpu"]:.1f} s, {spent["kib"] / 1024:.0f} MiB; files '
                      f'{sum(p.stat().st_size for p in pathlib.Path(name).iterdir()) / 1e6:.1f} MB')
    finally:
        api.close()
    print('  rows: ' + ', '.join(f'{table} {before[table]:,} -> {n:,}' for table, n in rows(store, dsn).items()))
    for words in (('cursor', 'verify'), ('why', 'daily', history.doi(7)), ('trace', 'run', '7'), ('trace', 'task', str(history.TASKS // 2)), ('trace', 'plan', '1')):
        print(f'  {" ".join(words):28} {patra(environment, *words)}', flush=True)
    removed = batches - int(store.ask(dsn, f'SELECT count(*) FROM ing_task_run_batch WHERE id <= {batches}'))
    print(f'  {removed:,} batches again: ' + ' -> '.join(f'{size / 1e9:.2f}' for size in again(store, dsn, batches, removed)) + ' GB', flush=True)


def main():
    numbers = [int(w) for w in sys.argv[1:] if w.isdigit()]
    batches, records, days = numbers + [10**6, 10**6, 90][len(numbers):]
    with history.stores([w for w in sys.argv[1:] if not w.isdigit()]) as (folder, stores), simulator(HARVESTED) as base:
        for store in stores:
            measure(store, folder, base, batches, records, days)


if __name__ == '__main__':
    main()
