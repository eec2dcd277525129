#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_pairs.py BENCH LOOP - runs scenario pairs small on a loop, and checks that its JSON says what it promises; speeds are not judged here."""
import sys

import checks

FIGURES = {'ratio_median', 'ratio_min', 'ratio_max', 'pairs_per_s', 'bare_pairs_per_s', 'client_us_per_pair', 'commands_per_pair'}
ASKED = {'loop': sys.argv[2], 'inflight': 16, 'seconds': 0.2, 'rounds': 3}

last, = checks.play('pairs', ASKED)
checks.expect_positive(last, FIGURES)
if not last['ratio_min'] <= last['ratio_median'] <= last['ratio_max']:
    sys.exit('the median is outside its range')
if not 1.999 < last['commands_per_pair'] < 2.001:  # a link's own PING or TIME may fall into a round
    sys.exit(f'{last["commands_per_pair"]} commands per pair where 2 are due')
