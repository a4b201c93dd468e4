#!/usr/bin/env python3
"""run.py BUILD PEERS [WORD...]: patra and other outboxes, measured beside each other in one run.

BUILD has patra's programs, PEERS what npm and Maven have fetched (scripts/peers). A PostgreSQL of its own is started in a
temporary folder, on a free port of 127.0.0.1, by an unprivileged user, with fsync on. Peers that read the log get a second one with
wal_level=logical, after the first. On both, patra comes first, and the others there are compared with it. Every measurement has a
new database.

    backlog   events that were committed before the clock starts, to a handler: events a second
    idle      an event every 20 ms, each its own transaction: commit to handler, P50 and P95

An event has 690 bytes. Event n is version 1 + n / KEYS of key n % KEYS, so versions of a key are KEYS events apart; each handler
checks that they grow. What came out of turn or did not come at all is printed beside the figures, which are those of the others.
Slow peers get a smaller backlog, with ten versions of each key all the same. Prints a table; asserts nothing.
"""
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from shared import SCALE, Failed, chosen, is_measured  # noqa: E402

POSTGRES = pathlib.Path('/usr/lib/postgresql/15/bin')
HERE = pathlib.Path(__file__).resolve().parent
KEYS_MAX = 50000
VERSIONS = 10
IDLE = (400, 50)  # events, keys
SECONDS_MAX = 120  # of a program, with its start

# What every peer's backlog is written from.
EVENTS = """(SELECT i, 'k' || i % {keys} AS key, 1 + i / {keys} AS version,
  rpad('{{"version":' || 1 + i / {keys} || ',"x":"', 688, 'a') || '"}}' AS body
  FROM generate_series(0, {events} - 1) AS i) AS event ORDER BY i"""

PATRA = """INSERT INTO ing_outbox
  (version, occurred_at, event_id, lane, schema_version, event_type, aggregate_type, aggregate_id, body)
  SELECT version, now(), gen_random_uuid(), (i % {keys}) % 64, 1, 'Changed', 'work', key, convert_to(body, 'UTF8') FROM """
# Its order is that of created_at, so no two are the same.
TRANSACTIONAL = """INSERT INTO outbox
  (id, aggregate_type, aggregate_id, message_type, segment, payload, created_at)
  SELECT gen_random_uuid(), 'work', key, 'Changed', key, body::jsonb, now() + i * interval '1 microsecond' FROM """

DEBEZIUM = """INSERT INTO outboxevent
  (id, aggregatetype, aggregateid, type, payload)
  SELECT gen_random_uuid(), 'work', key, 'Changed', body FROM """


class Server:
    """A PostgreSQL with its own defaults, and these lines more."""

    def __init__(self, folder, lines):
        self.folder = folder
        self.lines = lines
        self.env = dict(os.environ, PGHOST='127.0.0.1', PGUSER='postgres')

    def run(self, *command):
        user = []
        if os.geteuid() == 0:  # root may not run it
            user = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
        subprocess.run([*user, *command], check=True, stdout=subprocess.DEVNULL, cwd='/')

    def __enter__(self):
        self.folder.mkdir()
        if os.geteuid() == 0:
            os.chown(self.folder, *pwd.getpwnam('postgres')[2:4])
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.env['PGPORT'] = str(free.getsockname()[1])
        data = self.folder / 'data'
        self.run(POSTGRES / 'initdb', '-D', data, '-U', 'postgres', '--no-locale', '-E', 'UTF8', '-A', 'trust')
        with open(data / 'postgresql.conf', 'a') as conf:
            conf.write(f"port={self.env['PGPORT']}\nlisten_addresses='127.0.0.1'\nunix_socket_directories='{self.folder}'\n")
            conf.writelines(line + '\n' for line in self.lines)
        self.run(POSTGRES / 'pg_ctl', '-D', data, '-l', self.folder / 'log', '-w', '-s', 'start')
        return self

    def __exit__(self, *_):
        self.run(POSTGRES / 'pg_ctl', '-D', self.folder / 'data', '-m', 'immediate', '-w', '-s', 'stop')

    def sql(self, database, *texts):
        command = ['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', database]
        for text in texts:
            command += ['-c', text]
        subprocess.run(command, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def database(self, name):
        self.sql('postgres', f'CREATE DATABASE {name}')
        return dict(self.env, PGDATABASE=name)


class Peer:
    """One program, and how its backlog is written."""

    def __init__(self, name, command, **how):
        self.name = name
        self.command = [str(part) for part in command]
        self.events = how['events']
        self.insert = how['insert']
        self.table = how['table']
        self.env = how.get('env', {})
        self.is_logical = how.get('is_logical', False)
        self.is_writing = how.get('is_writing', False)  # the program writes the backlog, when it is ready for it
        self.result = {}

    def call(self, env, *arguments, **more):
        """Runs the program to its end, with all it has started; the last line of what it prints."""
        process = subprocess.Popen([*self.command, *map(str, arguments)], env={**env, **self.env, **more},
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        try:
            text, _ = process.communicate(timeout=SECONDS_MAX)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if process.returncode != 0:
            raise Failed(f'{arguments[0]} ended with {process.returncode}')
        return json.loads(text.splitlines()[-1]) if text.strip() else {}

    def measure(self, server, number):
        events, keys = self.events, min(KEYS_MAX, self.events // VERSIONS)
        backlog = (self.insert + EVENTS).format(events=events, keys=keys)
        name = f'p{number}_backlog'
        env = server.database(name)
        self.call(env, 'setup')
        if self.is_writing:
            self.result = self.call(env, 'backlog', events, keys, PEER_BACKLOG=backlog)
        else:
            server.sql(name, backlog, f'VACUUM ANALYZE {self.table}', 'CHECKPOINT')
            self.result = self.call(env, 'backlog', events, keys)
        wrong = self.result['wrong']
        env = server.database(f'p{number}_idle')
        self.call(env, 'setup')
        server.sql('postgres', 'CHECKPOINT')
        self.result['load'] = os.getloadavg()[0]
        of_idle = self.call(env, 'idle', *IDLE)
        self.result.update(p50=of_idle['p50_ms'], p95=of_idle['p95_ms'], wrong=wrong + of_idle['wrong'],
                           missing=IDLE[0] - of_idle['events'])


def peers(build, fetched):
    def count(events):
        return max(VERSIONS * 10, int(events * SCALE))

    # First on each server: what the others there are compared with.
    for how, title, is_logical in (('together', 'patra', False), ('apart', 'patra, three processes', False),
                                   ('together', 'patra, logical', True)):
        yield Peer(title, [build / 'bench/peer_patra', how], events=count(500000), insert=PATRA, table='ing_outbox',
                   env={'PATRA_MODULES': str(build)}, is_logical=is_logical)
    if (fetched / 'pg-transactional-outbox/fetched').exists():
        for variant, title, events in (('default', 'polling, default', 2000), ('tuned', 'polling, tuned', 2000),
                                       ('replication', 'replication', 10000)):
            yield Peer(f'pg-transactional-outbox, {title}', ['node', HERE / 'pg_transactional_outbox.js', variant],
                       events=count(events), insert=TRANSACTIONAL, table='outbox', is_logical=variant == 'replication',
                       env={'PEER_MODULES': str(fetched / 'pg-transactional-outbox')})
    if (fetched / 'debezium/complete').exists():
        for variant, title in (('default', 'default'), ('tuned', 'poll 1 ms')):
            yield Peer(f'Debezium, event router, {title}', java(fetched / 'debezium', 'Debezium', variant), events=count(200000),
                       insert=DEBEZIUM, table='outboxevent', is_logical=True, is_writing=True)
    if (fetched / 'namastack/complete').exists():
        for variant, title, events in (('default', 'default', 2000), ('tuned', 'tuned', 20000)):
            yield Peer(f'namastack, {title}', java(fetched / 'namastack', 'Namastack', variant), events=count(events),
                       insert='', table='outbox_record', is_writing=True)


def java(folder, name, variant):
    return ['java', '-Xmx1g', '-cp', f'{folder}/classes:{folder}/lib/*', f'peers.{name}', variant]


def line(peer, ours):
    rate = peer.result['events'] / peer.result['seconds']
    text = f"{peer.name:42} {rate:12,.0f} {rate / ours:9.4f} {peer.result['p50']:9.2f} {peer.result['p95']:9.2f}"
    text += f" {peer.events:9,} {peer.result['load']:6.1f}"
    if peer.result['wrong'] > 0:
        text += f"   {peer.result['wrong']} came out of turn"
    if peer.result['missing'] > 0:
        text += f"   {peer.result['missing']} of {IDLE[0]} never came"
    if peer.result['events'] < peer.events:
        text += f"   {peer.result['events']:,} came in {peer.result['seconds']:.0f} s"
    return text


def run(all_peers, folder):
    for is_logical in (False, True):
        these = [peer for peer in all_peers if peer.is_logical == is_logical]
        if not these:
            continue
        with Server(folder / ('logical' if is_logical else 'plain'), ['wal_level=logical'] if is_logical else []) as server:
            for peer in these:
                if not is_measured(peer.name, lambda: peer.measure(server, all_peers.index(peer))):
                    peer.result = {}


def main():
    build, fetched = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    all_peers = chosen(peers(build, fetched), sys.argv[3:])
    if not all_peers:
        return
    all_peers.sort(key=lambda peer: peer.is_logical)  # stays in order otherwise
    if not all_peers[-1].is_logical or all_peers[-1].name == 'patra, logical':
        all_peers = [peer for peer in all_peers if not peer.is_logical]  # nobody to be compared with
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix='patra-peers-'))
    folder.chmod(0o711)
    try:
        run(all_peers, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    measured = [peer for peer in all_peers if peer.result]
    ours = {peer.is_logical: peer.result['events'] / peer.result['seconds']
            for peer in measured if peer.name in ('patra', 'patra, logical')}
    measured = [peer for peer in measured if peer.is_logical in ours]
    print(f'{os.cpu_count()} CPUs, load at the end {os.getloadavg()[0]:.1f}; latency: {IDLE[0]} events, one every 20 ms')
    print(f"{'':42} {'events/s':>12} {'of patra':>9} {'P50 ms':>9} {'P95 ms':>9} {'backlog':>9} {'load':>6}")
    for peer in measured:
        print(line(peer, ours[peer.is_logical]))
    sys.exit(len(measured) < len(all_peers))


main()
