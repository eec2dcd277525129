# SPDX-License-Identifier: BSD-3-Clause
"""programs - the drivers: which there are, what each plays, and one of them as it runs.

A driver is a program of one client, asked by lines and answering by lines (drivers/README.md). It ends with its input, and is killed when it does not
answer in time, so that nothing here hangs. Invariant: a Driver that is free has answered all that it was asked."""
import collections
import os
import re
import select
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVERS = os.path.join(HERE, 'drivers')
OURS = ('MUTEX', 'FAIR', 'SIMPLE')
PATIENCE_S, BEGINS_WITHIN_S = 60, 300  # 32 programs begin at once
# key: what holds the lock at the server; pin: where its version is pinned; plays: the sorts of scenes that it can play
Kind = collections.namedtuple('Kind', 'name program key pin plays', defaults=[('lock',)])
REDISSON = ('pom.xml', r'<artifactId>redisson</artifactId>\s*<version>(.*)</version>')
KINDS = [
    Kind('MUTEX', 'hilock', '{}', None, ('lock', 'permits', 'readers')),
    *(Kind(name, 'hilock', '{}', None) for name in OURS if name != 'MUTEX'),
    Kind('redis-py', 'python', '{}', ('requirements.txt', r'^redis==(.*)$')),
    Kind('python-redis-lock', 'python', 'lock:{}', ('requirements.txt', r'^python-redis-lock==(.*)$')),
    Kind('redsync', 'go', '{}', ('go.mod', r'redsync/v4 v(\S+)')),
    Kind('redislock', 'go', '{}', ('go.mod', r'bsm/redislock v(\S+)')),
    Kind('rueidislock', 'go', 'rueidislock:0:{}', ('go.mod', r'redis/rueidis v(\S+)')),
    Kind('rslock', 'rust', '{}', ('Cargo.lock', r'name = "rslock"\nversion = "(.*)"')),
    Kind('redis-semaphore', 'node', 'mutex:{}', ('package.json', r'"redis-semaphore": "(.*)"'), ('lock', 'permits')),
    Kind('node-redlock', 'node', '{}', ('package.json', r'"redlock": "(.*)"')),
    Kind('RLock', 'java', '{}', REDISSON),
    Kind('RFairLock', 'java', '{}', REDISSON),
    Kind('RPermitExpirableSemaphore', 'java', '{}', REDISSON, ('permits',)),
    Kind('RReadWriteLock', 'java', '{}', REDISSON, ('readers',)),
]
BARE = Kind('bare', 'bare', '{}', None)  # no lock client: it plays only what nobody else wants


def commands(folder):
    """{program: its command}, where setup has made them."""
    def at(*names):
        return os.path.join(folder, *names)
    found = {
        'hilock': [at('hilock', 'bench', 'peer-hilock')],
        'bare': [at('hilock', 'bench', 'peer-bare')],
        'python': [at('python', 'bin', 'python'), os.path.join(DRIVERS, 'driver.py')],
        'go': [at('go', 'driver')],
        'rust': [at('rust', 'release', 'driver')],
        'node': ['node', at('node', 'driver.js')],
        'java': java(at('java')),
    }
    made = {'node': at('node', 'driver.js'), 'java': at('java', 'made')}  # where the program itself is the machine's
    return {program: command for program, command in found.items() if shutil.which(command[0]) and os.path.exists(made.get(program, command[0]))}


def java(folder):
    """C1 alone: a program that plays a second at a time would be compiled by C2 while it is measured."""
    return ['java', '-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
            '-cp', os.path.join(folder, 'classes') + ':' + os.path.join(folder, 'lib', '*'), 'Driver']


def version(kind):
    """As it is pinned; a driver of ours is of this tree."""
    if not kind.pin:
        return None
    with open(os.path.join(DRIVERS, kind.pin[0]), encoding='utf-8') as file:
        return re.search(kind.pin[1], file.read(), re.M).group(1)


class Silent(Exception):
    """A driver did not answer in time, or has ended."""


class Driver:
    def __init__(self, command, port):
        self.command, self.port = command, port
        self.start()

    def start(self):
        self.text = b''
        self.process = subprocess.Popen([*self.command, str(self.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def await_ready(self):
        """The kinds that it plays."""
        words = self.line(BEGINS_WITHIN_S).split()
        if words[:1] != ['ready']:
            raise Silent(f'{self.command[-1]} begins with {words}')
        return words[1:]

    def send(self, *words):
        self.process.stdin.write((' '.join(map(str, words)) + '\n').encode())
        self.process.stdin.flush()

    def line(self, patience_s=PATIENCE_S):
        end = time.monotonic() + patience_s
        while b'\n' not in self.text:
            is_there, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 20) if is_there else b''
            if not more:
                raise Silent(f'{" ".join(self.command)}: ' + ('it has ended' if is_there else f'no answer in {patience_s:g} s'))
            self.text += more
        line, _, self.text = self.text.partition(b'\n')
        return line.decode()

    def lines(self, patience_s=PATIENCE_S):
        """Up to "done"."""
        found = []
        while True:
            line = self.line(patience_s)
            if line == 'done':
                return found
            found.append(line.split())

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def begin_again(self):
        self.kill()
        self.start()


class Pool:
    """Programs are started when they are first wanted, and end with the block."""
    def __init__(self, found, port):
        self.found, self.port, self.drivers = found, port, collections.defaultdict(list)

    def get(self, program, count):
        drivers, fresh = self.drivers[program], []
        while len(drivers) < count:
            drivers.append(Driver(self.found[program], self.port))
            fresh.append(drivers[-1])
        for driver in fresh:
            driver.await_ready()
        return drivers[:count]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for driver in sum(self.drivers.values(), []):
            driver.kill()
