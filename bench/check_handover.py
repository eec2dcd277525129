#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_handover.py BENCH - runs scenario handover small, and checks its JSON, its counts and what must hold of any times: never a speed."""
import sys

import checks

FIGURES = {'grants_per_s', 'gap_p50_us', 'gap_p99_us', 'publish_p50_us', 'gap_ratio_p50', 'wait_p50_us', 'wait_p99_us',
           'wait_max_us', 'client_commands_per_grant', 'jain', 'longest_run'}
ASKED = {'processes': 4, 'hold_ms': 10, 'think_ms': 20, 'seconds': 0.5, 'rounds': 2}

modes = checks.by('mode', checks.play('handover', ASKED))
if modes.keys() != {'mutex', 'fair'}:
    sys.exit(f'modes: {sorted(modes)}')
for mode, told in modes.items():
    checks.expect_positive(told, FIGURES)
    if not told['gap_p50_us'] <= told['gap_p99_us'] or not told['wait_p50_us'] <= told['wait_p99_us'] <= told['wait_max_us']:
        sys.exit(f'{mode}: percentiles are out of order')
    if not 1 / ASKED['processes'] <= told['jain'] <= 1.000001:
        sys.exit(f'{mode}: a Jain index of {told["jain"]}')
if not isinstance(modes['fair'].get('heartbeats'), int) or 'heartbeats' in modes['mutex']:
    sys.exit('heartbeats: of FAIR, and of nothing else')
# Two commands a grant whatever the load, and the heartbeats. (Order is for tests of exact times: a process may be stopped between its call and its
# command for as long as the machine likes.)
if not 1.9 < modes['fair']['client_commands_per_grant'] < 2.5 + modes['fair']['heartbeats']:
    sys.exit(f'fair: {modes["fair"]["client_commands_per_grant"]} commands per grant')
