#!/usr/bin/env python3
"""The numbers that were asked for are at /metrics of a service that works, and they are true: a receiver of its own counts
what a bus was offered, the database is asked by SQL. The names are written by hand from what was asked for."""
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import Server, Store  # noqa: E402
from receiver import HttpReceiver  # noqa: E402
from simtest import Sim, check, equal  # noqa: E402

SIM = None

# The section, its name there, and the name here.
OF_STORE = [
    ('004 14.4', 'patra_ingest_tasks_queued', 'patra_ingest_tasks_queued'),
    ('004 14.4', 'patra_ingest_executor_concurrency', 'patra_ingest_executor_concurrency'),
    ('004 14.4', 'patra_ingest_cursor_lag_seconds', 'patra_ingest_cursor_lag_seconds'),
    ('004 14.4', 'patra_ingest_budget_remaining', 'patra_ingest_budget_remaining'),
    ('004 14.4', 'patra_ingest_qps_effective', 'patra_ingest_qps_effective'),
    ('000 7', 'cursor.lag.seconds', 'patra_cursor_lag_seconds'),
    ('000 7', 'cursor.advance.count', 'patra_cursor_advance_total'),
    ('000 7', 'cursor.replay.duration.ms', 'patra_cursor_replay_duration_ms'),
    ('000 5', 'cursor.replay.gap.count', 'patra_cursor_replay_gaps'),
    ('000 4', 'cursor.rebuild.required', 'patra_cursor_rebuild_required'),
    ('002 6', 'num_unacked_messages', 'patra_subscription_waiting_events'),
    ('002 6', 'oldest_unacked_message_age', 'patra_subscription_lag_seconds'),
    ('002 6', 'the backlog of the outbox', 'patra_outbox_waiting_events'),
    ('002 6', 'event version - table version', 'patra_projection_version_lag'),
    ('002 6', 'publish_attempts', 'patra_publish_attempts_total'),
    ('002 6', 'the share that failed', 'patra_publish_failures_total'),
    ('002 6', 'the mean interval of retries', 'patra_subscription_retry_delay_seconds'),
    ('002 6', 'processing time', 'patra_consume_processing_seconds'),
    ('002 6', 'the share of nacks', 'patra_consume_events_total'),
    ('002 6.6', 'offset_lag_ms', 'patra_subscription_offset_lag_ms'),
    ('002 6.6', 'offset_save_total', 'patra_subscription_offset_save_total'),
    ('002 6.6', 'offset_save_failure_total', 'patra_subscription_offset_save_failure_total'),
]

SOURCES_MAX = 200  # series of a family, and "other"


class Receiver(HttpReceiver):
    """A webhook that refuses some records, once each; counts what it was offered.

    Never two in a row: where all events of a call are refused, the bus waits once for all of them."""

    def __init__(self):
        self.offered = self.refused = 0
        self.has_refused = False
        self.seen = set()
        super().__init__()

    def take(self, path, headers, body):
        name = headers['webhook-id']
        with self.lock:
            bad = sum(name.encode()) % 5 == 0 and name not in self.seen and not self.has_refused
            self.has_refused = bad
            self.seen.add(name)
            self.offered += 1
            self.refused += bad
        return 500 if bad else 204


def series(text):
    """{name{labels}: value}"""
    return {line.rsplit(' ', 1)[0]: float(line.rsplit(' ', 1)[1]) for line in text.splitlines() if not line.startswith('#')}


def family_of(key):
    return re.sub(r'_(bucket|sum|count)$', '', key.split('{')[0])


def promtool(text):
    tool = shutil.which('promtool')
    if not tool:
        print('  promtool is not installed (Debian: prometheus): its judgement is skipped')
        return
    done = subprocess.run([tool, 'check', 'metrics'], input=text.encode(), capture_output=True, timeout=60)
    said = [line for line in done.stderr.decode().splitlines() if '_ms ' not in line and 'abbreviated' not in line]
    equal(said, [], 'promtool objects to nothing but the milliseconds of the names asked for')


def test_what_was_asked_for_is_there_and_true():
    store = Store(SIM)
    folder = pathlib.Path(store.folder.name)
    store.patra('source', 'apply', 'sources/crossref.yaml', '--set', f'http.base_url={SIM.http}/crossref', '--set',
                'http.allow_plain_http=true', '--set', 'rate.per_second=1000', '--set', 'rate.provider_limit=1000', '--set',
                'rate.burst=100', '--set', 'rate.quota.day=100000')
    store.patra('projection', 'apply', 'projections/literature.yaml')
    with Receiver() as receiver:
        bus = folder / 'bus.yaml'
        bus.write_text('bus: hook\ntype: webhook\nallow_plain: true\nauth: { signing: env:HOOK_KEY }\n'
                       f'url: http://127.0.0.1:{receiver.server.server_port}/\nretry: {{ first: 1s, max: 1s }}\n')
        store.env['HOOK_KEY'] = 'a-key-of-the-test'
        store.patra('bus', 'apply', str(bus))
        store.patra('trigger', 'crossref', '--from', '2026-03-05', '--to', '2026-03-06')
        # A value that the cursor's events do not give.
        with sqlite3.connect(folder / 'patra.db') as db:
            changed = db.execute("UPDATE ing_cursor SET normalized_instant = 1780000000000000, cursor_value ="
                                 " '2026-05-28T20:26:40Z' WHERE operation_code = 'HARVEST'").rowcount
            events = db.execute('SELECT count(*) FROM ing_outbox').fetchone()[0]
        check(changed == 1 and events > 100, f'{changed} cursors, {events} events')
        with Server(store, roles='planner,executor,publisher,consumer,api') as server:
            until = time.monotonic() + 120
            while True:
                got = series(server.get('/metrics').text)
                waiting = sum(v for k, v in got.items() if k.startswith(('patra_subscription_waiting', 'patra_subscription_parked',
                                                                         'patra_outbox_waiting', 'patra_ingest_tasks_queued')))
                if (waiting == 0 and 'patra_cursor_rebuild_required' in str(got) and len(receiver.seen) > events
                        and got.get('patra_publish_failures_total{subscription="hook"}')):
                    break
                assert time.monotonic() < until, f'{waiting} wait'
                time.sleep(0.1)
            text = server.get('/metrics').text
            got = series(text)
            names = {family_of(key) for key in got}
            for section, asked, name in OF_STORE:
                check(name in names, f'{section}: {asked}: {name}')
            for name in names:
                check(f'# HELP {name} ' in text, f'{name} has a help')
                check(sum(family_of(key) == name and '_bucket{' not in key for key in got) <= 3 * (SOURCES_MAX + 1),
                      f'{name} is bounded')
            equal(got['patra_publish_attempts_total{subscription="hook"}'], receiver.offered, 'offers')
            equal(got['patra_publish_failures_total{subscription="hook"}'], receiver.refused, 'refused')
            check(receiver.refused > 0, 'some were')
            with sqlite3.connect(folder / 'patra.db') as db:
                events = db.execute('SELECT count(*) FROM ing_outbox').fetchone()[0]
                rows = db.execute('SELECT count(*) FROM works').fetchone()[0]
            equal(got['patra_consume_events_total{subscription="literature",outcome="ack"}'], events, 'applied')
            equal(got['patra_consume_events_total{subscription="literature",outcome="nack"}'], 0, 'not applied')
            check(rows > 100, f'{rows} rows')
            check(got['patra_consume_processing_seconds_count{subscription="literature"}'] > 0, 'transactions')
            check(got['patra_subscription_offset_save_total{subscription="literature"}'] > 0, 'saves')
            equal(got['patra_subscription_retry_delay_seconds_count{subscription="hook",kind="RELAY"}'], receiver.refused,
                  'delays')
            keys = [key for key in got if key.startswith('patra_cursor_rebuild_required') and 'HARVEST' in key]
            equal([got[key] for key in keys], [1.0], 'a cursor differs from its events')
            promtool(text)
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]
        differs = [line for line in lines if line['event'] == 'cursor differs from its events']
        equal([(line['level'], line['code'], line['source']) for line in differs],
              [('error', 'cursor.rebuild.required', 'crossref')], 'and a line says so')


def main():
    global SIM
    with Sim('--records', '6000') as SIM:
        return simtest.run('integration-metrics', globals())


sys.exit(main())
