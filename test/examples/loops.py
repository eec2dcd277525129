# SPDX-License-Identifier: BSD-3-Clause
"""loops.py REDIS_SERVER LOOPS LOOPS.c EMBED.md - the program of embed.md is loops.c but for its head; it ends in order
at SIGTERM, and gives back what it held."""
import signal
import subprocess

import store


def loops(url, program, source, page):
    text = store.outside.read(source)
    store.expect(store.blocks(store.outside.read(page), 'c') == [text[text.index('#include'):]], 'the page shows the program')
    with subprocess.Popen([program, url], stdout=subprocess.PIPE, text=True) as process:
        got, held = process.stdout.readline(), store.locks(url) # beside the queue of the other three
        process.send_signal(signal.SIGTERM)
        said = process.stdout.read().splitlines()
        store.expect(got == 'OK\n' and 'leader' in held, f'one of its threads gets the lock, and holds it: {got} {held}')
        # a thread that is still to be closed may get what an earlier one gives back
        is_ended = len(said) == 4 and said[-1] == 'ended' and set(said[:-1]) <= {'CLOSED', 'OK'}
        store.expect(process.wait() == 0 and is_ended, f'it ends in order: {said}')
    store.expect(store.locks(url) == [], f'and gives it back: {store.locks(url)}')


if __name__ == '__main__':
    store.drive(loops)
