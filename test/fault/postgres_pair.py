"""A PostgreSQL primary and its hot standby, of Debian's packages, in a temporary folder: reached by unix sockets only, and gone
with the test, however that ends."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

BIN = pathlib.Path('/usr/lib/postgresql/15/bin')
WAIT_S = 60
PROGRAM_S = 300  # a copy of a whole cluster, on a machine that has other things to do

# Not flushed: it is processes that die here, not the machine.
SETTINGS = {
    'listen_addresses': '', 'max_connections': '100', 'shared_buffers': '32MB', 'fsync': 'off',
    'wal_keep_size': '256MB', 'wal_retrieve_retry_interval': '200ms', 'hot_standby': 'on',
}


def is_installed():
    return os.access(BIN / 'postgres', os.X_OK)


def wait_until(condition, what, seconds=WAIT_S):
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until, f'{what}: not within {seconds} s'
        time.sleep(0.02)
    return value


def unprivileged():
    """The beginning of a command that shall be an ordinary user's: PostgreSQL refuses to be root's. It ends with this process."""
    words = ['setpriv', '--pdeathsig', 'QUIT']
    if os.getuid() == 0:
        user = pwd.getpwnam('postgres')
        words += ['--reuid', str(user.pw_uid), '--regid', str(user.pw_gid), '--init-groups']
    return words


class Node:
    def __init__(self, pair, name, port):
        self.pair, self.name, self.port = pair, name, port
        self.data = pair.folder / name
        self.process = None

    def address(self, database='postgres'):
        return f'postgresql:///{database}?host={self.pair.folder}&port={self.port}&user=patra'

    def start(self):
        settings = {**SETTINGS, 'unix_socket_directories': self.pair.folder, 'port': self.port, 'cluster_name': self.name,
                    'synchronous_standby_names': 'ANY 1 (a, b, c)' if self.pair.is_synchronous else ''}
        options = [word for name, value in settings.items() for word in ('-c', f'{name}={value}')]
        with open(self.pair.log, 'ab') as log:
            self.process = subprocess.Popen([*unprivileged(), BIN / 'postgres', '-D', self.data, *options], cwd='/',
                                            stdout=log, stderr=log)
        wait_until(self.answers, f'PostgreSQL {self.name} answers')

    def answers(self):
        assert self.process.poll() is None, self.pair.log.read_text()[-2000:]
        return self.sql('SELECT 1', must=False) == '1'

    def sql(self, text, database='postgres', must=True):
        done = subprocess.run([BIN / 'psql', '-XAtq', '-c', text, self.address(database)], capture_output=True, text=True,
                              timeout=WAIT_S)
        assert done.returncode == 0 or not must, f'{text}: {done.stderr}'
        return done.stdout.strip()

    def end(self, how):
        """SIGQUIT: as a power cut; SIGINT: in order."""
        if self.process is None:
            return
        self.process.send_signal(how)
        self.process.wait(WAIT_S)
        self.process = None

    def remove(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.signal_all(signal.SIGCONT)
            self.process.wait(WAIT_S)
            self.process = None

    def processes(self):
        pid = self.process.pid
        return [pid, *map(int, pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split())]

    def signal_all(self, how):
        for pid in self.processes():
            try:
                os.kill(pid, how)
            except ProcessLookupError:
                pass

    def receiver(self):
        """The process that takes what the primary sends."""
        return self.sql('SELECT pid FROM pg_stat_wal_receiver', must=False)


class Pair:
    """Three places for servers, because one that hangs keeps its place. is_synchronous: a commit is answered when the standby has it,
    too."""

    def __init__(self, is_synchronous=True):
        self.is_synchronous = is_synchronous
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='patra-pair.'))
        self.log = self.folder / 'log'
        self.nodes = [Node(self, name, 5001 + i) for i, name in enumerate('abc')]
        self.primary, self.standby, _ = self.nodes
        if os.getuid() == 0:
            shutil.chown(self.folder, 'postgres', 'postgres')
        self.run('initdb', '-D', self.primary.data, '-U', 'patra', '--auth=trust', '--no-sync', '--encoding=UTF8',
                 '--locale=C.UTF-8')
        self.primary.start()
        self.follow()
        self.primary.sql('CREATE DATABASE patra')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.remove()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, *words):
        done = subprocess.run([*unprivileged(), BIN / program, *map(str, words)], cwd='/', capture_output=True, text=True,
                              timeout=PROGRAM_S)
        assert done.returncode == 0, f'{program}: {done.stderr}'

    def address(self):
        """All of them; whoever connects finds the one that writes."""
        hosts = ','.join([str(self.folder)] * 3)
        ports = ','.join(str(node.port) for node in self.nodes)
        return f'postgresql:///patra?host={hosts}&port={ports}&user=patra&target_session_attrs=read-write'

    def follow(self):
        """A new standby, in a place that is free."""
        self.standby = next(node for node in self.nodes if node.process is None)
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.run('pg_basebackup', '-D', self.standby.data, '-R', '-c', 'fast', '-X', 'stream', '--no-sync', '-d',
                 self.primary.address())
        self.standby.start()
        wait_until(lambda: self.primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == '1',
                   'the standby follows')

    def promote(self):
        """The standby is the primary from now on."""
        self.standby.sql('SELECT pg_promote(wait => true, wait_seconds => 60)')
        self.primary, self.standby = self.standby, None
