#!/usr/bin/env python3
"""idle.py [SECONDS [SOURCES [WORKERS]]]: what `patra serve` costs while nothing is due, on both stores.

SOURCES sources with a schedule that fires once a year, one process with every role and WORKERS workers. Printed for each store: CPU of the
process and of the server in percent of a core, and the statements a second. PostgreSQL counts its statements in its log; SQLite's are not
counted. Asserts nothing.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

from stores import BUILD, Postgres, Sqlite, run

SOURCE = '''source: idle{number}
http: {{ base_url: "http://127.0.0.1:9", allow_plain_http: true }}
rate: {{ per_second: 1 }}
window: {{ key: day, granularity: day, lag: 1d, max: 1d, min: 1d }}
endpoints:
  works:
    role: search
    path: /works
    query: {{ from: "${{window.from}}", to: "${{window.last}}", offset: "${{page.offset}}", rows: "${{page.size}}" }}
    page: {{ type: offset, size: 100 }}
    response: {{ items: "$.items", id: "$.id", updated_at: "$.day" }}
operations:
  harvest: {{ endpoint: works, cron: "0 0 1 1 *" }}
'''


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def statements(store):
    return (store.folder / 'log').read_text(errors='replace').count(' execute ') if isinstance(store, Postgres) else 0


def measure(store, folder, seconds, sources, workers):
    environment = {'PATRA_STORE': store.new(), 'PATRA_MODULES': str(BUILD)}
    if isinstance(store, Postgres):
        store.ask(store.dsn('postgres'), 'ALTER SYSTEM SET log_statement = \'all\'')
        store.ask(store.dsn('postgres'), 'SELECT pg_reload_conf()')
    run([BUILD / 'patra', 'init'], environment)
    for number in range(sources):
        (folder / f'idle{number}.yaml').write_text(SOURCE.format(number=number))
    run([BUILD / 'patra', 'source', 'apply', *folder.glob('idle*.yaml')], environment)
    process = subprocess.Popen([BUILD / 'patra', 'serve', '--workers', str(workers)], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        time.sleep(10)  # it has started, and looked once at everything
        before = cpu_seconds(process.pid), store.spent()[0], statements(store)
        time.sleep(seconds)
        after = cpu_seconds(process.pid), store.spent()[0], statements(store)
    finally:
        process.terminate()
        process.wait()
    cpu, server, asked = ((b - a) / seconds for a, b in zip(before, after))
    print(f'{store.name:10} {sources:4} sources {workers:3} workers: {100 * cpu:6.2f} % CPU, server {100 * server:6.2f} %, '
          f'{asked:6.1f} statements/s', flush=True)


def main():
    seconds, sources, workers = (list(map(int, sys.argv[1:])) + [60, 64, 4][len(sys.argv) - 1:])
    with tempfile.TemporaryDirectory(prefix='idle.') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'server').mkdir()
        for store in (Sqlite(folder), Postgres(folder / 'server')):
            try:
                measure(store, folder, seconds, sources, workers)
            finally:
                store.close()


main()
