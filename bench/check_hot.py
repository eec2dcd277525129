#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_hot.py BENCH - runs scenario hot small, and checks its JSON and its counts; nothing here depends on how fast the machine is: waits
are long enough for every acquire to be granted."""
import sys

import checks

ASKED = {'processes': 3, 'contenders': 4, 'tries': 60, 'hold_ms': 1, 'wait_ms': 60000, 'rounds': 1}
# Acquisition commands per success that a mode may need: each process asks and listens as it begins; after that each release asks for the next one as well.
MOST = {'handoff': 0.3, 'one-turn': 0.3, 'simple': None}

modes = checks.by('mode', checks.play('hot', ASKED))
if modes.keys() != MOST.keys():
    sys.exit(f'modes: {sorted(modes)}')
for mode, told in modes.items():
    if told['acquired'] != 180 or told['failed'] != 0:
        sys.exit(f'{mode}: {told["acquired"]} acquired and {told["failed"]} failed, of 180')
    if told['tokens_rising'] is not (None if mode == 'simple' else True):
        sys.exit(f'{mode}: tokens_rising is {told["tokens_rising"]}')
    if not 0 < told['acquire_commands_per_success'] < told['commands_per_success']:
        sys.exit(f'{mode}: commands per success are not above those that acquire')
    if MOST[mode] and told['acquire_commands_per_success'] >= MOST[mode]:
        sys.exit(f'{mode}: {told["acquire_commands_per_success"]} acquisition commands per success')
