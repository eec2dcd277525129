#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""render.py INCLUDE_DIR VERSION EXAMPLES.c OUT [HEADER...] - the reference, made from the comments of the public headers: OUT/man3, OUT/man7
and OUT/hilock.html. It has no page of the headers that are named: they are not installed."""
import os
import shutil
import sys

import pages
import to_html
import to_man


def made(include_dir, version, examples, absent=()):
    """{path: text}"""
    every = [page for page in pages.read(include_dir, examples=pages.examples_in(examples)) if not set(page.includes) & set(absent)]
    return {**to_man.files(every, version), 'hilock.html': to_html.html(every, version)}


def main(include_dir, version, examples, out, *absent):
    files = made(include_dir, version, examples, absent)
    for folder in ('man3', 'man7'): # made anew: what is no page any more goes, and the build sees a new date
        shutil.rmtree(os.path.join(out, folder), ignore_errors=True)
        os.makedirs(os.path.join(out, folder))
    for path, text in files.items():
        with open(os.path.join(out, path), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
