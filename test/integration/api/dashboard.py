#!/usr/bin/env python3
"""What a browser may expect of the dashboard of `patra serve --role api`: whole pages without a script, texts of sources that
stay texts, forms that nobody else can send, and news of changes for many pages at once. What Chromium sees is test/browser."""
import html.parser
import http.client
import http.server
import json
import pathlib
import select
import socket
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from apitest import IS_SLOW, Server, Store  # noqa: E402
from simtest import Sim, check, equal  # noqa: E402

BOARDS = ['/', '/runs', '/runs/plan/1', '/runs/task/1', '/runs/run/1', '/runs/batch/1/1', '/cursors', '/cursors/crossref',
          '/preview/crossref?from=2026-01-01&to=2026-01-02', '/gate', '/events', '/errors', '/records', '/records/crossref', '/why']
HOSTILE = '<script>alert(1)</script><img src=x onerror=y>"\'&'
STORE = None
VOID = {'meta', 'link', 'input', 'br'}


class Page(html.parser.HTMLParser):
    """A page as a browser reads it: elements must close, and nothing may run that is not a file of ours."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.texts, self.fields = [], [], [], {}
        self.feed(text)
        self.close()
        equal(self.open, [], 'every element is closed')

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.seen.append((tag, attrs))
        check(not any(name.startswith('on') or name == 'style' for name in attrs), f'no inline code: {attrs}')
        check(tag != 'script' or attrs.get('src') == '/script.js', 'no script but ours')
        for name in ['href', 'src', 'action']:
            check(attrs.get(name, '/').startswith(('/', '#')) and not attrs.get(name, '/').startswith('//'), f'{attrs}')
        if tag == 'input' and attrs.get('name'):
            self.fields[attrs['name']] = attrs.get('value', '')
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop() if self.open else None, tag, 'elements nest')

    def handle_data(self, data):
        self.texts.append(data)

    def count(self, tag):
        return sum(1 for name, _ in self.seen if name == tag)


def form(server, target, fields, cookie=None, **headers):
    wire = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
    sent = {'Content-Type': 'application/x-www-form-urlencoded', 'Origin': f'http://127.0.0.1:{server.port}', **headers}
    if cookie:
        sent['Cookie'] = cookie
    wire.request('POST', target, urllib.parse.urlencode(fields), sent)
    reply = wire.getresponse()
    reply.text = reply.read().decode()
    wire.close()
    return reply


def sign_in(server, token):
    reply = form(server, '/login', {'token': token})
    equal(reply.status, 303, reply.text)
    cookie = reply.headers['Set-Cookie']
    check('HttpOnly' in cookie and 'SameSite=Strict' in cookie, cookie)
    check(token.split('_')[2] not in cookie, 'the cookie is not the token')
    cookie = cookie.split(';')[0]
    return cookie, Page(server.get('/', headers={'Cookie': cookie}).text).fields['form-key']


def test_every_board_is_whole_without_a_script():
    with Server(STORE) as server:
        for target in BOARDS:
            reply = server.get(target)
            equal(reply.status, 200, target)
            page = Page(reply.text)
            equal((page.count('h1'), page.count('main')), (1, 1), target)
            policy = reply.headers['Content-Security-Policy']
            check("default-src 'none'" in policy and 'unsafe' not in policy, policy)
            for name in ['X-Content-Type-Options', 'X-Frame-Options', 'Referrer-Policy', 'Cross-Origin-Resource-Policy']:
                check(name in reply.headers, f'{target}: {name}')
        for target, kind in [('/style.css', 'text/css'), ('/script.js', 'text/javascript')]:
            check(server.get(target).headers['Content-Type'].startswith(kind), target)


def test_texts_of_sources_and_people_stay_texts():
    ids = [r['id'] for r in json.loads(STORE.patra('record', 'list', 'crossref', '--limit', '1000', '--json'))['records']]
    sharp = [i for i in ids if '<' in i]
    check(sharp, 'the simulator has ids with markup in them')
    STORE.patra('pause', 'crossref', '--reason', HOSTILE)
    with Server(STORE) as server:
        for target in ['/records/crossref?limit=200', f'/records/crossref/{urllib.parse.quote(sharp[0], safe="")}',
                       f'/why/crossref/{urllib.parse.quote(HOSTILE, safe="")}', '/', '/gate',
                       f'/why?source=crossref&id={urllib.parse.quote(HOSTILE)}']:
            reply = server.get(target)
            page = Page(reply.text)
            check('<script>' not in reply.text and '<img' not in reply.text, target)
            if target == '/':
                check(HOSTILE in ''.join(page.texts), 'the reason, as it was written')
        # What is refused says so in the words of whoever asked.
        for target in [f'/runs?source={urllib.parse.quote(HOSTILE)}', f'/cursors/{urllib.parse.quote(HOSTILE, safe="")}',
                       f'/nothing/{urllib.parse.quote(HOSTILE, safe="")}']:
            reply = server.get(target, headers={'Accept': 'text/html'})
            check(reply.status in (400, 404), f'{target}: {reply.status}')
            Page(reply.text)
    STORE.patra('resume', 'crossref')


def test_no_form_without_a_session_and_its_key_gets_through():
    with Server(STORE) as server:
        changes = [p for p, m in json.loads(server.get('/openapi.json').text)['paths'].items() if 'post' in m]
        cookie, key = sign_in(server, STORE.operates)
        other, other_key = sign_in(server, STORE.reads)
        tried = 0
        for path in changes:
            target = path.replace('{source}', 'crossref').replace('{name}', 'x').replace('{plan}', '1').replace('{task}', '1')
            target = target.replace('/v1/', '/form/')
            for fields, sent, headers in [({}, None, {}), ({'form-key': key}, None, {}), ({}, cookie, {}),
                                          ({'form-key': other_key}, cookie, {}), ({'form-key': other_key}, other, {}),
                                          ({'form-key': key}, cookie, {'Origin': 'https://evil.example'}),
                                          ({'form-key': key}, cookie, {'Sec-Fetch-Site': 'cross-site'}),
                                          ({'form-key': key}, cookie, {'Content-Type': 'text/plain'})]:
                reply = form(server, target, fields, sent, **headers)
                check(reply.status in (401, 403, 415), f'{target} {fields} {headers}: {reply.status}')
                tried += 1
                time.sleep(0.005)  # 200 at once, then 50 a second
            reply = server.ask('POST', target.replace('/form/', '/v1/'), headers={'Cookie': cookie}, body={})
            equal(reply.status, 401, f'{target}: the API takes no cookie for a change')
            tried += 1
        print(f'  0 of {tried} got through')
        equal(json.loads(STORE.patra('pause', '--json')), [], 'nothing was paused')
        reply = form(server, '/form/sources/crossref/pause', {'form-key': key, 'reason': 'a form'}, cookie)
        equal(reply.status, 200, reply.text)
        pause, = json.loads(STORE.patra('pause', '--json'))
        equal((pause['by'], pause['reason']), ('token ops', 'a form'), 'who and why')
        STORE.patra('resume', 'crossref')


def test_another_process_knows_nothing_of_a_session():
    with Server(STORE, '--require-token') as server:
        cookie, _ = sign_in(server, STORE.reads)
        equal(server.get('/', headers={'Cookie': cookie}).status, 200, 'here')
        reply = server.get('/')
        check(reply.status == 401 and 'name="token"' in reply.text, 'without one, a place to show a token')
        with Server(STORE, '--require-token') as another:
            equal(another.get('/', headers={'Cookie': cookie}).status, 401, 'there')


def listen(server, number):
    """A page that listens; each address may begin 200 at once."""
    wire = socket.socket()
    wire.settimeout(60)
    wire.bind((f'127.0.0.{2 + number % 8}', 0))
    wire.connect(('127.0.0.1', server.port))
    wire.sendall(b'GET /v1/events/changes HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return wire


def listen_all(server, count, seconds):
    """So many pages that have heard of the state. One that is refused because too many others wait begins again, as a browser's does."""
    until, numbers, heard = time.monotonic() + seconds, list(range(count)), []
    while numbers and time.monotonic() < until:
        wires = {listen(server, number): number for number in numbers}
        busy = dict.fromkeys(wires, b'')
        while busy and time.monotonic() < until:
            for wire in select.select(list(busy), [], [], 1)[0]:
                busy[wire] += wire.recv(65536)
                if b'event: change' in busy[wire]:
                    heard.append(wire)
                    numbers.remove(wires[wire])
                elif b' 503 ' not in busy[wire]:
                    continue
                del busy[wire]
        time.sleep(1 if numbers else 0)  # as Retry-After says
    equal(len(numbers), 0, 'all have heard of the state')
    return heard


def read_until(wires, needle, seconds):
    """Reads what comes, until each has had the needle; how many have not."""
    waiting, got = set(wires), {wire: b'' for wire in wires}
    until = time.monotonic() + seconds
    while waiting and time.monotonic() < until:
        for wire in select.select(list(waiting), [], [], 1)[0]:
            got[wire] += wire.recv(65536)
            if needle in got[wire]:
                waiting.discard(wire)
    return len(waiting)


def test_five_hundred_pages_hear_of_a_change_and_others_are_answered():
    count = 500
    with Server(STORE) as server:
        server.get('/')
        before = server.memory()
        wires = listen_all(server, count, 120)
        for _ in range(20):
            equal(server.get('/v1/sources', source='127.0.0.20').status, 200, 'others')
        equal(server.get('/', source='127.0.0.20').status, 200, 'a page')
        STORE.patra('pause', 'crossref', '--reason', 'news')
        equal(read_until(wires, b'event: change', 120), 0, 'all hear of a change')
        after = server.memory()
        more = [listen(server, number) for number in range(40)]
        refused = 0
        for wire in more:
            refused += b' 503 ' in wire.recv(4096)
        check(refused == 40 - (512 - count), f'{refused} beyond 512 were refused')
        equal(server.get('/healthz', source='127.0.0.20').status, 200, 'others, still')
        if not IS_SLOW:
            check(after - before < 60000, f'memory: {before} kB, then {after} kB')
        print(f'  {count} pages, memory {before} kB, then {after} kB')
        STORE.patra('resume', 'crossref')
        # The server ends while they listen.
        server.process.terminate()
        equal(server.process.wait(60), 0, 'exit code')
        for wire in wires + more:
            wire.close()


LATE = """
source: latecomer
http: {{ base_url: "http://127.0.0.1:{port}", allow_plain_http: true }}
rate: {{ per_second: 100 }}
endpoints:
  works:
    role: search
    path: /works
    query: {{ since: "${{window.from}}", until: "${{window.to}}", offset: "${{page.offset}}", rows: "${{page.size}}" }}
    page: {{ type: offset, size: 100 }}
    window: {{ key: updated, granularity: second, align: day, size: 1d, max: 1d, min: 1h, lag: 0, lookback: 1d }}
    response: {{ items: $.items, id: $.id, updated_at: $.updated, total: $.total }}
operations:
  harvest: {{ endpoint: works }}
"""


class Upstream:
    """A list of records by date, to which a test adds."""

    def __init__(self, **records):
        self.records = records
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_GET(self):
                asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                found = [{'id': name, 'updated': at} for name, at in sorted(outer.records.items())
                         if asked['since'] <= at < asked['until']]
                at = int(asked['offset'])
                body = json.dumps({'total': len(found), 'items': found[at:at + int(asked['rows'])]}).encode()
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def test_records_that_arrive_behind_the_cursor_are_shown():
    store = Store()
    with Upstream(a='2026-02-02T12:00:00Z', b='2026-02-04T12:00:00Z') as upstream:
        spec = pathlib.Path(store.folder.name) / 'latecomer.yaml'
        spec.write_text(LATE.format(port=upstream.server.server_port))
        store.patra('source', 'apply', str(spec))
        store.patra('harvest', 'latecomer', '--from', '2026-02-01', '--to', '2026-02-05')
        upstream.records.update(c='2026-02-04T13:00:00Z', d='2026-02-05T10:00:00Z')
        store.patra('harvest', 'latecomer', '--to', '2026-02-06')
        with Server(store) as server:
            late, = json.loads(server.get('/v1/late').text)['sources']
            equal((late['source'], late['stored'], late['late']), ('latecomer', 4, 1), 'one of four came late')
            equal(json.loads(server.get('/v1/late?to=2026-01-01').text)['sources'], [], 'nothing was harvested then')
            for target in ['/cursors', '/cursors/latecomer']:
                page = Page(server.get(target).text)
                section, = [at for at, (tag, attrs) in enumerate(page.seen) if tag == 'section' and attrs.get('id') == 'late']
                check(any(tag == 'table' for tag, _ in page.seen[section:]), f'{target}: a table')
                text = ' '.join(' '.join(page.texts).split())
                check('Late arrivals' in text and '1 25.0 % 4' in text, f'{target}: {text}')


def main():
    global STORE
    with Sim('--records', '6000') as sim:
        STORE = Store(sim)
        return simtest.run('integration-dashboard', globals())


sys.exit(main())
