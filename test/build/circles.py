# SPDX-License-Identifier: BSD-3-Clause
"""No circle of folders in lib/: calls go down, news goes up through an interface that the lower folder declares. Files
of one folder may call each other. Looked for in the sources, by what is included and what is called, and in the compiled
objects, where macros and inline functions hide nothing. check(root, archive) answers a list of (rule, text): each circle,
and the ties that make it."""
import collections
import glob
import os
import re

import objects

DEFINED = re.compile(r'^(?!static|typedef|extern)[a-z][\w *]*?\b(hl_\w+|hilock_\w+)(?:\([^;{]*\)\s*\{|(?:\[\])? = )', re.M)
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)


def circles(ties):
    """The strongly connected parts of more than one file (Tarjan), of {file: {other: why}}."""
    order, low, stack, found = {}, {}, [], []

    def visit(one):
        order[one] = low[one] = len(order)
        stack.append(one)
        for other in ties.get(one, {}):
            if other not in order:
                visit(other)
            if other in stack:
                low[one] = min(low[one], low[other])
        if low[one] == order[one]:
            at = stack.index(one)
            part, stack[at:] = stack[at:], []
            if len(part) > 1:
                found.append(sorted(part))

    for one in sorted(ties):
        if one not in order:
            visit(one)
    return found


def in_sources(root):
    """Of headers what they include, of sources also where the functions that they call are defined."""
    folder, bare, defined, ties = os.path.join(root, 'lib'), {}, {}, collections.defaultdict(dict)
    for path in sorted(glob.glob(os.path.join(folder, '**/*.[ch]'), recursive=True)):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        one = os.path.relpath(path, folder)
        for other in re.findall(r'#include "([\w/]+\.h)"', text):
            if os.path.exists(os.path.join(folder, other)):
                ties[one].setdefault(other, 'includes')
        bare[one] = COMMENT.sub('', text)
        if one.endswith('.c'):
            defined.update({name: one for name in DEFINED.findall(bare[one])})
    for one, text in bare.items():
        for name in sorted(set(re.findall(r'\b(hl_\w+|hilock_\w+)\b', text))) if one.endswith('.c') else ():
            if defined.get(name, one) != one:
                ties[one].setdefault(defined[name], f'uses {name} of')
    return ties


def in_objects(archive):
    defined, wanted = {}, []
    for member, flags, section, name in objects.symbols(archive):
        if section == '*UND*':
            wanted.append((member, name))
        elif flags[0] in 'gu!w':
            defined[name] = member
    ties = collections.defaultdict(dict)
    for one, name in wanted:
        if defined.get(name, one) != one:
            ties[one].setdefault(defined[name], f'uses {name} of')
    return ties


def folder_of(file):
    """Of a path below lib/, or of an object, which is named after such a path: hold_ending.c.o."""
    return re.split('[/_]', file.removeprefix('meson-generated_.._'), maxsplit=1)[0]


def told(ties, where):
    folders = collections.defaultdict(dict)
    for one, others in ties.items():
        for other in others:
            if folder_of(one) != folder_of(other):
                folders[folder_of(one)][folder_of(other)] = 'needs'
    for circle in circles(folders):
        yield 'circles', f'{where}: a circle of {len(circle)} folders: {" ".join(circle)}'
        for one in sorted(ties):
            for other, why in sorted(ties[one].items()):
                if {folder_of(one), folder_of(other)} <= {*circle} and folder_of(one) != folder_of(other):
                    yield 'circles', f'    {one} {why} {other}'


def check(root, archive):
    return [*told(in_sources(root), 'sources'), *told(in_objects(archive), 'objects')]
