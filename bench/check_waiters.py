#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_waiters.py BENCH - runs scenario waiters smaller, and checks its JSON, the bytes, and that no part's cost grows with the number of
waiters as a walk over them would make it grow: a hundred times; of kind FAIR also that of the scripts. Caches alone make it grow a little."""
import json
import subprocess
import sys

PARTS = ('wait', 'cancel', 'serve', 'close')
GROWTH_MAX = 10
BYTES_MAX = {  # of ten waiters of a name each bears a tenth of what the name itself costs; a waiter with a limit has an alarm
    ('MUTEX for ever', 1, 30000): 176,
    ('MUTEX for ever', 3000, 10): 272,
    ('MUTEX with a limit', 1, 30000): 200,
    ('MUTEX with a limit', 3000, 10): 288,
    ('FAIR for ever', 1, 3000): 480,
    ('FAIR with a limit', 1, 3000): 480,
    ('FAIR with a limit', 300, 10): 560,
}

run = subprocess.run([sys.argv[1], 'waiters', '--waiters', '30000', '--names', '3000', '--each', '10', '--fair', '3000', '--rounds', '1', '--json'],
                     stdout=subprocess.PIPE, text=True)
print(run.stdout)
if run.returncode != 0:
    sys.exit(f'status {run.returncode}')
found = {(shape['mode'], shape['names'], shape['each']): shape
         for shape in (json.loads(line) for line in run.stdout.splitlines() if line.startswith('{'))}
if set(found) != set(BYTES_MAX):
    sys.exit('these are not the shapes that were asked for')
for which, shape in found.items():
    scripts = [f'{part}_scripts' for part in PARTS] if which[0].startswith('FAIR') else []
    for part in [*PARTS, *scripts]:
        if not 0 < shape[f'{part}_growth'] <= GROWTH_MAX or not shape[f'{part}_ns'] > 0:
            sys.exit(f'{which}: {part} costs {shape[f"{part}_growth"]} times as much with a hundred times the waiters')
    if not 0 < shape['bytes_per_waiter'] <= BYTES_MAX[which] and len(sys.argv) < 3:
        sys.exit(f'{which}: {shape["bytes_per_waiter"]} bytes per waiter')
