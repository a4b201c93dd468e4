#!/usr/bin/env python3
"""What any client may expect of `patra serve --role api`: the same as the commands print, tokens, TLS, streams, limits,
a calm end. Python's own HTTP client and raw sockets, so that nothing of ours judges itself."""
import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import IS_SLOW, PATRA, Server, Store  # noqa: E402
from simtest import ROOT, Sim, check, equal  # noqa: E402

SIM = None
STORE = None


# What a command prints for programs, and the route that says the same.
SAME = [
    (['source', 'list'], '/v1/sources'),
    (['pause'], '/v1/pauses'),
    (['plan', 'list'], '/v1/plans'),
    (['plan', 'show', '1'], '/v1/plans/1'),
    (['task', 'list'], '/v1/tasks'),
    (['task', 'show', '1'], '/v1/tasks/1'),
    (['cursor', 'list'], '/v1/cursors'),
    (['cursor', 'show', 'crossref'], '/v1/cursors/crossref'),
    (['quarantine', 'list'], '/v1/quarantine'),
    (['signal', 'list'], '/v1/signals'),
    (['record', 'list', 'crossref'], '/v1/records/crossref'),
    (['record', 'count'], '/v1/record-counts'),
    (['outbox', 'parked'], '/v1/parked'),
    (['projection', 'list'], '/v1/projections'),
    (['trace', 'plan', '1'], '/v1/plans/1/trace'),
    (['trace', 'task', '1'], '/v1/tasks/1/trace'),
    (['trace', 'run', '1'], '/v1/runs/1/trace'),
    (['batch', 'show', '1/1'], '/v1/runs/1/batches/1'),
]


def test_every_route_says_what_its_command_prints():
    with Server(STORE) as server:
        for words, target in SAME:
            reply = server.get(target)
            equal(reply.status, 200, target)
            equal(reply.text + '\n', STORE.patra(*words, '--json'), target)
        first = json.loads(server.get('/v1/records/crossref').text)['records'][0]['id']
        target = '/v1/records/crossref/' + first.replace('/', '%2F')
        equal(server.get(target).text + '\n', STORE.patra('record', 'show', 'crossref', first, '--json'), target)
        # Its instants are those of the moment; the rest is the same.
        dry = json.loads(STORE.patra('trigger', 'crossref', 'backfill', '--from', '2026-01-01', '--to', '2026-01-02',
                                     '--dry-run', '--json'))
        preview = json.loads(server.get('/v1/sources/crossref/preview?from=2026-01-01&to=2026-01-02').text)
        equal([row['window'] for row in preview['slices']], [row['window'] for row in dry['slices']], 'a dry run')
        equal((preview['dryRun'], preview['sliceCount']), (True, dry['sliceCount']), 'a dry run')
        why = json.loads(server.get(target.replace('records', 'why')).text)
        equal(why['id'], first, 'why')


def test_lists_go_on_by_their_links_and_miss_nothing():
    wanted = json.loads(STORE.patra('task', 'list', '--limit', '1000', '--json'))
    with Server(STORE) as server:
        target, seen = '/v1/tasks?limit=7', []
        while target:
            reply = server.get(target)
            seen += json.loads(reply.text)
            link = reply.headers.get('Link')
            target = link[1:link.index('>')] if link else None
        equal(seen, wanted, 'all tasks, in order')
        check(len(seen) > 14, 'more than two pages')


def test_records_are_streamed_line_by_line():
    count = json.loads(STORE.patra('record', 'count', '--json'))[0]['records']
    with Server(STORE) as server:
        reply = server.get('/v1/record-lines/crossref?fields=true')
        equal(reply.headers['Content-Type'], 'application/x-ndjson', 'type')
        lines = [json.loads(line) for line in reply.text.splitlines()]
        equal(len(lines), count, 'records')
        equal(len({line['id'] for line in lines}), count, 'each once')
        check('fields' in lines[0], 'with fields')
        # Somebody who goes away in the middle costs nothing.
        before = server.memory()
        for _ in range(50):
            with socket.create_connection(('127.0.0.1', server.port), timeout=60) as wire:
                wire.sendall(b'GET /v1/record-lines/crossref HTTP/1.1\r\nHost: localhost\r\n\r\n')
                wire.recv(100)
        equal(server.get('/healthz').status, 200, 'it answers')
        if not IS_SLOW:
            check(server.memory() - before < 30000, f'memory: {before} kB, then {server.memory()} kB')


def test_a_body_that_the_client_has_is_not_sent_again():
    with Server(STORE) as server:
        reply = server.get('/v1/tasks')
        again = server.get('/v1/tasks', headers={'If-None-Match': f'"x", {reply.headers["ETag"]}'})
        equal((again.status, again.text), (304, ''), 'the same')
        equal(server.get('/v1/tasks?limit=1', headers={'If-None-Match': reply.headers['ETag']}).status, 200, 'another')


def test_metrics_are_prometheus_text():
    with Server(STORE) as server:
        server.get('/v1/sources')
        text = server.get('/metrics').text
        names = {line.split('{')[0].split(' ')[0] for line in text.splitlines() if not line.startswith('#')}
        for name in ['patra_ingest_cursor_lag_seconds', 'patra_ingest_qps_configured', 'patra_records',
                     'patra_outbox_waiting_events', 'patra_api_requests_total', 'patra_build_info']:
            check(name in names, name)
        check('patra_api_requests_total{route="/v1/sources",status="200"} 1' in text, 'its own answers')
        same = STORE.patra('status', '--prometheus')
        check('patra_records{source="crossref"}' in same, 'the command prints them too')
        promtool = shutil.which('promtool')
        if not promtool:
            print('  promtool is not installed (Debian: prometheus): its judgement is skipped')
            return
        done = subprocess.run([promtool, 'check', 'metrics'], input=text.encode(), capture_output=True, timeout=60)
        said = [line for line in done.stderr.decode().splitlines()
                if '_ms ' not in line and 'abbreviated' not in line]
        equal(said, [], 'promtool objects to nothing but the milliseconds of the names asked for')


def test_a_process_without_the_role_offers_health_and_metrics_only():
    with Server(STORE, roles='consumer') as server:
        equal(server.get('/healthz').status, 200, 'health')
        equal(server.get('/readyz').status, 200, 'readiness')
        equal(server.get('/metrics').status, 200, 'metrics')
        equal(server.get('/v1/tasks').status, 404, 'nothing else')


def test_the_work_of_executors_is_counted():
    store = Store(SIM)
    store.patra('trigger', 'crossref', '--from', '2026-03-05', '--to', '2026-03-06')
    with Server(store, roles='executor,api') as server:
        until = time.monotonic() + 60
        while json.loads(server.get('/v1/tasks?status=queued').text) or 'tasks_ended' not in server.get('/metrics').text:
            assert time.monotonic() < until, 'the tasks do not end'
            time.sleep(0.05)
        text = server.get('/metrics').text
        for part in ['patra_ingest_batches_total{source="crossref",endpoint="works",op="HARVEST"}',
                     'patra_ingest_items_total{source="crossref",endpoint="works",op="HARVEST",action="insert"}',
                     'patra_ingest_http_latency_ms_bucket{', 'patra_ingest_batch_latency_seconds_count{',
                     'patra_ingest_task_dequeue_total{']:
            check(part in text, part)


def test_changes_need_a_token_that_may():
    with Server(STORE) as server:
        paths = json.loads(server.get('/openapi.json').text)['paths']
        changes = [path for path, methods in paths.items() if 'post' in methods]
        check(len(changes) >= 14, 'all changes are described')
        for path in changes:
            target = path.replace('{source}', 'crossref').replace('{name}', 'x').replace('{plan}', '1').replace('{task}', '1')
            for token in [None, STORE.reads]:
                reply = server.post(target, token=token)
                check(reply.status in (401, 403), f'{target}: {reply.status}')
        wrong = STORE.operates[:-1] + ('0' if STORE.operates[-1] != '0' else '1')
        equal(server.post('/v1/sources/crossref/pause', token=wrong).status, 401, 'another secret')
        equal(json.loads(STORE.patra('pause', '--json')), [], 'nothing was paused')
        reply = server.post('/v1/sources/crossref/pause', {'reason': 'a test'}, token=STORE.operates)
        equal(reply.status, 200, reply.text)
        pause, = json.loads(STORE.patra('pause', '--json'))
        equal((pause['by'], pause['reason']), ('token ops', 'a test'), 'who and why')
        server.post('/v1/sources/crossref/resume', token=STORE.operates)
        equal(json.loads(STORE.patra('pause', '--json')), [], 'resumed')
        secret = STORE.operates.split('_')[2]
        check(secret not in server.log.read_text(), 'the secret is not in the log')
    database = b''.join(path.read_bytes() for path in pathlib.Path(STORE.folder.name).glob('patra.db*'))
    check(secret.encode() not in database, 'nor in the store')


def test_alerts_are_silenced_and_heard_again():
    def silences():
        return json.loads(STORE.patra('alert', 'list', '--json'))['silences']

    with Server(STORE) as server:
        for body in [{'for': '2h'}, {'rule': 'queue-log', 'for': '2h'}, {'rule': 'queue-long'},
                     {'rule': 'queue-long', 'for': '91d'}, {'rule': 'queue-long', 'for': 'soon'}]:
            reply = server.post('/v1/silences', body, token=STORE.operates)
            check(reply.status in (400, 422), f'{body}: {reply.status}')
        equal(server.post('/v1/silences', {'rule': 'queue-long', 'for': '2h'}, token=STORE.reads).status, 403, 'may not')
        equal(silences(), [], 'none')
        reply = server.post('/v1/silences', {'rule': 'queue-long', 'source': 'crossref', 'for': '2h', 'reason': 'a test'},
                            token=STORE.operates)
        equal(reply.status, 200, reply.text)
        said, (one,) = json.loads(reply.text), silences()
        equal((one['rule'], one['source'], one['reason'], one['until']), ('queue-long', 'crossref', 'a test', said['until']), 'kept')
        equal((said['silence'], said['outcome']), (one['id'], 'silenced'), 'said')
        for outcome in ['ended', 'was not in force']:
            reply = server.post(f'/v1/silences/{one["id"]}/end', token=STORE.operates)
            equal((reply.status, json.loads(reply.text)['outcome']), (200, outcome), 'the end')
        equal(silences(), [], 'none again')


def test_a_revoked_token_is_refused_at_once():
    with Server(STORE, '--require-token') as server:
        token = STORE.patra('token', 'new', 'brief', '--expires', '1h').strip()
        equal(server.get('/v1/sources').status, 401, 'loopback, too')
        equal(server.get('/v1/sources', token=token).status, 200, 'in force')
        STORE.patra('token', 'revoke', 'brief')
        equal(server.get('/v1/sources', token=token).status, 401, 'revoked')
        STORE.patra('token', 'revoke', 'brief', codes=(4,))


def test_foreign_pages_and_names_get_nothing():
    with Server(STORE) as server:
        equal(server.get('/v1/sources', headers={'Host': 'evil.example'}).status, 403, 'DNS rebinding')
        equal(server.get('/v1/sources', headers={'Origin': 'https://evil.example'}).status, 403, 'another origin')
        equal(server.get('/v1/sources', headers={'X-Forwarded-For': '8.8.8.8'}).status, 401, 'a proxy')
        reply = server.get('/v1/sources')
        for name in ['Content-Security-Policy', 'X-Content-Type-Options', 'X-Frame-Options', 'Referrer-Policy']:
            check(name in reply.headers, name)
        check('Set-Cookie' not in reply.headers and 'Access-Control-Allow-Origin' not in reply.headers, 'no cookies')


def test_what_is_too_much_is_refused():
    with Server(STORE) as server:
        reply = server.ask('POST', '/v1/quarantine/drop', token=STORE.operates, body={'note': 'x' * (2 << 20)})
        equal(reply.status, 413, 'a body')
        equal(server.get('/v1/sources?' + 'a' * 9000).status, 400, 'a target')
        with socket.create_connection(('127.0.0.1', server.port), timeout=60) as wire:
            wire.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ' + b'a' * 100000 + b'\r\n\r\n')
            check(wire.recv(100).startswith(b'HTTP/1.1 431'), 'a header')
        equal(server.get('/healthz').status, 200, 'others are answered')


def test_half_sent_requests_stop_nobody():
    with Server(STORE) as server:
        held = [socket.create_connection(('127.0.0.1', server.port), timeout=60) for _ in range(200)]
        for wire in held:
            wire.sendall(b'GET /v1/status HTTP/1.1\r\nHost: local')
        for _ in range(20):
            equal(server.get('/v1/sources').status, 200, 'others')
        for wire in held:
            wire.close()


def test_ten_thousand_connections_opened_and_dropped():
    with Server(STORE) as server:
        server.get('/v1/status')
        before = server.memory()

        def drop(count):
            for i in range(count):
                try:
                    with socket.create_connection(('127.0.0.1', server.port), timeout=60) as wire:
                        if i % 3 == 0:
                            wire.sendall(b'GET /v1/st')
                        elif i % 3 == 1:
                            wire.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
                except OSError:
                    pass  # one address may have so many at a time, and no more

        threads = [threading.Thread(target=drop, args=(2500,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        answered = 0
        while any(thread.is_alive() for thread in threads):
            answered += server.get('/healthz', source='127.0.0.2').status == 200
        for thread in threads:
            thread.join()
        check(answered > 0, 'others were answered meanwhile')
        equal(server.get('/v1/sources', source='127.0.0.2').status, 200, 'and are afterwards')
        if not IS_SLOW:
            check(server.memory() - before < 40000, f'memory: {before} kB, then {server.memory()} kB')
        print(f'  10000 connections, {answered} answers meanwhile, memory {before} kB, then {server.memory()} kB')


def test_tls_protects_what_leaves_the_machine():
    if not shutil.which('openssl'):
        print('  openssl is not installed: TLS is skipped')
        return
    cert, key = f'{STORE.folder.name}/cert.pem', f'{STORE.folder.name}/key.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
                    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], check=True, capture_output=True)
    trust = ssl.create_default_context(cafile=cert)
    with Server(STORE, '--tls-cert', cert, '--tls-key', key) as server:
        equal(server.get('/v1/sources', tls=trust).status, 200, 'by TLS')
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            server.get('/healthz', tls=old)
            check(False, 'an old TLS')
        except (ssl.SSLError, OSError):
            pass
    done = subprocess.run([PATRA, 'serve', '--role', 'api', '--listen', '0.0.0.0:0'], env=STORE.env, cwd=ROOT,
                          capture_output=True, timeout=60)
    equal(done.returncode, 2, 'without TLS, other addresses are refused')
    done = subprocess.run([PATRA, 'serve', '--role', 'api', '--tls-cert', key, '--tls-key', cert], env=STORE.env, cwd=ROOT,
                          capture_output=True, timeout=60)
    check(done.returncode == 4 and b'PEM' in done.stderr, f'swapped files: {done}')


def test_it_ends_calmly():
    with Server(STORE) as server:
        with socket.create_connection(('127.0.0.1', server.port), timeout=60) as idle, \
                socket.create_connection(('127.0.0.1', server.port), timeout=60) as half:
            idle.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
            check(b'200' in idle.recv(65536), 'accepted: what only waits to be accepted is reset')
            half.sendall(b'GET /v1/sta')
            server.process.send_signal(signal.SIGTERM)
            equal(server.process.wait(60), 0, 'exit code')
            while idle.recv(4096):
                pass  # the rest of its answer; then it was closed, and not reset


def main():
    global SIM, STORE
    with Sim('--records', '6000') as SIM:
        STORE = Store(SIM)
        return simtest.run('integration-api', globals())


sys.exit(main())
