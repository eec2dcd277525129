#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_blocking.py BENCH - runs scenario blocking small, and checks that its JSON says what it promises; speeds are not judged here."""
import json
import subprocess
import sys

FIGURES = {'ratio_median', 'ratio_min', 'ratio_max', 'us_per_pair', 'bare_us_per_pair', 'client_us_per_pair', 'bare_client_us_per_pair'}
ASKED = {'seconds': 0.1, 'rounds': 3}

run = subprocess.run([sys.argv[1], 'blocking', '--seconds', '0.1', '--rounds', '3', '--json'], stdout=subprocess.PIPE, text=True)
print(run.stdout)
if run.returncode != 0:
    sys.exit(f'status {run.returncode}')
kinds = {figures['kind']: figures for figures in map(json.loads, filter(lambda line: line.startswith('{'), run.stdout.splitlines()))}
if kinds.keys() != {'MUTEX', 'SIMPLE'}:
    sys.exit(f'kinds: {sorted(kinds)}')
for kind, figures in kinds.items():
    wrong = {key: figures.get(key) for key, asked in ASKED.items() if figures.get(key) != asked}
    if wrong or figures['scenario'] != 'blocking':
        sys.exit(f'{kind}: parameters are not those that were asked for: {wrong}')
    not_positive = [key for key in FIGURES if not figures.get(key, 0) > 0]
    if not_positive:
        sys.exit(f'{kind}: not above 0: {not_positive}')
    if not figures['ratio_min'] <= figures['ratio_median'] <= figures['ratio_max']:
        sys.exit(f'{kind}: the median is outside its range')
