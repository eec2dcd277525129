# SPDX-License-Identifier: BSD-3-Clause
"""screen.py INCLUDE_DIR REDIS_SERVER COMPILER... -- LIBRARY... - the program in the opening comment of hilock.hpp fits a screen, compiles in C++17 as it
stands there, gets its lock and gives it back; and says so when it does not get it, or has no store to ask."""
import os
import subprocess
import sys
import tempfile

import store

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import hpp  # noqa: E402

LINES_MAX = 35


def main(include_dir, server, *command):
    compiler, libraries = command[:command.index('--')], command[command.index('--') + 1:]
    source = hpp.example(include_dir)
    store.expect(len(source.splitlines()) <= LINES_MAX, f'it fits a screen: {len(source.splitlines())} lines')
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        program, binary = os.path.join(work, 'screen.cc'), os.path.join(work, 'screen')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(source)
        store.outside.run(*compiler, program, '-o', binary, *libraries)
        environment = {**os.environ, 'LD_LIBRARY_PATH': os.pathsep.join(os.path.dirname(path) for path in libraries)}

        def said(at):
            done = subprocess.run([binary, at], env=environment, timeout=store.WAITS_S, text=True, capture_output=True, check=True)
            return done.stdout, done.stderr
        told = said(url)
        store.expect(told[0].startswith('ours, token ') and told[1] == '', f'it gets its lock: {told}')
        store.expect(store.locks(url) == [], f'it gives it back: {store.locks(url)}')
        store.ask(url, 'HSET', 'report:daily', 'somebody', 1, 'mode', 'mutex')
        told = said(url)
        store.expect(told[0] == '' and told[1].startswith('TIMED_OUT: '), f'held by another, it does not: {told}')
        told = said('http://nowhere')
        store.expect(told[0] == '' and told[1].startswith('INVALID: ') and 'url' in told[1], f'without a store it says why: {told}')


if __name__ == '__main__':
    main(*sys.argv[1:])
