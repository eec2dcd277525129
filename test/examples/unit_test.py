# SPDX-License-Identifier: BSD-3-Clause
"""unit_test.py UNIT_TEST - it needs no server, all its tests are ok, and it leaves nothing in TMPDIR."""
import os
import subprocess
import sys
import tempfile

import store

TESTS = ['one after the other', 'stops when the lock is taken', 'stops alone when the store hangs', 'goes on when its links break']


def main(program):
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([program], env={**os.environ, 'TMPDIR': work}, stdout=subprocess.PIPE, text=True, timeout=store.WAITS_S)
        store.expect(done.returncode == 0, 'it ends with status 0')
        store.expect(done.stdout == ''.join(f'ok {name}\n' for name in TESTS), f'all tests are ok: {done.stdout}')
        store.expect(os.listdir(work) == [], f'nothing is left: {os.listdir(work)}')


if __name__ == '__main__':
    main(*sys.argv[1:])
