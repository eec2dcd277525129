#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_memory.py BENCH - runs scenario memory small, and checks its JSON, and that an idle client has two descriptors and 25 KiB at most,
and a held lock 512 bytes."""
import sys

import checks

CLIENTS, LOCKS = 4, 40
COUNTS = [('idle client', 1), ('idle client', CLIENTS), ('handle', LOCKS), ('held lock', LOCKS), ('MUTEX waiter', LOCKS), ('FAIR waiter', LOCKS)]
IDLE_BYTES, IDLE_DESCRIPTORS, HELD_BYTES = 25 << 10, 2, 512

told = checks.play('memory', {}, '--clients', str(CLIENTS), '--locks', str(LOCKS))
if [(one['mode'], one['count']) for one in told] != COUNTS:
    sys.exit(f'modes and counts are not {COUNTS}')
for one in told:
    is_client = one['mode'] == 'idle client'
    if one['descriptors'] != (IDLE_DESCRIPTORS if is_client else 0):
        sys.exit(f'{one["mode"]}: {one["descriptors"]} descriptors each')
    if len(sys.argv) < 3 and not 0 < one['bytes'] <= one['bytes_with_malloc']:
        sys.exit(f'{one["mode"]}: {one["bytes"]} bytes each')
    if len(sys.argv) < 3 and is_client and one['bytes_with_malloc'] > IDLE_BYTES:
        sys.exit(f'{one["bytes_with_malloc"]} bytes for an idle client')
    if len(sys.argv) < 3 and one['mode'] == 'held lock' and one['bytes'] > HELD_BYTES:
        sys.exit(f'{one["bytes"]} bytes for a held lock')
