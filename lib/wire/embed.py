#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Embeds the Lua scripts: embed.py OUT.c SCRIPT.lua ...

A line `-- include NAME.lua` stands for the text of that file, beside the script: for what scripts have in common, or a step in two places.
Each becomes `const struct hl_script hl_script_<stem>`, with its text (comments and indentation taken off: they would be sent to and kept
by every server) and the SHA-1 of that text, by which EVALSHA names it."""
import hashlib
import os
import sys


def stripped(source):
    lines = (line.strip() for line in source.splitlines())
    return "".join(line + "\n" for line in lines if line and not line.startswith("--"))


def read(path, others=()):
    """others: texts that stand in place of a file's own, by its name."""
    beside, name = os.path.split(path)
    if name in others:
        lines = others[name].splitlines()
    else:
        with open(path) as lua:
            lines = lua.read().splitlines()
    marker = "-- include "
    return "\n".join(read(os.path.join(beside, line.strip()[len(marker):]), others) if line.strip().startswith(marker) else line
                     for line in lines)


def c_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join('    "%s\\n"' % line for line in escaped.splitlines())


def main(out, *paths):
    with open(out, "w") as c:
        c.write('/* Made from the .lua files by embed.py. */\n#include "wire/scripts.h"\n\n'
                '#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
        names = []
        for path in paths:
            stem = os.path.splitext(os.path.basename(path))[0]
            text = stripped(read(path))
            sha1 = hashlib.sha1(text.encode()).hexdigest()
            names.append(stem)
            c.write('\nconst struct hl_script hl_script_%s = {\n    "%s",\n%s,\n    %d, "%s"};\n'
                    % (stem, stem, c_string(text), len(text.encode()), sha1))
        c.write("\nconst struct hl_script *const hl_scripts[] = {%s, 0};\n" % ", ".join("&hl_script_" + n for n in names))


if __name__ == "__main__":
    main(*sys.argv[1:])
