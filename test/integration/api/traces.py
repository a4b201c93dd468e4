#!/usr/bin/env python3
"""Traces by OTLP/HTTP, as a collector sees them: a receiver of the test's own, which knows nothing of the program, and (where
one is installed) a real OpenTelemetry collector. What must be in them is known from the simulator and from the store."""
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import PATRA, Server, Store  # noqa: E402
from receiver import HttpReceiver  # noqa: E402
from simtest import ROOT, Sim, check, equal  # noqa: E402

SIM = None


class Collector(HttpReceiver):
    """Takes spans; `say` is what it answers the nth call with: a status, or None for silence. /hook takes anything, as a bus."""

    answer = b'{}'

    def __init__(self, say=lambda n: 200):
        self.spans, self.bodies, self.heads = [], [], []
        self.calls, self.say = 0, say
        super().__init__()

    def take(self, path, headers, body):
        if path == '/hook':
            return 200
        with self.lock:
            self.calls += 1
            status = self.say(self.calls)
            self.heads.append((path, {name.lower(): value for name, value in headers.items()}))
            if status == 200:
                self.bodies.append(body)
                for resource in json.loads(body)['resourceSpans']:
                    self.resource = resource['resource']
                    for scope in resource['scopeSpans']:
                        self.spans += scope['spans']
        if status is None:
            time.sleep(30)
        return status


def values(span):
    return {a['key']: a['value'].get('stringValue', a['value'].get('intValue')) for a in span['attributes']}


def metric(server, key):
    for line in server.get('/metrics').text.splitlines():
        if line.startswith(key + ' '):
            return float(line.rsplit(' ', 1)[1])
    return 0


def wait_for(condition, what, seconds=90):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def harvest(store):
    """Until every task has ended, by the store."""
    wait_for(lambda: rows(store, "SELECT count(*) FROM ing_task WHERE status_code NOT IN"
                          " ('SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELLED')") == [(0,)], 'the tasks do not end')


def prepared():
    store = Store(SIM)
    store.env['OTEL_SERVICE_NAME'] = 'patra-of-the-test'
    store.patra('trigger', 'crossref', '--from', '2026-03-05', '--to', '2026-03-06')
    return store


def rows(store, sql):
    with sqlite3.connect(pathlib.Path(store.folder.name) / 'patra.db') as db:
        return db.execute(sql).fetchall()


def test_spans_are_a_tree_of_what_was_done():
    store = prepared()
    store.patra('projection', 'apply', 'projections/literature.yaml')
    before = rows(store, 'SELECT coalesce(max(id), 0) FROM ing_task_run')[0][0]
    sent = SIM.audit()['summary']['requests']
    with Collector() as collector:
        store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
        store.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-team=blue%2Bgreen%3D, authorization=Bearer%20planted-secret-4711'
        with Server(store, roles='executor,publisher,consumer,api') as server:
            harvest(store)
            wait_for(lambda: metric(server, 'patra_consume_events_total{subscription="literature",outcome="ack"}') > 100,
                     'nothing is consumed')
        sent = SIM.audit()['summary']['requests'] - sent
        spans, by_id = collector.spans, {}
        for span in spans:
            check(re.fullmatch('[0-9a-f]{32}', span['traceId']) and re.fullmatch('[0-9a-f]{16}', span['spanId']), 'ids')
            check(span['spanId'] not in by_id, f'{span["name"]}: an id twice')
            check(int(span['endTimeUnixNano']) >= int(span['startTimeUnixNano']) > 1.7e18, 'times')
            by_id[span['spanId']] = span
        named = {}
        for span in spans:
            named.setdefault(span['name'], []).append(span)
        runs = rows(store, f'SELECT id FROM ing_task_run WHERE id > {before}')
        batches = rows(store, f'SELECT id, run_id, batch_no FROM ing_task_run_batch WHERE run_id > {before}')
        equal(len(named['Run']), len(runs), 'a span for each run')
        equal(sorted(int(values(span)['patra.batch_id']) for span in named['Batch']), sorted(row[0] for row in batches),
              'a span for each batch')
        equal(len(named['HTTP Call']), sent, 'a span for each request that the source saw')
        above = {'HTTP Call': 'Batch', 'Batch': 'Run', 'Run': 'PickTask', 'PickTask': 'ExecutorTrigger'}
        for name, parent in above.items():
            for span in named[name]:
                up = by_id.get(span.get('parentSpanId'))
                check(up and up['name'] == parent and up['traceId'] == span['traceId'], f'{name} below {parent}')
        check(all('parentSpanId' not in span for span in named['ExecutorTrigger']), 'the first')
        call, batch = values(named['HTTP Call'][0]), values(named['Batch'][0])
        equal((call['http.request.method'], call['http.response.status_code'], call['server.address']), ('GET', '200', '127.0.0.1'),
              'a request')
        equal({key: batch[key] for key in ['source', 'endpoint', 'op', 'status', 'http.status']},
              {'source': 'crossref', 'endpoint': 'works', 'op': 'HARVEST', 'status': 'SUCCEEDED', 'http.status': '200'}, 'a batch')
        for key in ['priority', 'hasNext', 'patra.plan_id', 'patra.slice_id', 'patra.task_id', 'patra.run_id']:
            check(key in batch, key)
        consumed = sum(int(values(span)['messaging.batch.message_count']) for span in named['consume literature'])
        check(consumed > 100, f'{consumed} events in spans of the projection')
        path, heads = collector.heads[0]
        equal((path, heads['content-type'], heads['x-team'], heads['authorization']),
              ('/v1/traces', 'application/json', 'blue+green=', 'Bearer planted-secret-4711'), 'the request')
        equal({a['key']: a['value']['stringValue'] for a in collector.resource['attributes']}['service.name'],
              'patra-of-the-test', 'who')
        all_bytes = b''.join(collector.bodies) + server.log.read_bytes()
        for secret in [b'planted-secret', b'test@example.org', store.operates.encode()]:
            check(secret not in all_bytes, f'{secret} is in a span or in the log')


def tree(collector):
    """By name; each span below a span of the name that it must be below, in the same trace."""
    above = {'HTTP Call': 'Batch', 'Batch': 'Run', 'Run': 'PickTask', 'PickTask': 'ExecutorTrigger', 'Slice': 'CompileSpec',
             'CompileSpec': 'PlannerTrigger'}
    by_id, named = {span['spanId']: span for span in collector.spans}, {}
    for span in collector.spans:
        named.setdefault(span['name'], []).append(span)
        up = by_id.get(span.get('parentSpanId'))
        equal((up or {}).get('name'), above.get(span['name']), f'above {span["name"]}')
        check(not up or up['traceId'] == span['traceId'], f'{span["name"]}: the trace of its parent')
    return named


def ids(spans, key):
    return sorted(int(values(span)[key]) for span in spans)


def test_commands_send_what_they_plan_do_publish_and_consume():
    store = Store(SIM)
    with Collector() as collector:
        store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
        store.patra('harvest', 'crossref', '--from', '2026-03-05', '--to', '2026-03-06')
        named = tree(collector)
        plan, = rows(store, 'SELECT max(id) FROM ing_plan')[0]
        equal([ids(named[name], 'patra.plan_id') for name in ['PlannerTrigger']], [[plan]], 'a span for the trigger')
        equal(len(named['CompileSpec']), 1, 'one for its compiling')
        equal(ids(named['Slice'], 'patra.slice_id'),
              [row[0] for row in rows(store, f'SELECT id FROM ing_plan_slice WHERE plan_id = {plan} ORDER BY id')], 'one for each slice')
        equal(ids(named['Run'], 'patra.task_id'),
              [row[0] for row in rows(store, f'SELECT id FROM ing_task WHERE plan_id = {plan} ORDER BY id')], 'one for each run')
        slice_ = values(named['Slice'][0])
        equal((slice_['source'], slice_['endpoint'], slice_['op']), ('crossref', 'works', 'HARVEST'), 'a slice')
        for key in ['priority', 'patra.slice_no', 'patra.from', 'patra.to']:
            check(key in slice_, key)
        store.patra('projection', 'apply', 'projections/literature.yaml')
        spec = pathlib.Path(store.folder.name) / 'bus.yaml'
        spec.write_text(f'bus: hook\ntype: webhook\nurl: {collector.url}/hook\nallow_plain: true\nstart: earliest\n')
        store.patra('bus', 'apply', str(spec))
        store.patra('publish', '--once')
        store.patra('consume', '--once')
        named = tree(collector)
        events = rows(store, 'SELECT count(*) FROM ing_outbox')[0][0]
        for name in ['publish hook', 'consume literature']:
            equal(sum(ids(named[name], 'messaging.batch.message_count')), events, name)


def test_a_schedule_that_fires_shows_what_it_planned():
    store = Store(SIM)
    store.patra('cursor', 'reset', 'crossref', '--to', time.strftime('%Y-%m-%dT%H:00:00Z', time.gmtime(time.time() - 7200)), '--yes')
    store.patra('source', 'apply', 'sources/crossref.yaml', '--set', f'http.base_url={SIM.http}/crossref', '--set',
                'http.allow_plain_http=true', '--set', 'operations.harvest.every=1m')
    with Collector() as collector:
        store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
        with Server(store, roles='planner,api'):
            wait_for(lambda: any(span['name'] == 'PlannerTrigger' for span in collector.spans), 'no schedule fires', 120)
        named = tree(collector)
        check(len(named['CompileSpec']) == len(named['PlannerTrigger']), 'each trigger compiles')
        made = ids(named['Slice'], 'patra.slice_id')
        check(made, 'slices')
        equal([row for row in rows(store, f'SELECT id FROM ing_plan_slice WHERE id >= {made[0]} ORDER BY id')],
              [(i,) for i in made], 'a span for each slice')


def test_a_harvest_without_its_collector_is_a_harvest_and_says_so():
    store = Store(SIM)
    store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'http://127.0.0.1:1'
    done = subprocess.run([PATRA, 'harvest', 'crossref', '--from', '2026-03-05', '--to', '2026-03-06'], cwd=ROOT, env=store.env,
                          capture_output=True, text=True, timeout=120)
    equal(done.returncode, 0, done.stderr)
    check(re.search(r'^traces: [0-9]+ spans were not sent: .*127\.0\.0\.1:1', done.stderr, re.M), done.stderr)


def test_a_request_that_fails_shows_where():
    store = prepared()
    SIM.faults('path=/crossref kind=status code=500 times=1')
    try:
        with Collector() as collector:
            store.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = collector.url + '/elsewhere'
            with Server(store, roles='executor,api') as server:
                harvest(store)
            bad = [span for span in collector.spans if span['name'] == 'HTTP Call' and span.get('status', {}).get('code') == 2]
            equal([values(span)['http.response.status_code'] for span in bad], ['500'], 'the request')
            equal(collector.heads[0][0], '/elsewhere', 'the whole URL is taken as it is')
    finally:
        SIM.clear_faults()


def test_a_collector_that_hangs_or_refuses_stops_nothing():
    for name, answer, outcome in [('hangs', lambda n: None, 'given_up'), ('refuses', lambda n: 400, 'given_up'),
                                  ('is late', lambda n: 503 if n < 3 else 200, 'sent')]:
        store = prepared()
        with Collector(answer) as collector:
            store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
            with Server(store, roles='executor,api') as server:
                harvest(store)
                equal(json.loads(server.get('/v1/tasks?status=failed').text), [], f'{name}: no task failed')
                key = f'patra_trace_spans_total{{outcome="{outcome}"}}'
                wait_for(lambda: metric(server, key) > 0, f'{name}: {key}')
            said = [json.loads(line) for line in server.log.read_text().splitlines()]
            equal(len([line for line in said if line['event'] == 'spans not sent']), 1, f'{name}: told once')


def test_without_the_variable_nothing_is_sent_and_a_wrong_one_is_refused():
    store = prepared()
    for variables in [{'OTEL_EXPORTER_OTLP_ENDPOINT': 'not a url'},
                      {'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1', 'OTEL_EXPORTER_OTLP_PROTOCOL': 'grpc'},
                      {'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1', 'OTEL_EXPORTER_OTLP_HEADERS': 'noequals'}]:
        store.env.update(variables)
        store.patra('work', '--drain', codes=(1, 2, 4))
        for key in variables:
            del store.env[key]
    store.patra('work', '--drain')


def test_a_real_collector_takes_them():
    binary = os.environ.get('OTELCOL') or shutil.which('otelcol') or shutil.which('otelcol-min')
    if not binary:
        print('  no OpenTelemetry collector is installed (set OTELCOL to one): its judgement is skipped')
        return
    store = prepared()
    folder = pathlib.Path(store.folder.name)
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    (folder / 'c.yaml').write_text(
        f'receivers: {{ otlp: {{ protocols: {{ http: {{ endpoint: 127.0.0.1:{port} }} }} }} }}\n'
        'exporters: { debug: { verbosity: detailed } }\n'
        'service: { telemetry: { metrics: { level: none } }, pipelines: { traces: { receivers: [otlp], exporters: [debug] } } }\n')
    with open(folder / 'collector.log', 'wb') as out:
        process = subprocess.Popen([binary, f'--config=file:{folder}/c.yaml'], stdout=out, stderr=out)
    try:
        wait_for(lambda: 'Everything is ready' in (folder / 'collector.log').read_text(), 'the collector does not start')
        store.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = f'http://127.0.0.1:{port}'
        store.patra('work', '--drain')
        count = rows(store, 'SELECT count(*) FROM ing_task_run_batch b JOIN ing_task_run r ON r.id = b.run_id WHERE r.task_id IN'
                     ' (SELECT id FROM ing_task WHERE plan_id = (SELECT max(id) FROM ing_plan))')[0][0]
        wait_for(lambda: (folder / 'collector.log').read_text().count('Name           : Batch') == count,
                 f'{count} batches are not in what the collector prints')
        text = (folder / 'collector.log').read_text()
        check('Name           : HTTP Call' in text and '-> http.response.status_code: Int(200)' in text, 'requests')
        check('-> service.name: Str(patra-of-the-test)' in text, 'who')
    finally:
        process.terminate()
        process.wait(30)


def main():
    global SIM
    with Sim('--records', '6000') as SIM:
        return simtest.run('integration-traces', globals())


sys.exit(main())
