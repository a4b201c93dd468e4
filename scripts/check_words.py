#!/usr/bin/env python3
"""check_words.py [PATH...]

Refuses phrases that are always wrong in patra's prose (comments, strings, documents; not names in code), and .c files that do not begin with a
comment. Reads the tracked files of the folders below, or those under the PATHs. Prints file:line, what was found and what to
write instead, then how many findings each folder has. Exit code 1 when there are any.

A phrase belongs in the table only when no correct sentence uses it: words that are merely dull or overused do not.
"""
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ['README.md', 'ARCHITECTURE.md', 'docs', 'src', 'sim', 'test', 'scripts', 'sql', 'bench', 'share', 'sources', 'debian', 'deploy']
SKIPPED = ('test/data/', 'test/fuzz/corpus/', 'scripts/check_words.py', 'scripts/dictionaries')
TEXTS = {'', '.c', '.h', '.md', '.py', '.sh', '.sql', '.js', '.yaml', '.build', '.in'}

TOLD_WELL = r'(?! (?:to|apart|that|when|what|how|where|why|which|whether|about|by)\b)'  # "is told to stop" is right
PHRASES = [  # a regular expression in which a blank is any gap between words, and the better wording
    (r'can not(?! only\b)', 'cannot'),
    (r'(?:is|are|was|were|be|being) told' + TOLD_WELL, 'is reported, returned, printed, described'),
    (r'tells of', 'reports, describes, says'),
    (r'told of', 'notified of, reported, described'),
    (r'unless told', 'by default, unless given'),
    (r'let be(?! \w+ed\b)', 'left alone'),
    (r'came well', 'was received, is valid'),
    (r'gone on with', 'continued'),
    (r'nobody knows', 'is unknown'),
    (r'from behind', 'after, from the end of'),
    (r'anew', 'again, rebuilt, retried, from the start'),
    (r'has it that', 'says that'),
    (r'put aside', 'quarantined'),
    (r'cut again', 're-sliced'),
    (r'(?:it|this|that) is no (?!longer|more|less|one|such|better|worse|good|different|help|use|way)[a-z]', 'it is not a(n)'),
]
# Between two words: a blank, or a line's end and the next comment's beginning.
GAP = r'(?:[ \t]+|"?[ \t]*\n[ \t]*(?:\*|//|#|--|"|>)?[ \t]*)'


def compiled(phrase):
    return re.compile(r'(?<![a-z_])' + phrase.replace(' ', GAP) + ('' if phrase.endswith(']') else r'(?![a-z_])'), re.I)


RULES = [(compiled(phrase), better) for phrase, better in PHRASES]


def findings(path):
    text = path.read_text(errors='replace')
    if path.suffix == '.c' and not text.startswith('/*'):
        yield 1, 'no comment at the head', 'say what the file is, in one or a few lines'
    for rule, better in RULES:
        for match in rule.finditer(text):
            yield text.count('\n', 0, match.start()) + 1, '"' + ' '.join(match.group().split()) + '"', better


def folder_of(path):
    return '/'.join(path.parts[:2]) if path.parts[0] in ('src', 'test') and len(path.parts) > 2 else path.parts[0]


def main():
    tracked = subprocess.check_output(['git', 'ls-files', '--', *(sys.argv[1:] or FOLDERS)], text=True).splitlines()
    counts = collections.Counter()
    files = 0
    for name in tracked:
        path = pathlib.Path(name)
        if name.startswith(SKIPPED) or path.suffix not in TEXTS or not path.is_file():
            continue
        files += 1
        for line, found, better in sorted(findings(path)):
            print(f'{path}:{line}: {found}: {better}')
            counts[folder_of(path)] += 1
    for folder, count in counts.most_common():
        print(f'{count:5} {folder}')
    print(f'  {files} files, {sum(counts.values())} findings')
    return 1 if counts else 0


sys.exit(main())
