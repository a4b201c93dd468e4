#!/usr/bin/env python3
"""Incidents (L1 to L4), provoked in the simulator: from the first page two links lead to the request that failed, a replay
of its batch shows the same, the alert is sent once, and once that it is over. Which batch failed is known from the store, by SQL;
what was sent, from a receiver of the test's own."""
import html.parser
import json
import pathlib
import sqlite3
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import Server, Store  # noqa: E402
from receiver import HttpReceiver  # noqa: E402
from simtest import Sim, check, equal  # noqa: E402

SIM = None


class Receiver(HttpReceiver):
    def __init__(self):
        self.notices = []
        super().__init__()

    def take(self, path, headers, body):
        self.notices.append(json.loads(body))
        return 204

    def of(self, rule):
        return [notice['kind'] for notice in self.notices if notice['rule'] == rule]


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.targets = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        target = dict(attrs).get('href')
        if tag == 'a' and target and target.startswith('/'):
            self.targets.append(target.split('#')[0])


def links(server, target):
    reply = server.get(target)
    equal(reply.status, 200, target)
    return set(Links(reply.text).targets)


def two_clicks(server, wanted):
    """The pages between the first one and the wanted one, over one link."""
    return [middle for middle in sorted(links(server, '/')) if wanted in links(server, middle)]


def rows(store, sql):
    with sqlite3.connect(pathlib.Path(store.folder.name) / 'patra.db') as db:
        return db.execute(sql).fetchall()


def wait_for(condition, what, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what() if callable(what) else what
        time.sleep(0.1)


FAILED = "SELECT run_id, batch_no FROM ing_task_run_batch WHERE status_code = 'FAILED' ORDER BY id DESC LIMIT 1"
BAD = ('SELECT b.run_id, b.batch_no FROM ing_quarantine q JOIN ing_task_run_batch b ON b.id = q.batch_id ORDER BY q.id DESC'
       ' LIMIT 1')


def incident(fault, rule, truth, mend, code, limits=()):
    """`mend` is called when the fault is over; `code`: the exit code of the replay while the fault lasts; `limits`: of the rule."""
    store = Store(SIM)
    if limits:
        store.patra('alert', 'set', rule, *limits)
    with Receiver() as receiver:
        spec = pathlib.Path(store.folder.name) / 'receiver.yaml'
        spec.write_text('receiver: oncall\nform: webhook\nallow_plain: true\n'
                        f'url: http://127.0.0.1:{receiver.server.server_port}/\n')
        store.patra('alert', 'apply', str(spec))
        SIM.faults(fault)
        try:
            with Server(store, '--alerts', '1s', roles='planner,executor,api') as server:
                store.patra('trigger', 'crossref', 'backfill', '--from', '2026-02-01', '--to', '2026-02-02')
                wait_for(lambda: rows(store, truth), 'nothing fails')
                wait_for(lambda: receiver.of(rule) == ['FIRED'], lambda: f'{rule}: {receiver.notices}')
                (run, batch), = rows(store, truth)
                found = two_clicks(server, f'/runs/batch/{run}/{batch}')
                check(found, f'{rule}: two links from the first page to /runs/batch/{run}/{batch}')
                print(f'  {rule}: / -> {found[:1]} -> /runs/batch/{run}/{batch}')
                store.patra('batch', 'replay', f'{run}/{batch}', codes=(code,))
                SIM.clear_faults()
                mend(store)
                wait_for(lambda: receiver.of(rule) == ['FIRED', 'RESOLVED'], lambda: f'{rule}: {receiver.notices}')
        finally:
            SIM.clear_faults()


def harvest_a_week(store):
    """Enough requests that succeed for those that failed to be few among them."""
    store.patra('harvest', 'crossref', '--from', '2026-03-05', '--to', '2026-03-12')


def test_a_source_that_is_ill_for_longer_than_retries_last_L1():
    incident('path=/crossref kind=status code=503', 'error-rate', FAILED, harvest_a_week, 0, ('--limit', '25%', '--for', '0s'))


def test_a_request_that_the_source_refuses_L2():
    incident('path=/crossref kind=status code=400', 'slices-failed', FAILED,
             lambda store: store.patra('trigger', 'crossref', 'backfill', '--from', '2026-02-01', '--to', '2026-02-02'), 0)


def test_a_record_that_cannot_be_read_L3():
    incident('path=/crossref kind=reshape member=DOI as=nothing', 'quarantine-open', BAD,
             lambda store: store.patra('quarantine', 'drop', 'crossref', '--yes', '--note', 'a test'), 0)


def test_a_credential_that_is_refused_L4():
    incident('path=/crossref kind=status code=401', 'source-stopped', FAILED,
             lambda store: store.patra('resume', 'crossref'), 0)


def main():
    global SIM
    with Sim('--records', '6000') as SIM:
        return simtest.run('integration-incidents', globals())


sys.exit(main())
