#!/usr/bin/env python3
"""The audit catches each rule broken on purpose, names the requests, and blames no polite client."""
import os
import random
import subprocess
import sys

import simtest
from simtest import Sim, check, equal

SCRIPT = simtest.ROOT / 'test/integration/sim/impolite.sh'
OPTIONS = ['--auth', 'path=/echo/secret type=basic user=u password=pass',
           '--auth', 'path=/echo/tls type=basic user=u password=pass tls_only',
           '--limit', 'path=/echo/fast rate=2 window=60s burst=2',
           '--limit', 'path=/echo/many concurrency=1']
# Of each rule: the request that broke it, and the one it collides with.
ENDS = {'rate': (3, 1), 'concurrency': (2, 1), 'retry_after': (2, 1), 'credential_host': (2, 1),
        'credential_plain': (1, None), 'agent': (1, None), 'contact': (1, None), 'repeat': (2, 1)}


def at(second):
    return f'X-Sim-Now: {1775001600000000 + round(second * 1000000)}'


def test_each_rule_broken_by_a_script_is_caught_and_no_other():
    rules = subprocess.run([SCRIPT], capture_output=True, text=True, check=True).stdout.split()
    equal(sorted(rules), sorted(ENDS), 'the rules of the script')
    for rule in rules:
        with Sim(*OPTIONS) as sim:
            equal(list(sim.audit()['summary']['violations']), list(ENDS), 'the rules of the audit')
            subprocess.run([SCRIPT, rule], env={**os.environ, 'SIM': sim.http}, check=True)
            equal(sim.broken(), {rule: 1}, rule)
            found = sim.audit()['violations'][0]
            equal((found['rule'], found['request'], found.get('other')), (rule, *ENDS[rule]), rule)


def test_a_polite_client_is_blamed_for_nothing():
    key = ['Authorization: Basic dTpwYXNz']
    with Sim(*OPTIONS, '--limit', 'path=/echo/p rate=3 burst=2 concurrency=2') as sim:
        sim.get('/echo/p?n=0', [at(0)])
        sim.get('/echo/p?n=1', [at(0)])
        sim.get('/echo/p?n=2', [at(0.334)])
        reply = sim.get('/echo/p?n=3', [at(0.667), 'X-Sim-Fault: kind=status code=429 retry_after=10'])
        equal(reply.headers['retry-after'], '10', 'told to wait')
        equal(sim.get('/echo/p?n=3', [at(10.667)]).status, 200, 'and waited')
        equal(sim.get('/echo/p?n=0', [at(11.667)]).status, 200, 'started over after the fault')
        equal(sim.get('/echo/secret', key).status, 200, 'the password where it belongs')
        equal(sim.ask('GET', '/echo/secret', base=sim.other).status, 200, 'lured, without it')
        sim.get('/echo/p?n=9', [at(20)])
        sim.get('/echo/p?n=9', [at(20 + 300)])  # a poll
        sim.ask('GET', '/echo?email=a@example.org', agent='nobody')
        equal(sim.broken(), {}, 'polite')
        equal(sim.audit()['summary']['requests'], 11, 'all were seen')


def too_many(times, rate, burst):
    """Brute force: the requests, in their order of arrival, that make an interval too full."""
    blamed = []
    for n in range(len(times)):
        known = sorted(times[:n + 1])
        first, last = known.index(times[n]), n - known[::-1].index(times[n])
        if any(j - i + 1 > rate * (known[j] - known[i]) + burst + 1e-3
               for i in range(last + 1) for j in range(max(i, first), n + 1)):
            blamed.append(n)
    return blamed


def test_rates_are_judged_as_a_brute_force_model_does():
    chance = random.Random(5)
    for rate, burst, shuffled in ((4, 3, 0), (4, 3, 5), (1, 1, 2), (6, 2, 3)):
        times, now = [], 0.0
        for _ in range(60):
            now += chance.choice((0, 0.05, 0.2, 1 / rate, 2 / rate))
            times.append(round(now, 6))
        for _ in range(shuffled):  # threads overtake each other
            n = chance.randrange(1, len(times))
            times[n - 1], times[n] = times[n], times[n - 1]
        with Sim('--limit', f'path=/echo rate={rate} burst={burst}', '--audit-off', 'repeat') as sim:
            blamed, before = [], 0
            for n, second in enumerate(times):
                sim.get('/echo', [at(second)])
                count = sim.broken().get('rate', 0)
                if count > before:
                    blamed.append(n)
                before = count
            equal(blamed, too_many(times, rate, burst), f'rate={rate} burst={burst} {shuffled}')
            check(0 < len(blamed) < 60, f'{len(blamed)} blamed: the case is worth something')


def test_enforced_limits_refuse_what_exceeds_them():
    with Sim('--limit', 'path=/echo rate=1 burst=2 enforce=5', '--audit-off', 'repeat') as sim:
        seconds = (0, 0, 0, 0.5, 1, 1.5, 2, 2, 2, 60, 60, 60)
        replies = [sim.get('/echo', [at(second)]) for second in seconds]
        # A bucket of 2 that fills by 1 per second, and from which refused requests take nothing.
        equal([reply.status for reply in replies],
              [200, 200, 429, 429, 200, 429, 200, 429, 429, 200, 200, 429], 'a bucket')
        equal(replies[2].headers.get('retry-after'), '5', 'when to come back')
        equal(sim.broken(), {'rate': 6, 'retry_after': 6}, 'the audit counts them all the same')
    with Sim('--limit', 'path=/echo concurrency=1 enforce') as sim, sim.connect() as wire:
        wire.sendall(simtest.request('GET', '/echo?n=1', ['X-Sim-Fault: kind=stall at=reply ms=600000']))
        wire.recv(1)
        reply = sim.get('/echo?n=2')
        equal((reply.status, reply.headers.get('retry-after')), (429, None), 'one at a time')


def test_retry_after_counts_in_its_scope_and_up_to_its_end():
    told = 'X-Sim-Fault: kind=status code=503 retry_after='
    with Sim('--limit', 'path=/echo/a rate=1000 burst=1000') as sim:
        sim.get('/echo/a', [at(0), told + '60'])
        sim.get('/echo/b', [at(1)])
        equal(sim.broken(), {}, 'another scope')
        sim.get('/echo/a', [at(0.1)])
        equal(sim.broken(), {}, 'on its way already')
        sim.get('/echo/a/c', [at(59.999)])
        equal(sim.broken(), {'retry_after': 1}, 'inside')
        sim.get('/echo/a/d', [at(60)])
        equal(sim.broken(), {'retry_after': 1}, 'behind')
        for form, until in (('0', 0), ('past', 0), ('date+30', 30)):
            sim.audit('?reset=1')
            sim.get('/echo/a', [at(0), told + form])
            sim.get('/echo/a?x', [at(15)])
            equal(sim.broken(), {'retry_after': 1} if until else {}, form)


def test_what_is_a_cause_to_fetch_a_page_again():
    page = '/echo?page=1'

    def again(label, wanted, between):
        with Sim() as sim:
            sim.get(page)
            between(sim)
            sim.get(page)
            equal(sim.broken(), {'repeat': 1} if wanted else {}, label)

    again('nothing', True, lambda sim: None)
    again('another page', True, lambda sim: sim.get('/echo?page=2'))
    again('parameters in another order are the same page', True,
          lambda sim: (sim.get('/echo?b=2&a=1'), sim.audit('?reset=1'), sim.get(page)))
    again('a fault in the scope', False,
          lambda sim: sim.get('/echo?page=2', ['X-Sim-Fault: kind=status code=500']))
    again('a fault elsewhere', True,
          lambda sim: sim.get('/blob?bytes=1', ['X-Sim-Fault: kind=status code=500']))
    again('a broken connection in the scope', False,
          lambda sim: sim.get('/echo?page=2', ['X-Sim-Fault: kind=reset']))
    again('a spoiled page', False, lambda sim: sim.get('/echo?p=3', ['X-Sim-Fault: kind=empty']))
    again('time has passed', False, lambda sim: sim.ask('POST', '/_sim/clock?advance=5m'))
    again('not enough time', True, lambda sim: sim.ask('POST', '/_sim/clock?advance=299s'))
    again('the tester killed the client', False, lambda sim: sim.ask('POST', '/_sim/audit?cause=1'))
    with Sim() as sim:
        sim.get('/echo?b=2&a=1')
        sim.get('/echo?a=1&b=2')
        equal(sim.broken(), {'repeat': 1}, 'the order of parameters does not matter')
        sim.ask('POST', '/echo', body=b'{"page":1}')
        sim.ask('POST', '/echo', body=b'{"page":2}')
        equal(sim.broken(), {'repeat': 1}, 'other bodies are other pages')
        sim.ask('POST', '/echo', body=b'{"page":2}')
        equal(sim.broken(), {'repeat': 2}, 'the same body')


def test_a_client_that_went_away_has_a_cause():
    with Sim() as sim:
        wire = sim.connect()
        # Together more than the sockets' buffers hold, so the server cannot be done before the reset.
        pages = [f'/blob?bytes=4000000&n={n}' for n in range(16)]
        wire.sendall(b''.join(simtest.request('GET', page, close=False) for page in pages))
        wire.recv(1)
        simtest.reset(wire)
        check(any(sim.audit()['summary']['incomplete'] for _ in range(5000)), 'the server noticed')
        equal(sim.get(pages[-1]).status, 200, 'asked again')
        equal(sim.broken(), {}, 'with a cause')


def test_secrets_are_found_wherever_they_stand():
    places = {'a header': ('/echo', ['X-Key: topsecret'], b''), 'the query': ('/echo?k=topsecret', [], b''),
              'escaped': ('/echo?k=top%73ecret', [], b''), 'the path': ('/echo/topsecret', [], b''),
              'the body': ('/echo', [], b'{"k":"topsecret"}')}
    with Sim('--auth', 'path=/x type=api_key in=header name=X-Key value=topsecret') as sim:
        for label, (path, headers, body) in places.items():
            sim.audit('?reset=1')
            sim.ask('POST', path, headers, body, base=sim.other)
            equal(sim.broken(), {'credential_host': 1}, label)
        sim.audit('?reset=1')
        sim.ask('GET', '/echo?k=public', base=sim.other)
        equal(sim.broken(), {}, 'no secret')


def test_the_list_tells_what_was_asked_and_answered():
    with Sim('--now', '2026-04-01') as sim:
        sim.get('/echo?a=1&b=%22', ['X-Sim-Fault: kind=status code=503'])
        sim.get('/echo', [at(60)])
        sim.ask('GET', '/nowhere', base=sim.other)
        first, second, third = sim.audit('?requests=1')['requests']
        wanted = {'request': 1, 'method': 'GET', 'path': '/echo', 'query': 'a=1&b=%22', 'status': 503,
                  'fault': 'status', 'fault_rule': -1, 'user_agent': simtest.POLITE, 'on_client_time': False,
                  'host': sim.http.removeprefix('http://'), 'scheme': 'http', 'now': '2026-04-01T00:00:00Z', 'complete': True}
        equal({name: first[name] for name in wanted}, wanted, 'the first')
        check(first['client'].startswith('127.0.0.1:'), 'client')
        equal((second['on_client_time'], second['now']), (True, '2026-04-01T00:01:00Z'), 'the second')
        equal((third['status'], third['other_host']), (404, True), 'the third')
        sim.audit('?reset=1')
        equal(sim.audit('?requests=1')['requests'], [], 'after a reset')
        sim.get('/echo')
        equal(sim.audit('?requests=1')['requests'][0]['request'], 4, 'ordinals are not used twice')


def test_memory_is_bounded_and_drops_are_counted():
    with Sim('--audit-mb', '1') as sim, sim.connect() as wire:
        long = 'x' * 2000
        for n in range(1000):
            wire.sendall(simtest.request('HEAD', f'/echo?n={n}&{long}', close=False))
            raw = b''
            while not raw.endswith(b'\r\n\r\n'):
                raw += wire.recv(65536)
        seen = sim.audit('?requests=1')
        equal(seen['summary']['requests'], 1000, 'all were counted')
        dropped = seen['summary']['dropped']['requests']
        check(0 < dropped < 1000, f'{dropped} were dropped')
        equal(len(seen['requests']), 1000 - dropped, 'the others are listed')


if __name__ == '__main__':
    sys.exit(simtest.run('integration-sim-audit', globals()))
