#!/usr/bin/env python3
"""by_hand.py URL FILTER ROWS FOLDER: a harvest of Crossref as a careful engineer writes it, with requests and sqlite3.

One connection that is tried again when it fails, the cursor up to the empty page, a transaction for each page. A record is written
when it is new or its content has changed: SHA-256 of its JSON with sorted keys, compared with what is stored.
"""
import hashlib
import json
import sqlite3
import sys

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

SCHEMA = """CREATE TABLE IF NOT EXISTS record (
  id TEXT NOT NULL PRIMARY KEY, updated_at INTEGER NOT NULL, hash BLOB NOT NULL, payload TEXT NOT NULL)"""
UPSERT = """INSERT INTO record (id, updated_at, hash, payload) VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, hash = excluded.hash, payload = excluded.payload"""


def pages(url, filters, rows):
    session = requests.Session()
    session.headers['User-Agent'] = 'by_hand/1.0 (mailto:bench@example.org)'
    session.mount('http://', HTTPAdapter(max_retries=Retry(total=5, backoff_factor=1, status_forcelist=(429, 500, 502, 503, 504))))
    cursor = '*'
    while True:
        response = session.get(url, params={'filter': filters, 'rows': rows, 'cursor': cursor}, timeout=60)
        response.raise_for_status()
        message = response.json()['message']
        if not message['items']:
            return
        yield message['items']
        cursor = message['next-cursor']


def store(database, items):
    rows = {}
    for item in items:
        payload = json.dumps(item, ensure_ascii=False, sort_keys=True, separators=(',', ':'))
        key = item['DOI'].lower()
        rows[key] = (key, item['indexed']['timestamp'], hashlib.sha256(payload.encode()).digest(), payload)
    marks = ','.join('?' * len(rows))
    held = dict(database.execute(f'SELECT id, hash FROM record WHERE id IN ({marks})', list(rows)))
    with database:
        database.executemany(UPSERT, [row for key, row in rows.items() if held.get(key) != row[2]])


def main():
    url, filters, rows, folder = sys.argv[1:]
    database = sqlite3.connect(f'{folder}/records.db')
    database.execute('PRAGMA journal_mode = WAL')
    database.execute('PRAGMA synchronous = NORMAL')
    database.execute(SCHEMA)
    for items in pages(url, filters, rows):
        store(database, items)
    database.close()


main()
