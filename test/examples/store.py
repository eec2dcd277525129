# SPDX-License-Identifier: BSD-3-Clause
"""store - what drivers in Python share: pages, and programs that end with it, beside the servers of outside.py."""
import contextlib
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import outside  # noqa: E402
from outside import LOGIN, SECRET, WAITS_S, Server, answer, ask, free_port, locks, masters, redis, until  # noqa: E402, F401


def expect(claim, text):
    if not claim:
        raise SystemExit('not so: ' + text)
    print('ok:', text)


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


def start(*command, **more):
    return subprocess.Popen(command, **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'text': True, **more})


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
