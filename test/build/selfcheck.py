# SPDX-License-Identifier: BSD-3-Clause
"""selfcheck.py CC.. RENDERER_FOLDER - each rule of tree.py, objects.py, circles.py, symbols.py and reference.py reports what breaks it, and is
silent about what does not. For each there is something small in which nothing is wrong; a case is one change of it. A rule without a case fails."""
import os
import subprocess
import sys
import tempfile

import circles
import objects
import reference
import symbols
import tree
from outside import write

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../lib')

# ---- source text

SPDX = '/* SPDX-License-Identifier: BSD-3-Clause */\n'
TREE = {
    'lib/base/text.c': SPDX + '#include "base/text.h"\n#include <string.h>\n',
    'lib/base/text.h': SPDX,
    'lib/link/link_hiredis.c': SPDX + '#include "link/link.h"\n#include <hiredis/async.h>\n',
    'lib/link/link.h': SPDX + '#include "base/text.h"\n',
    'lib/node/node.c': SPDX + '#include "link/link.h"\n',
    'lib/lock/lease.h': SPDX,
    'lib/wire/renew.lua': "-- renew\nlocal a, b = string.format('%.0f %s', c, d), string.match(e, '^(%d+) %x', 1)\nstring.format(\"%.0f\", string.match(e, '%d'))\n",
    'lib/wire/mutex.c': SPDX + '#include "base/text.h"\n',
    'lib/lock/hold.c': SPDX + '#include "wire/mutex.h"\n#include "node/node.h"\n',
    'lib/client/open.c': SPDX + '#include "lock/hold.h"\n#include <uuid/uuid.h>\n',
    'adapters/libevent.c': SPDX + '#include <event2/event.h>\n#include <hilock/loop.h>\n',
    'adapters/shell/store.h': SPDX + '#include "base/url.h"\n#include <hiredis/hiredis.h>\n',
    'include/hilock/hilock.h': '#include <stddef.h>\n',
    'include/hilock/hilock.hpp': '#include <hilock/hilock.h>\n#include <chrono>\n',
    'test/unit/test_text.c': SPDX,
    'bench/main.c': SPDX,
    'README.md': '# Well, a *case*\nVersion 0.1.0 of it\n[lib](lib/README.md) [here](#well-a-case) [there](https://x.org/a#b)\n    $S apt-get install -y \\\n      gcc meson && meson setup build\n',
    'CHANGELOG.md': '## 0.1.0 (2026-11-28)\n',
    'adapters/shell/hilock.1': '.Dd November 28, 2026\n',
    'CONTRIBUTING.md': '    apt-get install gcc meson # and so on\n',
    'test/packages': "groups=(\n    [demo]='gcc meson'\n    [test]='ninja-build')\n",
}
FOLDERS = ['lib', 'lib/base', 'lib/link', 'lib/node', 'lib/wire', 'lib/lock', 'lib/group', 'lib/client', 'adapters', 'adapters/shell', 'include/hilock', 'test',
           'test/unit', 'bench']
TREE.update({folder + '/README.md': 'what lives here\n' for folder in FOLDERS})
LONG = 'static int long_one(\n    int x)\n{\n' + '    x++;\n' * tree.FUNCTION_LINES_MAX + '    return x;\n}\n'
TABLE = 'static const int table[] = {\n' + '    1,\n' * 100 + '};\nstruct s {\n' + '    int (*f)(int);\n' * 100 + '};\n'

# Legal: what stands beside a planted bug in another condition, in a comment, in a string or in a macro.
PLANTED = """#define HL_PLANTED(name) (a && b && HL_PLANTED(name) || HL_PLANTED(C))
/* HL_PLANTED(A) && HL_PLANTED(B) && c */
static int legal(int a, int b)
{
    int both = a && b && a;
    for (int i = 0; i < a && b && a; i++)
        if (a && b)
            return HL_PLANTED(A) || a;
    if (both && !HL_PLANTED(B)) /* && a && b */
        return HL_PLANTED(A) ? a && b && both : !a || !b || both;
    while (both >= (HL_PLANTED(B)
                    ? a : b))
        call(a, '(', "\\"&& HL_PLANTED(A) && a", HL_PLANTED(B) && b);
    return a && b && both;
}
"""
TREE['lib/lock/hold.c'] += PLANTED
TREE['lib/base/text.c'] += 'static unsigned long long how_long(void) /* so long */\n{\n    return "long" != NULL;\n}\n'
TREE['lib/link/tls.c'] = SPDX + 'static unsigned long error;\n'

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
    ('inner', 'lib/group/multi.c', SPDX + '#include "lock/hold.h"\n'),
    ('inner', 'lib/group/multi.c', SPDX + 'static int has(const struct hilock_lock *lock) { return lock->hold != NULL; }\n'),
    ('inner', 'lib/group/multi.c', SPDX + 'static void give(struct hilock_lock *lock) { hl_tenure_release(lock); }\n'),
    ('foreign', 'lib/node/node.c', '#include <hiredis/hiredis.h>\n'),
    ('foreign', 'lib/client/open.c', '#include <openssl/ssl.h>\n'),
    ('foreign', 'lib/link/link_hiredis.c', SPDX + '#include <openssl/ssl.h>\n'),
    ('foreign', 'lib/link/link_hiredis.c', SPDX + '#include <hiredis/hiredis_ssl.h>\n'),
    ('foreign', 'lib/client/client.c', SPDX + '#include <uuid/uuid.h>\n'),
    ('foreign', 'lib/lock/hold.c', '#include <uthash.h>\n'),
    ('foreign', 'lib/link/link.h', '#include <event2/event.h>\n'),
    ('foreign', 'lib/lock/hold.c', '#include <sys/queue.h>\n'),
    ('adapters', 'adapters/libevent.c', '#include <hiredis/hiredis.h>\n'),
    ('adapters', 'adapters/libevent.c', '#include "base/text.h"\n'),
    ('adapters', 'adapters/shell/look.c', SPDX + '#include <hiredis/hiredis.h>\n'),
    ('adapters', 'adapters/shell/store.h', '#include "base/table.h"\n'),
    ('stems', 'lib/lock/hold.c', 'int hl_line_open(void)\n{\n    return 0;\n}\n'),
    ('stems', 'lib/lock/hold.c', 'const int hl_line_size = 3;\n'),
    *(('plants', 'lib/lock/hold.c', f'static int f(int a, int b)\n{{\n    {text}\n}}\n') for text in (
        'return HL_PLANTED(A) + HL_PLANTED(B);', 'if (HL_PLANTED(A) || HL_PLANTED(B))\n        return 1;',
        'if (a && b && !HL_PLANTED(A))\n        return 1;', 'return (a && b) ||\n        HL_PLANTED(A);',
        'return a ||\n        /* or */ (b &&\n            !HL_PLANTED(A));', 'while (a /* ; */ && ";" && call(b, HL_PLANTED(A)))\n        b++;',
        'for (; a && b && !HL_PLANTED(A); a--)\n        b++;', 'int c = a &&\n        (a <= b || HL_PLANTED(A)) ? a : b;\n    return c;',
        'return call(a && b &&\n        !HL_PLANTED(A));', 'if (a) {\n        return b && a >= (HL_PLANTED(A) ? 1 : 2) && b != 3;\n    }',
        'else if ((HL_PLANTED(A) && a) ||\n        (HL_PLANTED(B) && b))\n        return 1;', 'a = HL_PLANTED(A);\n' * 30 + '    return a;')),
    *(('numbers', 'lib/wire/renew.lua', text + '\n') for text in ("local a = string.format('%d', b)", "a = string.format('-%d', b)",
        'a = string.format ( "%s %05d", b, c)', "a = format('%s %x', b, c)", "a = ('%d'):format(b)", "a = string.format'%d'")),
    ('portable', 'lib/lock/hold.c', '#include <unistd.h>\nint f(int fd) { return dup3(fd, fd + 1, 0); }\n'),
    ('portable', 'lib/lock/hold.c', '#include <string.h>\nvoid *f(void *to, const void *from) { return mempcpy(to, from, 3); }\n'),
    ('portable', 'lib/lock/hold.c', '#ifdef __GLIBC__\n#include <link.h>\n#endif\n'),
    ('portable', 'lib/lock/hold.c', '#if defined HL_HAS_MEMPCPY\nint f(void);\n#endif\n'),
    ('longs', 'lib/lock/hold.c', 'static long f(void)\n{\n    return 1;\n}\n'),
    ('longs', 'lib/lock/lease.h', 'struct s { unsigned long long a; unsigned long b; };\n'),
    ('containers', 'lib/lock/hold.c', 'static struct s *f(char *m)\n{\n    return (struct s *)(m - offsetof(struct s, m));\n}\n'),
    ('containers', 'lib/lock/hold.c', 'static struct s *f(struct t *first)\n{\n    return (struct s *)(void *)first;\n}\n'),
    ('public', 'include/hilock/hilock.h', '#include <event2/event.h>\n'),
    ('public', 'include/hilock/hilock.h', '#include "base/text.h"\n'),
    ('public', 'include/hilock/hilock.hpp', '#include <event2/event.h>\n'),
    ('public', 'include/hilock/hilock.h', '#include <chrono>\n'),
    ('top', 'notes.txt', 'hm\n'),
    ('readmes', 'lib/base/deep/x.c', SPDX),
    ('sizes', 'lib/base/text.c', '\n' * tree.FILE_LINES_MAX),
    ('sizes', 'test/unit/test_text.c', '\n' * tree.FILE_LINES_MAX),
    ('sizes', 'include/hilock/hilock.hpp', '\n' * tree.FILE_LINES_MAX),
    ('columns', 'include/hilock/hilock.h', '/* ' + 'x' * 95 + ' */\n'),
    ('columns', 'include/hilock/hilock.hpp', '/* ' + 'x' * 95 + ' */\n'),
    *(('columns', path, 'x ' * 51 + '\n') for path in ('README.md', 'include/hilock/use.md')),
    *(('columns', path, '/* ' + 'x' * 115 + ' */\n') for path in ('lib/base/text.h', 'lib/node/node.c', 'adapters/libevent.c', 'bench/main.c',
        'lib/lock/lease.h', 'lib/wire/renew.lua')),
    ('lengths', 'lib/base/text.c', LONG),
    ('lengths', 'adapters/libevent.c', TABLE + LONG),
    ('licences', 'lib/base/new.c', '#include <string.h>\n'),
    ('licences', 'bench/new.h', ''),
    ('licences', 'bench/new.cc', ''),
    ('packages', 'README.md', '    apt-get install gcc make && make\n'),
    ('packages', 'CONTRIBUTING.md', '    apt-get install gcc meson \\\n    clang\n'),
    ('release', 'include/hilock/version.h', '#define HILOCK_VERSION "0.2.0"\n'),
    ('release', '.debian/changelog', 'hilock (0.1.0-1)\n -- x <y>  Mon, 23 Nov 2026 00:00:00 +0000\n'),
    ('links', 'README.md', '[the layers](lib/layers.md)\n'),
    ('links', 'README.md', '[the layers](lib/README.md#layers)\n'),
    ('links', 'lib/README.md', '[below](#layers)\n```\n# layers\n```\n'),
]

# ---- objects

# (rule, part of the text reported, member, source); a source calls what it names
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
                 ['redisAsyncCommand', 'hl_text_copy', 'uuid_generate', 'SSL_new', 'event_base_dispatch', 'event_base_loopbreak', 'uv_run', 'ev_run', 'sd_event_run',
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

# The folder of the upper of two files; what the lower one, in folder a, has before its function and calls in it; and where a circle is then.
UPPER = '#include "a/lower.h"\nint hl_upper(void);\nint hl_upper(void)\n{\n    return hl_lower();\n}\n'
LOWER = '#include "a/lower.h"\n%s\nint hl_lower(void)\n{\n    return %s;\n}\n'
LOWER_HEADER = 'int hl_lower(void); /* hl_upper() may be named in words */\n'
CIRCLES = [('b', '', '1', set()), ('b', 'int hl_upper(void);', 'hl_upper()', {'sources', 'objects'}),
           ('b', 'extern int hl_upper(void);\n#define UP hl_upper', 'UP()', {'sources', 'objects'}),
           ('a', 'int hl_upper(void);', 'hl_upper()', set())]

# ---- the struct around a member

# A pointer, and whether HL_CONTAINER(it, struct s, y) compiles.
CONTAINED = {'&a.y': True, '&a.x': False, '(void *)&a.y': False, '&a': False}
CONTAINER = '#include "base/container.h"\nstruct s { int x; char y; } a;\nstruct s *f(void);\nstruct s *f(void)\n{\n    return %s;\n}\n'

# ---- headers, version script and library

HEADER = 'HILOCK_API int hilock_one(void);\nHILOCK_API const char *hilock_two(\n    int x); /* HILOCK_API void hilock_gone(void); */\n'
LIBRARY = {
    'case.h': HEADER,
    'case.map': 'HILOCK_1.0 {\nglobal:\n    hilock_one;\n    hilock_two;\nlocal:\n    *;\n};\n',
    'case.c': 'int hilock_one(void) { return 1; }\nconst char *hilock_two(int x) { return x ? "" : 0; }\n',
    'soname': 'libcase.so.0',
}
# (part of the text reported, file, text in it, what stands there instead)
LIBRARY_CASES = [
    ('declared, but not in the version script', 'case.map', '    hilock_two;\n', ''),
    ('declared, but the library does not define it', 'case.c', 'hilock_two', 'hilock_three'),
    ('in the version script, but no header', 'case.h', HEADER.partition('\n')[2], ''),
    ('exported, but no header', 'case.h', HEADER.partition('\n')[2], ''),
    ('"local: *;" is missing', 'case.map', 'local:\n    *;\n', ''),
    ('exported in no node', 'case.map', '    hilock_two;\nlocal:\n    *;\n', ''),
    ('the soname is not', 'soname', '.0', '.1'),
    ('no function with HILOCK_API', 'case.h', 'HILOCK_API', 'API'),
]

# ---- the reference

INTERFACE = '''/* case.h - a case. */
/* The range tells what to do. */
typedef enum hilock_status {
    HILOCK_OK = 0,
    /* refused */
    HILOCK_INVALID = -1 /* bad argument */
} hilock_status;

struct hilock_lock_options {
    unsigned long size;
    unsigned lease_ms; /* 30000: default of the locks */
    /* Called when it is lost. */
    void (*on_lost)(int reason);
    int first, second; /* 1, 2 */
};

/* Takes it. See hilock_release. */
HILOCK_API int hilock_acquire(int wait_ms);

HILOCK_API int hilock_release(void); /* gives it back */
'''
PAGES = [('hilock', 7, 'the whole', 'case.h hilock_status'), ('hilock_lock_options', 3, 'options', 'hilock_lock_options'),
         ('hilock_acquire', 3, 'take it', 'hilock_acquire hilock_release')]
REFERENCE = {
    'include/hilock/case.h': INTERFACE,
    'test/case.c': 'int main(void) { return hilock_acquire(1) + hilock_release(); }\n',
    'guide.md': '### Options: `struct hilock_lock_options`\n| option | default |\n| `size` | |\n| `lease_ms` | 30000 |\n| `on_lost` | |\n'
                '| `first`, `second` | 1, 2 |\n',
}
ENUM_PAGE, OPTIONS_PAGE, CALLS_PAGE, HTML = 'man7/hilock.7', 'man3/hilock_lock_options.3', 'man3/hilock_acquire.3', 'hilock.html'
# As LIBRARY_CASES, of a file of the interface or of a page that is made of it
REFERENCE_CASES = [
    ('hilock_release: has no contract', 'include/hilock/case.h', ' /* gives it back */', ''),
    ('hilock_acquire: has no contract', 'include/hilock/case.h', '/* Takes it. See hilock_release. */\n', ''),
    ('hilock_acquire: no man page has it', CALLS_PAGE, 'hilock_acquire', 'hilock_other'),
    ('hilock_release: no man page has it', 'man3/hilock_release.3', '.so man3/hilock_acquire.3\n', ''),
    ('hilock_release: is not in hilock.html', HTML, 'id="hilock_release"', 'class="x"'),
    ('hilock_release: no test calls it', 'test/case.c', 'hilock_release()', '0 /* hilock_release() */'),
    ('hilock_acquire: no test calls it', 'test/case.c', 'hilock_acquire(1)', '(hilock_acquire != 0)'),
    *((f'hilock_release: its man page has no {head}', CALLS_PAGE, f'.SH {head}\n', '.SH X\n') for head in ('RETURN VALUE', 'EXAMPLES', 'SEE ALSO')),
    ('HILOCK_INVALID: is not in the reference', HTML, 'HILOCK_INVALID', 'HILOCK_OTHER'),
    ('HILOCK_OK: is not in the reference', ENUM_PAGE, 'HILOCK_OK', 'OK'),
    ('hilock_lock_options.on_lost: is not in the reference', OPTIONS_PAGE, 'on_lost', 'lost'),
    ('hilock_lock_options.second: is not in the reference', OPTIONS_PAGE, ', second', ''),
    ('hilock_lock_options.first: has no row in the guide', 'guide.md', '`first`, ', ''),
    ('lease_ms: the guide does not give its default, 30000', 'guide.md', '30000', '3000'),
    ('second: the guide does not give its default, 2', 'guide.md', '1, 2', '1, 3'),
    ('hilock.html: index and pages differ: #page-hilock_acquire', HTML, '<li><a href="#page-hilock_acquire">', '<li><a href="#page-hilock">'),
    ('hilock.html: is not whole without a server: script', HTML, '<script>', '<script src="page.js">'),
    ('hilock.html: not well-formed', HTML, '</body>', ''),
    ('hilock.html: two anchors are called hilock_acquire', HTML, 'id="hilock_release"', 'id="hilock_acquire"'),
    ('hilock_more: on no page', 'include/hilock/case.h', '/* Takes', 'HILOCK_API int hilock_more(void); /* more */\n/* Takes'),
    ('a comment that stands above nothing', 'include/hilock/case.h', '/* Takes', '/* Whose is this? */\n\n/* Takes'),
    ('a comment that stands above nothing', 'include/hilock/case.h', '/* Takes', '/* Whose is this? */\n/* Takes'),
    ('hilock.html: a link leads nowhere: hilock_release', HTML, 'id="hilock_release"', 'class="x"'),
]


def changed(files, path, this, that):
    """A copy in which that stands in the place of this; without this it is appended."""
    text = files.get(path, '')
    if this not in text:
        raise SystemExit(f'the case finds no {this!r} in {path}')
    return {**files, path: text.replace(this, that) if this else text + that}


def in_tree(files):
    """[(rule, text)]"""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            write(root, path, text)
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


def in_objects(compiler, core, adapter):
    with tempfile.TemporaryDirectory() as root:
        return objects.check(archive(compiler, root, 'core', core), archive(compiler, root, 'adapter', adapter))


def circles_in(compiler, upper_folder, *lower):
    sources = {f'{upper_folder}/upper': UPPER, 'a/lower': LOWER % lower}
    with tempfile.TemporaryDirectory() as root:
        write(root, 'lib/a/lower.h', LOWER_HEADER)
        for name, text in sources.items():
            write(root, f'lib/{name}.c', text)
        core = archive(compiler, root, 'core', [(name.replace('/', '_') + '.c.o', text) for name, text in sources.items()])
        return {text.split(':')[0] for _, text in circles.check(root, core) if 'circle' in text}


def contains(compiler, pointer):
    """Whether it compiles without a warning."""
    command = [*compiler, '-std=c11', '-Wpedantic', '-Werror', '-fsyntax-only', '-I', LIB, '-x', 'c', '-']
    text = CONTAINER % f'HL_CONTAINER({pointer}, struct s, y)'
    return subprocess.run(command, input=text, text=True, stderr=subprocess.DEVNULL).returncode == 0


def in_library(compiler, files):
    with tempfile.TemporaryDirectory() as root:
        header, script, source = (write(root, name, files[name]) for name in ('case.h', 'case.map', 'case.c'))
        library = os.path.join(root, 'libcase.so')
        subprocess.run([*compiler, '-shared', '-fPIC', '-w', source, '-o', library, '-Wl,--version-script=' + script,
                        '-Wl,-soname,' + LIBRARY['soname']], check=True)
        return list(symbols.check(library, script, files['soname'], [header]))


def in_reference(files, page=None, this='', that=''):
    """page: that change is made in a page that was made."""
    import pages
    import to_html
    import to_man
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            write(root, path, text)
        try:
            every = pages.read(os.path.join(root, 'include'), PAGES, ['case.h'], {'hilock_acquire': 'hilock_acquire(1);'})
        except SystemExit as refusal:
            return [str(refusal)]
        made = {**to_man.files(every, '1.0'), HTML: to_html.html(every, '1.0')}
        made = changed(made, page, this, that) if page else made
        header, tests, guide = (os.path.join(root, name) for name in ('include/hilock/case.h', 'test', 'guide.md'))
        return list(reference.check([header], made, tests, reference.read(guide)))


def unreported(compiler):
    """Of each table: what is reported without need, and what is not reported."""
    yield from (f'silent expected, reported {problem}' for problem in [
        *in_tree(TREE), *in_objects(compiler, GOOD_CORE, GOOD_ADAPTER), *in_library(compiler, LIBRARY), *in_reference(REFERENCE)])
    for rule, path, text in TREE_CASES:
        found = in_tree(changed(TREE, path, '', text))
        if {name for name, _ in found} != {rule}:
            yield f'{rule}, {path}: reported {found}'
    found = in_objects(compiler, *([case[2:] for case in cases] for cases in (CORE_CASES, ADAPTER_CASES)))
    for rule, part, member, _ in CORE_CASES + ADAPTER_CASES:
        if not any(name == rule and part in text and text.startswith(member.removeprefix('.._')) for name, text in found):
            yield f'{rule} {part} {member}: reported {found}'
    yield from (f'rule without a case: {rule.__name__}' for rule in tree.RULES if rule.__name__ not in [case[0] for case in TREE_CASES])
    yield from (f'calls without a case: {why}' for _, _, why in objects.CALLS + objects.ADAPTER_CALLS
                if not any(name == 'calls' and text.endswith(why) for name, text in found))
    for *lower, where in CIRCLES:
        if circles_in(compiler, *lower) != where:
            yield f'a circle by {lower}: found in {circles_in(compiler, *lower)}'
    yield from (f'HL_CONTAINER of {pointer}: wrong' for pointer, is_good in CONTAINED.items() if contains(compiler, pointer) != is_good)
    for part, *change in LIBRARY_CASES + REFERENCE_CASES:
        if change[0] in LIBRARY:
            found = in_library(compiler, changed(LIBRARY, *change))
        elif change[0] in REFERENCE:
            found = in_reference(changed(REFERENCE, *change))
        else:
            found = in_reference(REFERENCE, *change)
        if not any(part in text for text in found):
            yield f'{part}: reported {found}'


def main(*arguments):
    *compiler, renderer = arguments
    sys.path.insert(0, renderer)
    failures = list(unreported(compiler))
    count = sum(map(len, (TREE_CASES, CORE_CASES, ADAPTER_CASES, CIRCLES, CONTAINED, LIBRARY_CASES, REFERENCE_CASES)))
    print('\n'.join(failures) or f'{count} violations planted, all of them reported')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
