#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_pairs.py BENCH LOOP - runs scenario pairs small on a loop, and checks that its JSON says what it promises; speeds are not judged here."""
import json
import subprocess
import sys

FIGURES = {'ratio_median', 'ratio_min', 'ratio_max', 'pairs_per_s', 'bare_pairs_per_s', 'client_us_per_pair', 'commands_per_pair'}
ASKED = {'loop': sys.argv[2], 'inflight': 16, 'seconds': 0.2, 'rounds': 3}

run = subprocess.run([sys.argv[1], 'pairs', '--inflight', '16', '--seconds', '0.2', '--rounds', '3', '--loop', sys.argv[2],
                      '--json'],
                     stdout=subprocess.PIPE, text=True)
print(run.stdout)
if run.returncode != 0:
    sys.exit(f'status {run.returncode}')
last = json.loads(run.stdout.splitlines()[-1])
missing = (FIGURES | ASKED.keys()) - last.keys()
if missing:
    sys.exit(f'keys missing: {sorted(missing)}')
wrong = {key: last[key] for key, asked in ASKED.items() if last[key] != asked}
if wrong or last['scenario'] != 'pairs':
    sys.exit(f'parameters are not those that were asked for: {wrong}')
not_positive = [key for key in FIGURES if not last[key] > 0]
if not_positive:
    sys.exit(f'not above 0: {not_positive}')
if not last['ratio_min'] <= last['ratio_median'] <= last['ratio_max']:
    sys.exit('the median is outside its range')
if not 1.999 < last['commands_per_pair'] < 2.001:  # a link's own PING or TIME may fall into a round
    sys.exit(f'{last["commands_per_pair"]} commands per pair where 2 are due')
