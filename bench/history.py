"""history: a store with a long history, filled by SQL.

    200 days ago                                        90 days ago             a week ago   now
    |===== batches, ten thousand tasks, records of each =====================================|
    |===== moves of a cursor ================================================================|
    |== ids that tasks have listed ==========|                               |=== events ====|

    history.py BATCHES RECORDS [STORE...]      fills stores that are kept

One source, `daily`: a plan of 10,000 days, one run for each, every 97th failed. Filling takes longer than measuring: with PATRA_BENCH_FOLDER
what was filled is kept there, and a later run only measures.
"""
import contextlib
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

from stores import BUILD, ROOT, Postgres, Sqlite, run

TASKS, PLANS, MOVES, LISTED = 10000, 10000, 100000, 200000
SPAN_US, WEEK_US = 200 * 86400 * 10**6, 7 * 86400 * 10**6

# In order. n counts from 1; {at X} is an instant; {share X} X for each task.
FILL = (
    (1, 'DELETE FROM ing_cursor_event; DELETE FROM ing_cursor'), # of the trigger: younger than those that follow
    (1, "UPDATE ing_task SET status_code = 'SUCCEEDED', started_at = {at {first} + id * {task}}, finished_at = {at {first} + id * {task}}"),
    (1, "UPDATE ing_task SET status_code = 'FAILED', last_error = 'daily/works: GET https://api.example.org/works: status 400' WHERE id % 97 = 1"),
    (1, "INSERT INTO ing_task_run (task_id, attempt_no, provenance_code, operation_code, lease_owner, lease_epoch, status_code, stats, error,"
        " started_at, finished_at, updated_at) SELECT id, 1, 'daily', 'BACKFILL', 'w', 1, status_code, '{STATS}', last_error, finished_at,"
        " finished_at, finished_at FROM ing_task ORDER BY id"),
    (PLANS, "INSERT INTO ing_plan (schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code,"
            " namespace_key, window_from, window_to, expr_proto_hash, expr_proto_snapshot, spec_fingerprint, status_code, record_remarks, created_at,"
            " updated_at) SELECT schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_key, namespace_scope_code, namespace_key,"
            " NULL, NULL, expr_proto_hash, expr_proto_snapshot, spec_fingerprint, status_code, record_remarks, {at {first} + n * {task}},"
            " {at {first} + n * {task}} FROM (SELECT * FROM ing_plan WHERE id = 1) AS p, {series}"),
    ('batches', "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, before_token, after_token, expr_hash, idempotent_key,"
                " status_code, request_digest, response_digest, stats, has_next, created_at) SELECT (n - 1) / {share} + 1, (n - 1) / {share} + 1,"
                " (n - 1) / {share} + 1, 1, (n - 1) % {share} + 1, {bytes 't' || n}, {bytes 't' || (n + 1)}, '{HASH}', {key},"
                " 'SUCCEEDED', '{REQUEST}', '{RESPONSE}', '{STATS}', {yes}, {at {first} + n * {batch}} FROM {series}"),
    (1, "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name) VALUES ('daily', 'works')"),
    ('records', "INSERT INTO ing_record_state (id, endpoint_id, expr_id, provider_id, updated_at, version, deleted, content_hash, checked_week,"
                " observed_at, checked_at, created_at, batch_id) SELECT n, 1, 1, {doi}, {at {first} - (n * 7919 % 10000) * 86400000000}, 1,"
                " {no}, {hash}, 2900, {at {first} + n * {record}}, {at {first} + n * {record}}, {at {first} + n * {record}},"
                " (n - 1) / {each} + 1 FROM {series}"),
    (1, "INSERT INTO ing_record_tally (endpoint_id, live, deleted) SELECT endpoint_id, count(*), 0 FROM ing_record_state GROUP BY endpoint_id"),
    ('records', "INSERT INTO ing_record_content (record_id, payload) SELECT n, {bytes '{\"title\":\"a title\"}'} FROM {series}"),
    ('events', "INSERT INTO ing_outbox (record_id, version, batch_id, occurred_at, event_id, lane, schema_version, event_type, body) SELECT"
               " {pruned} + n, 1, ({pruned} + n - 1) / {each} + 1, {at {first} + ({pruned} + n) * {record}}, {uuid}, n * 7919 % 64, 1,"
               " 'RecordCreated', {bytes '{\"fields\":{}}'} FROM {series}"),
    (1, '{STREAM}'),
    (1, "UPDATE ing_stream_head SET cursor_id = (SELECT max(id) FROM ing_outbox), horizon_id = (SELECT max(id) FROM ing_outbox)"),
    (MOVES, "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code,"
            " direction_code, reason_code, prev_value, new_value, idempotent_key, expr_hash, record_remarks, created_at) SELECT 'daily', 'HARVEST',"
            " 'feed', 'GLOBAL', '', 'TOKEN', 'FORWARD', 'ADVANCE', CASE WHEN n > 1 THEN 'v' || (n - 1) END, 'v' || n, 'move' || n, '', '{EMPTY}',"
            " {at {first} + n * {move}} FROM {series}"),
    (1, "INSERT INTO ing_cursor (provenance_code, operation_code, cursor_key, namespace_scope_code, namespace_key, cursor_type_code, cursor_value,"
        " expr_hash, version, created_at, updated_at) SELECT 'daily', 'HARVEST', 'feed', 'GLOBAL', '', 'TOKEN', 'v{MOVES}', '', {MOVES},"
        " {at {first}}, {at {first}}"),
    (LISTED, "INSERT INTO ing_listed_id (task_id, position, provider_id) SELECT (n - 1) / 1000 + 1, (n - 1) % 1000 + 1, {doi} FROM {series}"),
    (1000, "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code, detail, batch_position, observed_at,"
                     " created_at, payload) SELECT 'daily', 'works', 'bad' || n, 'date.syntax', '', 0, {at {first} + n * {task}},"
                     " {at {first} + n * {task}}, {bytes '{EMPTY}'} FROM {series}"),
)
# Loaded without their indexes, which are made again.
LARGE = ('ing_task_run_batch', 'ing_record_state', 'ing_outbox', 'ing_stream', 'ing_listed_id', 'ing_cursor_event')

TEXTS = {
    'HASH': 'ab' * 32, 'MOVES': MOVES, 'EMPTY': '{}',
    'REQUEST': '{"method":"GET","url":"https://api.example.org/works?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z&offset=0&rows=100"}',
    'RESPONSE': '{"status":200,"bytes":1180000,"items":250,"total":100000,"head_sha256":"' + 'cd' * 32 + '","took_us":41000}',
    'STATS': '{"requests":1,"items":10,"inserted":10,"updated":0,"unchanged":0,"quarantined":0,"bytes":1180000,"took_us":61000}',
}
SQLITE = {
    'series': '(WITH RECURSIVE g(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM g WHERE n < {count}) SELECT n FROM g) AS g',
    'uuid': "'00000000-0000-7000-8000-' || printf('%012d', n)", 'no': '0', 'yes': '1', 'hash': 'zeroblob(32)',
    'doi': "'10.5555/' || printf('%08x', n * 2654435761 % 4294967296)",
    'key': "printf('%08x', n * 2654435761 % 4294967296) || substr('{HASH}', 9)", # in no order, as hashes are
    'STREAM': 'INSERT INTO ing_stream (lane, pos, outbox_id, sequenced_at) SELECT lane, row_number() OVER (PARTITION BY lane ORDER BY id), id,'
              ' occurred_at FROM ing_outbox; UPDATE ing_stream_lane AS l SET last_pos ='
              ' (SELECT coalesce(max(pos), 0) FROM ing_stream AS s WHERE s.lane = l.lane)',
}
POSTGRES = {
    'series': 'generate_series(1::bigint, {count}) AS g(n)', 'no': 'false', 'yes': 'true', 'hash': "decode(repeat('00', 32), 'hex')",
    'uuid': "('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid",
    'doi': "'10.5555/' || lpad(to_hex(n * 2654435761 % 4294967296), 8, '0')",
    'key': "lpad(to_hex(n * 2654435761 % 4294967296), 8, '0') || substr('{HASH}', 9)",
    'STREAM': 'INSERT INTO ing_stream (lane, first_pos, last_pos, last_id, sequenced_at, outbox_ids) SELECT lane, min(pos), max(pos), max(id),'
              ' max(occurred_at), array_agg(id ORDER BY pos) FROM (SELECT lane, id, occurred_at, (id - 1) / 2000 AS round, row_number() OVER'
              ' (PARTITION BY lane ORDER BY id) AS pos FROM ing_outbox) AS o GROUP BY lane, round; UPDATE ing_stream_lane AS l SET last_pos ='
              " (SELECT coalesce(max(last_pos), 0) FROM ing_stream AS s WHERE s.lane = l.lane);"
              " SELECT setval(pg_get_serial_sequence('ing_record_state', 'id'), (SELECT max(id) FROM ing_record_state))",
}


def doi(n):
    return f'10.5555/{n * 2654435761 % 2**32:08x}'


def written(store, sql, values):
    """SQL of the store: numbers and texts, then instants and bytes, which hold them."""
    words = {**(SQLITE if isinstance(store, Sqlite) else POSTGRES), **TEXTS, **values}
    for _ in range(2):
        sql = re.sub(r'\{(\w+)\}', lambda m: str(words[m[1]]) if m[1] in words else m[0], sql)
    if isinstance(store, Sqlite):
        sql = re.sub(r'\{at ([^{}]*)\}', r'(\1)', sql)
        sql = re.sub(r'\{bytes (.*?)\}(?= FROM|,)', r'CAST(\1 AS BLOB)', sql)
    else:
        sql = re.sub(r'\{at ([^{}]*)\}', r"(timestamptz 'epoch' + interval '1 microsecond' * (\1))", sql)
        sql = re.sub(r'\{bytes (.*?)\}(?= FROM|,)', r"convert_to(\1, 'UTF8')", sql)
    return sql


def fill(store, dsn, batches, records):
    environment = {'PATRA_STORE': dsn, 'PATRA_MODULES': str(BUILD)}
    now_us = int(time.time()) * 10**6
    step = {name: SPAN_US // n for name, n in (('task', TASKS), ('batch', batches), ('record', records), ('move', MOVES))}
    events = min(records, WEEK_US // step['record'])
    values = {'first': now_us - SPAN_US, 'share': batches // TASKS, 'each': records // batches, 'pruned': records - events, **step}
    run([BUILD / 'patra', 'init'], environment)
    run([BUILD / 'patra', 'source', 'apply', ROOT / 'test/data/plan/daily.yaml'], environment)
    run([BUILD / 'patra', 'trigger', 'daily', 'backfill', '--from', '1990-01-01', '--to', '2017-05-19'], environment)
    indexes = [index for table in LARGE for index in store.indexes(dsn, table)]
    for name, _ in indexes:
        store.ask(dsn, f'DROP INDEX {name}')
    for count, sql in FILL:
        count = {'batches': batches, 'records': records, 'events': events}.get(count, count)
        store.fill(dsn, written(store, sql, {**values, 'count': count}))
    for _, sql in indexes:
        store.fill(dsn, sql)
    store.ask(dsn, 'ANALYZE' if isinstance(store, Sqlite) else 'VACUUM ANALYZE')


def of(store, batches, records):
    """The DSN of such a store. One that was filled before is taken as it is."""
    name = f'h{batches}_{records}'
    dsn = store.at(name)
    done = store.folder / f'{name}.filled'
    if not done.exists():
        from_s = time.monotonic()
        fill(store, dsn, batches, records)
        done.touch()
        print(f'{store.name}: {batches:,} batches and {records:,} records, filled in {time.monotonic() - from_s:.0f} s, '
              f'{store.size(dsn) / 1e9:.1f} GB', flush=True)
    return dsn


@contextlib.contextmanager
def stores(words):
    """Both kinds of stores, or those that one of the words names, in a folder that is kept if the environment names it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended')) # and with it what was started here
    with contextlib.ExitStack() as stack:
        kept = os.environ.get('PATRA_BENCH_FOLDER')
        folder = pathlib.Path(kept or stack.enter_context(tempfile.TemporaryDirectory(prefix='history.')))
        (folder / 'server').mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        found = []
        for kind, place in ((Sqlite, folder), (Postgres, folder / 'server')):
            if words and kind.name not in words:
                continue
            with contextlib.suppress(FileNotFoundError):
                found.append(kind(place))
                stack.callback(found[-1].close)
        yield folder, found


if __name__ == '__main__':
    with stores(sys.argv[3:]) as (_, found):
        for store in found:
            of(store, int(sys.argv[1]), int(sys.argv[2]))
