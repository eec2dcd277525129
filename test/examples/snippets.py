# SPDX-License-Identifier: BSD-3-Clause
"""snippets.py REDIS_SERVER GUIDE_FOLDER SNIPPETS.c COMPILER... -- LIBRARY... - the C of the user's guide compiles as it stands there, and does what the
guide says of it: snippets.c runs it."""
import os
import tempfile

import store


def as_string(text):
    lines = (line.replace('\\', '\\\\').replace('"', '\\"') for line in text.splitlines())
    return '\n'.join(f'    "{line}\\n"' for line in lines)


def snippets(url, guide, source, *command):
    text = store.guide(guide)
    with tempfile.TemporaryDirectory() as work, open(source, encoding='utf-8') as plays:
        with open(os.path.join(work, 'guide.h'), 'w', encoding='utf-8') as file:
            file.write(f'static const char fenced[] =\n{as_string(store.blocks(text, "lua")[0])};\n')
            file.write('\n'.join(store.blocks(text, 'c')))
        print(*store.built(plays.read(), work, 'snippets.c', *command)(url.partition('@')[2]))
    for key in ('pieces', 'fence'):
        store.ask(url, 'DEL', *(f'{key}:{{{item}}}' for item in ('lamp', 'vase')))


if __name__ == '__main__':
    store.drive(snippets)
