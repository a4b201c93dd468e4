#!/usr/bin/env python3
"""growth.py [FEW [MANY [WORD...]]]: what a harvest costs, and how long commands take, with FEW (100,000) and with MANY (10,000,000) records stored.

Stores as history.py fills them, with as many batches, up to a million. `patra harvest` of 20,000 new records of patra-sim, in turn beside few and beside many;
then commands that people wait for, 20 times each. Printed: CPU of patra and of the server and bytes written, of each record, medians of ROUNDS,
and their ratios; P50 and P95 of the commands, the start of the program included. WORDs are stores. Wanted: ratios of 1.2 or less, P95 of 100 ms or
less. Asserts nothing.
"""
import itertools
import os
import statistics
import subprocess
import sys
import time

import history
from sim_sources import FROM, TO, crossref
from stores import BUILD, Postgres, run, simulator

ROUNDS, HARVESTED, TIMES = 5, 20000, 20
COMMANDS = (('status',), ('plan', 'list'), ('cursor', 'list'), ('task', 'list'), ('trigger', 'daily', 'harvest', '--dry-run'),
            ('trigger', 'daily', 'harvest'))


def environment_of(dsn):
    return {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}


def harvest(store, dsn, folder, base, number):
    """CPU seconds of patra, of the server, and bytes, of each record."""
    path = folder / 'growth.yaml'
    path.write_text(crossref(base, source=f'growth{number}'))
    run([BUILD / 'patra', 'source', 'apply', path], environment_of(dsn))
    if isinstance(store, Postgres):
        store.ask(dsn, 'CHECKPOINT') # none of an earlier round
    cpu, log = store.spent()
    spent = run([BUILD / 'patra', 'harvest', f'growth{number}', '--from', FROM, '--to', TO, '--workers', '1', '--quiet'], environment_of(dsn))
    after, grown = store.spent()
    return {'cpu': spent['cpu'] / HARVESTED, 'server': (after - cpu) / HARVESTED, 'bytes': (spent['written'] + grown - log) / HARVESTED}


def command(dsn, words):
    def once():
        from_s = time.monotonic()
        done = subprocess.run([BUILD / 'patra', *words], env={**os.environ, **environment_of(dsn)}, capture_output=True, check=False)
        if done.returncode not in (0, 1): # 1: something needs a person
            sys.exit(f'{words}: {done.stderr.decode()}')
        return (time.monotonic() - from_s) * 1e3

    took = sorted(once() for _ in range(TIMES))
    return took[TIMES // 2], took[TIMES * 95 // 100]


def measure(store, folder, base, sizes):
    stored = {size: history.of(store, min(size, 10**6), size) for size in sizes}
    spent, numbers = {size: [] for size in sizes}, itertools.count(int(time.time()))
    for _ in range(ROUNDS):
        for size, dsn in stored.items():
            spent[size].append(harvest(store, dsn, folder, base, next(numbers)))
    print(f'{store.name}, load {os.getloadavg()[0]:.1f}')
    middle = {size: {key: statistics.median(s[key] for s in spent[size]) for key in spent[size][0]} for size in sizes}
    for size in sizes:
        print(f'  beside {size:12,} records: CPU {middle[size]["cpu"] * 1e6:6.1f} us, server {middle[size]["server"] * 1e6:6.1f} us, '
              f'{middle[size]["bytes"]:8.0f} bytes written')
    few, many = middle[sizes[0]], middle[sizes[1]]
    print(f'  many, of few: CPU {(many["cpu"] + many["server"]) / (few["cpu"] + few["server"]):.2f}, bytes {many["bytes"] / few["bytes"]:.2f}')
    for words in COMMANDS:
        print(f'  {" ".join(words):32}' + ''.join(f'   {size:10,}: P50 {p50:6.1f} ms, P95 {p95:6.1f} ms'
                                                  for size in sizes for p50, p95 in [command(stored[size], words)]), flush=True)


def main():
    numbers = [int(w) for w in sys.argv[1:] if w.isdigit()]
    sizes = numbers + [10**5, 10**7][len(numbers):]
    with history.stores([w for w in sys.argv[1:] if not w.isdigit()]) as (folder, stores), simulator(HARVESTED) as base:
        for store in stores:
            measure(store, folder, base, sizes)


main()
