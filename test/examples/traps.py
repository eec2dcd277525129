# SPDX-License-Identifier: BSD-3-Clause
"""traps.py PROGRAM REDIS_SERVER TRAPS - a program that tries so many traps, and says "held" of each, ends well and leaves no lock behind."""
import sys
import tempfile

import store


def main(program, server, traps):
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        process = store.start(program, url)
        try:
            lines = process.stdout.read().splitlines()
            store.expect(process.wait(store.WAITS_S) == 0, f'exit status {process.returncode}: ' + '; '.join(lines))
            held = [line for line in lines if line.startswith('held')]
            store.expect(len(held) == int(traps), f'{len(held)} traps held')
            store.expect(not any(line.startswith('FAILED') for line in lines), 'and none failed')
            store.expect(store.locks(url) == [], f'no lock is left at the store: {store.locks(url)}')
        finally:
            store.end(process)


if __name__ == '__main__':
    main(*sys.argv[1:])
