# SPDX-License-Identifier: BSD-3-Clause
"""shown.py REDIS_SERVER QUICKSTART.c PAGE COMPILER... -- LIBRARY... - the first program of README.md is
quickstart.c, and that in the opening comment of hilock.hpp stands there whole. Each fits a screen, compiles as it
stands there, gets its lock and gives it back; and says so when it does not get it, or has no store to ask."""
import os
import re
import sys
import tempfile

import store

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import headers  # noqa: E402

LINES_MAX = 36


def shown(url, quickstart, page, *command):
    is_readme = page.endswith('.md')
    if is_readme:
        source = store.blocks(store.outside.read(page), 'c')[0]
    else:
        source = headers.example(os.path.dirname(os.path.dirname(page)))
    count = len([line for line in source.splitlines() if line])
    store.expect(count <= LINES_MAX, f'it has {count} lines, at most {LINES_MAX}')
    if is_readme:
        text = store.outside.read(quickstart)
        store.expect(source == text[text.index('#include'):], 'it is quickstart.c but for its head')
    with tempfile.TemporaryDirectory() as work:
        said = store.built(source, work, 'shown.c' if is_readme else 'shown.cc', *command)
        told = said(url)
        store.expect(re.fullmatch(r'ours, token [1-9]\d*.*\n', told[0]) and told[1] == '', f'it gets its lock: {told}')
        store.expect(store.locks(url) == [], f'it gives it back: {store.locks(url)}')
        store.ask(url, 'HSET', 'report:daily', 'somebody', 1, 'mode', 'mutex')
        told = said(url)
        store.expect(told[0] == '' and told[1].startswith('TIMED_OUT: '), f'held by another, it does not: {told}')
        store.ask(url, 'DEL', 'report:daily')
        if not is_readme:
            told = said('http://nowhere')
            store.expect(told[0] == '' and told[1].startswith('INVALID: ') and 'url' in told[1], f'without a store it says why: {told}')


if __name__ == '__main__':
    store.drive(shown)
