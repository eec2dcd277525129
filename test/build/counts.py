# SPDX-License-Identifier: BSD-3-Clause
"""counts.py [ROOT] - what the inside of lib/ weighs: files and functions, ties and circles of files, flags and unions of the lock machine's structs,
how often a composite is spoken of outside of its own files, lines of code. Not a test: figures to set beside those of another commit."""
import glob
import os
import re
import sys

import circles

STRUCTS = ('hl_part', 'hl_hold', 'hl_acquire', 'hl_gate', 'hl_queue_place')
FEATURES = {'multi': r'\bhl_multi_\w+|\bmulti\b', 'quorum': r'\bhl_ballot_\w+|is_quorum|can_vote|\bmasters\b', 'replicas': r'\bhl_replicas_\w+|\breplicas\b'}
OWN = {'multi': ('multi', 'names', 'name'), 'quorum': ('ballot', 'quorum', 'masters'), 'replicas': ('replicas', 'confirm')}
LONGEST = 120

root = sys.argv[1] if len(sys.argv) > 1 else '.'
texts = {}
for path in sorted(glob.glob(os.path.join(root, 'lib/**/*.[ch]'), recursive=True)):
    with open(path, encoding='utf-8') as file:
        texts[os.path.relpath(path, os.path.join(root, 'lib'))] = file.read()
bare = {path: re.sub(r'/\*.*?\*/', '', text, flags=re.S) for path, text in texts.items()}
lock = {path: text for path, text in bare.items() if path.startswith('lock/')}

ties = circles.in_sources(root)
calls = {(one, other) for one, others in ties.items() for other in others if one.endswith('.c') and other.endswith('.c')}
within = {pair for pair in calls if pair[0].startswith('lock/') and pair[1].startswith('lock/')}
print(f'files of lib: {len(texts)}, of lib/lock: {len(lock)}')
print(f'lines of .c: {sum(text.count(chr(10)) for path, text in texts.items() if path.endswith(".c"))}, '
      f'lines over {LONGEST} columns: {sum(len(line) > LONGEST for text in texts.values() for line in text.splitlines())}')
print(f'calls from file to file: {len(calls)}, in lib/lock: {len(within)}, both ways: {sum((b, a) in within for a, b in within) // 2}')
print(f'circles: {[len(circle) for circle in circles.circles(ties)]}')

flags = unions = 0
for text in bare.values():
    for name in STRUCTS:
        for body in re.findall(r'struct ' + name + r' \{(.*?)\n\};', text, re.S):
            found = re.findall(r'\b\w+ (?:\w+ : \d+|(?:is|has|was)_\w+)(?:, (?:is|has|was)_\w+)*;', body)
            flags += sum(1 + one.count(',') for one in found)
            unions += len(re.findall(r'\bunion \{', body))
print(f'flags of {", ".join(STRUCTS)}: {flags}, unions in them: {unions}')
for feature, pattern in FEATURES.items():
    count = sum(len(re.findall(pattern, text)) for path, text in lock.items()
                if os.path.splitext(os.path.basename(path))[0] not in OWN[feature])
    print(f'mentions of {feature} in lib/lock outside of its files: {count}')
