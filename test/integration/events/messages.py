#!/usr/bin/env python3
"""Messages of events, judged by others: Protobuf is decoded by Google's protoc and Python library and compared with the JSON
form; CloudEvents are checked against the rules of the specification (1.0.2), written down here from its text."""
import base64
import datetime
import decimal
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

try:
    import google.protobuf  # noqa: F401
except ModuleNotFoundError:  # another Python is first in the path
    if sys.executable != '/usr/bin/python3' and os.access('/usr/bin/python3', os.X_OK):
        os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
    print('skipped: python3-protobuf is not installed')
    print('integration-events-messages: 0 passed, 0 failed, 1 skipped')
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ['PATRA_BUILD'])
EVENTS = 7
FOREIGN = (5, 6)
CARRIERS = ('', '.headers', '.kafka')
checks = []
failures = []


def check(ok, what):
    checks.append(what)
    if not ok:
        failures.append(what)
        print('FAIL', what)


def same(got, wanted, what):
    check(got == wanted, f'{what}: {got!r}, wanted {wanted!r}')


def exact(text):
    """JSON with every number as a Decimal: none is rounded."""
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


# ---- Protobuf ----

def compiled(folder):
    proto = ROOT / 'proto'
    subprocess.run(['protoc', f'-I{proto}', f'--python_out={folder}', 'patra/event/v1/event.proto'], check=True, cwd=proto)
    sys.path.insert(0, str(folder))
    from patra.event.v1 import event_pb2  # noqa: PLC0415
    return event_pb2


def plain(value):
    """A Value as exact() has it."""
    kind = value.WhichOneof('kind')
    if kind == 'is_null':
        return None
    if kind == 'json':
        return exact(value.json)
    if kind == 'decimal':
        return decimal.Decimal(value.decimal)
    if kind == 'number':
        return decimal.Decimal(repr(value.number))
    if kind == 'integer':
        return decimal.Decimal(value.integer)
    if kind == 'list':
        return [plain(item) for item in value.list.items]
    if kind == 'object':
        return {name: plain(member) for name, member in value.object.members.items()}
    return getattr(value, kind)


def instant(us):
    seconds, fraction = divmod(us, 1000000)
    text = (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).isoformat()
    return text + (f'.{fraction:06d}' if fraction else '') + 'Z'


def event_of(message):
    """The wire event that a message says."""
    record = message.record
    event = {
        'eventId': message.event_id, 'eventType': message.event_type, 'schemaVersion': decimal.Decimal(message.schema_version),
        'occurredAt': instant(message.occurred_at.us), 'source': record.source, 'endpoint': record.endpoint,
        'id': message.aggregate_id, 'version': decimal.Decimal(message.version), 'deleted': record.deleted,
        'contentHash': record.content_hash, 'exprHash': record.expr_hash,
    }
    same(message.aggregate_type, f'{record.source}/{record.endpoint}', 'aggregate_type')
    if record.HasField('updated_at'):
        event['updatedAt'] = instant(record.updated_at.us)
    for name, value in (('providerVersion', record.provider_version), ('mergedInto', record.merged_into)):
        if value:
            event[name] = value
    if record.rederived:
        event['rederived'] = True
    if record.payload:
        event['payload'] = record.payload if record.payload.startswith('<') else exact(record.payload)
    if not record.deleted:
        event['fields'] = {name: plain(value) for name, value in record.fields.items()}
    return event, {field.name: value for field, value in record.lineage.ListFields()}


def check_protobuf(folder, number, event_pb2):
    wire = exact((folder / f'{number}.json').read_text())
    data = (folder / f'{number}.protobuf').read_bytes()
    message = event_pb2.Event.FromString(data)
    event, lineage = event_of(message)
    snake = {re.sub('([A-Z])', r'_\1', name).lower(): int(value) for name, value in wire.pop('lineage').items()}
    same(event, wire, f'event {number}: Protobuf and JSON')
    same(lineage, snake, f'event {number}: lineage')
    check(data == message.SerializeToString(deterministic=True) or len(data) == len(message.SerializeToString()),
          f'event {number}: nothing but the known fields')
    shown = subprocess.run(['protoc', f'-I{ROOT / "proto"}', '--decode=patra.event.v1.Event', 'patra/event/v1/event.proto'],
                           input=data, capture_output=True, check=True, cwd=ROOT / 'proto').stdout.decode()
    check(f'event_id: "{wire["eventId"]}"' in shown, f'event {number}: protoc --decode')
    check(not re.search(r'^\s*\d+: ', shown, re.M), f'event {number}: protoc knows every field')


# ---- attributes ----

def attributes_of(folder, name):
    found = json.loads((folder / f'{name}.attributes').read_text())
    return found['content-type'], found['attributes'], found['key']


def check_own(attributes, wire, key, what):
    wanted = {'event_id': wire['eventId'], 'event_type': wire['eventType'], 'aggregate_id': wire['id'],
              'aggregate_type': f'{wire["source"]}/{wire["endpoint"]}', 'version': str(wire['version']),
              'schema_version': '1', 'occurred_at': wire['occurredAt']}
    same({name: value for name, value in attributes.items() if not re.match('ce[-_]', name)}, wanted, what)
    same(key, wire['id'], what)


def decoded_headers(attributes, what):
    for name, value in attributes.items():
        check(re.fullmatch(r'[\x21-\x7e]+', value) and '"' not in value, f'{what}: header {name}: {value}')
    return {name: urllib.parse.unquote(value, errors='strict') for name, value in attributes.items()}


# ---- CloudEvents ----

UNRESERVED = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2}"
URI_REFERENCE = re.compile(rf'([A-Za-z][A-Za-z0-9+.\-]*:)?(//[A-Za-z0-9.\-:\[\]]+)?({UNRESERVED})*(\?({UNRESERVED}|\?)*)?(#({UNRESERVED}|\?)*)?')
RFC3339 = re.compile(r'\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)')
MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+\-]+")


def is_string(value):
    """The type String of CloudEvents: no control characters, no surrogates, no noncharacters."""
    return isinstance(value, str) and not any(
        ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F or 0xD800 <= ord(c) <= 0xDFFF or 0xFDD0 <= ord(c) <= 0xFDEF
        or ord(c) & 0xFFFE == 0xFFFE for c in value)


def check_context(context, what):
    for name in ('id', 'source', 'specversion', 'type'):
        check(isinstance(context.get(name), str) and context[name] != '', f'{what}: {name} is required')
    same(context['specversion'], '1.0', f'{what}: specversion')
    check(URI_REFERENCE.fullmatch(context['source']), f'{what}: source is a URI reference: {context["source"]}')
    check(RFC3339.fullmatch(context['time']), f'{what}: time by RFC 3339: {context["time"]}')
    check(context['subject'] != '', f'{what}: subject is not empty')
    for name, value in context.items():
        check(re.fullmatch('[a-z0-9]{1,20}', name), f'{what}: name {name}')
        check(name not in ('data', 'data_base64'), f'{what}: name {name}')
        check(is_string(value) or (isinstance(value, int) and -2**31 <= value < 2**31), f'{what}: {name}: {value!r}')


def check_is_event(context, wire, what):
    same(context['id'], wire['eventId'], f'{what}: id')
    same(context['type'], wire['eventType'], f'{what}: type')
    same(context['time'], wire['occurredAt'], f'{what}: time')
    same(urllib.parse.unquote(context['subject']) if '\t' in wire['id'] else context['subject'], wire['id'], f'{what}: subject')
    same(context['version'], str(wire['version']), f'{what}: version')
    same(str(context['schemaversion']), '1', f'{what}: schemaversion')
    path = '/'.join(urllib.parse.quote(part, safe='') for part in (wire['source'], *wire['endpoint'].split('/')))
    base = '/patra/' if what.endswith('/') else 'https://patra.example.org/a/'
    same(context['source'], base + path, f'{what}: source')


def check_binary(folder, name, wire, content_type, carrier):
    prefix = 'ce_' if carrier == '.kafka' else 'ce-'
    got_type, attributes, key = attributes_of(folder, name)
    what = f'{name}{"/" if carrier == "" else ""}'
    if carrier == '.headers':
        attributes = decoded_headers(attributes, name)
    context = {n[3:]: value for n, value in attributes.items() if n.startswith(prefix)}
    same(got_type, content_type, f'{name}: the body has its own content type')
    check('datacontenttype' not in context, f'{name}: that is the content type')
    check_context(context, what)
    check_is_event(context, wire, what)
    check_own(attributes, wire, key, name)


def check_structured(folder, name, wire, content_type, carrier):
    got_type, attributes, key = attributes_of(folder, name)
    what = f'{name}{"/" if carrier == "" else ""}'
    whole = json.loads((folder / name).read_text())
    data, coded = whole.pop('data', None), whole.pop('data_base64', None)
    same(got_type, 'application/cloudevents+json', name)
    check(MEDIA_TYPE.fullmatch(whole['datacontenttype']), f'{name}: datacontenttype')
    same(whole['datacontenttype'], content_type, f'{name}: datacontenttype')
    check((data is None) != (coded is None), f'{name}: data or data_base64')
    check_context(whole, what)
    check_is_event(whole, wire, what)
    body = (folder / name.replace('.structured', '')).read_bytes()
    if coded is None:
        same(data, json.loads(body), f'{name}: data')
    else:
        same(base64.b64decode(coded, validate=True), body, f'{name}: data')
    check(not any(n.startswith('ce') for n in attributes), f'{name}: no context beside the body')
    if carrier == '.headers':
        attributes = decoded_headers(attributes, name)
    check_own(attributes, wire, key, name)


def check_event(folder, number):
    wire = json.loads((folder / f'{number}.json').read_text())
    for form, content_type in (('json', 'application/json'), ('protobuf', 'application/protobuf')):
        for carrier in CARRIERS:
            same((folder / f'{number}.{form}.binary{carrier}').read_bytes(), (folder / f'{number}.{form}').read_bytes(),
                 f'event {number}: the body of the binary mode')
            check_binary(folder, f'{number}.{form}.binary{carrier}', wire, content_type, carrier)
            check_structured(folder, f'{number}.{form}.structured{carrier}', wire, content_type, carrier)


def check_foreign(folder, number, body, content_type, aggregate):
    for form in ('json', 'protobuf'):
        got_type, attributes, key = attributes_of(folder, f'{number}.{form}')
        same((folder / f'{number}.{form}').read_bytes(), body, f'foreign event {number}: as it is')
        same(got_type, content_type, f'foreign event {number}: content type')
        same(attributes['aggregate_type'], aggregate, f'foreign event {number}: aggregate')
        whole = json.loads((folder / f'{number}.{form}.structured').read_text())
        same(whole['source'], '/patra/' + urllib.parse.quote(aggregate), f'foreign event {number}: source')
        same(base64.b64decode(whole['data_base64']) if 'data_base64' in whole else whole['data'],
             body if 'data_base64' in whole else json.loads(body), f'foreign event {number}: data')
        same(whole['datacontenttype'], content_type, f'foreign event {number}: datacontenttype')


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([BUILD / 'test/integration/write-messages', folder], check=True, stdout=subprocess.DEVNULL)
        (folder / 'python').mkdir()
        event_pb2 = compiled(folder / 'python')
        for number in range(EVENTS):
            if number in FOREIGN:
                continue
            check_protobuf(folder, number, event_pb2)
            check_event(folder, number)
        check_foreign(folder, 5, b'{"title": "x"}', 'application/json', 'video')
        check_foreign(folder, 6, b'\x0a\x03\xff\x00\x01', 'application/octet-stream', 'video clips')
    print(f'integration-events-messages: {len(checks) - len(failures)} passed, {len(failures)} failed, 0 skipped')
    return 1 if failures else 0


sys.exit(main())
