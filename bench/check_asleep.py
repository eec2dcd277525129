#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_asleep.py BENCH - runs scenario asleep small, and checks its JSON, and that idle waiting asks for each name seldom, once in its promise, and not for all at once."""
import sys

import checks

NAMES, SECONDS = 400, 4
PROMISE_S = 3  # of a first place; a heartbeat leaves after 0.8 of it at the earliest

told, = checks.play('asleep', {'names': NAMES, 'seconds': SECONDS}, '--settle-ms', '200')
if not 0 < told['scripts_per_s'] < 1.5 * NAMES / (0.8 * PROMISE_S):
    sys.exit(f'{told["scripts_per_s"]} scripts a second for {NAMES} names')
if told['most_in_step'] > 0.6 * NAMES:
    sys.exit(f'{told["most_in_step"]} of {NAMES} waiters ask in the same 100 ms')
if not 1 <= told['most_over_mean'] or not told['most_in_step'] > 0:
    sys.exit('the largest step is below the mean')
