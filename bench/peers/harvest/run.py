#!/usr/bin/env python3
"""run.py BUILD PEERS [WORD...]: patra and other harvesters, measured beside each other in one run.

BUILD has patra's programs, PEERS what pip, cargo and go have fetched (scripts/peers). All read the same records from one patra-sim on
127.0.0.1, in pages of 250, with no limit of rate and without compression:

    Crossref   records of some 4.7 KB; a cursor that is the same on every page
    generic    records of some 2.5 KB, the URL of the next page in each; for who takes such a cursor for a loop
    OAI-PMH    XML; for who reads nothing else

Each has patra (SQLite, one worker), with which the others there are compared. Every peer is the whole command, from start to end: first
into an empty folder ("fresh"), then once more when nothing has changed upstream ("again"). CPU is that of the peer for each record, which a
busy machine changes least; memory is the larger peak of the two; "written" is what the peer made the kernel write for each record. What is
stored is counted after each run and compared with the simulator's truth: what a peer misses or holds twice is printed beside its figures.

PEERS_SCALE=1 are 100,000 records. PEERS_ROUNDS is how often all take their turn; the figures are medians. Prints a table; asserts nothing.
"""
import gzip
import json
import os
import pathlib
import re
import signal
import sqlite3
import statistics
import sys
import tempfile
import urllib.request

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[at]) for at in (1, 2)]
import sim_sources  # noqa: E402
import stores  # noqa: E402
from shared import SCALE, Failed, chosen, is_measured  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = max(1000, int(100000 * SCALE))
ROUNDS = int(os.environ.get('PEERS_ROUNDS', '1'))
FROM, TO, LAST = sim_sources.FROM, sim_sources.TO, '2026-03-31'
WINDOW = ['--from', FROM, '--to', TO, '--workers', '1', '--quiet']
SECONDS_MAX = 600  # of a program
SOURCES = {'Crossref': sim_sources.crossref, 'generic': sim_sources.generic, 'OAI-PMH': sim_sources.oai}
FORMS = {'Crossref': 'crossref', 'generic': 'generic', 'OAI-PMH': 'oai'}


class Peer:
    """One program. `command(base, folder, is_again)` is what is run, `ids(folder)` what it has stored, an id for each record."""

    def __init__(self, name, upstream, command, ids, **how):
        self.name, self.upstream, self.command, self.ids = name, upstream, command, ids
        self.before = how.get('before', lambda base, folder: None)
        self.env = how.get('env', lambda base, folder: {})
        self.has_again = how.get('has_again', True)
        self.runs = {'fresh': [], 'again': []}
        self.notes = []

    def measure(self, base, truth):
        with tempfile.TemporaryDirectory(prefix='patra-peers-') as name:
            folder = pathlib.Path(name)
            try:
                self.before(base, folder)
                for what in ('fresh', 'again') if self.has_again else ('fresh',):
                    spent = stores.run(self.command(base, folder, what == 'again'), self.env(base, folder), SECONDS_MAX)
                    self.runs[what].append(spent)
                    self.count(what, list(self.ids(folder)), truth[self.upstream])
            except (stores.Failed, sqlite3.Error) as failed:
                raise Failed(failed) from None

    def count(self, what, ids, expected):
        held = len(set(ids))
        for count, text in ((expected - held, 'misses'), (held - expected, 'has too many:'), (len(ids) - held, 'holds twice:')):
            note = f'{what}: {text} {count:,}'
            if count > 0 and note not in self.notes:
                self.notes.append(note)

    def middle(self, what, key):
        return statistics.median(spent[key] for spent in self.runs[what]) if self.runs[what] else None

    def for_each(self, key, count):
        """Two columns: of a record, fresh and again."""
        middles = [self.middle(what, key) for what in ('fresh', 'again')]
        return ''.join(' ' * 8 if middle is None else f' {middle / count:7,.0f}' for middle in middles)


def of_sqlite(sql):
    def ids(folder):
        database = sqlite3.connect(f'file:{folder}/records.db?mode=ro', uri=True)
        yield from (row[0] for row in database.execute(sql))
        database.close()
    return ids


def of_lines(pattern, pick):
    """JSON lines, packed or not; `pick` is the record's id, or None where a line is no record."""
    def ids(folder):
        for path in folder.glob(pattern):
            with (gzip.open if path.suffix == '.gz' else open)(path, 'rt', encoding='utf-8') as lines:
                yield from (key for key in (pick(json.loads(line)) for line in lines) if key)
    return ids


def of_xml(folder):
    for path in folder.rglob('*.xml.gz'):
        yield from re.findall(rb'<header[^>]*>\s*<identifier>([^<]*)', gzip.decompress(path.read_bytes()))


def patra(build, upstream):
    def env(_base, folder):
        return {'PATRA_STORE': f'{folder}/records.db', 'PATRA_MODULES': str(build)}

    def before(base, folder):
        source = folder / 'bench.yaml'
        source.write_text(SOURCES[upstream](base))
        stores.run([build / 'patra', 'init'], env(base, folder))
        stores.run([build / 'patra', 'source', 'apply', source], env(base, folder))

    return Peer('patra', upstream, lambda base, folder, is_again: [build / 'patra', 'replay' if is_again else 'harvest', 'bench', *WINDOW],
                of_sqlite('SELECT provider_id FROM ing_record'), before=before, env=env)


def of_crossref(name, program, ids):
    """A program that takes URL, filter, page size and folder."""
    filters = f'from-index-date:{FROM},until-index-date:{LAST}'
    return Peer(name, 'Crossref', lambda base, folder, _: [*program, f'{base}/crossref/works', filters, 250, folder], ids)


# Its sink only inserts. The table sees to it that a record is held once, as one writes it who wants that.
FAUCET_TABLE = "CREATE TABLE record (data TEXT NOT NULL, id TEXT AS (json_extract(data, '$.id')) UNIQUE ON CONFLICT REPLACE)"
FAUCET_SINKS = {
    'SQLite': '{ database_url: "sqlite:${env:PEER_FOLDER}/records.db", table_name: record, column_mapping: { json: { column: data } } }',
    'JSONL': '{ path: "${env:PEER_FOLDER}/records.jsonl", append: false }'}


def faucet(program, way):
    def before(_base, folder):
        sink = f'  sink: {{ type: {way.lower()}, config: {FAUCET_SINKS[way]} }}\n'
        (folder / 'faucet.yaml').write_text((HERE / 'faucet.yaml').read_text() + sink)
        database = sqlite3.connect(folder / 'records.db')
        database.execute(FAUCET_TABLE)
        database.close()

    ids = of_sqlite('SELECT id FROM record') if way == 'SQLite' else of_lines('records.jsonl', lambda line: line['id'])
    return Peer(f'faucet-stream, {way}', 'generic', lambda base, folder, _: [program, 'run', folder / 'faucet.yaml'], ids, before=before,
                env=lambda base, folder: {'PEER_BASE': base, 'PEER_FROM': FROM, 'PEER_TO': TO, 'PEER_FOLDER': str(folder)})


def peers(build, fetched):
    yield patra(build, 'Crossref')
    python = fetched / 'dlt/bin/python'
    if (fetched / 'script/fetched').exists():
        yield of_crossref('script, requests and sqlite3', [fetched / 'script/bin/python', HERE / 'by_hand.py'],
                          of_sqlite('SELECT id FROM record'))
    if (fetched / 'dlt/fetched').exists():
        yield of_crossref('dlt, merge into SQLite', [python, HERE / 'by_dlt.py', 'SQLite'], of_sqlite('SELECT doi FROM works'))
        yield of_crossref('dlt, JSONL', [python, HERE / 'by_dlt.py', 'JSONL'],
                          of_lines('files/main/works/*.jsonl*', lambda line: line['doi']))
    if (fetched / 'airbyte/fetched').exists():
        yield of_crossref('Airbyte CDK, JSONL', [fetched / 'airbyte/bin/python', HERE / 'by_airbyte.py'],
                          of_lines('messages.jsonl', lambda line: line['record']['data']['DOI'] if line['type'] == 'RECORD' else None))
    if (fetched / 'faucet-stream/fetched').exists():
        yield patra(build, 'generic')
        for way in ('SQLite', 'JSONL'):
            yield faucet(fetched / 'faucet-stream/bin/faucet', way)
    if (fetched / 'metha/fetched').exists():
        yield patra(build, 'OAI-PMH')
        # It keeps the days that it has read and does not ask for them again.
        yield Peer('metha', 'OAI-PMH', lambda base, *_: [fetched / 'metha/bin/metha-sync', f'{base}/oai/size250'], of_xml,
                   env=lambda _, folder: {'METHA_DIR': str(folder)}, has_again=False)


def truth_of(base, upstream):
    """How many records a perfect harvest holds, tombstones too."""
    with urllib.request.urlopen(f'{base}/_sim/truth?protocol={FORMS[upstream]}&from={FROM}&to={TO}&summary=1') as response:
        summary = json.load(response)['summary']
    return summary['live'] + summary['deleted'] + summary['merged']


def show(measured, truth):
    ours = {peer.upstream: peer for peer in measured if peer.name == 'patra'}
    print(f'{os.cpu_count()} CPUs, load at the end {os.getloadavg()[0]:.1f}; {RECORDS:,} records in the world, rounds: {ROUNDS}')
    print(f"{'':29} {'upstream':8} {'fresh/s':>8} {'of patra':>8} {'again/s':>8} {'of patra':>8} {'CPU us':>7} {'again':>7} {'MiB':>5}"
          f" {'written':>7} {'again':>7} {'records':>8}")
    for peer in measured:
        if peer.upstream not in ours:
            continue  # nobody to be compared with
        count = truth[peer.upstream]
        text = f'{peer.name:29} {peer.upstream:8}'
        for what in ('fresh', 'again'):
            seconds, least = peer.middle(what, 'seconds'), ours[peer.upstream].middle(what, 'seconds')
            text += f' {count / seconds:8,.0f} {least / seconds:8.3f}' if seconds else ' ' * 18
        text += peer.for_each('cpu', count / 1e6)
        text += f" {max(spent['kib'] for runs in peer.runs.values() for spent in runs) / 1024:5.0f}"
        text += peer.for_each('written', count)
        print(f"{text} {count:8,}   {'; '.join(peer.notes) or 'all stored'}")


def main():
    build, fetched = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    all_peers = chosen(peers(build, fetched), sys.argv[3:])
    others = {peer.upstream for peer in all_peers if peer.name != 'patra'} or {'Crossref'}
    all_peers = [peer for peer in all_peers if peer.upstream in others]
    if not all_peers:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = set()
    with stores.simulator(RECORDS) as base:
        truth = {upstream: truth_of(base, upstream) for upstream in SOURCES}
        for _ in range(ROUNDS):
            for peer in all_peers:
                if peer not in failed and not is_measured(f'{peer.name}, {peer.upstream}', lambda: peer.measure(base, truth)):
                    failed.add(peer)
    show([peer for peer in all_peers if peer not in failed], truth)
    sys.exit(len(failed) > 0)


main()
