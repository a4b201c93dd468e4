#!/usr/bin/env python3
"""The curl lines of docs/simulator-protocols.md answer as the page says: 200, or the status behind the line."""
import re
import shlex
import subprocess
import sys

import simtest
from simtest import Sim, check, equal

PAGE = (simtest.ROOT / 'docs/simulator-protocols.md').read_text()


def lines():
    for line in re.findall(r'^    (curl .*)$', PAGE, re.M):
        words = shlex.split(line, comments=True)
        if '|' in words:  # what curl prints is enough
            words = words[:words.index('|')]
        status = re.search(r'# (\d{3})(?:;|\s*$)', line)
        yield line, words, int(status.group(1)) if status else 200


def test_every_curl_line_of_the_page():
    count = 0
    with Sim('--records', '10000') as sim:
        for line, words, status in lines():
            words = [word.replace('$SIM', sim.http) for word in words]
            if '--json' in words:  # older curls do not know it
                at = words.index('--json')
                words[at:at + 1] = ['-H', 'Content-Type: application/json', '--data']
            done = subprocess.run([words[0], '-sS', '-o', '/dev/stdout', '-w', '\n%{http_code}', *words[1:]],
                                  capture_output=True, text=True, errors='replace')
            body, _, code = done.stdout.rpartition('\n')
            equal(int(code or 0), status, line)
            check(len(body) > 10, f'{line}: {done.stderr}')
            check('<error code' not in body or status != 200, f'{line}: {body[:300]}')
            count += 1
    check(count > 35, f'only {count} lines')
    print(f'  {count} curl lines')


def test_options_and_forms_of_the_page_exist():
    told = subprocess.run([simtest.BINARY, 'serve', '--help'], capture_output=True, text=True).stdout
    for option in set(re.findall(r'`(--[a-z-]+)', PAGE)) - set(re.findall(r'--[a-z-]+', told)):
        verify = subprocess.run([simtest.BINARY, 'verify', '--help'], capture_output=True, text=True).stdout
        check(option in verify, f'no option {option}')
    with Sim('--records', '50') as sim:
        forms = [name for told in re.findall(r'Forms?: (.*?)\.\n', PAGE, re.S)
                 for name in re.findall(r'`([a-z][a-z-]*)`', told)]
        check(len(forms) >= 14, f'only {forms}')
        for name in forms:
            equal(sim.get(f'/_sim/truth?protocol={name}').status, 200, name)
        equal(sim.get('/_sim/truth?protocol=nothing').status, 400, 'no form')


sys.exit(simtest.run('integration-sim-protocols', globals()))
