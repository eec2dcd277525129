# SPDX-License-Identifier: BSD-3-Clause
"""quickstart.py REDIS_SERVER PROGRAM - it gets its lock, and again, with a higher token; the server remembers that one in
decimal digits, also one of 32 bits. A lock that another holds it does not get, and it says so."""
import re
import subprocess

import store


def tokens(url, program):
    for _ in range(2):
        done = subprocess.run([program, url], timeout=store.WAITS_S, text=True, capture_output=True, check=False)
        found = re.fullmatch(r'ours, token (\d+)\n', done.stdout)
        store.expect(found, f'it says {done.stdout}{done.stderr}')
        yield int(found.group(1))


def quickstart(url, program):
    first, second = tokens(url, program)
    store.expect(0 < first < second, f'tokens rise: {first}, {second}')
    kept = [store.ask(url, 'GET', key) for key in store.ask(url, 'KEYS', 'hilock:token*')]
    store.ask(url, 'HSET', 'report:daily', 'somebody', 1, 'mode', 'mutex')
    told = subprocess.run([program, url], timeout=store.WAITS_S, text=True, capture_output=True, check=False)
    store.expect(told.stdout == '' and told.stderr.startswith('TIMED_OUT: '), f'held by another, it does not: {told.stdout}{told.stderr}')
    store.ask(url, 'DEL', 'report:daily')
    store.expect(len(kept) == 1 and kept[0].isdigit() and int(kept[0]) >= second, f'the server remembers it: {kept}')


if __name__ == '__main__':
    store.drive(quickstart)
