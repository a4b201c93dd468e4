#!/usr/bin/env python3
"""sim_manual.py PATRA-SIM: prints the manual page of patra-sim (troff), made of what its --help prints."""
import re
import subprocess
import sys

OPTION = re.compile(r'^  (--.+?)  +(\S.*)$|^  (--\S+ \S+) (\S.*)$')  # a long head has one blank behind it


def help_of(*command):
    return subprocess.run([sys.argv[1], *command], check=True, capture_output=True, text=True).stdout


def troff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text[:1] in ".'" else text


def command_section(name):
    usage, *lines = help_of(name, '--help').splitlines()
    yield f'.SS "{troff(usage.removeprefix("usage: "))}"'
    is_first = True
    for line in lines:
        option = OPTION.match(line)
        if option:
            head, text = [part for part in option.groups() if part is not None]
            yield from ('.TP', '.B ' + troff(' '.join(head.split())), troff(text))
        elif line:
            if not is_first:
                yield '.PP'
            is_first = False
            yield troff(line.strip())


def page():
    version = help_of('--version').strip()
    commands = re.findall(r'^  (\w\S*) +(\S.*)$', help_of('--help'), re.M)
    yield from (f'.TH PATRA\\-SIM 1 "" "{version}" "patra manual"', '.SH NAME',
                'patra\\-sim \\- simulated literature APIs that misbehave on purpose',
                '.SH SYNOPSIS', '.B patra\\-sim', '.I COMMAND', '[OPTION]...', '.SH DESCRIPTION',
                'An HTTP server that imitates literature APIs, fails on a plan, audits the politeness of its client,',
                'and knows what a perfect harvest would hold. Its commands:')
    for name, summary in commands:
        yield from ('.TP', '.B ' + name, troff(summary))
    yield '.SH COMMANDS'
    for name, _ in commands:
        yield from command_section(name)
    yield from ('.SH EXIT STATUS', '.TP', '.B 0', 'Done; for verify: nothing differs.', '.TP', '.B 1',
                'Cannot serve; for verify: something differs.', '.TP', '.B 2', 'Wrong usage; for verify: cannot compare.',
                '.SH SEE ALSO', '.BR patra (1),', 'docs/simulator.md')


print('\n'.join(page()))
