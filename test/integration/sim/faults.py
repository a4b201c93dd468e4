#!/usr/bin/env python3
"""Every fault of docs/simulator.md happens as told: the curl lines are taken from the page itself."""
import datetime
import email.utils
import gzip
import http.client
import re
import subprocess
import sys
import time

import simtest
from simtest import Sim, check, equal

PAGE = (simtest.ROOT / 'docs/simulator.md').read_text()
ROW = re.compile(r'^\| (\w+) \| `(curl [^`]*)` \| (.*) \|$', re.M)
HEADER = re.compile(r"X-Sim-Fault: ([^']*)'")
NOW = datetime.datetime(2026, 4, 1, tzinfo=datetime.timezone.utc)

# curl's exit codes
OK, PARTIAL, TIMEOUT, NOTHING, RESET, BAD_CHUNK = 0, 18, 28, 52, 56, 18


def plain(sim):
    """What /echo says when nothing is wrong."""
    return sim.get('/echo').body


class Told:
    """A line of the page, run by curl, and asked once more through a bare socket."""

    def __init__(self, sim, line):
        done = subprocess.run(['sh', '-c', line.replace('$SIM', sim.http)], capture_output=True,
                              timeout=120, check=False)
        self.code = done.returncode
        self.out = done.stdout
        self.target = re.search(r'\$SIM(/[^" ]*)', line).group(1)
        start = time.monotonic()
        self.raw = sim.get(self.target, ['X-Sim-Fault: ' + HEADER.search(line).group(1)])
        self.raw_seconds = time.monotonic() - start


def status(code, retry=None, kind='application/json', empty=False):
    def judge(told, sim):
        equal(told.code, OK, 'curl')
        equal(told.raw.status, code, 'status')
        check(f'HTTP/1.1 {code} '.encode() in told.out, 'curl sees the status')
        equal(retry(told.raw.headers.get('retry-after')) if callable(retry)
              else told.raw.headers.get('retry-after'), True if callable(retry) else retry,
              'Retry-After')
        equal(told.raw.headers.get('content-type'), kind, 'content type')
        equal(told.raw.body == b'', empty, 'body is empty')
    return judge


def date_off(seconds):
    return lambda text: email.utils.parsedate_to_datetime(text) == NOW + datetime.timedelta(
        seconds=seconds)


def reset_at_once(told, sim):
    check(told.code in (RESET, NOTHING), f'curl: {told.code}')
    equal((told.raw.raw, told.raw.ending), (b'', 'reset'), 'bare socket')


def reset_mid(told, sim):
    body = plain(sim)
    equal(told.code, RESET, 'curl')
    equal(told.raw.ending, 'reset', 'ending')
    equal(told.raw.length, len(body), 'Content-Length')
    equal(told.raw.body, body[:len(body) // 2], 'half of the body')


def close(told, sim):
    equal(told.code, NOTHING, 'curl')
    equal((told.raw.raw, told.raw.ending), (b'', 'end'), 'bare socket')


def drip(told, sim):
    body = plain(sim)
    equal(told.code, OK, 'curl')
    equal(told.raw.body, body, 'body')
    check(told.raw_seconds >= (len(body) - 40) / 400, 'all but the last drop at 400 bytes per second')


def stalls(sent):
    def judge(told, sim):
        equal(told.code, TIMEOUT, 'curl gives up')
        equal(told.out.count(b'{'), sent, 'pieces of the body so far')
        equal(told.raw.body, plain(sim), 'after the stall: the body')
    return judge


def cut(code, length):
    def judge(told, sim):
        body = plain(sim)
        equal(told.code, code, 'curl')
        equal(told.raw.ending, 'end', 'ending')
        if length is not None:
            equal(told.raw.length, len(body) if length else len(body) // 2, 'Content-Length')
        else:
            check('content-length' not in told.raw.headers, 'no Content-Length')
        equal(told.raw.body, body[:len(body) // 2], 'half of the body')
    return judge


def cut_chunks(told, sim):
    equal(told.code, BAD_CHUNK, 'curl')
    equal(told.raw.headers.get('transfer-encoding'), 'chunked', 'framing')
    size, _, rest = told.raw.body.partition(b'\r\n')
    equal(int(size, 16), len(plain(sim)) // 2, 'chunk of half the body')
    equal(rest, plain(sim)[:len(plain(sim)) // 2] + b'\r\n', 'no last chunk')


def wrong_length(code, delta):
    def judge(told, sim):
        equal(told.code, code, 'curl')
        equal(told.raw.body, plain(sim), 'the whole body')
        equal(told.raw.length, len(told.raw.body) + delta, 'Content-Length')
    return judge


def garbage(told, sim):
    equal(told.code, OK, 'curl')
    equal(told.raw.status, 200, 'status')
    equal(len(told.raw.body), 300, 'bytes')
    check(len(set(told.raw.body)) > 64, 'they look random')
    equal(told.out.split(b'\r\n\r\n', 1)[1], told.raw.body, 'and are the same each time')
    check('json' in told.raw.headers['content-type'], 'content type')


def html(kind):
    def judge(told, sim):
        equal(told.raw.status, 200, 'status')
        check(told.raw.body.startswith(b'<!DOCTYPE html>'), 'HTML')
        check(told.raw.headers['content-type'].startswith(kind), 'content type')
    return judge


def empty(told, sim):
    equal((told.code, told.raw.status, told.raw.body), (OK, 200, b''), 'a 200 of zero bytes')
    equal(told.raw.headers.get('content-length'), '0', 'Content-Length')
    check('json' in told.raw.headers['content-type'], 'content type')


def oversize(announced):
    def judge(told, sim):
        size = len(plain(sim)) + (20 << 20)
        equal(told.out, f'{size}\n'.encode(), 'curl counts')
        equal(told.raw.headers.get('content-length'), str(size) if announced else None,
              'Content-Length')
    return judge


def dechunk(body):
    whole = b''
    while True:
        size, _, body = body.partition(b'\r\n')
        if int(size, 16) == 0:
            return whole
        whole += body[:int(size, 16)]
        body = body[int(size, 16) + 2:]


def bomb(told, sim):
    check(int(told.out) < 1 << 20, 'little on the wire')
    equal(told.raw.headers.get('content-encoding'), 'gzip', 'encoding')
    equal(len(gzip.decompress(dechunk(told.raw.body))), len(plain(sim)) + (200 << 20),
          'much behind it')


def charset(name):
    def judge(told, sim):
        check('charset=utf-8' in told.raw.headers['content-type'], 'the header still says UTF-8')
        equal(told.raw.body.decode(name, 'strict').replace('??', '文献').lstrip('\ufeff'),
              plain(sim).decode(), 'the text')
        check(told.raw.body != plain(sim), 'other bytes')
        equal(told.out.split(b'\r\n\r\n', 1)[1], told.raw.body, 'curl')
    return judge


def redirect(told, sim):
    equal(told.raw.status, 302, 'status')
    equal(told.raw.headers.get('location'), sim.other + '/echo?a=1', 'the other host')
    check(b'302 Found' in told.out, 'curl')


# ---- twists: compared with what the protocol says without them ----

def items(reply):
    return [item.get('id') for item in reply.json()['items']]


def twisted(judge):
    def compare(told, sim):
        equal(told.code, OK, 'curl')
        equal(told.out, told.raw.body, 'curl and the bare socket')
        judge(told.raw, sim.get(told.target), sim)
    return compare


def page_from(offset):
    def judge(reply, right, sim):
        equal(items(reply), items(sim.get(f'/generic/offset?offset={offset}&limit=2')), 'page')
        check(items(reply) != items(right), 'not the right one')
    return judge


def repeat_token(reply, right, sim):
    equal(items(reply), items(right), 'the right page')
    check(right.json()['next'].endswith('?page=3&size=2'), 'what should be next')
    check(reply.json()['next'].endswith('?page=2&size=2'), 'what is next')


def expired_token(reply, right, sim):
    token = sim.get('/generic/token?size=2').json()['nextToken']
    alive = sim.get(f'/generic/token?size=2&token={token}')
    equal(alive.status, 200, 'a token that lives')
    dead = sim.get(f'/generic/token?size=2&token={token}', ['X-Sim-Fault: kind=expired_token'])
    equal((reply.status, dead.status), (410, 410), 'gone')


def moving_total(reply, right, sim):
    equal(items(reply), items(right), 'the right page')
    check(reply.json()['total'] != right.json()['total'], 'another total')


def next_elsewhere(reply, right, sim):
    equal(items(reply), items(right), 'the right page')
    equal(reply.json()['next'], sim.other + '/generic/next?page=2&size=2', 'next')


def one_flaw(spoil):
    """All records as they should be but one, which spoil() recognises."""
    def judge(reply, right, sim):
        pairs = list(zip(reply.json()['items'], right.json()['items'], strict=True))
        equal([got == wanted for got, wanted in pairs].count(False), 1, 'one record differs')
        equal([spoil(got) for got, wanted in pairs].count(True), 1, 'as told')
        equal([spoil(wanted) for got, wanted in pairs].count(True), 0, 'unlike the right ones')
    return judge


def is_date(text):
    try:
        datetime.datetime.fromisoformat(text)
        return True
    except ValueError:
        return False


def empty_page(reply, right, sim):
    equal((reply.status, items(reply)), (200, []), 'no records')
    equal(reply.json()['total'], right.json()['total'], 'the total stands')


def body_error(reply, right, sim):
    equal(reply.status, 200, 'status')
    check('error' in reply.json() and 'items' not in reply.json(), 'an error')


def missing_details(reply, right, sim):
    def articles(answer):
        return re.findall(rb'<MedlineCitation[^>]*><PMID[^>]*>(\d+)</PMID>', answer.body)

    equal(articles(right), [b'30000001', b'30000002', b'30000003'], 'all three')
    check(0 < len(articles(reply)) < 3, 'some are missing')
    check(set(articles(reply)) < set(articles(right)), 'the others are there')


def reshaped(member, value):
    """The body as it should be, but for one member; value None: which is missing."""
    def judge(reply, right, sim):
        wanted = right.json()
        check(member in wanted, 'the member without the fault')
        del wanted[member]
        got = reply.json()
        if value is not None:
            equal(value(got.pop(member)), True, member)
        equal(got, wanted, 'the rest')
    return judge


def reshape_element(reply, right, sim):
    equal(re.sub(rb'<ListRecords>.*</ListRecords>', b'', right.body, flags=re.S), reply.body,
          'all but the element')
    check(reply.body != right.body, 'which was there')


def reshape_body(reply, right, sim):
    equal((reply.status, list(reply.json())), (200, ['error']), 'an error object')


TWISTS = {
    'reshape_object': reshaped('items', lambda value: 'error' in value),
    'reshape_nothing': reshaped('total', None),
    'reshape_element': reshape_element,
    'reshape_body': reshape_body,
    'repeat_page': page_from(2),
    'shift_page': page_from(3),
    'repeat_token': repeat_token,
    'expired_token': expired_token,
    'moving_total': moving_total,
    'next_elsewhere': next_elsewhere,
    'record_no_id': one_flaw(lambda item: not item.get('id')),
    'record_no_date': one_flaw(lambda item: not item.get('updated_at')),
    'record_bad_date': one_flaw(lambda item: not is_date(item['updated_at'])),
    'empty_page': empty_page,
    'body_error': body_error,
    'missing_details': missing_details,
}

JUDGES = {
    'status_429_seconds': status(429, '30'),
    'status_429_date': status(429, date_off(30)),
    'status_429_zero': status(429, '0'),
    'status_429_past': status(429, date_off(-3600)),
    'status_429_absent': status(429, None, 'text/html; charset=utf-8'),
    'status_503_empty': status(503, '5', None, True),
    'reset_before': reset_at_once,
    'reset_reply': reset_at_once,
    'reset_mid': reset_mid,
    'close': close,
    'drip': drip,
    'stall_before': stalls(0),
    'stall_mid': stalls(1),
    'truncate_right': cut(PARTIAL, True),
    'truncate_short': cut(OK, False),
    'truncate_none': cut(OK, None),
    'truncate_chunked': cut_chunks,
    'length_more': wrong_length(PARTIAL, 100),
    'length_less': wrong_length(OK, -10),
    'garbage': garbage,
    'html': html('text/html'),
    'html_as_json': html('application/json'),
    'empty': empty,
    'oversize': oversize(True),
    'oversize_chunked': oversize(False),
    'bomb': bomb,
    'charset_latin1': charset('latin-1'),
    'charset_utf16': charset('utf-16'),
    'redirect': redirect,
    **{name: twisted(judge) for name, judge in TWISTS.items()},
}


def test_every_line_of_the_page_does_what_it_says():
    lines = dict((name, line) for name, line, _ in ROW.findall(PAGE))
    equal(sorted(set(lines) ^ set(JUDGES)), [], 'lines of the page and judges of this test')
    with Sim('--now', '2026-04-01', '--gzip', '0') as sim:
        for name, line in lines.items():
            before = len(simtest.failures)
            JUDGES[name](Told(sim, line), sim)
            simtest.failures[before:] = [f'{name}: {f}' for f in simtest.failures[before:]]


def hits(sim, count, path='/echo?n=%d'):
    """Which of `count` requests were struck, by their status."""
    return [n for n in range(1, count + 1) if sim.get(path % n).status != 200]


def test_conditions_strike_as_the_page_says():
    plans = {
        'nth=3,7 kind=status': [3, 7],
        'every=4 kind=status': [4, 8, 12],
        'from=5 to=8 kind=status': [5, 6, 7],
        'nth=2 burst=3 kind=status': [2, 3, 4],
        'every=5 times=1 kind=status': [5],
        'every=2 from=6 kind=status': [6, 8, 10, 12],
        'query=n=1 nth=2 kind=status': [10],  # of 1, 10, 11, 12
        'path=/other kind=status': [],
        'method=POST kind=status': [],
        'host=other kind=status': [],
        'until=2026-04-01 kind=status': [],
        'after=2026-04-01 nth=1 kind=status': [1],
    }
    with Sim('--now', '2026-04-01') as sim:
        for plan, wanted in plans.items():
            sim.faults(plan)
            equal(hits(sim, 12), wanted, plan)
            sim.clear_faults()


def test_first_rule_wins_and_all_count():
    with Sim() as sim:
        sim.faults('every=2 kind=status code=500\n# a comment\n\nevery=3 kind=status code=503\n')
        equal([sim.get('/echo').status for _ in range(6)], [200, 500, 503, 500, 200, 500], 'answers')
        rules = sim.get('/_sim/faults').json()['rules']
        equal([(rule['seen'], rule['hits']) for rule in rules], [(6, 3), (6, 1)], 'counts')


def test_a_bad_rule_refuses_the_whole_plan_and_names_its_line():
    bad = {'nth=1 kind=reset\nkind=nonsense\n': b'line 2', 'kind=status code=9': b'code=9',
           'rate=2 kind=reset': b'rate=2', 'nth=1': b'kind=', 'kind=reset at="x': b'quote',
           'frobnicate=1 kind=reset': b'frobnicate'}
    with Sim() as sim:
        for plan, word in bad.items():
            reply = sim.ask('POST', '/_sim/faults', body=plan.encode())
            equal(reply.status, 400, plan)
            check(word in reply.body, f'{plan}: {reply.body}')
        equal(sim.get('/_sim/faults').json()['rules'], [], 'nothing was taken')


def test_the_seed_repeats_a_day_and_another_seed_does_not():
    plan = 'rate=0.2 kind=status code=503'
    days = []
    for seed in ('7', '7', '8'):
        with Sim('--fault', plan, '--fault-seed', seed) as sim:
            days.append(hits(sim, 100))
    equal(days[0], days[1], 'the same seed')
    check(days[0] != days[2], 'another seed')
    check(8 <= len(days[0]) <= 35, f'{len(days[0])} of 100 at a rate of 0.2')


def test_by_request_does_not_depend_on_the_order():
    plan = 'rate=0.3 by=request kind=status code=503'
    struck = []
    for order in (range(60), reversed(range(60))):
        with Sim('--fault', plan) as sim:
            struck.append({n for n in order if sim.get(f'/echo?n={n}').status == 503})
    equal(struck[0], struck[1], 'the same requests')
    check(5 <= len(struck[0]) <= 35, f'{len(struck[0])} of 60')
    with Sim('--fault', 'nth=1 by=request kind=status code=503') as sim:
        equal([sim.get(f'/echo?n={n}').status for n in (1, 2, 1, 2, 1)], [503, 503, 200, 200, 200],
              'the first attempt at each')


def test_a_fault_leaves_the_connection_usable_where_it_can_be():
    """What looks complete must be complete for HTTP: the next request is answered on the same wire."""
    with Sim() as sim:
        wire = http.client.HTTPConnection(sim.http.removeprefix('http://'), timeout=60)
        wire.connect()
        socket = wire.sock
        for fault in ('kind=status', 'kind=empty', 'kind=truncate length=short', 'kind=html',
                      'kind=oversize mb=1 length=chunked', 'kind=drip bps=100000', 'kind=garbage'):
            wire.request('GET', '/echo', headers={'X-Sim-Fault': fault})
            wire.getresponse().read()
            check(wire.sock is socket, f'{fault}: the connection ended')
        wire.request('GET', '/echo')
        equal(wire.getresponse().read(), plain(sim), 'the last answer')
        wire.close()


if __name__ == '__main__':
    sys.exit(simtest.run('integration-sim-faults', globals()))
