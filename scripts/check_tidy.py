#!/usr/bin/env python3
"""check_tidy.py BUILD [PATH...]

Runs clang-tidy over src/ and sim/, or the PATHs in them, with the commands of BUILD/compile_commands.json; one process per
processor that it may use (see taskset).

A file without findings is not checked again until something changes that clang-tidy would see: its own text or that of a
header it includes, the checks, clang-tidy itself. The hash covers what the compiler sees, comments included; BUILD/tidy/
has an empty file for every hash without findings. The first run takes a while, later ones only check what changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
clean = build / 'tidy'
rules = pathlib.Path('.clang-tidy').read_bytes() + subprocess.check_output(['clang-tidy', '--version'])


def seen_by_compiler(entry):
    words = shlex.split(entry['command'])
    drop = {'-o': 2, '-MF': 2, '-MQ': 2, '-MD': 1, '-c': 1}
    command, i = [], 0
    while i < len(words):
        step = drop.get(words[i], 0)
        if step == 0:
            command.append(words[i])
        i += max(step, 1)
    return subprocess.run(command + ['-E', '-C'], cwd=entry['directory'], check=True,
                          stdout=subprocess.PIPE).stdout


def check(entry):
    """The findings of clang-tidy in the file; None: it was not checked again."""
    stamp = clean / hashlib.sha256(rules + seen_by_compiler(entry)).hexdigest()
    if stamp.exists():
        return None
    path = os.path.normpath(os.path.join(entry['directory'], entry['file']))
    done = subprocess.run(['clang-tidy', '--quiet', '-p', str(build), path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 0:
        stamp.touch()
        return ''
    return done.stdout or done.stderr


def main():
    paths = sys.argv[2:] or ['src', 'sim']
    tracked = {name for name in subprocess.check_output(['git', 'ls-files', '--', *paths], text=True).split()
               if name.endswith('.c')}
    entries = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        name = os.path.relpath(os.path.join(entry['directory'], entry['file']))
        if name in tracked:
            entries[name] = entry
    clean.mkdir(exist_ok=True)
    looked = failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for said in pool.map(check, entries.values()):
            looked += said is not None
            failed += bool(said)
            if said:
                print(said, end='', flush=True)
    print(f'  {len(entries)} files, {looked} of them new or changed, {failed} with findings')
    return 1 if failed else 0


sys.exit(main())
