# SPDX-License-Identifier: BSD-3-Clause
"""oracle_selfcheck - the judge of oracle.py finds each thing that it is there to find, and takes nothing else for one."""
import os
import tempfile
import types

import oracle
from peers import expect

FINE = {'a': '? 1 a/0 N 0\n+ 10 a/0 N 5\n- 20 a/0 N 0\n', 'b': '? 2 b/0 N 0\n+ 20 b/0 N 0\n- 30 b/0 N 0\n'}


def judged(traces, **of_b):
    """of_b: what befell the process b."""
    with tempfile.TemporaryDirectory() as folder:
        fleet = []
        for label, text in traces.items():
            path = os.path.join(folder, label)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            fleet.append(types.SimpleNamespace(label=label, trace=path, killed_ns=None, stops=[]))
        for name, value in of_b.items():
            setattr(fleet[1], name, value)
        verdict = oracle.judge(fleet)
    return verdict.grants, len(verdict.overlaps), len(verdict.backward), len(verdict.unserved), dict(verdict.fates)


def main():
    def other(b, **of_b):
        return judged({'a': FINE['a'], 'b': b}, **of_b)

    for claim, found, wanted in (
            ('one behind the other is fine', judged(FINE), (2, 0, 0, 0, {})),
            ('two at a time', other('? 2 b/0 N 0\n+ 19 b/0 N 0\n- 30 b/0 N 0\n'), (2, 1, 0, 0, {})),
            ('other names are others', other('? 2 b/0 M 0\n+ 11 b/0 M 0\n- 12 b/0 M 0\n'), (2, 0, 0, 0, {})),
            ('one inside another', other('? 2 b/0 N 0\n+ 11 b/0 N 0\n- 12 b/0 N 0\n'), (2, 1, 0, 0, {})),
            ('a token that does not rise', other('? 2 b/0 N 0\n+ 20 b/0 N 5\n- 30 b/0 N 0\n'), (2, 0, 1, 0, {})),
            ('a wait that is not served', other('? 2 b/0 N 0\n'), (1, 0, 0, 1, {})),
            ('a wait of who was killed', other('? 2 b/0 N 0\n', killed_ns=15), (1, 0, 0, 0, {})),
            ('a wait that failed', other('? 2 b/0 N 0\ne 15 b/0 N why\n'), (1, 0, 0, 0, {'failed': 1})),
            ('who is killed holds until then', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n', killed_ns=11), (2, 1, 0, 0, {'killed': 1})),
            ('and no longer', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n', killed_ns=9), (2, 0, 0, 0, {'killed': 1})),
            ('a loss ends a hold', other('? 2 b/0 N 0\n+ 5 b/0 N 4\n! 9 b/0 N 0\n'), (2, 0, 0, 0, {'lost': 1})),
            ('a loss that comes too late', other('? 2 b/0 N 0\n+ 5 b/0 N 4\n! 11 b/0 N 0\n'), (2, 1, 0, 0, {'lost': 1})),
            ('a grant that stood still until nothing was left', other('? 2 b/0 N 0\n+ 25 b/0 N 4\n! 25 b/0 N 0\n', stops=[(9, 24)]),
             (1, 0, 0, 0, {'outlasted': 1})),
            ('and not for nothing', other('? 2 b/0 N 0\n+ 25 b/0 N 4\n! 25 b/0 N 0\n'), (2, 0, 1, 0, {'lost': 1})),
            ('Java does not hold what it unlocks', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n- 30 b/0 N 0\nx 31 b/0 N 0\n'), (2, 1, 0, 0, {'unheld': 1})),
            ('for it stood still', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n- 30 b/0 N 0\nx 31 b/0 N 0\n', stops=[(9, 29)]), (2, 0, 0, 0, {'blind': 1})),
            ('which is no excuse for before', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n- 30 b/0 N 0\nx 31 b/0 N 0\n', stops=[(12, 29)]), (2, 1, 0, 0, {'blind': 1})),
            ('nor for ours', other('? 2 b/0 N 0\n+ 5 b/0 N 4\n- 30 b/0 N 0\nx 31 b/0 N 0\n', stops=[(9, 29)]), (2, 1, 0, 0, {'late': 1})),
            ('which may be late with a release', other('? 2 b/0 N 0\n+ 5 b/0 N 4\n- 9 b/0 N 0\nx 31 b/0 N 0\n', stops=[(9, 29)]), (2, 0, 0, 0, {'late': 1})),
            ('and not for nothing', other('? 2 b/0 N 0\n+ 5 b/0 N 4\n- 9 b/0 N 0\nx 31 b/0 N 0\n'), (2, 0, 0, 0, {'unheld': 1})),
            ('so may Java', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n- 9 b/0 N 0\ne 31 b/0 N why\n', stops=[(9, 29)]), (2, 0, 0, 0, {'late': 1})),
            ('but not for nothing', other('? 2 b/0 N 0\n+ 5 b/0 N 0\n- 9 b/0 N 0\ne 31 b/0 N why\n'), (2, 0, 0, 0, {'failed': 1})),
            ('a wait that broke while it stood still', other('? 2 b/0 N 0\ne 15 b/0 N why\n', stops=[(9, 14)]), (1, 0, 0, 0, {'broken': 1})),
    ):
        expect(found == wanted, f'{claim}: {found}, wanted {wanted}')
        print('ok:', claim)


if __name__ == '__main__':
    main()
