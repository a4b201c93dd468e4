#!/usr/bin/env python3
"""run_tests.py BUILD... -- [NAME...]

Runs the test programs of each build folder, several at a time, prints what failed or was skipped and
every note of a suite, and ends with "N passed, N failed, N skipped". Exit code 1 on any failure.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

SECONDS_MAX = int(os.environ.get('TEST_SECONDS_MAX', '900'))
TOTAL = re.compile(r'^\S+: (\d+) passed, (\d+) failed, (\d+) skipped$', re.M)


def programs(build, names):
    listed = subprocess.run(['meson', 'introspect', '--tests', build], check=True,
                            capture_output=True, text=True).stdout
    for test in json.loads(listed):
        if not names or any(name in test['name'] for name in names):
            yield build, test


def run(job):
    build, test = job
    env = {**os.environ, **test['env'], 'PATRA_BUILD': os.path.abspath(build)}
    try:
        done = subprocess.run(test['cmd'], cwd=test['workdir'] or build, env=env, timeout=SECONDS_MAX,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return build, test['name'], done.returncode, done.stdout.decode(errors='replace')
    except subprocess.TimeoutExpired as expired:
        return build, test['name'], 124, (expired.stdout or b'').decode(errors='replace')


def main():
    split = sys.argv.index('--')
    jobs = [job for build in sys.argv[1:split] for job in programs(build, sys.argv[split + 1:])]
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for build, name, code, output in pool.map(run, jobs):
            total = TOTAL.findall(output)
            if total:
                p, f, s = map(int, total[-1])
            else:
                p, f, s = 0, 1, 0
            if code != 0 and f == 0:
                f = 1  # it died after its last check: a leak, a sanitizer, a signal
            passed, failed, skipped = passed + p, failed + f, skipped + s
            print(f'{"FAIL" if f else "ok  "} {build}/{name}: {p} passed, {f} failed, {s} skipped')
            for line in output.splitlines():
                if f or line.startswith('  '):
                    print('    ' + line)
            if f and code == 124:
                print(f'    still running after {SECONDS_MAX} s')
            sys.stdout.flush()
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or passed == 0 else 0


sys.exit(main())
