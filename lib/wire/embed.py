#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Embeds the Lua scripts: embed.py OUT.c SCRIPT.lua ...

A line `-- include NAME.lua` stands for the text of that file, beside the script: for what scripts have in common, or a
step in two places. `-- include NAME.lua PART` stands for one part of it, from the line `-- part PART: ..` up to the next
part: for what is one piece of knowledge and several steps. `$NAME` stands for the number or the text that HL_NAME has in
protocol.h, beside the script; C includes that header. A script that uses a name which it does not declare is refused.

Each script becomes `const struct hl_script hl_script_<stem>`, with its text (comments and indentation taken off: they
would be sent to and kept by every server) and the SHA-1 of that text, by which EVALSHA names it."""
import hashlib
import os
import re
import sys

from undeclared import Unreadable, undeclared

INCLUDE, PART = '-- include ', '-- part '


class Refused(Exception):
    pass


def stripped(source):
    lines = (line.strip() for line in source.splitlines())
    return "".join(line + "\n" for line in lines if line and not line.startswith("--"))


def part_of(lines, part, path):
    """The lines of one part; part '': all of a file that has none."""
    found, name = {'': []}, ''
    for line in lines:
        if line.startswith(PART):
            name = line[len(PART):].partition(':')[0]
            found[name] = []
        found[name].append(line)
    if part not in found or (not part and len(found) > 1):
        raise Refused(f'{path} has no part "{part}", but {", ".join(found) or "no part"}')
    return found[part]


def read(path, others=(), part=''):
    """others: texts that stand in place of a file's own, by its name."""
    beside, name = os.path.split(path)
    if name in others:
        lines = others[name].splitlines()
    else:
        with open(path) as lua:
            lines = lua.read().splitlines()

    def whole(line):
        if not line.strip().startswith(INCLUDE):
            return line
        file, _, its_part = line.strip()[len(INCLUDE):].partition(' ')
        return read(os.path.join(beside, file), others, its_part)
    return "\n".join(map(whole, part_of(lines, part, path)))


def constants(header):
    """({name: number}, {name: text})"""
    with open(header) as file:
        text = file.read()
    return tuple(dict(re.findall(form, text, re.M)) for form in (r'\bHL_(\w+) = (-?\d+)\b', r'^#define HL_(\w+) "([^"]*)"'))


def filled_in(text, header, used):
    """In quotes a constant is text, elsewhere a number: a text of one letter is that letter's."""
    numbers, texts = constants(header)

    def value(name, quoted):
        used.add(name)
        if name in numbers:
            return numbers[name]
        if name not in texts or not (quoted or len(texts[name]) == 1):
            raise Refused(f'{header} has no HL_{name}' + ' that is a number' * (name in texts))
        return texts[name] if quoted else str(ord(texts[name]))

    def replaced(found):
        return re.sub(r'\$([A-Z]\w*)', lambda name: value(name[1], found[0][0] != '$'), found[0])
    return re.sub(r"""'(?:\\.|[^'\\\n])*'|\$[A-Z]\w*""", replaced, text)


def script(path, others=(), used=None):
    """What the server gets of a script. used: gets the names of the constants in it."""
    text = filled_in(stripped(read(path, others)), os.path.join(os.path.dirname(path), 'protocol.h'), set() if used is None else used)
    try:
        found = undeclared(text)
    except Unreadable as wrong:
        raise Refused(f'{path}: {wrong}') from wrong
    for line, name in found:
        raise Refused(f'{path}: "{name}" is not declared where it is used: {line}')
    return text


def c_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join('    "%s\\n"' % line for line in escaped.splitlines())


def embedded(paths):
    c, names, used = [], [], set()
    for path in paths:
        stem = os.path.splitext(os.path.basename(path))[0]
        text = script(path, used=used)
        sha1 = hashlib.sha1(text.encode()).hexdigest()
        names.append(stem)
        c.append('\nconst struct hl_script hl_script_%s = {\n    "%s",\n%s,\n    %d, "%s"};\n'
                 % (stem, stem, c_string(text), len(text.encode()), sha1))
    c.append("\nconst struct hl_script *const hl_scripts[] = {%s, 0};\n" % ", ".join("&hl_script_" + n for n in names))
    unused = set().union(*constants(os.path.join(os.path.dirname(paths[0]), 'protocol.h'))) - used
    if unused:
        raise Refused(f'protocol.h: no script uses {", ".join(sorted(unused))}')
    return "".join(c)


def main(out, *paths):
    try:
        text = embedded(paths)
    except Refused as wrong:
        sys.exit(f'embed.py: {wrong}')
    with open(out, "w") as c:
        c.write('/* Made from the .lua files by embed.py. */\n#include "wire/scripts.h"\n\n'
                '#pragma GCC diagnostic ignored "-Woverlength-strings"\n' + text)


if __name__ == "__main__":
    main(*sys.argv[1:])
