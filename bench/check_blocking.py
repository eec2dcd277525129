#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_blocking.py BENCH - runs scenario blocking small, and checks that its JSON says what it promises; speeds are not judged here."""
import sys

import checks

FIGURES = {'ratio_median', 'ratio_min', 'ratio_max', 'us_per_pair', 'bare_us_per_pair', 'client_us_per_pair', 'bare_client_us_per_pair'}
ASKED = {'seconds': 0.1, 'rounds': 3}

kinds = checks.by('kind', checks.play('blocking', ASKED))
if kinds.keys() != {'MUTEX', 'SIMPLE'}:
    sys.exit(f'kinds: {sorted(kinds)}')
for kind, figures in kinds.items():
    checks.expect_positive(figures, FIGURES)
    if not figures['ratio_min'] <= figures['ratio_median'] <= figures['ratio_max']:
        sys.exit(f'{kind}: the median is outside its range')
