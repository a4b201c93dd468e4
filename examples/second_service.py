#!/usr/bin/env python3
"""A second service in some lines: it reads a projection's table, and never writes to it.

    patra projection apply projections/literature.yaml
    patra serve &                              # or: patra publish --once && patra consume --once
    examples/second_service.py patra.db sleep

Prints the works whose title has a word, the newest first.
"""
import sqlite3
import sys

database, word = sys.argv[1], sys.argv[2]
works = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
query = """SELECT source, id, coalesce(published, '?'), title FROM works
            WHERE NOT deleted AND title LIKE '%' || ? || '%' ORDER BY published DESC, id LIMIT 10"""
for source, key, published, title in works.execute(query, (word,)):
    print(f"{published:10}  {source}/{key}  {title}")
(total,) = works.execute("SELECT count(*) FROM works WHERE NOT deleted").fetchone()
print(f"{total} works")
