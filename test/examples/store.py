# SPDX-License-Identifier: BSD-3-Clause
"""store - what drivers in Python share: redis-servers of their own, the little of its protocol that a driver needs,
and programs that end with it."""
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import outside  # noqa: E402

redis, SECRET = outside.redis, outside.SECRET
LOGIN = f'default:{SECRET}@'
WAITS_S = 120  # for what must come; a hang is a failure, how long it takes is not


def expect(claim, text):
    if not claim:
        raise SystemExit('not so: ' + text)
    print('ok:', text)


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
    """The port of a cluster's bus, 10000 above, is free, too."""
    while True:
        with socket.socket() as port, socket.socket() as bus:
            port.bind(('127.0.0.1', 0))
            with contextlib.suppress(OSError, OverflowError):
                bus.bind(('127.0.0.1', port.getsockname()[1] + 10000))
                return port.getsockname()[1]


class Server:
    """At a port of loopback and at a socket, in a folder of its own; it may be killed and started again, and ends with
    the block."""
    def __init__(self, program, folder, *arguments, config=None):
        self.port = free_port()
        self.folder = os.path.join(folder, str(self.port))
        self.url = f'unix://{LOGIN}{self.folder}/socket'
        self.command = [os.environ.get('HILOCK_TEST_SERVER') or program]
        os.makedirs(self.folder)
        self.command += [outside.write(self.folder, 'conf', config)] if config else ['--save', '', '--appendonly', 'no']
        self.command += ['--port', str(self.port), '--bind', '127.0.0.1', '--dir', self.folder,
                         '--unixsocket', f'{self.folder}/socket', *arguments]
        self.start()

    def start(self):
        with open(os.path.join(self.folder, 'log'), 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: not self.lives() or self.answers(), f'the server of {self.folder} starts')
        if not self.lives():
            raise SystemExit(f'the server of {self.folder} does not live')

    def answers(self):
        return outside.answers(f'{self.folder}/socket')

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


# ---- pages and programs

def guide(folder):
    """The pages of the guide, one after the other."""
    return ''.join(outside.read(os.path.join(folder, page)) for page in ('use.md', 'operate.md', 'choose.md'))


def blocks(text, language):
    """The blocks of a language that a page shows."""
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)


def built(text, folder, name, *command):
    """A function that runs the program of this text: (stdout, stderr) of it with these arguments.
    command: COMPILER... -- LIBRARY..."""
    compiler, libraries = command[:command.index('--')], command[command.index('--') + 1:]
    binary = os.path.join(folder, 'program')
    outside.run(*compiler, outside.write(folder, name, text), '-o', binary, *libraries)
    environment = {**os.environ, 'LD_LIBRARY_PATH': os.pathsep.join(os.path.dirname(path) for path in libraries)}

    def said(*arguments):
        done = subprocess.run([binary, *arguments], env=environment, timeout=WAITS_S, text=True, capture_output=True,
                              check=False)
        expect(done.returncode == 0, f'exit status {done.returncode}: {done.stdout}{done.stderr}')
        return done.stdout, done.stderr
    return said


class Program:
    """A program whose lines are read as they come. It ends with the block if it has not."""
    def __init__(self, *command, **more):
        self.process, self.lines, self.news = start(*command, **more), [], threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip('\n'))
                self.news.notify_all()

    def until(self, claim, text):
        """claim looks at its lines."""
        with self.news:
            expect(self.news.wait_for(claim, WAITS_S), f'{text}: {self.lines[-9:]}')

    def ended(self, status=0):
        """When it has, all lines are there."""
        expect(self.process.wait(WAITS_S) == status, f'exit status {self.process.returncode}')
        self.reader.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.reader.join()
        end(self.process)


def start(*command, **more):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **more)


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


@contextlib.contextmanager
def running(*command, **more):
    """The process, which ends with the block if it has not."""
    process = start(*command, **more)
    try:
        yield process
    finally:
        end(process)


def expect_end(process, text=''):
    expect(process.wait(WAITS_S) == 0, f'exit status {process.returncode} {text}')


def drive(scene):
    """REDIS_SERVER ARGUMENT...: scene(url, argument...) with a server, where no lock is left behind."""
    with tempfile.TemporaryDirectory() as work, redis(sys.argv[1], work) as url:
        scene(url, *sys.argv[2:])
        expect(locks(url) == [], f'no lock is left at the store: {locks(url)}')
