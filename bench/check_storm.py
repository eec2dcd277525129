#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_storm.py BENCH - runs scenario storm small, and checks its JSON and what must hold however slow the machine is: after the pause of the
server a second has 0.9 of the grants that one had before, no wait ends but by its limit or because the server is silent, a script costs the server's
processor what it did, and no place outlives its wait."""
import sys

import checks

ASKED = {'kind': 'fair', 'clients': 1, 'handles': 200, 'wait_least_ms': 5, 'wait_most_ms': 50, 'hold_ms': 2, 'seconds': 3, 'pause_ms': 700}
FIGURES = {'grants_per_s', 'grants_per_s_after', 'ping_p50_us', 'ping_p99_us', 'ping_after_p99_us', 'ping_after_max_us', 'script_us',
           'script_after_us', 'recovered_ms', 'emptied_ms'}
COST_MAX = 2  # times the mean before, of a processor
PATIENCE_S = 120  # for the grants to come back

told, = checks.play('storm', ASKED, '--recover-within', str(PATIENCE_S))
checks.expect_positive(told, FIGURES)
if len(told['grants'].split()) < ASKED['seconds']:
    sys.exit(f'seconds: {told["grants"]}')
if told['timed_out'] == 0:
    sys.exit('no wait ended by its limit: this was no storm')
if told['refused'] != 0:
    sys.exit(f'{told["refused"]} waits ended otherwise than by a grant or their limit')
if told['places_left'] > ASKED['clients'] * ASKED['handles']:
    sys.exit(f'{told["places_left"]} places a second after the load, of {ASKED["handles"]} handles')
if told['script_after_us'] > COST_MAX * told['script_us']:
    sys.exit(f'a script takes {told["script_after_us"]} us after the pause, {told["script_us"]} before it')
