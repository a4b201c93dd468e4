#!/usr/bin/env python3
"""patra schema check as a user runs it, and its reader of .proto files beside Google's: every file is compiled by protoc, and
what its descriptor says must be what patra has read."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    from google.protobuf import descriptor_pb2
except ModuleNotFoundError:  # another Python is first in the path
    if sys.executable != '/usr/bin/python3' and os.access('/usr/bin/python3', os.X_OK):
        os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
    print('skipped: python3-protobuf is not installed')
    print('integration-events-schema: 0 passed, 0 failed, 1 skipped')
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ['PATRA_BUILD'])
checks = []
failures = []


def check(ok, what):
    checks.append(what)
    if not ok:
        failures.append(what)
        print('FAIL', what)


def same(got, wanted, what):
    check(got == wanted, f'{what}: {got!r}, wanted {wanted!r}')


# ---- reading ----

HARD = '''
syntax = "proto3"; // }
package deep.er.v2;
option java_package = "a{b";
/* message No { } */
enum Top { NONE = 0; option allow_alias = true; ALSO = 0; LAST = 99; reserved 5 to 9, -3, 100 to max; reserved "OLD"; }
message Outer {
  reserved 2, 15, 9 to 11, 1000 to max;
  reserved "foo", 'bar';
  message Inner {
    enum Kind { A = 0; B = -1; }
    Kind kind = 1; Outer up = 2; .deep.er.v2.Outer.Inner self = 3; repeated er.v2.Top tops = 4 [packed = false];
    message Outer { string name = 1; }
    Outer near = 5;
  }
  map<string, Inner> inners = 1 [deprecated = true];
  map<int32, bytes> bytes_by = 0x10;
  oneof choice { string text = 3; Inner.Kind kind = 4; sfixed64 fixed = 05; }
  optional double maybe = 6;
  repeated Inner.Outer outers = 7 [json_name = "o]["];
  v2.Top relative = 8;
}
service S { rpc Get (Outer) returns (stream Outer) { option deprecated = true; } rpc Put (Outer) returns (Outer); }
'''
OLD_SYNTAX = '''
syntax = "proto2";
message M { required string a = 1; optional int32 b = 2 [default = -1]; repeated float c = 3; extensions 100 to 199; }
'''
SCALARS = {value: name[5:].lower() for name, value in descriptor_pb2.FieldDescriptorProto.Type.items()}
INT32_MAX = 2147483647


def described(message, around, package, out):
    """What patra should have read of a DescriptorProto, inner ones first."""
    name = f'{around}.{message.name}' if around else message.name
    maps = {f'.{package}.{name}.{m.name}' if package else f'.{name}.{m.name}': m
            for m in message.nested_type if m.options.map_entry}
    fields = []
    for field in message.field:
        entry = maps.get(field.type_name)
        value = entry.field[1] if entry else field
        prefix = f'.{package}.' if package else '.'
        kind = value.type_name.removeprefix(prefix) if value.type_name else SCALARS[value.type]
        is_oneof = field.HasField('oneof_index') and not field.proto3_optional
        fields.append({
            'name': field.name, 'number': field.number, 'type': kind,
            'shape': 2 if entry else 1 if field.label == field.LABEL_REPEATED else 0,
            'key': SCALARS[entry.field[0].type] if entry else '',
            'oneof': message.oneof_decl[field.oneof_index].name if is_oneof else '',
            'required': field.label == field.LABEL_REQUIRED})
    reserved = [{'name': '', 'first': r.start, 'last': min(r.end - 1, INT32_MAX)} for r in message.reserved_range]
    reserved = [r | {'last': INT32_MAX if r['last'] == 536870911 else r['last']} for r in reserved]
    reserved += [{'name': n, 'first': 0, 'last': 0} for n in message.reserved_name]
    out[name] = {'enum': False, 'fields': fields, 'reserved': reserved}
    for inner in message.nested_type:
        if not inner.options.map_entry:
            described(inner, name, package, out)
    for inner in message.enum_type:
        described_enum(inner, name, out)


def described_enum(enum, around, out):
    out[f'{around}.{enum.name}' if around else enum.name] = {
        'enum': True,
        'fields': [{'name': v.name, 'number': v.number, 'type': '', 'shape': 0, 'key': '', 'oneof': '', 'required': False}
                   for v in enum.value],
        'reserved': [{'name': '', 'first': r.start, 'last': r.end} for r in enum.reserved_range] +
                    [{'name': n, 'first': 0, 'last': 0} for n in enum.reserved_name]}


def check_reader(folder, name, text):
    path = folder / name
    path.write_text(text)
    subprocess.run(['protoc', f'-I{folder}', f'--descriptor_set_out={folder}/set', name], check=True, cwd=folder)
    file = descriptor_pb2.FileDescriptorSet.FromString((folder / 'set').read_bytes()).file[0]
    wanted = {}
    for message in file.message_type:
        described(message, '', file.package, wanted)
    for enum in file.enum_type:
        described_enum(enum, '', wanted)
    dump = json.loads(subprocess.run([BUILD / 'test/integration/proto-dump', path], check=True, capture_output=True).stdout)
    same(dump['package'], file.package, f'{name}: package')
    got = {message.pop('name'): message for message in dump['messages']}
    same(sorted(got), sorted(wanted), f'{name}: messages')
    for message, parts in wanted.items():
        by_number = lambda f: (f['number'], f['name'])  # noqa: E731
        same(sorted(got[message]['fields'], key=by_number), sorted(parts['fields'], key=by_number), f'{name}: {message}')
        same(got[message]['reserved'], parts['reserved'], f'{name}: {message}: reserved')


# ---- the command ----

def run(*args):
    done = subprocess.run([BUILD / 'patra', 'schema', 'check', *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def rules(folder, old, new, suffix, what):
    (folder / f'old{suffix}').write_text(old)
    (folder / f'new{suffix}').write_text(new)
    code, out, err = run('--json', folder / f'old{suffix}', folder / f'new{suffix}')
    check(code in (0, 1), f'{what}: {code}: {err}')
    if code not in (0, 1):
        return []
    found = json.loads(out)
    same(code, 0 if found['compatible'] else 1, f'{what}: exit code')
    return sorted(change['rule'] for change in found['changes'])


SOURCE = (ROOT / 'sources/crossref.yaml').read_text()


def changed(text, old, new):
    check(old in text, f'{old!r} is in the source')
    return text.replace(old, new, 1)


def check_command(folder):
    proto = (ROOT / 'proto/patra/event/v1/event.proto').read_text()
    same(rules(folder, proto, proto, '.proto', 'the same'), [], 'the same')
    same(rules(folder, proto, changed(proto, 'Record record = 8;', 'Record record = 8; string note = 9;'), '.proto', 'added'),
         ['field-added'], 'added')
    same(rules(folder, proto, changed(proto, 'int64 version = 6;', 'string version = 6;'), '.proto', 'type'), ['type-changed'],
         'type')
    same(rules(folder, proto, changed(proto, 'int64 version = 6;', ''), '.proto', 'gone'), ['field-not-reserved'], 'gone')
    same(rules(folder, proto, changed(proto, 'int64 version = 6;', 'reserved 6; reserved "version";'), '.proto', 'reserved'),
         ['field-reserved'], 'reserved')
    same(rules(folder, proto, changed(proto, 'package patra.event.v1;', 'package patra.event.v2;'), '.proto', 'package'),
         ['schema-renamed'], 'package')
    same(run(folder / 'old.proto', ROOT / 'sources/crossref.yaml')[0], 2, 'two kinds')
    same(run(folder / 'old.proto', folder / 'none.proto')[0], 4, 'no such file')
    (folder / 'bad.proto').write_text('message {')
    code, _, err = run(folder / 'old.proto', folder / 'bad.proto')
    same(code, 4, 'not a schema')
    check('bad.proto: 1:9: expected a name' in err, err)


def check_sources(folder):
    same(rules(folder, SOURCE, SOURCE, '.yaml', 'a source'), [], 'a source')
    line = next(l for l in SOURCE.splitlines() if l.strip().startswith('title:'))
    indent = line[:len(line) - len(line.lstrip())]
    path = line.split(':', 1)[1].strip()
    same(rules(folder, SOURCE, changed(SOURCE, line, ''), '.yaml', 'a field less'), ['field-removed'], 'a field less')
    same(rules(folder, SOURCE, changed(SOURCE, line, f'{line}\n{indent}title2: {path}'), '.yaml', 'a field more'),
         ['field-added'], 'a field more')
    code, out, _ = run(folder / 'old.yaml', folder / 'new.yaml')
    same(code, 0, 'compatible')
    check('compatible: 1 changes' in out and 'fields.title2' in out, out)
    (folder / 'bad.yaml').write_text('source: x\n')
    code, _, err = run(folder / 'old.yaml', folder / 'bad.yaml')
    same(code, 4, 'a source with errors')
    check('has errors' in err, err)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_reader(folder, 'event.proto', (ROOT / 'proto/patra/event/v1/event.proto').read_text())
        check_reader(folder, 'hard.proto', HARD)
        check_reader(folder, 'older.proto', OLD_SYNTAX)
        check_command(folder)
        check_sources(folder)
    print(f'integration-events-schema: {len(checks) - len(failures)} passed, {len(failures)} failed, 0 skipped')
    return 1 if failures else 0


sys.exit(main())
