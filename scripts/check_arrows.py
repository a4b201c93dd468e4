#!/usr/bin/env python3
"""Reads every #include "..." below src/ and sim/ and refuses those that go against the arrows:

    cmd -> worker -> cli -> view -> engine, adapter;  worker, cmd -> serve -> act -> view
    act, view -> engine -> port, spec -> core, data -> base;  adapter/X -> port, core, data, base
    adapter/sqlite, adapter/postgres -> adapter/sql

and those between the rooms of the simulator (SIM_ROOMS) and of the engine (ENGINE_ROOMS). The arrows
of the engine must not form a cycle.
"""
import pathlib
import re
import sys

ALLOWED = {
    'base': {'base'},
    'core': {'base', 'core'},
    'data': {'base', 'data'},
    'port': {'base', 'core', 'data', 'port'},
    'spec': {'base', 'core', 'data', 'spec'},
    'engine': {'base', 'core', 'data', 'port', 'spec', 'engine'},
    'adapter': {'base', 'core', 'data', 'port'},
    'view': {'base', 'core', 'data', 'port', 'spec', 'engine', 'view'},
    'act': {'base', 'core', 'data', 'port', 'spec', 'engine', 'view', 'act'},
    'serve': {'base', 'core', 'data', 'port', 'spec', 'engine', 'view', 'act', 'serve'},
    'cli': {'base', 'core', 'data', 'port', 'spec', 'engine', 'view', 'adapter', 'cli'},
    'worker': {'base', 'core', 'data', 'port', 'spec', 'engine', 'view', 'act', 'serve', 'adapter', 'cli', 'worker'},
    'cmd': {'base', 'core', 'data', 'port', 'spec', 'engine', 'act', 'serve', 'adapter', 'view', 'cli', 'worker', 'cmd'},
    'sim': {'base', 'sim'},
}
LIBRARIES = {  # a library's header, and the only folders that may know it
    'sqlite3.h': {'adapter/sqlite', 'sim'},
    'libpq-fe.h': {'adapter/postgres', 'sim'},
    'curl/curl.h': {'adapter/curl', 'sim'},
    'zlib.h': {'adapter/curl', 'adapter/pack', 'sim'},
    'zstd.h': {'adapter/curl', 'adapter/pack', 'sim'},
    'microhttpd.h': {'adapter/microhttpd'},
    'zdict.h': {'adapter/pack'},
    'nats/': {'adapter/nats'},
    'yaml.h': {'spec'},
    'libxml/': {'data'},
    'openssl/': {'data', 'sim'},
    'librdkafka/': {'adapter/kafka'},
    'grpc/': {'adapter/pubsub'},
    'protobuf-c/': {'adapter/protobuf', 'adapter/pubsub'},
    'event.pb-c.h': {'adapter/protobuf'},
    'pubsub.pb-c.h': {'adapter/pubsub'},
}
SHARED = {'adapter/sql': {'adapter/sqlite', 'adapter/postgres'}}  # what more than one adapter sees
SIM_ROOMS = {  # a folder of sim/, and the others that it may include
    'util': set(),
    'http': {'util'},
    'world': {'util'},
    'fault': {'util', 'http'},
    'auth': {'util', 'http'},
    'audit': {'util', 'http', 'fault'},
    'protocol': {'util', 'http', 'world'},
    'truth': {'util', 'http', 'world', 'protocol'},
    'verify': {'util', 'world', 'protocol', 'truth'},
    'server': {'util', 'http', 'world', 'fault', 'auth', 'audit', 'protocol', 'truth'},
    'cmd': {'util', 'http', 'world', 'fault', 'auth', 'audit', 'protocol', 'truth', 'server', 'verify'},
}
ENGINE_ROOMS = {  # a room of the engine, and the other rooms that it may see
    'alert': set(),
    'retain': set(),
    'source': set(),
    'session': set(),
    'slice': set(),
    'coverage': set(),
    'cursor': {'coverage'},
    'gate': {'source', 'session'},
    'fetch': {'source'},
    'probe': {'fetch'},
    'guess': set(),
    'event': {'fetch'},
    'message': {'event'},
    'wake': {'session'},
    'project': {'fetch'},
    'audit': {'project', 'message'},
    'publish': {'wake', 'session'},
    'lanes': {'message', 'wake', 'session'},
    'consume': {'lanes', 'project', 'message', 'wake', 'session'},
    'relay': {'lanes', 'message', 'wake', 'session'},
    'import': {'session'},
    'rebuild': {'source', 'export', 'message', 'project'},
    'replay': {'source', 'slice', 'fetch'},
    'archive': {'fetch'},
    'reharvest': {'source', 'slice', 'fetch', 'event', 'execute', 'archive', 'replay'},
    'rederive': {'source', 'fetch', 'event'},
    'export': {'source', 'fetch'},
    'token': set(),
    'update': {'slice'},
    'plan': {'source', 'slice', 'coverage', 'cursor', 'update', 'gate', 'rederive'},
    'reslice': {'source', 'slice', 'coverage', 'plan'},
    'schedule': {'source', 'coverage', 'plan'},
    'housekeeping': {'source', 'reslice'},
    'retire': {'source', 'event', 'plan'},
    'execute': {'source', 'session', 'slice', 'cursor', 'gate', 'fetch', 'event', 'housekeeping', 'archive'},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def faults(path):
    folder = path.parts[1] if path.parts[0] == 'src' else 'sim'
    inner = '/'.join(path.parts[1:3]) if folder == 'adapter' else folder
    for match in INCLUDE.finditer(path.read_text()):
        line = path.read_text()[:match.start()].count('\n') + 1
        name = match.group(2)
        if match.group(1) == '<':
            for library, homes in LIBRARIES.items():
                if name.startswith(library) and inner not in homes:
                    yield f'{path}:{line}: <{name}> belongs to {", ".join(sorted(homes))}'
            continue
        target = name.split('/')[0]
        if '/' not in name:
            yield f'{path}:{line}: "{name}" does not name its folder'
        elif folder == 'adapter' and target == 'adapter':
            seen = '/'.join(name.split('/')[:2])
            if len(path.parts) > 3 and seen != inner and inner not in SHARED.get(seen, ()):
                yield f'{path}:{line}: an adapter must not see another one: "{name}"'
        elif folder == 'sim' and target == 'sim':
            room, seen = path.parts[1], name.split('/')[1]
            if seen != room and seen not in SIM_ROOMS.get(room, ()):
                yield f'{path}:{line}: sim/{room} must not see sim/{seen}: "{name}"'
        elif target not in ALLOWED[folder]:
            yield f'{path}:{line}: {folder} must not see {target}: "{name}"'
        elif folder == target == 'engine':
            fault = room_fault(path.parts[2:-1], name.split('/')[1:-1], name)
            if fault:
                yield f'{path}:{line}: {fault}'


def room_fault(home, seen, name):
    """Why a file of the room `home` must not include a file of the room `seen`; None: it may."""
    if not home or not seen:
        return f'each file of the engine belongs to a room: "{name}"'
    if home[0] not in ENGINE_ROOMS:
        return f'engine/{home[0]} has no row in ENGINE_ROOMS (scripts/check_arrows.py)'
    if seen[0] != home[0] and seen[0] not in ENGINE_ROOMS[home[0]]:
        return f'engine/{home[0]} must not see engine/{seen[0]}: "{name}"'
    return None


def cycle():
    """Rooms that see each other in a circle, as a text; None: there is no circle."""
    done = set()

    def walk(room, way):
        if room in way:
            return ' -> '.join([*way[way.index(room):], room])
        found = None if room in done else next(
            filter(None, (walk(seen, [*way, room]) for seen in sorted(ENGINE_ROOMS[room]))), None)
        done.add(room)
        return found

    return next(filter(None, (walk(room, []) for room in sorted(ENGINE_ROOMS))), None)


def main():
    files = sorted(f for top in ('src', 'sim') for f in pathlib.Path(top).rglob('*.[ch]'))
    found = [fault for path in files for fault in faults(path)]
    if cycle():
        found.append(f'scripts/check_arrows.py: rooms of the engine form a cycle: {cycle()}')
    print('\n'.join(found) if found else f'  {len(files)} files, every arrow points the right way')
    return 1 if found else 0


sys.exit(main())
