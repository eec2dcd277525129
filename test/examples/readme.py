# SPDX-License-Identifier: BSD-3-Clause
"""readme.py README.md QUICKSTART.c REDIS_SERVER COMPILER... -- LIBRARY... - the first program in the README is quickstart.c, is as short as it says,
compiles as it stands there, and gets its lock."""
import os
import re
import subprocess
import sys
import tempfile

import store

LINES_MAX = 36


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def main(readme, quickstart, server, *command):
    compiler, libraries = command[:command.index('--')], command[command.index('--') + 1:]
    found = store.blocks(read(readme), 'c')
    store.expect(found, 'the README shows a program')
    source = read(quickstart)
    store.expect(found[0] == source[source.index('#include'):], 'it is quickstart.c but for its head')
    count = len([line for line in found[0].splitlines() if line])
    store.expect(count <= LINES_MAX, f'it has {count} lines, at most {LINES_MAX}')
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        program, binary = os.path.join(work, 'program.c'), os.path.join(work, 'program')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(found[0])
        store.outside.run(*compiler, program, '-o', binary, *libraries)
        environment = {**os.environ, 'LD_LIBRARY_PATH': os.pathsep.join(os.path.dirname(path) for path in libraries)}
        said = subprocess.run([binary, url], env=environment, timeout=store.WAITS_S, text=True, stdout=subprocess.PIPE, check=True).stdout
        store.expect(re.fullmatch(r'ours, token [1-9]\d*\n', said), f'it gets its lock: {said!r}')
        store.expect(store.locks(url) == [], f'it gives it back: {store.locks(url)}')
        store.ask(url, 'HSET', 'report:daily', 'somebody', 1, 'mode', 'mutex')
        done = subprocess.run([binary, url], env=environment, timeout=store.WAITS_S, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        store.expect(done.stdout == '' and done.stderr.startswith('TIMED_OUT: '), f'held by another, it does not: {done.stdout!r} {done.stderr!r}')


if __name__ == '__main__':
    main(*sys.argv[1:])
