"""check.py STORE (FILE VIEW)...: reads each Parquet FILE by pyarrow and by DuckDB, and compares the types of its columns and all
of its values with the SQL VIEW of the same records in the SQLite STORE."""
import datetime
import json
import sqlite3
import sys

import duckdb
import pyarrow
import pyarrow.parquet

UTC = datetime.timezone.utc
# What both must say of a type in patra's field table, by an example of each that the sources have.
TYPES = {
    'record_endpoint': pyarrow.string(),
    'record_id': pyarrow.string(),
    'record_version': pyarrow.int64(),
    'record_updated_at': pyarrow.timestamp('us', tz='UTC'),
    'record_deleted': pyarrow.bool_(),
}
OWN = {'record_id': 'id', 'record_version': 'version', 'record_updated_at': 'updated_at', 'record_deleted': 'deleted'}


def plain(value):
    """A value of Parquet as the view of SQLite has it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, list):
        return json.dumps([plain(item) for item in value], separators=(',', ':'), ensure_ascii=False)
    return value


def same(left, right):
    """Lists and objects are compared as what they say, not as texts."""
    if left == right:
        return True
    try:
        return json.loads(left) == json.loads(right)
    except (TypeError, ValueError):
        return False


def truth(store, view):
    """The rows of the view by id, and its columns."""
    rows = sqlite3.connect(store).execute(f'SELECT * FROM {view} ORDER BY id')
    names = [column[0] for column in rows.description]
    return {row[0]: dict(zip(names, row)) for row in rows}, names


def compare(read, rows, names):
    wrong = []
    for row in read:
        wanted = rows.get(row['record_id'])
        if wanted is None:
            wrong.append(f'{row["record_id"]}: not in the view')
            continue
        for name, value in row.items():
            column = OWN.get(name, name if name in names else f'field_{name}')
            if name != 'record_endpoint' and not same(plain(value), wanted[column]):
                wrong.append(f'{row["record_id"]}.{name}: {plain(value)!r}, wanted {wanted[column]!r}')
    return wrong


def check(store, file, view):
    rows, names = truth(store, view)
    table = pyarrow.parquet.read_table(file)
    duck = duckdb.sql(f"SELECT * FROM '{file}'")
    by_duck = [dict(zip(duck.columns, row)) for row in duck.fetchall()]
    wrong = [f'{name} is {table.schema.field(name).type}' for name, kind in TYPES.items()
             if table.schema.field(name).type != kind]
    if table.num_rows != len(rows) or len(by_duck) != len(rows) or len(rows) < 100:
        wrong.append(f'{table.num_rows} rows by pyarrow, {len(by_duck)} by DuckDB, {len(rows)} in the view')
    wrong += [f'pyarrow: {what}' for what in compare(table.to_pylist(), rows, names)]
    wrong += [f'DuckDB: {what}' for what in compare(by_duck, rows, names)]
    print(f'{"FAIL" if wrong else "ok  "} {view}: {table.num_rows} rows, {len(table.schema)} columns: ' +
          ', '.join(f'{field.name} {field.type}' for field in table.schema))
    for what in wrong[:10]:
        print(f'  {what}')
    return not wrong


def main():
    store, pairs = sys.argv[1], list(zip(sys.argv[2::2], sys.argv[3::2]))
    results = [check(store, file, view) for file, view in pairs]
    print(f'{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped')
    return 0 if all(results) else 1


sys.exit(main())
