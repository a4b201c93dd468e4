#!/usr/bin/env python3
"""rederive.py [RECORDS [WORD...]]: `patra rederive` of RECORDS (100,000) archived records after a change of the mapping, beside a fresh harvest.

Records of patra-sim's Crossref (4.7 KB, pages of 250). One store harvests them with an archive under a first file, then gets a second one (another
date, other fields) and `patra rederive`; another store harvests under the second file. Printed: whether both have the same records, dates and
fields; the requests that rederive sent; records a second of each; the ratio of the archive, and how fast a harvest with it packs: raw bytes by the CPU
time that it needs more than one without. WORDs are stores. Wanted: the same, 0 requests, 4 times smaller, 100 MB/s. Asserts nothing.
"""
import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import urllib.request

from sim_sources import FROM, TO, crossref
from stores import BUILD, Postgres, Sqlite, run, simulator

ARCHIVE = ', archive_keep: 30d'
SECOND = {'updated': '$.deposited.timestamp', 'fields': 'title: "$.title[0]", publisher: "$.publisher", kind: "$.type"'}
# Whatever is in a record but its versions and when it was stored.
RECORDS = {'SQLite': "SELECT r.provider_id, r.updated_at, r.deleted, hex(r.content_hash), f.fields",
           'PostgreSQL': "SELECT r.provider_id, CAST(extract(epoch FROM r.updated_at) * 1000000 AS bigint), r.deleted, r.content_hash, f.fields"}


def requests(base):
    with urllib.request.urlopen(f'{base}/_sim/audit') as answer:
        return json.load(answer)['summary']['requests']


def digest(store, dsn):
    sql = RECORDS[store.name] + ' FROM ing_record_state AS r LEFT JOIN ing_record_fields AS f ON f.record_id = r.id ORDER BY r.provider_id'
    rows = store.ask(dsn, sql)
    return rows.count('\n') + 1, hashlib.sha256(rows.encode()).hexdigest()


class Turn:
    """A new store with a file in force."""

    def __init__(self, store, folder, base, **settings):
        self.store, self.folder, self.base, self.dsn = store, folder, base, store.new()
        self.environment = {'PATRA_STORE': self.dsn, 'PATRA_MODULES': str(BUILD)}
        run([BUILD / 'patra', 'init'], self.environment)
        self.apply(**settings)

    def apply(self, **settings):
        path = self.folder / 'bench.yaml'
        path.write_text(crossref(self.base, **settings))
        run([BUILD / 'patra', 'source', 'apply', path], self.environment)

    def harvest(self):
        return run([BUILD / 'patra', 'harvest', 'bench', '--from', FROM, '--to', TO, '--workers', '1', '--quiet'], self.environment)


def measure(store, folder, base, records):
    turn = Turn(store, folder, base)
    plain = turn.harvest()
    turn = Turn(store, folder, base, **SECOND)
    fresh = turn.harvest()
    wanted = digest(store, turn.dsn)
    turn = Turn(store, folder, base, http=ARCHIVE)
    archived = turn.harvest()
    raw, packed = map(int, store.ask(turn.dsn, 'SELECT sum(raw_bytes), sum(packed_bytes) FROM ing_archive_body').split('|'))
    turn.apply(http=ARCHIVE, **SECOND)
    asked = requests(base)
    spent = run([BUILD / 'patra', 'rederive', 'bench'], turn.environment)
    print(f'{store.name}, {records:,} records, load {os.getloadavg()[0]:.1f}')
    print(f'  {"the same as" if digest(store, turn.dsn) == wanted else "NOT the same as"} a fresh harvest ({wanted[0]:,} records); '
          f'{requests(base) - asked} requests')
    print(f'  rederive {records / spent["seconds"]:8.0f} records/s, CPU {spent["cpu"] / records * 1e6:5.1f} us of each, {spent["kib"] / 1024:.0f} MiB; '
          f'a fresh harvest {records / fresh["seconds"]:.0f} records/s, with an archive {records / archived["seconds"]:.0f}')
    print(f'  archive: {raw / 1e6:.0f} MB in {packed / 1e6:.1f} MB, {raw / packed:.2f} times smaller; packed at '
          f'{raw / 1e6 / max(archived["cpu"] - plain["cpu"], 1e-3):.0f} MB/s of CPU time', flush=True)


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended')) # and with it what was started here
    with tempfile.TemporaryDirectory(prefix='rederive.') as name, simulator(records) as base:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'server').mkdir()
        for kind, place in ((Sqlite, folder), (Postgres, folder / 'server')):
            if sys.argv[2:] and kind.name not in sys.argv[2:]:
                continue
            store = kind(place)
            try:
                measure(store, folder, base, records)
            finally:
                store.close()


main()
