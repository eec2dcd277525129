#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""twin.py DEMO - the demo's safety twin: without the lock it must oversell, and say so.

The verdict that all of it holds is worth something only if a shop without locks fails it: status 1 (judged, not broken down), and "oversold"
as the claim that fails. No line says that more pieces were sold than there are: a sale of a piece that is gone is oversold."""
import re
import subprocess
import sys

run = subprocess.run([sys.argv[1], '--no-lock'], stdout=subprocess.PIPE, text=True)
print(run.stdout)
oversold = re.search(r'^oversold +FAILED +(\d+) sales', run.stdout, re.MULTILINE)
sold = re.search(r'^sold +ok +(\d+) of (\d+) pieces, in (\d+) sales', run.stdout, re.MULTILINE)
said = re.findall(r'sold +(\d+) of (\d+)', run.stdout)
if run.returncode != 1:
    sys.exit(f'status {run.returncode} where 1 was due')
if not sold or not said or any(int(pieces) > int(stock) for pieces, stock in said):
    sys.exit('more pieces are said to be sold than there are')
if not oversold or int(oversold[1]) == 0 or int(oversold[1]) + int(sold[1]) != int(sold[3]):
    sys.exit('nothing was oversold: this stock does not need the lock, so the demo shows nothing')
