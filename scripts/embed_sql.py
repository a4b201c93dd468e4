#!/usr/bin/env python3
"""embed_sql.py OUTPUT.c NAME FILE.sql...

Writes the migrations (files named NNNN_words.sql) as a C table `const struct migration_set NAME`,
ordered by number, each with the SHA-256 of its bytes. Two files of one number are refused.
"""
import hashlib
import os
import re
import sys

NAME = re.compile(r'^(\d{4})_([a-z0-9_]+)\.sql$')


def literal(text):
    for line in text.splitlines(keepends=True):
        escaped = line.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('?', '\\?')
        yield f'    "{escaped}"'


def main():
    output, table, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    steps = {}
    for path in files:
        match = NAME.match(os.path.basename(path))
        if not match:
            sys.exit(f'{path}: a migration is named NNNN_words.sql')
        number = int(match.group(1))
        if number in steps:
            sys.exit(f'{path}: number {number} is taken by {steps[number][0]}')
        with open(path, 'rb') as file:
            steps[number] = (path, match.group(2), file.read())

    out = ['#include "core/migration.h"', '', '#include "base/attr.h"', '',
           f'extern const struct migration_set {table};', '']
    for number, (_, _, sql) in sorted(steps.items()):
        out += [f'static const char SQL_{number:04}[] ='] + list(literal(sql.decode())) + ['    ;', '']
    out += ['static const struct migration STEPS[] = {']
    for number, (_, name, sql) in sorted(steps.items()):
        digest = hashlib.sha256(sql).hexdigest()
        out += [f'    {{ {number}, STR_INIT("{name}"),', f'      STR_INIT("{digest}"),',
                f'      {{ SQL_{number:04}, sizeof(SQL_{number:04}) - 1 }} }},']
    out += ['};', '', f'const struct migration_set {table} = {{ STEPS, ARRAY_LEN(STEPS) }};', '']
    with open(output, 'w') as file:
        file.write('\n'.join(out))


main()
