#!/usr/bin/env python3
"""harvest_table.py [RECORDS [ROUNDS [WORD...]]]: whole harvests by the patra program against patra-sim, as one table.

Both stores, JSON (pages of Crossref, 250 records of some 4.7 KB), the same packed (payload.packed) and XML (OAI-PMH), one, two and four
workers: everything new, a tenth changed, nothing changed, and an export of it all. And, for JSON on SQLite, the floor: what any program must do (bench/floor.c). All rows take turns, and each
figure is the median of ROUNDS. With WORDs only rows that have each of them: SQLite XML 4.

CPU is that of the patra process; PostgreSQL's own is beside it. "Written" is what the process made the kernel write, of each record.
PostgreSQL writes with its own processes, so there it is the growth of its log. "Stored" is the database, of each record, and then of
the mean payload as received (of packed records: of those that came before the dictionary). Asserts nothing.
"""
import contextlib
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

from sim_sources import DAYS, FROM, TO, crossref, oai
from stores import BUILD, Postgres, Sqlite, run, simulator

WORKERS = ('1', '2', '4')

FORMS = {'JSON': crossref, 'packed': lambda base, days: crossref(base, days=days, packed='true'), 'XML': lambda base, days: oai(base)}
RECEIVED = 'SELECT avg(length(payload)) FROM ing_record_content WHERE dictionary_id IS NULL'

# A tenth of the records is stored as if the source had changed them since.
CHANGE = {'SQLite': "UPDATE ing_record_state SET updated_at = updated_at - 1000000, content_hash = x'' WHERE id % 10 = 0",
          'PostgreSQL': "UPDATE ing_record_state SET updated_at = updated_at - interval '1 s', content_hash = '' WHERE id % 10 = 0"}


def write_source(folder, base, form, workers):
    path = folder / 'bench.yaml'
    path.write_text(FORMS[form](base, days=DAYS // workers + 1))
    return path


def measure(store, command, dsn, workers):
    """One command, with what the server spent meanwhile."""
    cpu, log = store.spent()
    spent = run([BUILD / 'patra', command, 'bench', '--from', FROM, '--to', TO, '--workers', workers, '--quiet'],
                {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)})
    after, grown = store.spent()
    spent['server'] = after - cpu
    spent['written'] += grown - log
    return spent


def harvest(store, form, base, folder, workers, rows):
    dsn = store.new()
    environment = {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}
    run([BUILD / 'patra', 'init'], environment)
    run([BUILD / 'patra', 'source', 'apply', write_source(folder, base, form, workers)], environment)
    for what, command in (('new', 'harvest'), ('unchanged', 'replay'), ('10 % changed', 'replay')):
        if what == '10 % changed':
            store.ask(dsn, CHANGE[store.name])
        spent = measure(store, command, dsn, workers)
        spent['bytes'] = store.size(dsn)
        spent['payload'] = float(store.ask(dsn, RECEIVED))
        rows.setdefault((store.name, form, workers, what), []).append(spent)
    rows.setdefault((store.name, form, workers, 'export'), []).append(run([BUILD / 'patra', 'record', 'export', 'bench'], environment))


def floor(base, records, rows):
    """The same pages; it prints a line for each of its two walks."""
    said = subprocess.run([BUILD / 'bench/floor', '250', str(records), base, 'crossref'], check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        if ' records/s' not in line:
            continue
        what, rate = line.split(':')[0].split(',')[-1].strip(), float(line.split(':')[1].split()[0])
        rows.setdefault(('floor', 'JSON', 1, 'new' if what == 'fresh' else what), []).append({'seconds': records / rate})


def show(rows, records):
    print(f'{"store":10} {"form":6} {"workers":>7} {"what":12} {"records/s":>9} {"CPU us":>7} {"server":>7} {"written":>8} {"MiB":>5} {"stored":>7}'
          f' {"of it":>6}')
    for (store, form, workers, what), spent in rows.items():
        def middle(key, scale=1.0):
            return statistics.median(s[key] for s in spent) * scale if key in spent[0] else float('nan')
        print(f'{store:10} {form:6} {workers:7} {what:12} {records / middle("seconds"):9.0f} {middle("cpu", 1e6 / records):7.1f}'
              f' {middle("server", 1e6 / records):7.1f} {middle("written", 1 / records):8.0f} {middle("kib", 1 / 1024):5.0f}'
              f' {middle("bytes", 1 / records):7.0f} {middle("bytes", 1 / records) / middle("payload"):6.3f}')


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 60000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    words, rows = sys.argv[3:], {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended')) # and with it what was started here

    def wanted(*name):
        return all(word in name for word in words)

    with tempfile.TemporaryDirectory(prefix='harvest_table.') as name, simulator(records) as base:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'server').mkdir()
        stores = [Sqlite(folder)] if wanted('SQLite', *FORMS, *WORKERS) else []
        if wanted('PostgreSQL', *FORMS, *WORKERS):
            with contextlib.suppress(FileNotFoundError):
                stores.append(Postgres(folder / 'server'))
        try:
            for _ in range(rounds):
                if wanted('floor'):
                    floor(base, records, rows)
                for store in stores:
                    for form in FORMS:
                        for workers in (1, 2, 4):
                            if wanted(store.name, form, str(workers)):
                                harvest(store, form, base, folder, workers, rows)
        finally:
            for store in stores:
                store.close()
    show(rows, records)


main()
