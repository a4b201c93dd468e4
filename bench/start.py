#!/usr/bin/env python3
"""start.py [QUEUED [WORD...]]: how long `patra work` and `patra serve` take to start with QUEUED (1,000,000) tasks in the queue, and with one.

One source whose API is this program. Printed for each store: the time from the start of the process to its first request, P50 and P95 of ROUNDS, by
turns; its CPU time until it has ended after that; and until /readyz of `patra serve --listen` answers. WORDs are stores. Wanted: as quick as
with one. Asserts nothing. With PATRA_BENCH_FOLDER the stores are kept there, and a later run only measures.
"""
import http.client
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import history
from stores import BUILD, Sqlite, run

ROUNDS = 11
SOURCE = '''source: start
http: {{ base_url: "http://127.0.0.1:{port}", allow_plain_http: true }}
rate: {{ per_second: 1000, burst: 1000 }}
endpoints:
  works:
    role: search
    path: /works
    query: {{ since: "${{window.from}}", until: "${{window.to}}", offset: "${{page.offset}}", rows: "${{page.size}}" }}
    page: {{ type: offset, size: 100 }}
    window: {{ key: updated, granularity: day, align: day, size: 7d, max: 1d, min: 1d }}
    response: {{ items: $.items, id: $.id, updated_at: $.updated, total: $.total }}
operations:
  backfill: {{ endpoint: works, queued_max: 1000000 }}
'''
# Copies of the first slice and its task.
SLICES = ('plan_id, parent_slice_id, provenance_code, dimension_code, window_from, window_to, slice_spec, expr_hash, expr_snapshot, status_code, created_at,'
          ' updated_at')
TASKS = ('schedule_instance_id, plan_id, provenance_code, endpoint_name, operation_code, credential_id, cursor_key, namespace_scope_code, namespace_key,'
         ' window_from, window_to, params, expr_hash, status_code, priority, scheduled_at, created_at, updated_at')
COPY = (f"INSERT INTO ing_plan_slice ({SLICES}, slice_no, slice_signature_hash) SELECT {SLICES}, n + 1, 'copy' || n"
        " FROM (SELECT * FROM ing_plan_slice WHERE id = 1) AS s, {series}",
        f"INSERT INTO ing_task ({TASKS}, slice_id, idempotent_key) SELECT {TASKS}, n + 1, 'copy' || n"
        " FROM (SELECT * FROM ing_task WHERE id = 1) AS t, {series}")


class Upstream(http.server.BaseHTTPRequestHandler):
    asked = threading.Event()

    def do_GET(self):
        self.asked.set()
        self.send_response(503)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


def make(store, folder, port, queued):
    dsn = store.at(f'queued{queued}')
    environment = {**os.environ, 'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}
    done = store.folder / f'queued{queued}.filled'
    if done.exists():
        return environment
    (folder / 'start.yaml').write_text(SOURCE.format(port=port))
    run([BUILD / 'patra', 'init'], environment)
    run([BUILD / 'patra', 'source', 'apply', folder / 'start.yaml'], environment)
    run([BUILD / 'patra', 'trigger', 'start', 'backfill', '--from', '2026-01-01', '--to', '2026-01-02'], environment)
    if queued > 1:
        for sql in COPY:
            store.fill(dsn, history.written(store, sql, {'count': queued - 1}))
    store.ask(dsn, 'ANALYZE' if isinstance(store, Sqlite) else 'VACUUM ANALYZE')
    done.touch()
    return environment


def end(process):
    os.kill(process.pid, signal.SIGTERM)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def first_request(store, environment, words):
    """Seconds to it, and CPU seconds in all."""
    store.ask(environment['PATRA_STORE'], "UPDATE ing_task SET status_code = 'QUEUED', lease_owner = NULL, leased_until = NULL, attempt_count = 0,"
              " scheduled_at = created_at WHERE id IN (SELECT task_id FROM ing_task_run); DELETE FROM ing_task_run; DELETE FROM ing_rate_gate")
    Upstream.asked.clear()
    from_s = time.monotonic()
    process = subprocess.Popen([BUILD / 'patra', *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    came = Upstream.asked.wait(60)
    took = time.monotonic() - from_s if came else float('nan')
    return took, end(process)


def ready(environment):
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    from_s = time.monotonic()
    process = subprocess.Popen([BUILD / 'patra', 'serve', '--role', 'planner,api', '--listen', f'127.0.0.1:{port}'], env=environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while time.monotonic() < from_s + 60:
        try:
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
            connection.request('GET', '/readyz')
            if connection.getresponse().status == 200:
                break
        except OSError:
            time.sleep(0.002)
    return time.monotonic() - from_s, end(process)


def measure(store, folder, port, queued):
    sizes = {size: make(store, folder, port, size) for size in (1, queued)}
    ways = {'work': lambda e: first_request(store, e, ('work', '--workers', '1')),
            'serve': lambda e: first_request(store, e, ('serve', '--workers', '1')), '/readyz': ready}
    took = {(way, size): [] for way in ways for size in sizes}
    for _ in range(ROUNDS):
        for way, size in took:
            took[way, size].append(ways[way](sizes[size]))
    print(f'{store.name}, load {os.getloadavg()[0]:.1f}')
    for (way, size), seconds in took.items():
        walls, cpus = (sorted(s[i] * 1e3 for s in seconds) for i in (0, 1))
        print(f'  {way:8} {size:10,} queued: P50 {walls[ROUNDS // 2]:7.1f} ms, P95 {walls[ROUNDS * 95 // 100]:7.1f} ms, CPU {cpus[ROUNDS // 2]:7.1f} ms',
              flush=True)


def upstream(folder):
    """At the port that the sources of stores that were kept have."""
    kept = folder / 'upstream.port'
    server = http.server.ThreadingHTTPServer(('127.0.0.1', int(kept.read_text()) if kept.exists() else 0), Upstream)
    kept.write_text(str(server.server_port))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main():
    queued = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6
    with history.stores(sys.argv[2:]) as (folder, stores):
        server = upstream(folder)
        for store in stores:
            measure(store, folder, server.server_port, queued)


if __name__ == '__main__':
    main()
