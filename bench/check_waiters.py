#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_waiters.py BENCH - runs scenario waiters smaller, and checks its JSON, the bytes, and that no part's cost grows with the number of
waiters as a walk over them would make it grow: a hundred times. Caches alone make it grow a little."""
import json
import subprocess
import sys

PARTS = ('wait', 'cancel', 'serve', 'close')
SHAPES = [{'names': 1, 'each': 30000}, {'names': 3000, 'each': 10}]
GROWTH_MAX = 10
BYTES_MAX = {1: 512, 3000: 560}  # of ten waiters of a name each bears a tenth of what the name itself costs

run = subprocess.run([sys.argv[1], 'waiters', '--waiters', '30000', '--names', '3000', '--each', '10', '--rounds', '2', '--json'],
                     stdout=subprocess.PIPE, text=True)
print(run.stdout)
if run.returncode != 0:
    sys.exit(f'status {run.returncode}')
found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{')]
if [{key: shape[key] for key in ('names', 'each')} for shape in found] != SHAPES:
    sys.exit('these are not the shapes that were asked for')
for shape in found:
    for part in PARTS:
        if not 0 < shape[f'{part}_growth'] <= GROWTH_MAX or not shape[f'{part}_ns'] > 0:
            sys.exit(f'{shape["names"]} names: {part} costs {shape[f"{part}_growth"]} times as much with a hundred times the waiters')
    if not 0 < shape['bytes_per_waiter'] <= BYTES_MAX[shape['names']] and len(sys.argv) < 3:
        sys.exit(f'{shape["names"]} names: {shape["bytes_per_waiter"]} bytes per waiter')
