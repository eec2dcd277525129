#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_multi.py BENCH - runs scenario multi small, and checks its JSON and its counts: everybody is served, and nothing here depends on how fast the machine
is."""
import sys

import checks

ASKED = {'names': 8, 'hold_ms': 1, 'think_ms': 1, 'seconds': 1, 'rounds': 1}
SORTS = {'multi': {'processes': 4, 'each': 3}, 'single': {'processes': 2, 'each': 1}}

sorts = checks.by('sort', checks.play('multi', ASKED, '--multis', '4', '--each', '3', '--singles', '2'))
if sorts.keys() != SORTS.keys():
    sys.exit(f'sorts: {sorted(sorts)}')
for sort, told in sorts.items():
    checks.expect_asked(told, SORTS[sort])
    if told['unserved'] or not told['grants_per_s'] > 0:
        sys.exit(f'{sort}: {told["unserved"]} processes had no grant, {told["grants_per_s"]} grants/s in all')
    if not 0 < told['wait_p50_us'] <= told['wait_p99_us'] <= told['wait_max_us']:
        sys.exit(f'{sort}: percentiles are out of order')
