#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""twin.py DEMO - the demo's safety twin: without the lock it must oversell, and say so.

The verdict that all of it holds is worth something only if a shop without locks fails it: status 1 (judged, not broken down), more sales
than stock, and "oversold" as the claim that fails."""
import re
import subprocess
import sys

run = subprocess.run([sys.argv[1], '--no-lock'], stdout=subprocess.PIPE, text=True)
print(run.stdout)
oversold = re.search(r'^oversold +FAILED +(\d+)$', run.stdout, re.MULTILINE)
sold = re.search(r'^sold +ok +(\d+) of (\d+) pieces', run.stdout, re.MULTILINE)
if run.returncode != 1:
    sys.exit(f'status {run.returncode} where 1 was due')
if not oversold or int(oversold[1]) == 0 or not sold or int(sold[1]) <= int(sold[2]):
    sys.exit('nothing was oversold: this stock does not need the lock, so the demo shows nothing')
