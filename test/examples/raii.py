# SPDX-License-Identifier: BSD-3-Clause
"""raii.py RAII REDIS_SERVER - the C++ program says what it should, in this order, and leaves no lock behind."""
import sys
import tempfile

import store

SAYS = ['ours', 'the work failed', 'free again', 'the next has it', 'bad name "a}b"', 'left']


def main(program, server):
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        process = store.start(program, url)
        try:
            lines = process.stdout.read().splitlines()
            store.expect(process.wait(store.WAITS_S) == 0, f'exit status {process.returncode}: {lines}')
            store.expect(len(lines) == len(SAYS) and all(line.startswith(say) for line, say in zip(lines, SAYS)), f'it says {lines}')
            store.expect(store.locks(url) == [], f'no lock is left at the store: {store.locks(url)}')
        finally:
            store.end(process)


if __name__ == '__main__':
    main(*sys.argv[1:])
