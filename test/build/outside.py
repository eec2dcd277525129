# SPDX-License-Identifier: BSD-3-Clause
"""What programs in Python share: files, commands, a configuration of this source tree outside of it, redis-servers of
their own, and the little of its protocol that they need."""
import contextlib
import os
import random
import socket
import subprocess
import tempfile
import time

SECRET = 's3cret-marker'  # in the URL of every server; nothing may tell it (.ci/tally.py). The server takes any password for its default user
LOGIN = f'default:{SECRET}@'
WAITS_S = 120  # for what must come; a hang is a failure, how long it takes is not
ENDS_WITHIN_S = 200 # a program that hangs is to be named, not only the test that ran it


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(folder, path, text, mode='w'):
    """A file below the folder, and the folders between; its path."""
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode, encoding='utf-8') as file:
        file.write(text)
    return path


def run(*command, **more):
    """The output; a failure shows all of it."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              timeout=ENDS_WITHIN_S, **more)
    except subprocess.TimeoutExpired as hung:
        raise SystemExit(f'{" ".join(command)}: did not end\n{hung.stdout}') from None
    if done.returncode != 0:
        raise SystemExit(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}')
    return done.stdout


def configure(meson, compiler, source, build, *options, pkg_config_path=''):
    """(succeeded, output) of meson setup."""
    paths = [pkg_config_path, os.environ.get('PKG_CONFIG_PATH', '')]
    environment = {**os.environ, 'CC': compiler, 'PKG_CONFIG_PATH': ':'.join(filter(None, paths))}
    done = subprocess.run([meson, 'setup', build, source, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True)
    return done.returncode == 0, done.stdout


def until(claim, text):
    end = time.monotonic() + WAITS_S
    while not claim():
        if time.monotonic() > end:
            raise SystemExit('never: ' + text)
        time.sleep(0.02)


# ---- servers

def send(url, *words):
    """A connection on which that was said, as a file."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(WAITS_S)
        link.connect(url.partition('@')[2])
        link.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in (str(w).encode() for w in words)))
        return link.makefile('rb')


def ask(url, *words):
    """The server's answer to one command: str, int, None or a list of them."""
    with send(url, *words) as file:
        return answer(file)


def answer(file):
    line = file.readline().decode().rstrip('\r\n')
    kind, rest = line[0], line[1:]
    if kind == '-':
        raise SystemExit('the server says: ' + rest)
    if kind == ':':
        return int(rest)
    if kind == '$':
        return None if rest == '-1' else file.read(int(rest) + 2)[:-2].decode()
    if kind == '*':
        return [answer(file) for _ in range(int(rest))]
    return rest


def locks(url):
    """Names of the locks that are held now: every key but the tokens that are remembered."""
    return sorted(key for key in ask(url, 'KEYS', '*') if not key.startswith('hilock:token'))


def free_port():
    """Below the ports that connections get, so that no connection takes it before the server does. The port of a
    cluster's bus, 10000 above, is free, too."""
    while True:
        number = random.randrange(10000, 22000)
        with socket.socket() as port, socket.socket() as bus, contextlib.suppress(OSError):
            port.bind(('127.0.0.1', number))
            bus.bind(('127.0.0.1', number + 10000))
            return number


class Server:
    """At a socket and, if it is to have one, at a port of loopback, in a folder of its own; it may be killed and started again, and ends
    with the block."""
    def __init__(self, program, folder, *arguments, config=None, port=None):
        self.port = free_port() if port is None else port
        self.folder = tempfile.mkdtemp(dir=folder)
        self.url = f'unix://{LOGIN}{self.folder}/socket'
        self.command = [os.environ.get('HILOCK_TEST_SERVER') or program]
        self.command += [write(self.folder, 'conf', config)] if config else ['--save', '', '--appendonly', 'no']
        self.command += ['--port', str(self.port), '--bind', '127.0.0.1', '--dir', self.folder,
                         '--unixsocket', f'{self.folder}/socket', *arguments]
        self.start()

    def start(self):
        with open(os.path.join(self.folder, 'log'), 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: not self.lives() or self.answers(), f'the server of {self.folder} starts')
        if not self.lives():
            raise SystemExit('redis-server does not start:\n' + read(os.path.join(self.folder, 'log')))

    def answers(self):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(f'{self.folder}/socket')
                probe.sendall(b'PING\r\n')
                return probe.recv(16).startswith(b'+PONG')
            except OSError:
                return False

    def lives(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def send(self, *words):
        return send(self.url, *words)

    def ask(self, *words):
        return ask(self.url, *words)

    def info(self, section):
        return dict(line.split(':', 1) for line in self.ask('INFO', section).splitlines() if ':' in line)

    def left(self):
        return locks(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.lives():
            self.kill()


@contextlib.contextmanager
def masters(program, folder, is_mixed=False):
    """A cluster of three, each with a third of the slots; mixed, neighbours are far apart, and there are many ranges."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(program, folder, '--cluster-enabled', 'yes')) for _ in range(3)]
        for i, server in enumerate(servers):
            slots = range(i, 16384, 3) if is_mixed else range(16384 * i // 3, 16384 * (i + 1) // 3)
            server.ask('CLUSTER', 'ADDSLOTS', *slots)
            servers[0].ask('CLUSTER', 'MEET', '127.0.0.1', server.port)
        until(lambda: all({'cluster_state:ok', 'cluster_known_nodes:3'} <= set(server.ask('CLUSTER', 'INFO').split())
                          for server in servers), 'the cluster is whole')
        yield servers


@contextlib.contextmanager
def redis(program, folder):
    """The URL of a server that is at a socket alone."""
    with Server(program, folder, port=0) as server:
        yield server.url
