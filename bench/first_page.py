#!/usr/bin/env python3
"""first_page.py [SLICES [WORD...]]: how long the first page of the dashboard takes with a plan of SLICES (60,000) slices.

One source, `daily`, whose harvest has begun in 1853: every second slice is done, every 97th has failed, the rest waits, so that no two covered windows touch,
and the strip of the cursor has all of them. `patra serve --role api` is asked for `/`, TIMES times, alone, then while `patra harvest` of patra-sim runs in another
process. Printed: P50, P95 and the longest of each. WORDs are stores. Wanted: 300 ms at most. Asserts nothing.
"""
import datetime
import itertools
import os
import sys
import threading
import time

import history
from reads import Api, harvest, middle
from stores import BUILD, ROOT, Sqlite, run, simulator

TIMES, PAUSE_S, HARVESTED = 100, 0.1, 300000
TO = datetime.date(2017, 5, 19)
STATES = ("UPDATE ing_task SET status_code = 'SUCCEEDED', started_at = created_at, finished_at = created_at WHERE id % 2 = 0",
          "UPDATE ing_task SET status_code = 'FAILED', started_at = created_at, finished_at = created_at,"
          " last_error = 'daily/works: GET https://api.example.org/works: status 400' WHERE id % 97 = 1")


def make(store, slices):
    """The environment of a store with such a plan. One that was filled before is taken as it is."""
    dsn = store.at(f'slices{slices}')
    environment = {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}
    done = store.folder / f'slices{slices}.filled'
    if not done.exists():
        run([BUILD / 'patra', 'init'], environment)
        run([BUILD / 'patra', 'source', 'apply', ROOT / 'test/data/plan/daily.yaml'], environment)
        run([BUILD / 'patra', 'trigger', 'daily', '--from', TO - datetime.timedelta(days=slices), '--to', TO], environment)
        for sql in STATES:
            store.fill(dsn, sql)
        store.ask(dsn, 'ANALYZE' if isinstance(store, Sqlite) else 'VACUUM ANALYZE')
        done.touch()
    return environment


def ask(api, done):
    """The seconds of each answer, until `done`."""
    took = []
    while not done(len(took)):
        status, seconds = api.ask('/')
        if status != 200:
            sys.exit(f'/: {status}')
        took.append(seconds)
        time.sleep(PAUSE_S)
    return took


def ask_beside(api, work):
    """The same while `work` runs."""
    ended, took = threading.Event(), []
    thread = threading.Thread(target=lambda: took.extend(ask(api, lambda _: ended.is_set())))
    thread.start()
    try:
        work()
    finally:
        ended.set()
        thread.join()
    return took


def show(name, took):
    print(f'  {name:20} P50 {middle(took, 0.5):6.1f} P95 {middle(took, 0.95):6.1f} longest {max(took) * 1e3:6.1f} ms of {len(took)}', flush=True)


def measure(store, folder, base, slices, number):
    environment = make(store, slices)
    print(f'{store.name}, {slices:,} slices, load {os.getloadavg()[0]:.1f}')
    api = Api(environment)
    try:
        show('alone', ask(api, lambda count: count >= TIMES))
        show('beside a harvest', ask_beside(api, lambda: harvest(environment, folder, base, number)))
    finally:
        api.close()


def main():
    words = sys.argv[1:]
    slices = int(words.pop(0)) if words and words[0].isdigit() else 60000
    with history.stores(words) as (folder, stores), simulator(HARVESTED) as base:
        for store, number in zip(stores, itertools.count(int(time.time()))):
            measure(store, folder, base, slices, number)


if __name__ == '__main__':
    main()
