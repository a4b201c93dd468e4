"""stores: what the measurements of whole programs need: a program run and timed, the simulator, and a store of each kind.

A store has new() (the DSN of a new database), at(name) (of one that is kept in its folder), ask(), fill() (the same, quickly, at the risk of
losing it), size(dsn), spent() (CPU seconds and bytes of log of its own processes) and close().
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get('PATRA_BENCH_BUILD', ROOT / 'build')) # whose programs are measured


def seconds_of(usage):
    return usage.ru_utime + usage.ru_stime


class Failed(SystemExit):
    """A program did not succeed. Ends the measurement where nobody catches it."""


def end_with_all_it_started(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def run(arguments, environment, seconds_max=3600):
    """The seconds, CPU seconds, peak KiB and written bytes of a program that must succeed, with the processes that it waited for."""
    with tempfile.TemporaryFile('w+') as said:
        from_s = time.monotonic()
        process = subprocess.Popen([str(a) for a in arguments], env={**os.environ, **environment}, stdout=said, stderr=said,
                                   start_new_session=True)
        limit = threading.Timer(seconds_max, end_with_all_it_started, [process])
        limit.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            limit.cancel()
            if process.returncode is None:
                end_with_all_it_started(process)
        seconds = time.monotonic() - from_s
        if process.returncode != 0:
            said.seek(0)
            raise Failed(f'{" ".join(map(str, arguments))}: exit code {process.returncode} after {seconds:.0f} s\n{said.read()[-2000:]}')
    return {'seconds': seconds, 'cpu': seconds_of(usage), 'kib': usage.ru_maxrss, 'written': usage.ru_oublock * 512}


def asked(shell, sql):
    done = subprocess.run(shell, input=sql, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{sql[:400]}: {done.stderr[:400]}')
    return done.stdout.strip()


@contextlib.contextmanager
def simulator(records):
    process = subprocess.Popen([BUILD / 'patra-sim', 'serve', '--audit-off', 'repeat', '--gzip', '0', '--records', str(records)],
                               stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.terminate()
        process.wait()


class Sqlite:
    name = 'SQLite'

    def __init__(self, folder):
        self.folder, self.path = folder, folder / 'a.db'

    def at(self, name):
        return str(self.folder / f'{name}.db')

    def new(self):
        for end in ('', '-wal', '-shm'):
            pathlib.Path(f'{self.path}{end}').unlink(missing_ok=True)
        return str(self.path)

    def ask(self, dsn, sql):
        return asked(['sqlite3', '-batch', '-bail', dsn], sql)

    def fill(self, dsn, sql):
        self.ask(dsn, f'PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000; PRAGMA temp_store = MEMORY; {sql}')

    def indexes(self, dsn, table):
        """The name of each index that can be dropped, and what makes it."""
        return [line.split('|', 1) for line in self.ask(
            dsn, f"SELECT name, replace(sql, char(10), ' ') FROM sqlite_master WHERE type = 'index' AND tbl_name = '{table}'"
                 " AND sql IS NOT NULL").splitlines()]

    def size(self, dsn):
        return os.path.getsize(dsn)

    def spent(self):
        return 0.0, 0

    def close(self):
        pass


class Postgres:
    """A server of its own with its default settings, so each commit is flushed."""
    name = 'PostgreSQL'

    def __init__(self, folder):
        programs = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))
        if not programs:
            raise FileNotFoundError('PostgreSQL is not installed')
        self.bin, self.folder, self.count = programs[-1], folder, 0
        self.user = ['runuser', '-u', 'postgres', '--'] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(folder, 'postgres')
        quiet = {'check': True, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL, 'cwd': folder}
        if not (folder / 'data').exists():
            subprocess.run([*self.user, self.bin / 'initdb', '-D', folder / 'data', '-U', 'bench', '-E', 'UTF8', '--no-locale'], **quiet)
        subprocess.run([*self.user, self.bin / 'pg_ctl', '-D', folder / 'data', '-w', '-l', folder / 'log', 'start', '-o',
                        f"-k {folder} -c listen_addresses=''"], **quiet)
        self.pid = int((folder / 'data/postmaster.pid').read_text().split()[0])

    def dsn(self, database):
        return f'postgresql://bench@/{database}?host={self.folder}'

    def ask(self, dsn, sql):
        return asked(['psql', '-qXAt', '-v', 'ON_ERROR_STOP=1', dsn], sql)

    def new(self):
        self.count += 1
        if self.count > 1:
            self.ask(self.dsn('postgres'), f'DROP DATABASE b{self.count - 1} WITH (FORCE)')
        self.ask(self.dsn('postgres'), f'CREATE DATABASE b{self.count}')
        return self.dsn(f'b{self.count}')

    def at(self, name):
        if not self.ask(self.dsn('postgres'), f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            self.ask(self.dsn('postgres'), f'CREATE DATABASE {name}')
        return self.dsn(name)

    def fill(self, dsn, sql):
        self.ask(dsn, f"SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; SET work_mem = '256MB'; {sql}")

    def indexes(self, dsn, table):
        return [line.split('|', 1) for line in self.ask(
            dsn, f"SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid"
                 f" WHERE i.indrelid = '{table}'::regclass AND NOT i.indisprimary").splitlines()]

    def size(self, dsn):
        return int(self.ask(dsn, 'SELECT pg_database_size(current_database())'))

    def spent(self):
        """CPU seconds of all its processes that have ended or live, and bytes of its log."""
        ticks = 0
        for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
            with contextlib.suppress(OSError, ValueError):
                fields = stat.read_text().rsplit(')', 1)[1].split()
                if int(stat.parent.name) == self.pid:
                    ticks += sum(map(int, fields[11:15])) # its own, and of children that have ended
                elif int(fields[1]) == self.pid:
                    ticks += sum(map(int, fields[11:13]))
        log = int(self.ask(self.dsn('postgres'), "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))
        return ticks / os.sysconf('SC_CLK_TCK'), log

    def close(self):
        subprocess.run([*self.user, self.bin / 'pg_ctl', '-D', self.folder / 'data', '-m', 'immediate', '-w', 'stop'], check=False,
                       stdout=subprocess.DEVNULL, cwd=self.folder)
