# SPDX-License-Identifier: BSD-3-Clause
"""snippets.py GUIDE_FOLDER SNIPPETS.c REDIS_SERVER COMPILER... -- LIBRARY... - the C of the user's guide compiles as it stands there, and does what the
guide says of it: snippets.c runs it against a private redis-server."""
import os
import re
import sys
import tempfile

import store


def as_string(text):
    lines = (line.replace('\\', '\\\\').replace('"', '\\"') for line in text.splitlines())
    return '\n'.join(f'    "{line}\\n"' for line in lines)


def main(guide, source, server, *command):
    compiler, libraries = command[:command.index('--')], command[command.index('--') + 1:]
    text = store.guide(guide)
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        header, binary = os.path.join(work, 'guide.h'), os.path.join(work, 'snippets')
        with open(header, 'w', encoding='utf-8') as file:
            file.write(f'static const char fenced[] =\n{as_string(store.blocks(text, "lua")[0])};\n')
            file.write('\n'.join(store.blocks(text, 'c')))
        store.outside.run(*compiler, '-I', work, source, '-o', binary, *libraries)
        folders = os.pathsep.join(os.path.dirname(path) for path in libraries)
        print(store.outside.run(binary, url.partition('@')[2], env={**os.environ, 'LD_LIBRARY_PATH': folders}))
        left = [name for name in store.locks(url) if not re.match('pieces:|fence:', name)]
        store.expect(left == [], f'no lock is left at the store: {left}')


if __name__ == '__main__':
    main(*sys.argv[1:])
