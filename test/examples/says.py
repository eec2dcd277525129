# SPDX-License-Identifier: BSD-3-Clause
"""says.py REDIS_SERVER PROGRAM - traps and unit_test say what they should, in this order, end well, and leave
nothing in TMPDIR."""
import os
import re
import tempfile

import store

SAYS = {
    'example-traps': r'(held  .*\n( {9}.*\n)?){25}',
    'example-unit_test': r'ok waits for the lock\nok stops when the lock is taken\n'
                         r'ok stops alone when the store hangs\nok goes on when its links break\n',
}


def says(url, program):
    with tempfile.TemporaryDirectory() as work:
        with store.running(program, url, env={**os.environ, 'TMPDIR': work}) as process:
            text = process.stdout.read()
            store.expect_end(process, text)
        store.expect(re.fullmatch(SAYS[os.path.basename(program)], text), f'it says {text}')
        store.expect(os.listdir(work) == [], f'nothing is left: {os.listdir(work)}')


if __name__ == '__main__':
    store.drive(says)
