# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that can be read from compiled objects, whatever macro or inline function brought a call in: who may call
what, no mutable globals, no name outside our prefixes. check(core, adapter..) takes archives and answers a list of (rule, text).

Members are named by meson after their source: base_text.c.o is lib/base/text.c, meson-generated_.._wire_x.c.o a generated file."""
import re
import subprocess

FOLDERS = ('base', 'link', 'node', 'wire', 'core', 'hold', 'lock', 'group', 'client')
# What compilers put into objects: instrumented builds (-fsanitize, --coverage), and position-independent code of i386; not ours.
INSTRUMENTED = re.compile(r'__(odr_asan|asan|ubsan|tsan|sanitizer|gcov|llvm|x86\.get_pc_thunk)|\.?L?\.?(asan|ubsan)|_GLOBAL__sub_|__covrec')


def only(*members):
    return lambda member: member.startswith(members)


def nowhere(member):
    return False


# (undefined symbols, who may have them, why)
CALLS = [
    (r'redis[A-Z]\w*|freeReplyObject|sds\w+|hi_\w+', only('link_'), 'hiredis is known to lib/link alone'),
    (r'(SSL|TLS|X509|BIO|ERR|EVP|PEM|CRYPTO|OPENSSL)_\w+|redis\w*SSL\w*', only('link_tls'), 'TLS is known to lib/link/tls alone'),
    (r'uuid_\w+', only('client_open.'), 'the client is named in lib/client/open.c alone'),
    (r'clock_gettime|gettimeofday|time|times|clock|ftime|timespec_get|timerfd_\w+', nowhere, 'time comes from the loop (now_us)'),
    (r'w?rand(om)?(_r)?|s?rand(om)?|[a-z]rand48(_r)?|getrandom|getentropy|arc4random\w*', nowhere, 'chance comes from base/random.h'),
    (r'event_\w+|evtimer_\w+|evutil_\w+|evdns_\w+|ev(buffer|http|signal)_\w+|bufferevent_\w+|uv_\w+|ev_\w+|sd_event_\w+|epoll_\w+|poll|select', nowhere,
     'the loop is known to adapters alone'),
    (r'getaddrinfo\w*|gethostby\w+', nowhere, 'names are resolved by the loop: these block'),
    (r'u?sleep|nanosleep|clock_nanosleep|pthread_(create|join|cond_\w*)|thrd_\w+|fork|vfork|system|popen|waitpid|alarm|setitimer', nowhere,
     'the library never blocks and starts nothing'),
    (r'signal|sigaction|setenv|putenv|setlocale|atexit|pthread_atfork|__register_atfork', nowhere, 'the process stays its owner\'s'),
    (r'malloc|calloc|realloc|reallocarray|free|strn?dup|v?asprintf|__v?asprintf_chk|aligned_alloc|posix_memalign', only('base_memory.'),
     'memory comes from the client\'s allocator (base/memory.h)'),
    (r'__assert_fail|abort|_?exit|_Exit|quick_exit', only('base_contract.'), 'a broken invariant stops by base/contract.h; nothing else ends the process'),
    (r'connect|socket|send\w*|recv\w*|setsockopt|getsockopt|shutdown|accept4?|bind|listen', only('link_'), 'sockets are lib/link\'s'),
]
ADAPTER_CALLS = [
    (r'redis[A-Z]\w*|freeReplyObject|sds\w+', nowhere, 'an adapter knows no Redis'),
    (r'hl_(?!libevent_|nest_|blocking_)\w+', nowhere, 'an adapter uses what include/hilock declares, and its own'),
    (r'SSL_\w+|uuid_\w+', nowhere, 'an adapter knows its loop alone'),
    (r'event_base_(loop|dispatch)', only('adapters_blocking_thread.', 'adapters_libevent_close.'), 'a loop is turned by the program, in a thread of its own, or for a close'),
    (r'uv_run|ev_run|sd_event_run', only('adapters_libuv_close.', 'adapters_libev_close.', 'adapters_sd-event_close.'), 'a loop is turned by the program, or for a close'),
    (r'getaddrinfo', only('adapters_nest_resolve.'), 'what blocks is done in a thread of adapters/nest_resolve.c'),
    (r'pthread_create', only('adapters_blocking_thread.', 'adapters_nest_resolve.'), 'threads are for a loop of their own, and for names'),
    (r'signal|sigaction|fork|gethostby\w+|event_base_(loopexit|loopbreak)|uv_stop|ev_break|sd_event_(loop|exit)', nowhere,
     'an adapter neither blocks, nor turns the loop, nor changes the process'),
    (r'u?sleep|(clock_)?nanosleep|sem_(timed|clock)wait|pthread_cond_\w*wait|evthread_\w+', nowhere,
     'the limits of the library end every wait, and libevent needs no locks'),
]
SYMBOL = re.compile(r'^[0-9a-f]{8,16} (.{7}) (\S+)\s+[0-9a-f]{8,16}\s+(?:\.hidden )?(\S+)$')


def symbols(archive):
    """(member, flags, section, name) of every symbol."""
    text = subprocess.run(['objdump', '-t', archive], check=True, capture_output=True, text=True).stdout
    member = None
    for line in text.splitlines():
        heading = re.match(r'^(\S+):\s+file format', line)
        if heading:
            member = heading.group(1).split('/')[-1].replace('meson-generated_', '').replace('.._', '')
        match = SYMBOL.match(line)
        if match and not INSTRUMENTED.match(match.group(3)):
            yield member, match.group(1), match.group(2), match.group(3)


def calls(table, rules):
    for member, _, section, name in table:
        for pattern, is_allowed, why in rules:
            if section == '*UND*' and re.fullmatch(pattern, name) and not is_allowed(member):
                yield 'calls', f'{member}: uses {name}: {why}'


def mutable(table):
    """A constant with relocations (.data.rel.ro) is read-only once loaded; all else in .data, .bss and thread storage can change."""
    for member, flags, section, name in table:
        is_data = re.match(r'\.(data|bss|tdata|tbss)|\*COM\*', section) and not section.startswith('.data.rel.ro')
        if is_data and 'd' not in flags and name != section:
            yield 'mutable', f'{member}: {name} in {section} is a mutable global: it belongs to a client (or make it const)'


def prefixes(table, pattern):
    for member, flags, section, name in table:
        if section != '*UND*' and (flags[0] in 'gu!' or 'w' in flags) and not re.match(pattern, name):
            yield 'prefixes', f'{member}: {name} is visible to a program that links statically: call it {pattern}, or make it static'


def unknown(table):
    for member in sorted({row[0] for row in table}):
        if not member.startswith(tuple(folder + '_' for folder in FOLDERS)):
            yield 'unknown', f'{member}: an object of no folder of lib/: the rules cannot place it'


def check(core, *adapters):
    core, adapters = list(symbols(core)), [list(symbols(adapter)) for adapter in adapters]
    if not core or not all(adapters):
        return [('unknown', 'an archive has no symbols: objdump failed, or link-time optimization is on')]
    problems = [*unknown(core), *calls(core, CALLS), *mutable(core), *prefixes(core, 'hl_|hilock_')]
    for adapter in adapters:
        problems += [*calls(adapter, ADAPTER_CALLS), *mutable(adapter), *prefixes(adapter, 'hl_|hilock_')]
    return problems
