# SPDX-License-Identifier: BSD-3-Clause
"""alone.py <RESULTS - what only one of the lanes ran, a line a lane: tests that no other lane passed or failed. RESULTS are lines of tally.py."""
import collections
import sys


def alone(lines):
    """{lane: tests}, for runs of several lanes."""
    ran, lanes = collections.defaultdict(set), set()
    for outcome, lane, test, *_ in (line.rstrip('\n').split('\t') for line in lines):
        lanes.add(lane)
        if outcome != 'skipped':
            ran[test].add(lane)
    only = collections.defaultdict(list)
    for test, where in sorted(ran.items()):
        if len(where) == 1 and len(lanes) > 1:
            only[min(where)].append(test)
    return only


if __name__ == '__main__':
    for name, tests in sorted(alone(sys.stdin).items()):
        print(f'only in lane {name}: {" ".join(tests)}')
