#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_waiters.py BENCH - runs scenario waiters smaller, and checks its JSON, the bytes, and that no part's cost grows with the number of
waiters as a walk over them would make it grow: a hundred times; of kind FAIR also that of the scripts. Caches alone make it grow a little.

The bars of bytes are promises, not measures: a waiter has 350 at most, with its share of what its name costs (of ten for a name each bears a tenth) and
an alarm if it has a limit. It is 232 to 341 today; what adds a struct to each waiter is found, and a few bytes of another libevent or hiredis are
not. Of FAIR each waiter has a request and a place of its own, and twice the bar; today it is 596 to 682, by how many have heard their place.
(The bar was 330 until a hold had a list of its handles, which readers of one client need to have one share together: 16 bytes in each handle.)"""
import sys

import checks

PARTS = ('wait', 'cancel', 'serve', 'close')
GROWTH_MAX = 10
RUNS_MAX = 3  # beside other work a part may be slow once; a walk is slow each time
WAITER = 350
SHAPES = {
    ('MUTEX for ever', 1, 30000): WAITER,
    ('MUTEX for ever', 3000, 10): WAITER,
    ('MUTEX with a limit', 1, 30000): WAITER,
    ('MUTEX with a limit', 3000, 10): WAITER,
    ('FAIR for ever', 1, 3000): 2 * WAITER,
    ('FAIR with a limit', 1, 3000): 2 * WAITER,
    ('FAIR with a limit', 300, 10): 2 * WAITER,
}


def measure():
    lines = checks.play('waiters', {}, *'--waiters 30000 --names 3000 --each 10 --fair 3000 --rounds 1'.split())
    found = {(shape['mode'], shape['names'], shape['each']): shape for shape in lines}
    if set(found) != set(SHAPES):
        sys.exit('these are not the shapes that were asked for')
    return found


def grown(found):
    """{part: its growth} of those that grew like a walk."""
    parts = [(which, part) for which in found for part in (*PARTS, *(f'{part}_scripts' for part in PARTS if which[0].startswith('FAIR')))]
    return {(*which, part): found[which][f'{part}_growth'] for which, part in parts
            if not 0 < found[which][f'{part}_growth'] <= GROWTH_MAX or not found[which][f'{part}_ns'] > 0}


found = measure()
for which, shape in found.items():
    if not 0 < shape['bytes_per_waiter'] <= SHAPES[which] and len(sys.argv) < 3:
        sys.exit(f'{which}: {shape["bytes_per_waiter"]} bytes per waiter')
walks = grown(found)
for _ in range(RUNS_MAX - 1):
    if walks:
        print('measured once more, for:', walks)
        again = grown(measure())
        walks = {part: growth for part, growth in again.items() if part in walks}
if walks:
    sys.exit(f'with a hundred times the waiters these cost so many times as much, {RUNS_MAX} times: {walks}')
