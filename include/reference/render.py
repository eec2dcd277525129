#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""render.py INCLUDE_DIR VERSION EXAMPLES.c OUT - the reference, made from the comments of the public headers: OUT/man3, OUT/man7 and
OUT/hilock.html."""
import os
import shutil
import sys

import pages
import to_html
import to_man


def made(include_dir, version, examples):
    """{path: text}"""
    every = pages.read(include_dir, examples=pages.examples_in(examples))
    return {**to_man.files(every, version), 'hilock.html': to_html.html(every, version)}


def main(include_dir, version, examples, out):
    files = made(include_dir, version, examples)
    for folder in ('man3', 'man7'): # made anew: what is no page any more goes, and the build sees a new date
        shutil.rmtree(os.path.join(out, folder), ignore_errors=True)
        os.makedirs(os.path.join(out, folder))
    for path, text in files.items():
        with open(os.path.join(out, path), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
