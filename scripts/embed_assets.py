#!/usr/bin/env python3
"""embed_assets.py OUTPUT.c FILE...

Writes files of the dashboard as C texts: style.css becomes `const struct str ASSET_STYLE_CSS`.
"""
import pathlib
import re
import sys


def literal(text):
    for line in text.splitlines(keepends=True):
        escaped = line.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('?', '\\?')
        yield f'    "{escaped}"'


def main():
    output, files = sys.argv[1], sorted(map(pathlib.Path, sys.argv[2:]))
    out = ['/* Made of the files in src/serve/asset. */', '#include "serve/page/asset.h"', '']
    for number, path in enumerate(files):
        name = re.sub(r'[^A-Z0-9]', '_', path.name.upper())
        out += [f'static const char TEXT_{number}[] ='] + list(literal(path.read_text())) + ['    ;']
        out += [f'const struct str ASSET_{name} = {{ TEXT_{number}, sizeof(TEXT_{number}) - 1 }};', '']
    pathlib.Path(output).write_text('\n'.join(out))


main()
