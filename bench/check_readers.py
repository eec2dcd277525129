#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_readers.py BENCH - runs scenario readers small, and checks its JSON and its counts: all readers are let in, the writer has its turns, and never
more permits are in use than there are. Nothing here depends on how fast the machine is."""
import sys

import checks

WORDS = '--processes 2 --readers 70 --busy 8 --permits 3 --hold-ms 5 --seconds 0.5 --join-seconds 0.05'.split()
PARTS = [('join', 1), ('join', 10), ('join', 70), ('let-in', None), ('writer', None), ('permits', None)]

found = {(told['part'], told.get('sharers')): told for told in checks.play('readers', {'rounds': 1}, *WORDS)}
if list(found) != PARTS:
    sys.exit(f'lines: {list(found)}')
for part in PARTS[:3]:
    told = found[part]
    if not told['pairs_per_s'] > 0 < told['bare_pairs_per_s'] or not 1.9 < told['commands_per_pair'] < 2.5:
        sys.exit(f'{part}: no two commands a pair: {told}')
let_in, writer, permits = (found[part] for part in PARTS[3:])
if (let_in['readers'], let_in['clients']) != (70, 70) or not let_in['let_in_ms'] > 0 < let_in['messages_ms']:
    sys.exit(f'let-in: {let_in}')
if not writer['writers_grants'] or not 0 < writer['wait_p50_ms'] <= writer['wait_p99_ms'] <= writer['wait_max_ms']:
    sys.exit(f'writer: {writer}')
if not 0 < permits['share_in_use'] <= 1 or not permits['grants_per_s'] > 0:
    sys.exit(f'permits: {permits["permits_in_use"]} of {permits["permits"]} in use')
for told in writer, permits:
    if not 1 < told['commands_per_grant'] < 5:
        sys.exit(f'{told["part"]}: {told["commands_per_grant"]} commands a grant')
