# SPDX-License-Identifier: BSD-3-Clause
"""layering.py ROOT CORE.a ADAPTER.a.. - no rule of the house is broken (tree.py, objects.py, circles.py)."""
import sys

import circles
import objects
import tree


def main(root, core, *adapters):
    problems = tree.check(root) + objects.check(core, *adapters) + circles.check(root, core)
    for rule, text in problems:
        print(f'{rule}: {text}')
    print(f'{len(problems)} broken')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
