#!/usr/bin/env python3
"""run_tests.py BUILD... -- [NAME...]

Runs the test programs of each build folder, several at a time, those that may take longest first;
those that the machine's other work would make fail (is_parallel: false) one by one behind them.
Prints what failed or was skipped and every note of a suite, the slowest programs, and at the end
"N passed, N failed, N skipped". Exit code 1 on any failure.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import time

SECONDS_MAX = int(os.environ.get('TEST_SECONDS_MAX', '900'))
WRAPPER = shlex.split(os.environ.get('TEST_WRAPPER', ''))  # a program that runs each of them
SLOWEST = 8
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
    begin = time.monotonic()
    try:
        done = subprocess.run(WRAPPER + test['cmd'], cwd=test['workdir'] or build, env=env, timeout=SECONDS_MAX,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        code, output = 124, expired.stdout or b''
    return (f'{build}/{test["name"]}', code, output.decode(errors='replace'),
            time.monotonic() - begin)


def results(jobs):
    """In the order of their ends."""
    together = [job for job in jobs if job[1]['is_parallel']]
    # One more than it may have processors: many programs wait, for clocks and for each other.
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, job) for job in together]):
            yield done.result()
    for job in jobs:
        if not job[1]['is_parallel']:
            yield run(job)


def main():
    split = sys.argv.index('--')
    jobs = [job for build in sys.argv[1:split] for job in programs(build, sys.argv[split + 1:])]
    jobs.sort(key=lambda job: -job[1]['timeout'])  # no long one is left for the end
    passed = failed = skipped = 0
    times = []
    for name, code, output, seconds in results(jobs):
        times.append((seconds, name))
        total = TOTAL.findall(output)
        if total:
            p, f, s = map(int, total[-1])
        else:
            p, f, s = 0, 1, 0
        if code != 0 and f == 0:
            f = 1  # it died after its last check: a leak, a sanitizer, a signal
        passed, failed, skipped = passed + p, failed + f, skipped + s
        print(f'{"FAIL" if f else "ok  "} {name}: {p} passed, {f} failed, {s} skipped'
              f' ({seconds:.1f} s)')
        for line in output.splitlines():
            if f or line.startswith('  '):
                print('    ' + line)
        if f and code == 124:
            print(f'    still running after {SECONDS_MAX} s')
        sys.stdout.flush()
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f'{seconds:6.1f} s {name}')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or passed == 0 else 0


sys.exit(main())
