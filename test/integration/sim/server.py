#!/usr/bin/env python3
"""What any HTTP client may expect of the simulator: framing, keep-alive, gzip, TLS, limits, credentials, clock."""
import base64
import email.utils
import gzip
import hashlib
import hmac
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

import simtest
from simtest import BINARY, Sim, check, equal

START = 1775001600  # 2026-04-01


def connection(base):
    wire = http.client.HTTPConnection(base.removeprefix('http://'), timeout=60)
    wire.connect()
    return wire


def test_many_requests_on_one_connection():
    with Sim() as sim:
        wire = connection(sim.http)
        kept = wire.sock
        for n in range(200):
            wire.request('GET', f'/echo?n={n}')
            equal(json.loads(wire.getresponse().read())['query'], f'n={n}', 'answer')
        check(wire.sock is kept, 'the connection was kept')
        wire.close()


def test_pipelined_requests_are_answered_in_order():
    with Sim() as sim, sim.connect() as wire:
        sent = b''.join(simtest.request('POST', f'/echo?n={n}', body=b'x' * n, close=n == 19)
                        for n in range(20))
        wire.sendall(sent)
        raw = simtest.read_all(wire).raw
        equal([int(part.split(b'"')[0]) for part in raw.split(b'"query":"n=')[1:]], list(range(20)),
              'order')
        equal([int(part.split(b',')[0]) for part in raw.split(b'"body_bytes":')[1:]],
              list(range(20)), 'bodies')


def test_a_request_may_come_byte_by_byte():
    with Sim() as sim, sim.connect() as wire:
        for byte in simtest.request('POST', '/echo', body=b'hello'):
            wire.sendall(bytes([byte]))
        equal(simtest.read_all(wire).json()['body_bytes'], 5, 'body')


def test_bodies_may_come_in_chunks():
    body = b'3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\nTrailer: 1\r\n\r\n'
    head = simtest.request('POST', '/echo', ['Transfer-Encoding: chunked'])
    with Sim() as sim, sim.connect() as wire:
        wire.sendall(head + body)
        equal(simtest.read_all(wire).json()['body_bytes'], 19, 'body')


def test_expect_continue_is_answered():
    with Sim() as sim, sim.connect() as wire:
        head = simtest.request('POST', '/echo', ['Expect: 100-continue', 'Content-Length: 5'])
        wire.sendall(head)
        equal(wire.recv(100), b'HTTP/1.1 100 Continue\r\n\r\n', 'go on')
        wire.sendall(b'hello')
        equal(simtest.read_all(wire).json()['body_bytes'], 5, 'body')


def test_bad_requests_are_refused_and_the_server_lives():
    bad = {
        b'GARBAGE\r\n\r\n': 400, b'GET /echo HTTP/2.0\r\n\r\n': 505,
        b'GET echo HTTP/1.1\r\n\r\n': 400, b'GET /%zz HTTP/1.1\r\n\r\n': 400,
        b'GET / HTTP/1.1\r\nno colon\r\n\r\n': 400,
        b'POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n': 400,
        b'POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n': 413,
        b'POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n': 501,
        b'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n': 400,
        b'GET / HTTP/1.1\r\n' + b'A: b\r\n' * 100 + b'\r\n': 431,
        b'GET / HTTP/1.1\r\nA: ' + b'b' * 70000: 431,
        b'GET /?' + b'a=1&' * 100 + b' HTTP/1.1\r\n\r\n': 400,
    }
    with Sim() as sim:
        for sent, status in bad.items():
            with sim.connect() as wire:
                wire.sendall(sent)
                equal(simtest.read_all(wire).status, status, sent[:50])
        with sim.connect() as wire:  # cut off in the middle
            wire.sendall(b'GET /echo HTT')
        equal(sim.get('/echo').status, 200, 'alive')


def test_head_has_the_length_and_no_body():
    with Sim() as sim:
        reply = sim.ask('HEAD', '/blob?bytes=1000')
        equal((reply.status, reply.length, reply.body), (200, 1000, b''), 'HEAD')


def test_gzip_only_for_those_who_take_it():
    with Sim() as sim:
        reply = sim.get('/blob?bytes=100000', ['Accept-Encoding: br, gzip;q=0.5'])
        equal(reply.headers.get('content-encoding'), 'gzip', 'encoding')
        equal(gzip.decompress(reply.body), sim.get('/blob?bytes=100000').body, 'bytes')
        equal(reply.length, len(reply.body), 'length')
        for refused in ('identity', 'gzip;q=0', 'deflate'):
            reply = sim.get('/blob?bytes=100000', [f'Accept-Encoding: {refused}'])
            check('content-encoding' not in reply.headers, refused)
    with Sim('--gzip', '0') as sim:
        reply = sim.get('/blob?bytes=100000', ['Accept-Encoding: gzip'])
        check('content-encoding' not in reply.headers, 'switched off')


def test_every_framing_carries_the_same_body():
    for form in ('length', 'chunked', 'close'):
        with Sim('--transfer', form) as sim:
            for size in (0, 1, 1000, 32768, 32769, 4 << 20):
                wire = connection(sim.http)
                wire.request('GET', f'/blob?bytes={size}')
                reply = wire.getresponse()
                body = reply.read()
                equal(body, (b'abcdefghijklmnopqrstuvwxyz' * (size // 26 + 1))[:size],
                      f'{form} {size}')
                equal(reply.getheader('Transfer-Encoding'), 'chunked' if form == 'chunked' else None,
                      form)
                wire.close()


def test_http_1_0_is_understood():
    with Sim('--transfer', 'chunked') as sim, sim.connect() as wire:
        wire.sendall(b'GET /echo HTTP/1.0\r\n\r\n')
        reply = simtest.read_all(wire)
        equal((reply.status, reply.headers.get('transfer-encoding')), (200, None), 'no chunks')
        equal(reply.json()['path'], '/echo', 'body until the end')


def test_tls_with_a_made_certificate():
    with tempfile.TemporaryDirectory() as folder:
        with Sim('--tls', folder) as sim:
            port = int(sim.https.rsplit(':', 1)[1])
            trust = ssl.create_default_context(cafile=pathlib.Path(folder) / 'ca.pem')
            for host in ('127.0.0.1', 'localhost'):
                wire = http.client.HTTPSConnection(host, port, context=trust, timeout=60)
                for _ in range(3):
                    wire.request('GET', '/blob?bytes=1000000')
                    equal(len(wire.getresponse().read()), 1000000, 'body')
                wire.close()
            try:
                http.client.HTTPSConnection('127.0.0.1', port, timeout=60,
                                            context=ssl.create_default_context()).connect()
                check(False, 'nobody else trusts it')
            except ssl.SSLCertVerificationError:
                pass
            with socket.create_connection(('127.0.0.1', port)) as plain:
                plain.sendall(b'GET / HTTP/1.1\r\n\r\n')
                check(not simtest.read_all(plain).raw.startswith(b'HTTP'), 'plain HTTP is no TLS')
        first = (pathlib.Path(folder) / 'ca.pem').read_bytes()
        with Sim('--tls', folder):
            equal((pathlib.Path(folder) / 'ca.pem').read_bytes(), first, 'the folder is kept')


def test_two_runs_serve_the_same_bytes():
    paths = ('/generic/offset?limit=100', '/generic/token?size=7', '/_sim/truth?protocol=generic&limit=50')
    runs = []
    for _ in range(2):
        with Sim('--seed', '7', '--records', '2000', '--now', '2026-02-01') as sim:
            runs.append([sim.get(path, ['Accept-Encoding: gzip']).raw for path in paths])
    equal(runs[0], runs[1], 'headers and bodies')


def test_many_clients_at_once():
    with Sim() as sim:
        wrong = []

        def client(number):
            wire = connection(sim.http)
            for n in range(50):
                wire.request('GET', f'/echo?c={number}&n={n}')
                if json.loads(wire.getresponse().read())['query'] != f'c={number}&n={n}':
                    wrong.append((number, n))
            wire.close()

        threads = [threading.Thread(target=client, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(wrong, [], 'answers')
        equal(sim.audit()['summary']['requests'], 1000, 'all were seen')


def test_everything_at_once():
    """No answer is judged here: under a thread sanitizer this finds who shares without asking."""
    jobs = [('GET', '/generic/offset?limit=50', b''), ('GET', '/generic/token?size=10', b''),
            ('GET', '/blob?bytes=100000', b''), ('GET', '/_sim/audit?requests=1', b''),
            ('POST', '/_sim/audit?cause=1', b''), ('GET', '/_sim/audit?reset=1', b''),
            ('POST', '/_sim/faults', b'rate=0.2 by=request kind=redirect'), ('GET', '/_sim/faults', b''),
            ('DELETE', '/_sim/faults', b''), ('POST', '/_sim/clock?advance=-1d', b''),
            ('POST', '/_sim/clock?advance=1d', b''), ('GET', '/echo/o', b''),
            ('POST', '/oauth/token', b'grant_type=client_credentials&client_id=i&client_secret=hush'),
            ('POST', '/_sim/oauth/revoke', b''),
            ('GET', '/_sim/truth?protocol=generic&limit=5', b'')]
    with Sim('--limit', 'path=/ rate=100 concurrency=5', '--records', '500', '--auth',
             'path=/echo/o type=oauth2 client_id=i client_secret=hush') as sim:
        def client(job):
            method, path, body = job
            wire = connection(sim.http)
            for _ in range(30):
                wire.request(method, path, body or None)
                wire.getresponse().read()
            wire.close()

        threads = [threading.Thread(target=client, args=(job,)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(sim.get('/_sim/clock').status, 200, 'alive')


def test_a_stop_ends_idle_and_stalled_connections():
    with Sim() as sim:
        idle, stalled = sim.connect(), sim.connect()
        stalled.sendall(simtest.request('GET', '/echo', ['X-Sim-Fault: kind=stall ms=600000']))
        while sim.audit()['summary']['requests'] == 0:
            pass
    for wire in (idle, stalled):
        simtest.read_all(wire)
        wire.close()


def test_it_ends_with_the_program_that_started_it():
    with Sim() as sim:
        sim.stop = sim.process.stdin.close


# ---- clock ----

def now(sim):
    return sim.get('/_sim/clock').json()


def test_the_clock_is_set_and_advanced():
    with Sim('--now', '2026-04-01T00:00:00Z') as sim:
        equal(now(sim), {'now': '2026-04-01T00:00:00Z', 'now_us': START * 1000000}, 'start')
        equal(sim.ask('POST', '/_sim/clock?advance=1500ms').json()['now_us'], START * 1000000 + 1500000,
              'advanced')
        sim.ask('POST', '/_sim/clock?advance=-2d')
        equal(now(sim)['now'], '2026-03-30T00:00:01.500000Z', 'back')
        sim.ask('POST', '/_sim/clock?set=2026-05-01T02:00:00%2B02:00')
        equal(now(sim)['now'], '2026-05-01T00:00:00Z', 'set')
        equal(sim.get('/echo').headers['date'], 'Fri, 01 May 2026 00:00:00 GMT', 'Date header')
        equal(sim.get('/echo', ['X-Sim-Now: 2026-06-01']).json()['now_us'], 1780272000000000,
              'the time of a request')
        equal(now(sim)['now'], '2026-05-01T00:00:00Z', 'which does not move the clock')
        for bad in ('set=yesterday', 'set=2026-02-30', 'advance=5x', 'rate=-1'):
            equal(sim.ask('POST', '/_sim/clock?' + bad).status, 400, bad)
        sim.ask('POST', '/_sim/clock?rate=1000000')
        first = now(sim)['now_us']
        while now(sim)['now_us'] == first:
            pass
        check(now(sim)['now_us'] > first, 'it runs')


# ---- credentials ----

def statuses(sim, path, *headers):
    return [sim.get(path, list(header)).status for header in headers]


def basic(text):
    return ['Authorization: Basic ' + base64.b64encode(text.encode()).decode()]


def test_keys_and_passwords():
    rules = ('path=/echo/q type=api_key in=query name=api_key value=K1-secret',
             'path=/echo/h type=api_key in=header name=X-Api-Key value=K2-secret',
             'path=/echo/b type=basic user=me password="pass word"',
             'path=/echo/t type=bearer token=T1-secret', 'path=/echo/q/open type=none')
    with Sim(*(word for rule in rules for word in ('--auth', rule))) as sim:
        equal(sim.get('/echo').status, 200, 'no rule')
        equal([sim.get('/echo/q' + query).status for query in
               ('', '?api_key=x', '?api_key=K1-secret', '/open')], [401, 403, 200, 200], 'query')
        equal(statuses(sim, '/echo/h', [], ['X-Api-Key: x'], ['x-api-key: K2-secret']),
              [401, 403, 200], 'header')
        equal(statuses(sim, '/echo/b', [], basic('me:x'), basic('me:pass word')), [401, 401, 200],
              'basic')
        check('Basic' in sim.get('/echo/b').headers['www-authenticate'], 'challenge')
        equal(statuses(sim, '/echo/t', [], ['Authorization: Bearer x'],
                       ['Authorization: Bearer T1-secret']), [401, 401, 200], 'bearer')
        equal(sim.ask('GET', '/echo/t', base=sim.other).status, 200, 'the other host asks for none')


def test_oauth2_tokens_live_and_die():
    form = b'grant_type=client_credentials&client_id=me&client_secret=hush'
    kind = ['Content-Type: application/x-www-form-urlencoded']

    def token(sim, body=form, headers=()):
        return sim.ask('POST', '/oauth/token', [*kind, *headers], body)

    with Sim('--auth', 'path=/echo/o type=oauth2 client_id=me client_secret=hush expires=60') as sim:
        equal(token(sim, b'grant_type=client_credentials').status, 401, 'who?')
        equal(token(sim, form.replace(b'hush', b'loud')).status, 401, 'wrong secret')
        equal(token(sim, form.replace(b'client_credentials', b'password')).status, 400, 'grant')
        given = token(sim).json()
        equal((given['token_type'], given['expires_in']), ('Bearer', 60), 'token')
        bearer = ['Authorization: Bearer ' + given['access_token']]
        other = token(sim, b'grant_type=client_credentials', basic('me:hush')).json()
        check(other['access_token'] != given['access_token'], 'each token is its own')
        equal(statuses(sim, '/echo/o', bearer, [], ['Authorization: Bearer sim-x']), [200, 401, 401],
              'use')
        sim.ask('POST', '/_sim/clock?advance=59s')
        equal(statuses(sim, '/echo/o', bearer), [200], 'at 59 s')
        sim.ask('POST', '/_sim/clock?advance=1s')
        equal(statuses(sim, '/echo/o', bearer), [401], 'at 60 s')
        fresh = ['Authorization: Bearer ' + token(sim).json()['access_token']]
        equal(statuses(sim, '/echo/o', fresh), [200], 'a new one')
        sim.ask('POST', '/_sim/oauth/revoke')
        equal(statuses(sim, '/echo/o', fresh), [401], 'revoked')


def signed(method, path, query, date, body, secret=b'hush-hush', key='me'):
    """As docs/simulator.md tells it."""
    text = '\n'.join([method, path, '&'.join(sorted(query.split('&'))) if query else '', date,
                      hashlib.sha256(body).hexdigest()])
    mac = hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
    return [f'Date: {date}', f'Authorization: PATRA-HMAC-SHA256 KeyId={key}, Signature={mac}']


def test_signatures():
    date = email.utils.formatdate(START, usegmt=True)
    stale = email.utils.formatdate(START - 301, usegmt=True)
    path, query, body = '/echo/s/a%20b', 'z=1&a=%2F&m=', b'{"x":1}'
    good = signed('POST', path, query, date, body)
    with Sim('--now', '2026-04-01', '--auth', 'path=/echo/s type=hmac key_id=me secret=hush-hush') as sim:
        def send(headers, body=body, query=query):
            return sim.ask('POST', f'{path}?{query}', headers, body).status

        equal(send(good), 200, 'good')
        equal(send([]), 401, 'none')
        equal(send(good, body=b'{"x":2}'), 403, 'another body')
        equal(send(good, query='z=2&a=%2F&m='), 403, 'another query')
        equal(send(good, query='a=%2F&m=&z=1'), 200, 'another order')
        equal(send(signed('GET', path, query, date, body)), 403, 'another method')
        equal(send(signed('POST', path, query, date, body, b'wrong')), 403, 'another secret')
        equal(send(signed('POST', path, query, date, body, key='you')), 403, 'another key')
        equal(send(signed('POST', path, query, stale, body)), 403, 'an old date')
        equal(sim.get('/echo/s', signed('GET', '/echo/s', '', date, b'')).status, 200, 'no query')


# ---- command line ----

def test_wrong_usage_is_reported():
    cases = {(): 'a command is missing', ('serve', 'now'): 'now', ('frobnicate',): 'frobnicate', ('serve', '--frob'): '--frob',
             ('serve', '--port'): '--port', ('serve', '--port', 'x'): "--port: 'x'",
             ('serve', '--now', 'soon'): "--now: 'soon'"}
    for words, reported in cases.items():
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, check=False)
        equal(done.returncode, 2, words)
        check(reported in done.stderr, f'{words}: {done.stderr}')
    late = {('--fault', 'kind=x'): 'kind=x', ('--auth', 'type=basic'): 'path=',
            ('--limit', 'path=/x'): 'rate', ('--audit-off', 'joy'): 'joy',
            ('--faults', '/nowhere'): '/nowhere', ('--tls-cert', '/nowhere'): 'tls-key',
            ('--listen', 'here'): 'here', ('--ready-file', '/nowhere/x'): '/nowhere/x'}
    for words, reported in late.items():
        done = subprocess.run([BINARY, 'serve', *words], capture_output=True, text=True, check=False)
        equal(done.returncode, 1, words)
        check(reported in done.stderr, f'{words}: {done.stderr}')
    for words in (('--help',), ('--version',), ('serve', '--help')):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, check=False)
        equal((done.returncode, done.stderr), (0, ''), words)
        check('patra-sim' in done.stdout, words)


if __name__ == '__main__':
    sys.exit(simtest.run('integration-sim-server', globals()))
