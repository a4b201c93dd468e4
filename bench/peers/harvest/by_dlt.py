#!/usr/bin/env python3
"""by_dlt.py WAY URL FILTER ROWS FOLDER: a harvest of Crossref by dlt, by its REST source.

WAY is "SQLite" (rows are merged by DOI, what patra does) or "JSONL" (files, overwritten each time). Lists inside a record stay JSON and
do not become tables of their own, which would take dlt many times as long.
"""
import os
import sys

WAY, URL, FILTER, ROWS, FOLDER = sys.argv[1:]
os.environ['RUNTIME__DLTHUB_TELEMETRY'] = 'false'  # it would call home, and that takes time
os.environ['RUNTIME__LOG_LEVEL'] = 'ERROR'

import dlt  # noqa: E402
from dlt.sources.rest_api import rest_api_source  # noqa: E402

BASE, PATH = URL.rsplit('/', 1)
WORKS = {
    'name': 'works',
    'primary_key': 'DOI',
    'write_disposition': 'merge' if WAY == 'SQLite' else 'replace',
    'max_table_nesting': 0,
    'endpoint': {
        'path': PATH,
        'params': {'filter': FILTER, 'rows': ROWS, 'cursor': '*'},
        'data_selector': 'message.items',
        'paginator': {'type': 'cursor', 'cursor_path': "message.'next-cursor'", 'cursor_param': 'cursor', 'stop_after_empty_page': True},
    },
}


def main():
    if WAY == 'SQLite':
        destination, load = dlt.destinations.sqlalchemy(f'sqlite:///{FOLDER}/records.db'), {}
    else:
        destination, load = dlt.destinations.filesystem(f'file://{FOLDER}/files'), {'loader_file_format': 'jsonl'}
    # "main" is SQLite's own name for that file; any other would be a second one, attached.
    pipeline = dlt.pipeline('peer', pipelines_dir=f'{FOLDER}/pipelines', destination=destination, dataset_name='main')
    pipeline.run(rest_api_source({'client': {'base_url': BASE}, 'resources': [WORKS]}), **load)


main()
