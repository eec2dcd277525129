# SPDX-License-Identifier: BSD-3-Clause
"""mutants.py MUTANTS - test/mutants changes code and nothing else, and its strides miss nothing."""
import importlib.machinery
import importlib.util
import sys

MADE = {
    '    if (a->count < limit && !done)': {'    if (a->count <= limit && !done)', '    if (a->count < limit || !done)',
                                          '    if (0 && (a->count < limit && !done))'},
    '    hl_wake(gate, "a == b", 1); /* x == y */': {'    ;'},
    '    return i + 1;': {'    return i + 0;'},
    '        return;': {'        ;'},
    '    const char *word = say("<= 1", \'<\');': set(),
    'static int is_big(int a);': set(),
}


def main(program):
    loader = importlib.machinery.SourceFileLoader('mutants', program)
    mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader('mutants', loader))
    loader.exec_module(mutants)
    wrong = 0
    for line, wanted in MADE.items():
        made = {text for _, text in mutants.changes_of(line)}
        if made != wanted:
            print(f'of {line!r} there should be {sorted(wanted)}, there are {sorted(made)}')
            wrong += 1
    for count in (1, 2, 3, 10, 997, 4000):
        if sorted(mutants.strided(range(count), 12345)) != list(range(count)):
            print(f'of {count} not all come once')
            wrong += 1
    return wrong


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
