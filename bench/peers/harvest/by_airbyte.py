#!/usr/bin/env python3
"""by_airbyte.py URL FILTER ROWS FOLDER: a harvest of Crossref by Airbyte's CDK: its runner of declarative manifests, into JSON lines.

It has no destination: what it prints is the protocol that Airbyte would read from it, so this is a source without the cost of a store.
"""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CATALOG = {'streams': [{'stream': {'name': 'works', 'json_schema': {}, 'supported_sync_modes': ['full_refresh']},
                        'sync_mode': 'full_refresh', 'destination_sync_mode': 'overwrite'}]}


def main():
    url, filters, rows, name = sys.argv[1:]
    base, path = url.rsplit('/', 1)
    folder = pathlib.Path(name)
    (folder / 'config.json').write_text(json.dumps({'base': base, 'path': path, 'filter': filters, 'rows': rows}))
    (folder / 'catalog.json').write_text(json.dumps(CATALOG))
    os.dup2(os.open(folder / 'messages.jsonl', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), sys.stdout.fileno())
    program = pathlib.Path(sys.executable).parent / 'source-declarative-manifest'
    os.execv(program, [program, 'read', '--manifest-path', HERE / 'airbyte.yaml', '--config', folder / 'config.json',
                       '--catalog', folder / 'catalog.json'])


main()
