#!/usr/bin/env python3
"""The completion scripts, asked by their own shells: for each command of patra, what bash, zsh and fish offer after it must be
what its --help lists, and where a source is named, the sources of the store. A shell that is not installed is skipped, and named."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get('PATRA_BUILD', 'build')).resolve()
PATRA = BUILD / 'patra'
NAME = 'integration-cmd-completion'
ALWAYS = {'help'}  # of the root; --help describes it below its list of commands


def words_of(path):
    """The subcommands and the options that --help lists."""
    text = subprocess.run([PATRA, *path, '--help'], check=True, capture_output=True, text=True).stdout
    part = {name: body for name, body in re.findall(r'^(Commands|Options):\n((?:  .*\n)+)', text, re.M)}
    commands = re.findall(r'^  (\S+) ', part.get('Commands', ''), re.M)
    options = re.findall(r'^  (?:-\w, )?(--\S+)', part.get('Options', ''), re.M) or ['--help']
    return set(commands), set(options)


def all_commands(path=()):
    commands, options = words_of(path)
    yield path, commands, options
    for command in sorted(commands):
        yield from all_commands((*path, command))


def script(shell, folder):
    file = folder / ('_patra' if shell == 'zsh' else 'patra.' + shell)
    with open(file, 'wb') as out:
        subprocess.run([PATRA, '--completion', shell], check=True, stdout=out)
    return file


class Bash:
    def __init__(self, folder):
        self.script = script('bash', folder)

    def offers(self, words):
        asked = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _patra; printf "%s\\n" "${COMPREPLY[@]}"'
        return set(subprocess.run(['bash', '--norc', '-c', asked, self.script, *words], check=True,
                                  capture_output=True, text=True).stdout.split())

    def close(self):
        pass


class Fish:
    def __init__(self, folder):
        self.script = script('fish', folder)
        self.env = {**os.environ, 'HOME': str(folder), 'XDG_CONFIG_HOME': str(folder)}

    def offers(self, words):
        asked = 'source $argv[1]; complete -C "$argv[2]"'
        out = subprocess.run(['fish', '--no-config', '-c', asked, self.script, ' '.join(words)], check=True, env=self.env,
                             capture_output=True, text=True).stdout
        return {line.split('\t')[0] for line in out.splitlines()}

    def close(self):
        pass


class Zsh:
    """Completion works only in an interactive zsh: one is given a terminal, and a key that completes what stands in a file. What
    compadd gets is written into another file. Nothing is typed ahead, because zsh then completes nothing."""
    SETUP = r"""
PS1= ; bindkey -e; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D
compadd() {{
    if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    local -a hits
    builtin compadd -A hits "$@"
    print -rl -- $hits >>{folder}/offers
    return 1
}}
answer() {{
    BUFFER="$(<{folder}/question) "; BUFFER=${{BUFFER% }}; CURSOR=$#BUFFER
    zle complete-word
    BUFFER=; print -r -- answered >/dev/tty
}}
zle -N answer; bindkey '^G' answer
print -r -- answered
"""

    def __init__(self, folder):
        script('zsh', folder)
        self.folder = folder
        (folder / 'setup').write_text(self.SETUP.format(folder=folder))
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.environ.update(TERM='dumb', LC_ALL='C.UTF-8')
            os.execlp('zsh', 'zsh', '-f', '-i')
        self.press(f'source {folder}/setup\n')

    def press(self, keys):
        """... and waits for the answer."""
        os.write(self.terminal, keys.encode())
        seen = b''
        while b'answered\r\n' not in seen:
            seen += os.read(self.terminal, 65536)

    def offers(self, words):
        (self.folder / 'offers').write_text('')
        (self.folder / 'question').write_text(' '.join(words))
        self.press('\x07')
        return set((self.folder / 'offers').read_text().split())

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def judge(shell, commands):
    """What differs, as texts."""
    for path, children, options in commands:
        words = ['patra', *path]
        if children:
            offered = {word for word in shell.offers([*words, '']) if not word.startswith('-')}
            wanted = children | (set() if path else ALWAYS)
            if offered != wanted:
                yield f'{" ".join(words)}: commands {sorted(offered)}, but --help lists {sorted(wanted)}'
        offered = {word.rstrip('=') for word in shell.offers([*words, '--'])}
        if offered != options:
            yield f'{" ".join(words)} --: options {sorted(offered)}, but --help lists {sorted(options)}'
    after_operand = {word.rstrip('=') for word in shell.offers(['patra', 'source', 'show', 'crossref', '--'])}
    if after_operand != words_of(('source', 'show'))[1]:
        yield f'after an operand: {sorted(after_operand)}'
    for words in (['patra', 'harvest', 'cro'], ['patra', 'source', 'show', '--json', 'c']):
        offered = shell.offers(words)
        if offered != {'crossref'}:
            yield f'{" ".join(words)}: {sorted(offered)} instead of the source'
    value = {word for word in shell.offers(['patra', 'record', 'export', '--output', '']) if word.startswith('-')}
    if value:
        yield f'instead of a file for --output: {sorted(value)}'


def with_sources(folder):
    """The scripts ask the patra that is found for the sources of the store."""
    os.environ.update(PATRA_STORE=str(folder / 'patra.db'), PATRA_CONTACT='completion@example.org',
                      PATH=f'{BUILD}:{os.environ["PATH"]}')
    for command in (['init'], ['source', 'apply', 'sources/crossref.yaml', 'sources/pubmed.yaml']):
        subprocess.run([PATRA, *command], check=True, capture_output=True)


def main():
    store = tempfile.TemporaryDirectory()
    with_sources(pathlib.Path(store.name))
    commands = list(all_commands())
    passed = failed = skipped = 0
    assert len(commands) > 30, 'the help of all commands could not be read'
    for name, kind in (('bash', Bash), ('zsh', Zsh), ('fish', Fish)):
        if shutil.which(name) is None:
            print(f'  skipped: {name} is not installed')
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            shell = kind(pathlib.Path(folder))
            wrong = list(judge(shell, commands))
            shell.close()
        for line in wrong:
            print(f'  not so: {name}: {line}')
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f'{NAME}: {passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


sys.exit(main())
