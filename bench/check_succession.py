#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_succession.py BENCH - runs scenario succession small, and checks its JSON and the order of what was measured. What must hold of any machine:
a lock is never had long before it was free, and one stopped process with many handles costs less than each of them would by itself."""
import sys

import checks

ASKED = {'lease_ms': 600, 'settle_ms': 100, 'rounds': 1}
WAITERS = (0, 5)
CASES = {'killed', 'killed-waiters', 'stopped', 'stopped-waiters'}
WINDOW_MS = 400  # of a grant that is pushed to a client that stopped
EARLY_MS = 100   # the end of a lease is known as well as an answer is fast

lines = checks.play('succession', ASKED, '--waiters', ','.join(map(str, WAITERS)))
found = {(told['case'], told['shape'], told['waiters']): told for told in lines}
if found.keys() != {(case, shape, count) for case in CASES for shape in ('processes', 'handles') for count in WAITERS if count or shape == 'processes'}:
    sys.exit(f'lines: {sorted(found)}')
for which, told in found.items():
    if not -EARLY_MS < told['least_ms'] <= told['median_ms'] <= told['most_ms']:
        sys.exit(f'{which}: {told["least_ms"]}, {told["median_ms"]}, {told["most_ms"]} ms')
one, many = (found['stopped-waiters', shape, WAITERS[1]]['median_ms'] for shape in ('handles', 'processes'))
if not WINDOW_MS / 2 < one:
    sys.exit(f'a stopped process was passed after {one} ms: it cannot have been granted anything')
if not one < WAITERS[1] * WINDOW_MS:
    sys.exit(f'{WAITERS[1]} handles of one stopped process cost {one} ms, a window each; so many processes {many}')
