# SPDX-License-Identifier: BSD-3-Clause
"""snippets.py REDIS_SERVER GUIDE_FOLDER SNIPPETS.c COMPILER... -- LIBRARY... - the C of the user's guide compiles as
it stands there, and does what the guide says of it: snippets.c runs it."""
import tempfile

import store


def as_string(text):
    lines = (line.replace('\\', '\\\\').replace('"', '\\"') for line in text.splitlines())
    return '\n'.join(f'    "{line}\\n"' for line in lines)


def snippets(url, guide, source, *command):
    text = store.guide(guide)
    scripts = ''.join(f'static const char {name}[] =\n{as_string(script)};\n'
                      for name, script in zip(('fenced', 'shared'), store.blocks(text, 'lua'), strict=True))
    with tempfile.TemporaryDirectory() as work:
        store.outside.write(work, 'guide.h', scripts + '\n'.join(store.blocks(text, 'c')))
        print(*store.built(store.outside.read(source), work, 'snippets.c', *command)(url.partition('@')[2]))
    for key in ('pieces', 'fence', 'value'):
        store.ask(url, 'DEL', *(f'{key}:{{{item}}}' for item in ('lamp', 'vase', 'page')))


if __name__ == '__main__':
    store.drive(snippets)
