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
    return verdict.grants, len(verdict.overlaps) + len(verdict.crowded), len(verdict.backward), len(verdict.unserved), dict(verdict.fates)


ANY = 0xC0000003


def shared(*holds):
    """holds: (number, asked, begun, ended, token) of one name, a process each."""
    return judged({f'p{i}': f'? {asked} p{i}/0 N {number}\n+ {begun} p{i}/0 N {token}\n- {ended} p{i}/0 N 0\n'
                   for i, (number, asked, begun, ended, token) in enumerate(holds)})


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
            ('two that share', shared((2, 1, 10, 30, 5), (2, 1, 11, 30, 6)), (2, 0, 0, 0, {})),
            ('a writer beside a reader', shared((ANY, 1, 10, 30, 5), (1, 1, 29, 40, 6)), (2, 1, 0, 0, {})),
            ('a reader beside a writer', shared((0, 1, 10, 30, 5), (ANY, 1, 29, 40, 6)), (2, 1, 0, 0, {})),
            ('a reader beside a writer that holds longer than another reader',
             shared((1, 1, 10, 30, 5), (ANY, 1, 30, 35, 6), (ANY, 2, 31, 40, 7), (1, 3, 39, 50, 8)), (4, 1, 0, 0, {})),
            ('Java beside a reader', other('? 2 b/0 N 7\n+ 11 b/0 N 6\n- 30 b/0 N 0\n'), (2, 1, 0, 0, {})),
            ('three of two', shared((2, 1, 10, 30, 5), (2, 1, 11, 30, 6), (2, 1, 29, 40, 7)), (3, 1, 0, 0, {})),
            ('three of two, of whom the first is the last to know', shared((2, 1, 12, 30, 5), (2, 1, 11, 30, 6), (2, 1, 10, 40, 7)), (3, 1, 0, 0, {})),
            ('two of two, one after the other', shared((2, 1, 10, 30, 5), (2, 1, 11, 20, 6), (2, 1, 20, 40, 7)), (3, 0, 0, 0, {})),
            ('a lower number leaves room to others', shared((2, 1, 10, 30, 5), (ANY, 1, 11, 30, 6), (ANY, 1, 12, 40, 7)), (3, 0, 0, 0, {})),
            ('and does not come to so many', shared((ANY, 1, 10, 30, 5), (ANY, 1, 11, 30, 6), (2, 1, 12, 40, 7)), (3, 1, 0, 0, {})),
            ('readers that learn of it in another order', shared((ANY, 1, 10, 30, 6), (ANY, 1, 11, 30, 5)), (2, 0, 0, 0, {})),
            ('but not if one had it before the other asked', shared((ANY, 1, 10, 30, 6), (ANY, 11, 12, 30, 5)), (2, 0, 1, 0, {})),
            ('two readers with one token', shared((ANY, 1, 10, 30, 5), (ANY, 1, 11, 30, 5)), (2, 0, 1, 0, {})),
            ('a writer with a lower token than a reader before it', shared((ANY, 1, 10, 20, 6), (1, 1, 20, 30, 5)), (2, 0, 1, 0, {})),
            ('a reader with a lower token than a writer before it', shared((1, 1, 10, 20, 6), (ANY, 1, 20, 30, 5)), (2, 0, 1, 0, {})),
            ('a wait that broke while it stood still', other('? 2 b/0 N 0\ne 15 b/0 N why\n', stops=[(9, 14)]), (1, 0, 0, 0, {'broken': 1})),
    ):
        expect(found == wanted, f'{claim}: {found}, wanted {wanted}')
        print('ok:', claim)


if __name__ == '__main__':
    main()
