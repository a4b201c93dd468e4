#!/usr/bin/env python3
"""A small careful harvester for each protocol, in Python alone, and patra-sim verify over what it stored.

The harvest goes on while virtual time passes: windows of days, each read again as far back as records arrive
late. What it holds in the end must be the truth, and each thing done to it afterwards must be found.
"""
import calendar
import contextlib
import datetime
import http.client
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse

import simtest
from simtest import Sim, check, equal

WORLD = ['--records', '3000', '--seed', '5', '--deleted-ppm', '40000', '--merged-ppm', '20000', '--late', '40h',
         '--late-ppm', '50000']
DAY = datetime.timedelta(days=1)
BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
LOOKBACK = 2 * DAY


def micros(at):
    return calendar.timegm(at.timetuple()) * 1000000 + at.microsecond


def parse_time(text):
    text = text.rstrip('Z')
    for form in ('%Y-%m-%dT%H:%M:%S.%f', '%Y-%m-%dT%H:%M:%S', '%Y-%m-%d'):
        with contextlib.suppress(ValueError):
            return micros(datetime.datetime.strptime(text, form))
    raise ValueError(text)


class Client:
    def __init__(self, base):
        url = urllib.parse.urlsplit(base)
        self.wire = http.client.HTTPConnection(url.hostname, url.port, timeout=60)

    def get(self, path, **params):
        self.wire.request('GET', path + ('?' + urllib.parse.urlencode(params) if params else ''),
                          headers={'User-Agent': simtest.POLITE})
        reply = self.wire.getresponse()
        body = reply.read()
        check(reply.status == 200, f'{path} {params}: {reply.status} {body[:200]}')
        return body


def raw_items(body, key):
    """The bytes of each object of the array that follows `key`, with its value."""
    text = body.decode()
    at = text.index(key) + len(key)
    decoder = json.JSONDecoder()
    while text[at] != ']':
        value, end = decoder.raw_decode(text, at)
        yield value, text[at:end].encode()
        at = end + (text[end] == ',')


def between(text, before, behind):
    found = re.search(re.escape(before) + '(.*?)' + re.escape(behind), text, re.S)
    return found.group(1) if found else None


# Each yields (id, updated in µs or None, deleted, raw bytes) of the days [first, last).


def crossref(client, first, last):
    cursor, total, seen = '*', None, 0
    until = last - datetime.timedelta(seconds=1)
    while True:
        body = client.get('/crossref/works', rows=300, cursor=cursor,
                          filter=f'from-index-date:{first:%Y-%m-%dT%H:%M:%S},until-index-date:{until:%Y-%m-%dT%H:%M:%S}')
        message = json.loads(body)['message']
        for item, raw in raw_items(body, '"items":['):
            yield item['DOI'], parse_time(item['indexed']['date-time']), False, raw
        seen += len(message['items'])
        if not message['items']:
            return equal(seen, message['total-results'], 'the scroll gave all')
        cursor = message['next-cursor']


def openalex(client, first, last):
    cursor = '*'
    while cursor:
        body = client.get('/openalex/works', api_key='k', per_page=200, cursor=cursor,
                          filter=f'from_updated_date:{first:%Y-%m-%d},to_updated_date:{last:%Y-%m-%dT00:00:00}')
        for item, raw in raw_items(body, '"results":['):
            updated = parse_time(item['updated_date'])
            if updated < micros(last):
                yield item['id'], updated, False, raw
        cursor = json.loads(body)['meta']['next_cursor']


def europepmc(client, first, last):
    mark = None
    following = '*'
    while following != mark:
        mark = following
        body = client.get('/europepmc/webservices/rest/search', format='json', resultType='core', pageSize=300,
                          cursorMark=mark, query=f'UPDATE_DATE:[{first:%Y-%m-%d} TO {last - DAY:%Y-%m-%d}]')
        for item, raw in raw_items(body, '"result":['):
            yield f"{item['source']}/{item['id']}", None, False, raw
        following = json.loads(body).get('nextCursorMark', mark)


def datacite(client, first, last):
    path = '/datacite/dois?' + urllib.parse.urlencode(
        {'page[cursor]': 1, 'page[size]': 300, 'query': f'updated:[{first:%Y-%m-%dT00:00:00Z} TO {last:%Y-%m-%dT00:00:00Z}}}'})
    while path:
        body = client.get(path)
        for item, raw in raw_items(body, '"data":['):
            yield item['id'], parse_time(item['attributes']['updated']), False, raw
        link = json.loads(body)['links'].get('next')
        path = link and '/' + link.split('/', 3)[3]


def pubmed(client, first, last):
    term = f'("{first:%Y/%m/%d}"[MDAT] : "{last - DAY:%Y/%m/%d}"[MDAT])'
    answer = json.loads(client.get('/entrez/eutils/esearch.fcgi', db='pubmed', retmode='json', retmax=9999,
                                   term=term))['esearchresult']
    ids = answer['idlist']
    equal(len(ids), int(answer['count']), 'below the cap')
    for at in range(0, len(ids), 200):
        text = client.get('/entrez/eutils/efetch.fcgi', db='pubmed', retmode='xml',
                          id=','.join(ids[at:at + 200])).decode()
        for found in re.finditer(r'<(PubmedArticle|PubmedBookArticle)>.*?</\1>', text, re.S):
            raw = found.group()
            revised = between(raw, '<DateRevised>', '</DateRevised>')
            day = '-'.join(re.findall(r'\d+', revised))
            yield between(raw, '<PMID Version="1">', '</PMID>'), parse_time(day), False, raw.encode()


def oai(client, first, last, path='/oai/size150', prefix='oai_dc', form='%Y-%m-%d'):
    params = {'metadataPrefix': prefix, 'from': first.strftime(form), 'until': (last - DAY).strftime(form)}
    while params:
        text = client.get(path, verb='ListRecords', **params).decode()
        for found in re.finditer(r'<record>.*?</record>', text, re.S):
            raw = found.group()
            yield (between(raw, '<identifier>', '</identifier>'), parse_time(between(raw, '<datestamp>', '</datestamp>')),
                   '<header status="deleted">' in raw, raw.encode())
        token = re.search(r'<resumptionToken[^>]*[^/]>(.+?)</resumptionToken>', text)
        params = {'resumptionToken': token.group(1)} if token else None


def arxiv(client, first, last):
    return oai(client, first, last, '/oai/arxiv.size150.extra', 'arXivRaw')


def generic(client, first, last):
    offset, total = 0, None
    while offset != total:
        body = client.get('/generic/offset', limit=300, offset=offset, **{'from': f'{first:%Y-%m-%d}', 'to': f'{last:%Y-%m-%d}'})
        total = json.loads(body)['total']
        for item, raw in raw_items(body, '"items":['):
            yield item['id'], parse_time(item['updated_at']), item['deleted'] or item['merged_into'] is not None, raw
            offset += 1


class Store:
    """ing_record and its content, as patra's migration makes them; the newest version of a record wins."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        for name in ('0001_init', '0003_records'):
            self.db.executescript((simtest.ROOT / f'sql/sqlite/{name}.sql').read_text())
        self.db.execute("INSERT INTO ing_record_endpoint (id, provenance_code, endpoint_name) VALUES (1, 'sim', 'e')")

    def put(self, records):
        with self.db:
            for name, updated, deleted, payload in records:
                written = self.db.execute(
                    "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, updated_at, version, deleted, content_hash,"
                    " checked_week, observed_at, checked_at, created_at) VALUES (1, 1, ?, ?, 1, ?, x'', 0, 0, 0, 0)"
                    " ON CONFLICT DO UPDATE SET updated_at = excluded.updated_at, deleted = excluded.deleted"
                    " WHERE coalesce(excluded.updated_at >= ing_record_state.updated_at, 1) RETURNING id", (name, updated, deleted)).fetchall()
                for record in written:
                    self.db.execute("INSERT OR REPLACE INTO ing_record_content (record_id, payload) VALUES (?, ?)", (*record, payload))


def verify(path, protocol, last, *options):
    done = subprocess.run([simtest.BINARY, 'verify', '--store', f'sqlite:{path}', '--protocol', protocol, '--source', 'sim',
                           '--to', f'{last:%Y-%m-%dT%H:%M:%SZ}', '--json', *options], capture_output=True, text=True)
    check(done.returncode in (0, 1), f'verify: {done.stderr}')
    return done.returncode, json.loads(done.stdout or '{}')


def harvest_to_the_end(sim, protocol, walk, path):
    """Five sweeps while the clock moves; returns the end of the covered window."""
    store, client = Store(path), Client(sim.http)
    first = BEGIN
    for days in (6, 13, 29, 30, 51):
        last = BEGIN + days * DAY
        # Whole days, read when they are over and what is late by minutes has come.
        reply = sim.ask('POST', f'/_sim/clock?set={last + datetime.timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}')
        check(reply.status == 200, 'the clock')
        store.put(walk(client, max(BEGIN, first - LOOKBACK), last))
        first = last
    store.db.close()
    return last


def check_protocol(protocol, walk):
    with tempfile.TemporaryDirectory(prefix='patra-sim-harvest.') as folder, Sim(*WORLD) as sim:
        path = pathlib.Path(folder) / 'store.db'
        last = harvest_to_the_end(sim, protocol, walk, path)
        code, report = verify(path, protocol, last, '--url', sim.http)
        equal((code, report['differences']), (0, 0), f'{protocol}: {report}')
        check(report['right'] > 900, f'{protocol}: {report["right"]} are few')
        at = f'{last + datetime.timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}'
        code, local = verify(path, protocol, last, '--at', at, *WORLD)
        equal(local, report, f'{protocol}: a world opened by verify itself')
        db = sqlite3.connect(path)
        with db:
            db.execute("UPDATE ing_record_content SET payload = CAST(payload || ' ' AS BLOB) WHERE record_id % 100 = 7 AND record_id IN"
                       " (SELECT id FROM ing_record WHERE deleted = 0)")
            db.execute("DELETE FROM ing_record_state WHERE deleted = 0 AND id % 100 = 8")
        db.close()
        code, report = verify(path, protocol, last, '--url', sim.http)
        check(code == 1 and report['wrong']['count'] > 5 and report['missing']['count'] > 5, f'{protocol}: spoilt: {report}')


def test_crossref():
    check_protocol('crossref', crossref)


def test_openalex():
    check_protocol('openalex', openalex)


def test_europepmc():
    check_protocol('europepmc', europepmc)


def test_datacite():
    check_protocol('datacite', datacite)


def test_pubmed():
    check_protocol('pubmed', pubmed)


def test_oai():
    check_protocol('oai', oai)


def test_arxiv():
    check_protocol('arxiv', arxiv)


def test_generic():
    check_protocol('generic', generic)


def test_a_harvest_without_lookback_misses_what_is_late():
    global LOOKBACK
    with tempfile.TemporaryDirectory(prefix='patra-sim-harvest.') as folder, Sim(*WORLD) as sim:
        path = pathlib.Path(folder) / 'store.db'
        LOOKBACK = 0 * DAY
        last = harvest_to_the_end(sim, 'crossref', crossref, path)
        LOOKBACK = 2 * DAY
        code, report = verify(path, 'crossref', last, '--url', sim.http)
        check(code == 1 and report['missing']['count'] + report['stale']['count'] > 0, f'late ones: {report}')


def test_a_store_that_is_not_there_can_not_be_judged():
    done = subprocess.run([simtest.BINARY, 'verify', '--store', '/nonexistent/x.db', '--protocol', 'oai', '--source', 'sim'],
                          capture_output=True, text=True)
    equal(done.returncode, 2, 'exit code')
    check('unable to open' in done.stderr, done.stderr)


sys.exit(simtest.run('integration-sim-harvest', globals()))
