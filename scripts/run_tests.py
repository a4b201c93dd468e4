#!/usr/bin/env python3
"""run_tests.py [--list] BUILD[:PART,...]... -- [NAME...]

Runs the test programs of each build folder, of some only those whose name begins with a PART, several at a time and the longest
first: by the time each took in the last run (BUILD/test_seconds.json), else by its timeout. Programs that measure real time
(is_parallel: false) run one by one after the others. Prints a line per program, the output of those that failed, every note of a
suite, the slowest programs, how busy the processors were, and at the end "N passed, N failed, N skipped". Exit code 1 on any failure.
With --list it runs nothing and prints what has to be built for that, as ninja names it.
"""
import collections
import concurrent.futures
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time

SECONDS_MAX = int(os.environ.get('TEST_SECONDS_MAX', '900'))
WRAPPER = shlex.split(os.environ.get('TEST_WRAPPER', ''))  # a command that runs each program, such as valgrind
SLOWEST = 8
TOTAL = re.compile(r'^\S+: (\d+) passed, (\d+) failed, (\d+) skipped$', re.M)


def introspect(build, what):
    listed = subprocess.run(['meson', 'introspect', '--' + what, build], check=True, capture_output=True, text=True).stdout
    return json.loads(listed)


def programs(asked, names):
    build, _, parts = asked.partition(':')
    for test in introspect(build, 'tests'):
        if (test['name'].startswith(tuple(parts.split(','))) and
                (not names or any(name in test['name'] for name in names))):
            yield build, test


def seconds_file(build):
    return os.path.join(build, 'test_seconds.json')


def last_seconds(build):
    """How long each program took in its last run, by name."""
    try:
        with open(seconds_file(build), encoding='utf-8') as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def save_seconds(times):
    for build in {build for build, _ in times}:
        seconds = last_seconds(build)
        seconds.update({name: round(took, 1) for (of, name), took in times.items() if of == build})
        with open(seconds_file(build), 'w', encoding='utf-8') as file:
            json.dump(seconds, file, indent=1, sort_keys=True)


def longest_first(builds, names):
    """A program that has not run yet counts with its timeout, so it starts early."""
    jobs = []
    for asked in builds:
        known = last_seconds(asked.partition(':')[0])
        jobs += [(known.get(test['name'], test['timeout']), build, test) for build, test in programs(asked, names)]
    jobs.sort(key=lambda job: -job[0])
    return [(build, test) for _, build, test in jobs]


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
    return build, test['name'], code, output.decode(errors='replace'), time.monotonic() - begin


def processors():
    return len(os.sched_getaffinity(0))


def busy(seconds):
    """The part of the processors' time that the programs used: far below 100 %, more of them could run at once."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 100 * (used.ru_utime + used.ru_stime) / (seconds * processors())


class Idle:
    """Whether a processor has been idle since the last look, at least a second ago."""

    def __init__(self):
        self.last_s, self.last_idle = time.monotonic(), self.idle_seconds()

    @staticmethod
    def idle_seconds():
        with open('/proc/stat', encoding='ascii') as file:
            return int(file.readline().split()[4]) / os.sysconf('SC_CLK_TCK')

    def is_one(self):
        took = time.monotonic() - self.last_s
        if took < 1:
            return False
        idle = self.idle_seconds() - self.last_idle
        self.__init__()
        return idle > 0.8 * took


def results(jobs):
    """In the order in which the programs end."""
    waiting = collections.deque(job for job in jobs if job[1]['is_parallel'])
    running = set()
    idle = Idle()
    # One more than there are processors, because many programs wait, for clocks and for each other; up to twice as many
    # while a processor has nothing to do.
    with concurrent.futures.ThreadPoolExecutor(2 * processors() + 1) as pool:
        while waiting or running:
            while waiting and (len(running) <= processors() or (len(running) <= 2 * processors() and idle.is_one())):
                running.add(pool.submit(run, waiting.popleft()))
            done, running = concurrent.futures.wait(running, 1, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                yield future.result()
    for job in jobs:
        if not job[1]['is_parallel']:
            yield run(job)


def list_targets(builds, names):
    """The programs and what they load or call."""
    for asked in builds:
        build = asked.partition(':')[0]
        files = {target['id']: target['filename'] for target in introspect(build, 'targets')}
        needed = {file for _, test in programs(asked, names) for id in test['depends'] for file in files[id]}
        for file in sorted(needed):
            print(os.path.relpath(file, build))
    return 0


def main():
    split = sys.argv.index('--')
    if sys.argv[1] == '--list':
        return list_targets(sys.argv[2:split], sys.argv[split + 1:])
    begin = time.monotonic()
    passed = failed = skipped = 0
    times = {}
    for build, test, code, output, seconds in results(longest_first(sys.argv[1:split], sys.argv[split + 1:])):
        name = f'{build}/{test}'
        times[build, test] = seconds
        total = TOTAL.findall(output)
        if total:
            p, f, s = map(int, total[-1])
        else:
            p, f, s = 0, 1, 0
        if code != 0 and f == 0:
            f = 1  # it failed after its last check: a leak, a sanitizer, a signal
        passed, failed, skipped = passed + p, failed + f, skipped + s
        print(f'{"FAIL" if f else "ok  "} {name}: {p} passed, {f} failed, {s} skipped'
              f' ({seconds:.1f} s)')
        for line in output.splitlines():
            if f or line.startswith('  '):
                print('    ' + line)
        if f and code == 124:
            print(f'    still running after {SECONDS_MAX} s')
        sys.stdout.flush()
    if not WRAPPER:
        save_seconds(times)
    for (build, test), seconds in sorted(times.items(), key=lambda item: -item[1])[:SLOWEST]:
        print(f'{seconds:6.1f} s {build}/{test}')
    took = time.monotonic() - begin
    print(f'{took:.0f} s in all, the processors {busy(took):.0f} % busy with it')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or passed == 0 else 0


sys.exit(main())
