# SPDX-License-Identifier: BSD-3-Clause
"""check.py - what is wrong with a rule, or does not apply any more, stops apply.py and is named; and what it makes of a
rule that is good."""
import os
import sys
import tempfile

import apply

SOURCE = 'int f(int a)\n{\n    if (a > 1)\n        return 2;\n    return a > 3;\n}\n'
RULE = 'R_{n}\n  breaks page.md: it is so\n  in lib/f.c {form}\n  - {old}\n  + {new}\n  red unit/t: says\n'


def rules(*changes):
    return ''.join(RULE.format(n=n, form=form, old=old, new=new) for n, (form, old, new) in enumerate(changes))


CASES = [  # rules, what is said; None: nothing
    (rules(('expression', 'a > 1', 'a')), None),
    (rules(('statement', 'return 2;', 'return 3;'), ('expression', 'a > 1', '1')), None),
    (rules(('expression', 'a > 1', '1'), ('expression', 'a > 1', '0')), None),
    (rules(('expression', 'a > 4', '1')), '0 times'),
    (rules(('expression', 'a >', 'b >')), '2 times'),
    (rules(('expression', 'a > 1', '1'), ('expression', '(a > 1)', '(0)')), 'overlaps'),
    (rules(('statement', 'return 2;', ''), ('text', 'return 2;', 'return 1;')), 'overlaps'),
    (rules(('wish', 'a > 1', '1')), 'expression, statement, text'),
    (rules(('expression', 'a > 1', '1')).replace('red unit/t: says', ''), 'needs what it breaks'),
    (rules(('expression', 'a > 1', '1')) * 2, 'one name for each'),
    (rules(('expression', 'a > 1', '1')).replace('breaks page.md: it is so', 'wrong it is not').replace('unit/t: says', 'sim'), None),
    (rules(('expression', 'a > 1', '1')).replace('unit/t: says', 'sim'), 'what is wrong then'),
    (rules(('expression', 'a > 1', '1')).replace('breaks page.md: it is so', 'wrong it is not'), 'needs what it breaks'),
    (rules(('expression', 'a > 1', '1')).replace('unit/t: says', 'dark'), 'red <twins|sim|tls>'),
]


def said_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.rules')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        try:
            found = apply.checked(apply.rules_of(path))
            made = apply.planted(SOURCE, [patch for rule in found for patch in rule.patches], 'f.c')
        except apply.Wrong as wrong:
            return str(wrong)
        assert all(f'HL_PLANTED({rule.name})' in made for rule in found), made
        assert '#line 4 "f.c"' in made or '#line 5 "f.c"' in made, made
        return None


def promises():
    """A page that does not say it any more."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in (('page.md', 'If it rains\n * it is\n   so.'), ('x.rules', rules(('expression', 'a', 'b')))):
            with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                file.write(text)
        path = os.path.join(root, 'x.rules')
        assert not list(apply.withdrawn(root, [path]))
        with open(os.path.join(root, 'page.md'), 'w', encoding='utf-8') as file:
            file.write('It was so.')
        assert 'does not say any more' in ''.join(apply.withdrawn(root, [path]))


def main():
    wrong = [(text, expected, said_of(text)) for text, expected in CASES]
    wrong = [case for case in wrong if (case[1] is None) != (case[2] is None) or (case[1] or '') not in (case[2] or '')]
    for text, expected, said in wrong:
        print(f'{text}should say {expected}, and said {said}')
    promises()
    return len(wrong)


if __name__ == '__main__':
    sys.exit(main())
