#!/usr/bin/env python3
"""patra on a host that is unfriendly: who looks at processes and files sees no secret, and whatever is short (descriptors, memory,
threads, locks) is an error with words, after which nothing is lost."""
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'sim'))
import simtest  # noqa: E402
from simtest import ROOT, Sim, check, equal  # noqa: E402

BUILD = pathlib.Path(os.environ.get('PATRA_BUILD', ROOT / 'build'))
IS_SANITIZED = BUILD.name != 'build'
SOURCE = 'test/data/sim-sources/generic-offset.yaml'
FROM, TO = '2026-02-01', '2026-02-11'
PASSWORD = 's3cr3tword'


class Site:
    """A store of its own, and the simulator as its source."""

    def __init__(self, sim=None, umask=0o022, name='patra.db'):
        self.sim, self.umask = sim, umask
        self.folder = tempfile.TemporaryDirectory(prefix='patra-host-test.')
        self.path = pathlib.Path(self.folder.name)
        self.store = self.path / name
        self.env = {**os.environ, 'PATRA_STORE': str(self.store), 'PATRA_CONTACT': 'test@example.org'}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *words, program='patra', env=None, before=None, timeout=120):
        def prepare():
            os.umask(self.umask)
            if before:
                before()
        return subprocess.run([BUILD / program, *map(str, words)], cwd=ROOT, env={**self.env, **(env or {})}, capture_output=True,
                              text=True, timeout=timeout, preexec_fn=prepare)

    def must(self, *words, **how):
        done = self.run(*words, **how)
        equal(done.returncode, 0, f'patra {" ".join(map(str, words))}: {done.stderr}')
        return done.stdout

    def fill(self):
        self.must('init')
        self.must('source', 'apply', SOURCE, '--set', f'http.base_url={self.sim.http}')

    def harvest(self, **how):
        return self.run('harvest', 'generic-offset', '--from', FROM, '--to', TO, **how)

    def verify(self, label):
        done = self.run('verify', '--store', f'sqlite:{self.store}', '--protocol', 'generic', '--source', 'generic-offset', '--from',
                        f'{FROM}T00:00:00Z', '--to', f'{TO}T00:00:00Z', '--url', self.sim.http, program='patra-sim')
        equal(done.returncode, 0, f'{label}: {done.stdout}{done.stderr}')


class Waiting:
    """patra that waits for a database which takes the connection and says nothing."""

    def __init__(self, as_user=None, with_cores=False):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.folder = tempfile.TemporaryDirectory(prefix='patra-host-test.')
        os.chmod(self.folder.name, 0o777)
        address = f'postgresql://me:{PASSWORD}@127.0.0.1:{self.listener.getsockname()[1]}/db'

        def prepare():
            if with_cores:
                resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        self.process = subprocess.Popen([BUILD / 'patra', 'status', '--store', address], cwd=self.folder.name,
                                        env={**os.environ, 'PATRA_TEST_SECRET': PASSWORD}, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=prepare, user=as_user,
                                        group=None if as_user is None else as_user)
        self.listener.settimeout(30)
        self.wire, _ = self.listener.accept()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.wire.close()
        self.listener.close()
        self.folder.cleanup()

    def look(self, name):
        return pathlib.Path(f'/proc/{self.process.pid}/{name}')


# ---- who looks at processes ----

def test_a_password_is_not_in_the_list_of_processes():
    with Waiting() as waiting:
        line = waiting.look('cmdline').read_bytes()
        check(PASSWORD.encode() not in line, f'the command line: {line}')
        check(b'status' in line and b'me:' in line, f'the rest of it: {line}')


def test_another_process_of_the_same_user_cannot_read_its_memory_or_environment():
    with Waiting(as_user=65534 if os.getuid() == 0 else None) as waiting:
        for name in ('environ', 'mem'):
            equal(waiting.look(name).stat().st_uid, 0, f'/proc/PID/{name} belongs to root')


def dumps_core(process, path):
    process.send_signal(signal.SIGSEGV)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -signal.SIGSEGV
    return os.WCOREDUMP(status) or any(file.name.startswith('core') for file in pathlib.Path(path).iterdir())


def test_a_crash_leaves_no_copy_of_its_memory():
    with tempfile.TemporaryDirectory() as folder:
        other = subprocess.Popen(['sleep', '60'], cwd=folder, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
        time.sleep(0.1)
        if not dumps_core(other, folder):
            print('  not seen: other programs leave none here either')
    with Waiting(with_cores=True) as waiting:
        if not IS_SANITIZED:  # a sanitizer handles the signal itself
            check(not dumps_core(waiting.process, waiting.folder.name), 'a core dump')


# ---- who looks at files ----

def modes(path):
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()}


def test_files_are_as_private_as_the_umask_says():
    for umask, wanted in ((0o077, 0o600), (0o027, 0o640), (0o000, 0o644)):
        with Sim('--records', '300') as sim, Site(sim, umask) as site:
            site.fill()
            worker = subprocess.Popen([BUILD / 'patra', 'work'], cwd=ROOT, env=site.env, stderr=subprocess.DEVNULL,
                                      preexec_fn=lambda: os.umask(umask))
            site.harvest()
            equal({name: oct(mode) for name, mode in modes(site.path).items()},
                  {name: oct(wanted) for name in modes(site.path)}, f'umask {umask:03o}')
            check('patra.db-wal' in modes(site.path), 'the log is looked at, too')
            worker.terminate()
            worker.wait(30)


def test_nothing_is_left_in_temporary_folders():
    with Sim('--records', '500') as sim, Site(sim) as site:
        folder = site.path / 'temporary'
        folder.mkdir()
        site.env.update(TMPDIR=str(folder), SQLITE_TMPDIR=str(folder))
        site.fill()
        site.harvest()
        site.must('record', 'export', 'generic-offset', '--output', site.path / 'out.parquet', '--format', 'parquet')
        site.must('status')
        equal(list(folder.iterdir()), [], 'temporary files')
        equal(sorted(file.name for file in site.path.iterdir() if 'patra.db' not in file.name), ['out.parquet', 'temporary'],
              'files beside the store')


# ---- the store's path ----

def test_a_store_may_be_behind_a_link():
    with Sim('--records', '500') as sim, Site(sim) as site:
        real = site.path / 'real'
        real.mkdir()
        site.store.symlink_to(real / 'there.db')
        site.fill()
        worker = subprocess.Popen([BUILD / 'patra', 'work'], cwd=ROOT, env={**site.env, 'PATRA_STORE': str(real / 'there.db')},
                                  stderr=subprocess.DEVNULL)
        equal(site.harvest().returncode, 0, 'two processes, by two names')
        check((real / 'there.db-wal').exists() and not (site.path / 'patra.db-wal').exists(), 'one log, beside the file')
        worker.terminate()
        equal(worker.wait(30), 0, 'the worker')
        site.verify('behind a link')


def test_a_link_that_leads_elsewhere_later_is_noticed():
    with Sim('--records', '500') as sim, Site(sim) as site, Site(sim) as other:
        first = site.path / 'first.db'
        site.store.symlink_to(first)
        site.fill()
        other.fill()
        worker = subprocess.Popen([BUILD / 'patra', 'work'], cwd=ROOT, env=site.env, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        site.store.unlink()
        site.store.symlink_to(other.store)
        site.must('trigger', 'generic-offset', 'harvest', '--to', TO)
        equal(worker.wait(60), 4, 'the worker ends')
        check('another file' in worker.stderr.read(), 'and says why')


def test_a_path_that_is_no_file_is_refused_in_words():
    with Site() as site:
        os.mkfifo(site.path / 'fifo')
        (site.path / 'loop').symlink_to(site.path / 'loop')
        (site.path / 'text').write_text('this is not a database' * 100)
        for path in (site.path, site.path / 'fifo', site.path / 'loop', site.path / 'text', '/dev/null', '/dev/full',
                     site.path / 'no' / 'folder' / 'x.db'):
            done = site.run('init', '--store', path, timeout=30)
            check(done.returncode in (2, 3, 4), f'{path}: {done.returncode} {done.stderr}')
            check(str(path) in done.stderr, f'{path} is named: {done.stderr}')
        equal((site.path / 'text').read_text()[:7], 'this is', 'a file of somebody else is left alone')


def test_a_file_system_without_locks_is_refused_in_words():
    with Sim('--records', '300') as sim, Site(sim) as site:
        without = {'LD_PRELOAD': str(BUILD / 'test/support/no-locks.so')}
        done = site.run('init', env=without, timeout=60)
        check(done.returncode in (3, 4), f'init: {done.returncode} {done.stderr}')
        check('lock' in done.stderr, f'init says why: {done.stderr}')
        site.fill()
        done = site.harvest(env=without, timeout=60)
        check(done.returncode in (3, 4), f'harvest: {done.returncode} {done.stderr}')
        check('lock' in done.stderr, f'harvest says why: {done.stderr}')
        equal(site.harvest().returncode, 0, 'on another file system')
        site.verify('afterwards')


# ---- what is short ----

def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def judge(done, label):
    """It may fail, with a code and words; it may not crash."""
    check(0 <= done.returncode <= 4 or done.returncode == 127, f'{label}: {done.returncode} {done.stderr[-500:]}')
    check(done.returncode == 0 or done.stderr.strip(), f'{label}: no word')


def test_too_few_descriptors_are_an_error_and_nothing_is_lost():
    with Sim('--records', '500') as sim, Site(sim) as site:
        site.fill()
        seen = set()
        for count in (4, 6, 8, 10, 12, 14, 16, 20, 24, 32):
            done = site.harvest(before=limited(resource.RLIMIT_NOFILE, count))
            judge(done, f'{count} descriptors')
            seen.add(done.returncode)
        check(len(seen) > 1, f'some are too few, some enough: {seen}')
        equal(site.harvest().returncode, 0, 'with enough')
        site.verify('descriptors')


def test_too_little_memory_is_said_and_nothing_is_lost():
    """It goes on trying, because memory may come back; and it can be ended."""
    if IS_SANITIZED:
        return print('  not run: a sanitizer needs more addresses than there is memory')
    with Sim('--records', '2000') as sim, Site(sim) as site:
        site.fill()
        seen = set()
        for megabytes in (10, 20, 30, 45, 60, 80, 100, 120, 140, 160, 200):
            process = subprocess.Popen([BUILD / 'patra', 'harvest', 'generic-offset', '--from', FROM, '--to', TO], cwd=ROOT,
                                       env=site.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))
            try:
                process.wait(4)
            except subprocess.TimeoutExpired:
                process.terminate()
            process.returncode, words = process.wait(30), process.stderr.read()
            check(0 <= process.returncode <= 4 or process.returncode in (127, 130), f'{megabytes} MB: {process.returncode} {words}')
            seen.add('memory' in words or 'Resource' in words)
        equal(seen, {True, False}, 'some is too little, which is said; some is enough')
        equal(site.harvest().returncode, 0, 'with enough')
        site.verify('memory')


def test_too_few_threads_are_an_error_and_nothing_is_lost():
    if os.getuid() != 0:
        return print('  not run: this user has other processes')
    user = 64321  # nobody's, so that it has no other processes
    with Sim('--records', '500') as sim, Site(sim) as site:
        os.chmod(site.path, 0o777)
        site.fill()
        for file in site.path.iterdir():
            os.chown(file, user, user)

        def become(count):
            def prepare():
                resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
                os.setgid(user)
                os.setuid(user)
            return prepare

        without = {'ASAN_OPTIONS': 'detect_leaks=0'}  # looking for leaks needs a thread
        for count in (1, 2, 3, 4, 6, 8, 12):
            judge(site.harvest(before=become(count), env=without), f'{count} threads')
        equal(site.harvest(before=become(1000)).returncode, 0, 'with enough')
        site.verify('threads')


def test_a_small_stack_is_enough():
    if IS_SANITIZED:
        return print('  not run: a sanitizer needs more of it')
    with Sim('--records', '500') as sim, Site(sim) as site:
        site.fill()
        equal(site.harvest(before=limited(resource.RLIMIT_STACK, 512 << 10)).returncode, 0, '512 KB')
        site.verify('stack')


# ---- a container's memory ----

def make_group(megabytes):
    """A folder of the kernel's that bounds the memory of whoever is in it, or None."""
    old, new = pathlib.Path('/sys/fs/cgroup/memory'), pathlib.Path('/sys/fs/cgroup')
    for base, limit in ((old, 'memory.limit_in_bytes'), (new, 'memory.max')):
        group = base / f'patra-test.{os.getpid()}'
        try:
            group.mkdir()
            (group / limit).write_text(str(megabytes << 20))
            return group
        except OSError:
            if group.exists():
                group.rmdir()
    return None


def test_a_container_that_is_too_small_loses_nothing():
    group = make_group(12)
    if group is None:
        return print('  not run: no group of the kernel can be made here')
    try:
        with Sim('--records', '3000') as sim, Site(sim) as site:
            site.fill()
            done = site.harvest(before=lambda: (group / 'cgroup.procs').write_text(str(os.getpid())))
            check(done.returncode in (0, 3, 4, -signal.SIGKILL), f'{done.returncode} {done.stderr[-500:]}')
            print(f'  with 12 MB it ended with {done.returncode}')
            site.must('work', '--drain', '--lease', '1s')
            equal(site.harvest().returncode, 0, 'with more')
            site.verify('container')
    finally:
        group.rmdir()


sys.exit(simtest.run('integration-host', globals()))
