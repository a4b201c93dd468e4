#!/usr/bin/env python3
"""embed_templates.py OUTPUT.c FILE.yaml...

Writes the templates of source files as the C table `TEMPLATES`, ordered by name: the file's name
without its ending.
"""
import pathlib
import sys


def literal(text):
    for line in text.splitlines(keepends=True):
        escaped = line.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('?', '\\?')
        yield f'    "{escaped}"'


def main():
    output, files = sys.argv[1], sorted(map(pathlib.Path, sys.argv[2:]))
    out = ['#include "spec/source_template.h"', '', '#include "base/attr.h"', '']
    for number, path in enumerate(files):
        out += [f'static const char TEXT_{number}[] ='] + list(literal(path.read_text())) + ['    ;', '']
    out += ['const struct source_template SOURCE_TEMPLATES[] = {']
    out += [f'    {{ "{path.stem}", {{ TEXT_{number}, sizeof(TEXT_{number}) - 1 }} }},'
            for number, path in enumerate(files)]
    out += ['};', 'const size_t SOURCE_TEMPLATE_COUNT = ARRAY_LEN(SOURCE_TEMPLATES);', '']
    pathlib.Path(output).write_text('\n'.join(out))


main()
