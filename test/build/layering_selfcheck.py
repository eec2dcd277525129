# SPDX-License-Identifier: BSD-3-Clause
"""layering_selfcheck.py CC - every rule of tree.py, objects.py and circles.py goes red when broken, and is silent
when not. A small tree that breaks nothing is written to a temporary directory; each case below then breaks one thing
in it. A rule without a case fails, too."""
import os
import subprocess
import sys
import tempfile

import circles
import objects
import tree
from outside import write

SPDX = '/* SPDX-License-Identifier: BSD-3-Clause */\n'
GOOD = {
    'lib/base/text.c': SPDX + '#include "base/text.h"\n#include <string.h>\n',
    'lib/base/text.h': SPDX,
    'lib/link/link_hiredis.c': SPDX + '#include "link/link.h"\n#include <hiredis/async.h>\n',
    'lib/link/link.h': SPDX + '#include "base/text.h"\n',
    'lib/node/node.c': SPDX + '#include "link/link.h"\n',
    'lib/lock/lease.h': SPDX,
    'lib/wire/renew.lua': '-- renew\n',
    'lib/wire/mutex.c': SPDX + '#include "base/text.h"\n',
    'lib/lock/hold.c': SPDX + '#include "wire/mutex.h"\n#include "node/node.h"\n',
    'lib/client/open.c': SPDX + '#include "lock/hold.h"\n#include <uuid/uuid.h>\n',
    'adapters/libevent.c': SPDX + '#include <event2/event.h>\n#include <hilock/loop.h>\n',
    'adapters/shell/store.h': SPDX + '#include "base/url.h"\n#include <hiredis/hiredis.h>\n',
    'include/hilock/hilock.h': '#include <stddef.h>\n',
    'include/hilock/hilock.hpp': '#include <hilock/hilock.h>\n#include <chrono>\n',
    'test/unit/test_text.c': SPDX,
    'bench/main.c': SPDX,
    'README.md': '# Well, a *case*\n[lib](lib/README.md) [here](#well-a-case) [there](https://x.org/a#b)\n    $S apt-get install -y \\\n      gcc meson && meson setup build\n',
    'CONTRIBUTING.md': '    apt-get install gcc meson # and so on\n',
    '.ci/run': 'build_packages=(gcc meson\n  ninja-build)\n',
}
FOLDERS = ['lib', 'lib/base', 'lib/link', 'lib/node', 'lib/wire', 'lib/lock', 'lib/client', 'adapters', 'adapters/shell', 'include/hilock', 'test',
           'test/unit', 'bench']
LONG = 'static int long_one(\n    int x)\n{\n' + '    x++;\n' * tree.FUNCTION_LINES_MAX + '    return x;\n}\n'
TABLE = 'static const int table[] = {\n' + '    1,\n' * 100 + '};\nstruct s {\n' + '    int (*f)(int);\n' * 100 + '};\n'

# (rule, file to append to or to write, text)
TREE_CASES = [
    ('layers', 'lib/base/text.c', '#include "link/link.h"\n'),
    ('layers', 'lib/link/link.h', '#include "node/node.h"\n'),
    ('layers', 'lib/node/node.c', '#include "wire/mutex.h"\n'),
    ('layers', 'lib/wire/mutex.c', '#include "link/link.h"\n'),
    ('layers', 'lib/wire/mutex.c', '  #  include "node/node.h"\n'),
    ('layers', 'lib/lock/hold.c', '#include "client/handle.h"\n'),
    ('layers', 'lib/lock/hold.c', '#include "../client/handle.h"\n'),
    ('layers', 'lib/base/text.c', '#include "text.h"\n'),
    ('layers', 'lib/extra.c', SPDX),
    ('foreign', 'lib/node/node.c', '#include <hiredis/hiredis.h>\n'),
    ('foreign', 'lib/client/open.c', '#include <openssl/ssl.h>\n'),
    ('foreign', 'lib/link/link_hiredis.c', SPDX + '#include <openssl/ssl.h>\n'),
    ('foreign', 'lib/link/link_hiredis.c', SPDX + '#include <hiredis/hiredis_ssl.h>\n'),
    ('foreign', 'lib/client/client.c', SPDX + '#include <uuid/uuid.h>\n'),
    ('foreign', 'lib/lock/hold.c', '#include <uthash.h>\n'),
    ('foreign', 'lib/link/link.h', '#include <event2/event.h>\n'),
    ('adapters', 'adapters/libevent.c', '#include <hiredis/hiredis.h>\n'),
    ('adapters', 'adapters/libevent.c', '#include "base/text.h"\n'),
    ('adapters', 'adapters/shell/look.c', SPDX + '#include <hiredis/hiredis.h>\n'),
    ('adapters', 'adapters/shell/store.h', '#include "base/table.h"\n'),
    ('stems', 'lib/lock/hold.c', 'int hl_gate_open(void)\n{\n    return 0;\n}\n'),
    ('stems', 'lib/lock/hold.c', 'const int hl_gate_size = 3;\n'),
    ('public', 'include/hilock/hilock.h', '#include <event2/event.h>\n'),
    ('public', 'include/hilock/hilock.h', '#include "base/text.h"\n'),
    ('public', 'include/hilock/hilock.hpp', '#include <event2/event.h>\n'),
    ('public', 'include/hilock/hilock.h', '#include <chrono>\n'),
    ('top', 'notes.txt', 'hm\n'),
    ('readmes', 'lib/base/deep/x.c', SPDX),
    ('readmes', 'README.md', 'more\n' * tree.README_LINES_MAX),
    ('readmes', 'lib/README.md', '## Words\n| word | meaning |\n|---|---|\n' + '| w | m |\n' * (tree.GLOSSARY_ROWS_MAX + 1)),
    ('sizes', 'lib/base/text.c', '\n' * tree.FILE_LINES_MAX),
    ('sizes', 'test/unit/test_text.c', '\n' * tree.FILE_LINES_MAX),
    ('sizes', 'include/hilock/hilock.hpp', '\n' * tree.FILE_LINES_MAX),
    ('sizes', 'include/hilock/hilock.h', '\n' * tree.LINES_MAX['include/hilock/hilock.h']),
    ('columns', 'include/hilock/hilock.h', '/* ' + 'x' * 95 + ' */\n'),
    ('columns', 'include/hilock/hilock.hpp', '/* ' + 'x' * 115 + ' */\n'),
    *(('columns', path, '/* ' + 'x' * 115 + ' */\n') for path in ('lib/base/text.h', 'lib/node/node.c', 'adapters/libevent.c', 'bench/main.c',
        'lib/lock/lease.h', 'lib/wire/renew.lua')),
    *(('wordings', path, f'/* {text} */\n') for path, text in (
        ('lib/base/text.h', 'when it is\n * told'), ('README.md', 'what is lost without, the log says once'), ('lib/node/node.c', 'may not be had, nor is to be had'),
        ('adapters/libevent.c', 'are had all the same'), ('bench/main.c', 'undone behind your back'), ('lib/link/link.h', 'before the store lets others in'),
        ('lib/wire/mutex.c', 'less than 99 % of the lease less 7'), ('lib/client/open.c', 'Who waits in line, sleeps'),
        ('lib/lock/README.md', 'who was served, waits'), ('lib/wire/renew.lua', 'a part stands, all told'), ('CHANGELOG.md', 'nobody is told'),
        ('lib/base/text.h', 'whoever\n * asks'), ('lib/node/node.c', 'whatever comes'), ('README.md', 'granted all the same'), ('bench/main.c', 'again and\n * again'),
        ('lib/link/link.h', 'a reconnect makes it good'), ('adapters/libevent.c', 'a hold of which too little is left'), ('bench/README.md', 'they run in turns'),
        ('lib/client/open.c', 'a grant to who waits'), ('test/unit/test_text.c', '"the user\'s" is told'), ('include/hilock/use.md', 'it tells of a loss'))),
    ('lengths', 'lib/base/text.c', LONG),
    ('lengths', 'adapters/libevent.c', TABLE + LONG),
    ('licences', 'lib/base/new.c', '#include <string.h>\n'),
    ('licences', 'bench/new.h', ''),
    ('licences', 'bench/new.cc', ''),
    ('packages', 'README.md', '    apt-get install gcc && make\n'),
    ('packages', 'CONTRIBUTING.md', '    apt-get install gcc meson \\\n    clang\n'),
    ('links', 'README.md', '[the layers](lib/layers.md)\n'),
    ('links', 'README.md', '[the layers](lib/README.md#layers)\n'),
    ('links', 'lib/README.md', '[below](#layers)\n```\n# layers\n```\n'),
]

# (rule, part of the text told, member, source); a source calls what it names
CALL = 'void {0}(void); void hl_case(void); void hl_case(void) {{ {0}(); }}\n'
CORE_CASES = [('calls', f'uses {name}:', member, CALL.format(name)) for name, member in [
    ('redisAsyncCommand', 'node_node.c.o'), ('freeReplyObject', 'base_reply.c.o'), ('sdsnew', 'wire_mutex.c.o'),
    ('SSL_new', 'client_open.c.o'), ('SSL_new', 'link_link_hiredis.c.o'), ('redisInitiateSSL', 'link_link_hiredis.c.o'), ('uuid_generate', 'client_client.c.o'), ('clock_gettime', 'link_link_hiredis.c.o'),
    ('gettimeofday', 'lock_hold.c.o'), ('time', 'base_random.c.o'), ('rand', 'base_random.c.o'), ('random', 'node_node.c.o'),
    ('srand', 'client_open.c.o'), ('getrandom', 'client_open.c.o'), ('event_add', 'link_link_hiredis.c.o'),
    ('evtimer_new', 'lock_hold.c.o'), ('getaddrinfo', 'node_node.c.o'), ('usleep', 'node_node.c.o'), ('pthread_create', 'client_open.c.o'),
    ('sigaction', 'link_link_hiredis.c.o'), ('malloc', 'lock_hold.c.o'), ('strdup', 'client_options.c.o'), ('abort', 'lock_hold.c.o'),
    ('__assert_fail', 'lock_hold.c.o'), ('connect', 'node_node.c.o')]]
CORE_CASES += [
    ('mutable', 'counter', 'base_text.c.o', 'int hl_use(void); static int counter; int hl_use(void) { return ++counter; }\n'),
    ('mutable', 'level', 'base_text.c.o', 'int hl_use(void); int hl_use(void) { static int level = 3; return level++; }\n'),
    ('mutable', 'hl_shared', 'client_open.c.o', 'extern int hl_shared; int hl_shared;\n'),
    ('mutable', 'hl_table', 'wire_keys.c.o', 'extern const char *hl_table[]; const char *hl_table[] = {"a"};\n'),
    ('mutable', 'mine', 'lock_hold.c.o', 'int hl_use(void); static _Thread_local int mine; int hl_use(void) { return ++mine; }\n'),
    ('prefixes', 'buffer_grow', 'base_text.c.o', 'void buffer_grow(void); void buffer_grow(void) {}\n'),
    ('prefixes', 'weak_one', 'base_text.c.o', '__attribute__((weak)) void weak_one(void); void weak_one(void) {}\n'),
    ('unknown', 'extra_x.c.o', 'extra_x.c.o', 'void hl_case(void); void hl_case(void) {}\n'),
]
ADAPTER_CASES = [('calls', f'uses {name}:', '.._adapters_libevent.c.o', CALL.format(name)) for name in
                 ['redisAsyncCommand', 'hl_text_copy', 'uuid_generate', 'SSL_new', 'event_base_dispatch', 'uv_run', 'ev_run', 'sd_event_run',
                  'getaddrinfo', 'pthread_create', 'sem_timedwait']]
ADAPTER_CASES += [('mutable', 'count', '.._adapters_libevent.c.o', 'int hl_use(void); static int count; int hl_use(void) { return ++count; }\n'),
                  ('prefixes', 'attach', '.._adapters_libevent.c.o', 'void attach(void); void attach(void) {}\n')]
# Legal: constants, with relocations too; calls where they belong.
GOOD_CORE = [
    ('base_memory.c.o', CALL.format('malloc')), ('link_link_hiredis.c.o', CALL.format('redisAsyncFree')),
    ('client_open.c.o', CALL.format('uuid_generate')), ('meson-generated_.._wire_scripts.c.o', CALL.format('strlen')),
    ('wire_keys.c.o', 'extern const char *const hl_names[]; const char *const hl_names[] = {"a", "b"};\n'
                      'struct v { int (*f)(void); }; int hl_f(void); int hl_f(void) { return 1; }\n'
                      'extern const struct v hl_v; const struct v hl_v = {hl_f}; extern const int hl_n; const int hl_n = 4;\n'),
]
GOOD_ADAPTER = [('.._adapters_libevent.c.o', CALL.format('event_add').replace('hl_case', 'hilock_case')),
                ('.._adapters_nest_resolve.c.o', CALL.format('getaddrinfo'))]

# What the lower of two files has before its function and calls in it, and where a circle is then.
UPPER = '#include "a/lower.h"\nint hl_upper(void);\nint hl_upper(void)\n{\n    return hl_lower();\n}\n'
LOWER = '#include "a/lower.h"\n%s\nint hl_lower(void)\n{\n    return %s;\n}\n'
HEADER = 'int hl_lower(void); /* hl_upper() may be named in words */\n'
CIRCLES = [('', '1', set()), ('int hl_upper(void);', 'hl_upper()', {'sources', 'objects'}),
           ('extern int hl_upper(void);\n#define UP hl_upper', 'UP()', {'sources', 'objects'})]


def tree_problems(case=None):
    with tempfile.TemporaryDirectory() as root:
        for path, text in GOOD.items():
            write(root, path, text)
        for folder in FOLDERS:
            write(root, folder + '/README.md', 'what lives here\n')
        if case:
            write(root, case[1], case[2], 'a')
        return tree.check(root)


def archive(compiler, root, name, members):
    """Several members may have one name."""
    paths = []
    for i, (member, source) in enumerate(members):
        paths.append(os.path.join(root, name, str(i), member))
        source = write(root, f'{paths[-1]}.c', source)
        subprocess.run([*compiler, '-std=c11', '-O1', '-fPIC', '-fno-builtin', '-w', '-I', os.path.join(root, 'lib'),
                        '-c', source, '-o', paths[-1]], check=True)
    path = os.path.join(root, name + '.a')
    subprocess.run(['ar', 'qcs', path, *paths], check=True)
    return path


def object_problems(compiler, core, adapter):
    with tempfile.TemporaryDirectory() as root:
        return objects.check(archive(compiler, root, 'core', core), archive(compiler, root, 'adapter', adapter))


def circles_in(compiler, *lower):
    sources = {'upper': UPPER, 'lower': LOWER % lower}
    with tempfile.TemporaryDirectory() as root:
        write(root, 'lib/a/lower.h', HEADER)
        for name, text in sources.items():
            write(root, f'lib/a/{name}.c', text)
        core = archive(compiler, root, 'core', [(f'a_{name}.c.o', text) for name, text in sources.items()])
        return {text.split(':')[0] for _, text in circles.check(root, core) if 'circle' in text}


def main(*compiler):
    silent = tree_problems() + object_problems(compiler, GOOD_CORE, GOOD_ADAPTER)
    failures = [f'silent expected, told {problem}' for problem in silent]
    for case in TREE_CASES:
        if {rule for rule, _ in tree_problems(case)} != {case[0]}:
            failures.append(f'{case[:2]}: told {tree_problems(case)}')
    told = object_problems(compiler, *([case[2:] for case in cases] for cases in (CORE_CASES, ADAPTER_CASES)))
    for rule, text, member, _ in CORE_CASES + ADAPTER_CASES:
        if not any(r == rule and text in t and t.startswith(member.removeprefix('.._')) for r, t in told):
            failures.append(f'{rule} {text} {member}: told {told}')
    for *lower, where in CIRCLES:
        if circles_in(compiler, *lower) != where:
            failures.append(f'a circle by {lower}: found in {circles_in(compiler, *lower)}')
    failures += [f'rule without a case: {rule.__name__}' for rule in tree.RULES if rule.__name__ not in [c[0] for c in TREE_CASES]]
    failures += [f'calls without a case: {why}' for _, _, why in objects.CALLS + objects.ADAPTER_CALLS
                 if not any(r == 'calls' and t.endswith(why) for r, t in told)]
    print('\n'.join(failures) or f'{len(TREE_CASES) + len(CORE_CASES) + len(ADAPTER_CASES)} violations planted, all of them told')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
