# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the reference, in the order of its contents: (name, section, what it is in a line, the names of the headers that are on it).
A public name that is on no page, or on two, ends in an error that says so."""
import os
import re
import textwrap

import header

HEADERS = ['hilock.h', 'options.h', 'inquiry.h', 'stats.h', 'trace.h', 'loop.h', 'version.h', 'memory.h', 'blocking.h', 'adapters/libevent.h', 'adapters/libuv.h', 'adapters/libev.h', 'adapters/sd-event.h']
OPENINGS = ['hilock.hpp']  # C++, of which the opening comment is read
SYNOPSIS_COLUMNS = 72
UNSAID = {'HILOCK_H', 'HILOCK_BEGIN', 'HILOCK_END', 'HILOCK_API', 'HILOCK_CHECKED', 'HILOCK_LOOP_H', 'HILOCK_VERSION_H', 'HILOCK_MEMORY_H',
          'HILOCK_ADAPTERS_LIBEVENT_H', 'HILOCK_ADAPTERS_LIBUV_H', 'HILOCK_ADAPTERS_LIBEV_H', 'HILOCK_ADAPTERS_SD_EVENT_H',
          'HILOCK_BLOCKING_H', 'HILOCK_OPTIONS_H', 'HILOCK_INQUIRY_H', 'HILOCK_STATS_H', 'HILOCK_TRACE_H'}
PAGES = [
    ('hilock', 7, 'asynchronous distributed locks: the contract of every call',
     'hilock.h hilock_client hilock_lock hilock_validity HILOCK_TRY HILOCK_FOREVER'),
    ('hilock.hpp', 3, 'hilock in C++: objects, function objects, coroutines', 'hilock.hpp'),
    ('hilock_status', 3, 'what a call answers', 'hilock_status hilock_status_name hilock_status_text'),
    ('hilock_result', 3, 'the answer to an accepted call', 'hilock_operation hilock_state hilock_result hilock_result_fn'),
    ('hilock_event', 3, 'what happens by itself', 'hilock_event_kind hilock_lost_reason hilock_event hilock_event_fn'),
    ('hilock_client_open_libevent', 3, 'open a client on a libevent base',
     'adapters/libevent.h hilock_client_open_libevent hilock_libevent_loop'),
    ('hilock_client_close_libevent', 3, 'close a client, and turn its libevent base until it is gone', 'hilock_client_close_libevent'),
    ('hilock_client_open_libuv', 3, 'open a client on a libuv loop', 'adapters/libuv.h hilock_client_open_libuv hilock_libuv_loop'),
    ('hilock_client_close_libuv', 3, 'close a client, and run its libuv loop until it is gone', 'hilock_client_close_libuv'),
    ('hilock_client_open_libev', 3, 'open a client on a libev loop', 'adapters/libev.h hilock_client_open_libev hilock_libev_loop'),
    ('hilock_client_close_libev', 3, 'close a client, and run its libev loop until it is gone', 'hilock_client_close_libev'),
    ('hilock_client_open_sd_event', 3, 'open a client on an sd-event loop',
     'adapters/sd-event.h hilock_client_open_sd_event hilock_sd_event_loop'),
    ('hilock_client_close_sd_event', 3, 'close a client, and run its sd-event loop until it is gone', 'hilock_client_close_sd_event'),
    ('hilock_client_open', 3, 'open a client on any event loop', 'hilock_client_open hilock_error'),
    ('hilock_client_options', 3, 'options of a client',
     'options.h hilock_client_options HILOCK_GUARD_OFF hilock_allocator hilock_log_level hilock_log_fn hilock_log_stderr hilock_log_nothing'),
    ('hilock_client_close', 3, 'end a client', 'hilock_closed_fn hilock_client_close hilock_client_abandon'),
    ('hilock_client_adopt', 3, 'turn the loop on another thread', 'hilock_client_adopt'),
    ('hilock_client_refusal', 3, 'why a call was refused', 'hilock_client_refusal'),
    ('hilock_client_uuid', 3, 'ask a client', 'hilock_client_uuid hilock_client_is_connected'),
    ('hilock_client_weak', 3, 'keep a client that somebody else may end', 'hilock_weak hilock_client_weak hilock_weak_client hilock_weak_unref'),
    ('hilock_lock_create', 3, 'make a lock handle', 'hilock_lock_create'),
    ('hilock_lock_options', 3, 'options of a lock',
     'hilock_kind hilock_renew hilock_wake hilock_lock_options hilock_lost_ignored HILOCK_NAME_MAX HILOCK_ANY_NUMBER '
     'HILOCK_CLIENT_OPTIONS HILOCK_LOCK_OPTIONS hilock_client_options_default hilock_lock_options_default'),
    ('hilock_multi_create', 3, 'make one handle for several names', 'hilock_multi_create'),
    ('hilock_lock_free', 3, 'end whatever a handle does', 'hilock_lock_free hilock_lock_drop'),
    ('hilock_acquire', 3, 'take a lock, or wait for it', 'hilock_acquire'),
    ('hilock_release', 3, 'give a lock back', 'hilock_release'),
    ('hilock_extend', 3, 'prove a hold, and lengthen it', 'hilock_extend'),
    ('hilock_downgrade', 3, 'go on as one that shares the name', 'hilock_downgrade'),
    ('hilock_cancel', 3, 'end a wait', 'hilock_cancel'),
    ('hilock_lock_remaining_ms', 3, 'ask a lock handle',
     'hilock_lock_remaining_ms hilock_lock_token hilock_multi_token hilock_lock_state hilock_lock_name hilock_lock_user'),
    ('hilock_lock_validity', 3, 'a hold as other threads see it',
     'hilock_lock_validity hilock_validity_remaining_ms hilock_validity_ref hilock_validity_unref'),
    ('hilock_client_each_lock', 3, 'list what is held and awaited',
     'stats.h hilock_lock_info hilock_visit_fn hilock_client_each_lock hilock_lock_describe'),
    ('hilock_peek', 3, 'who holds a name', 'inquiry.h hilock_peek'),
    ('hilock_holders', 3, 'all who hold a name', 'hilock_holder_info hilock_holder_fn HILOCK_HOLDERS_LISTED hilock_holders'),
    ('hilock_force_release', 3, "end somebody else's hold", 'hilock_force_release'),
    ('hilock_client_stats', 3, 'statistics',
     'HILOCK_BUCKETS HILOCK_STATUSES hilock_histogram hilock_stats hilock_client_stats hilock_weak_stats hilock_stats_add hilock_stats_prometheus'),
    ('hilock_trace', 3, 'every step of every lock, for tracing', 'trace.h hilock_trace_step hilock_trace hilock_trace_fn'),
    ('hilock_libevent_metrics', 3, 'serve statistics to Prometheus on libevent',
     'hilock_libevent_page hilock_libevent_served hilock_libevent_metrics hilock_libevent_metrics_drop hilock_libevent_metrics_free'),
    ('hilock_version', 3, 'which version this is', 'version.h hilock_version HILOCK_VERSION HILOCK_VERSION_NUMBER'),
    ('hilock_blocking_open', 3, 'a client for threads and scripts that may block',
     'blocking.h hilock_blocking hilock_blocking_lock hilock_blocking_open hilock_blocking_close hilock_blocking_free'),
    ('hilock_blocking_acquire', 3, 'take, prove and give back a lock with calls that block',
     'hilock_blocking_result hilock_blocking_acquire hilock_blocking_extend hilock_blocking_downgrade hilock_blocking_release'),
    ('hilock_blocking_remaining_ms', 3, 'ask a lock of a blocking client, on any thread',
     'hilock_blocking_remaining_ms hilock_blocking_token hilock_blocking_lost_fd'),
    ('hilock_loop', 3, 'what an adapter gives: an event loop',
     'loop.h HILOCK_READABLE hilock_ready_fn hilock_fire_fn hilock_resolved_fn hilock_loop'),
    ('hilock_memory', 3, 'a store inside the process, for tests',
     'memory.h hilock_memory hilock_memory_options HILOCK_MEMORY_OPTIONS hilock_memory_open hilock_memory_close hilock_memory_url '
     'hilock_memory_holder hilock_memory_holders hilock_memory_remaining_ms hilock_memory_links hilock_memory_commands'),
    ('hilock_memory_clock', 3, 'a clock that jumps, for tests',
     'hilock_memory_clock hilock_memory_clock_new hilock_memory_clock_wrap hilock_memory_clock_jump hilock_memory_clock_free'),
    ('hilock_memory_expire', 3, 'break a store in memory on purpose',
     'hilock_memory_expire hilock_memory_take hilock_memory_verify hilock_memory_lose hilock_memory_advance hilock_memory_disconnect hilock_memory_restart '
     'hilock_memory_delay hilock_memory_hang hilock_memory_refuse'),
]


class Page:
    def __init__(self, name, section, brief, items, example=''):
        self.name, self.section, self.brief, self.items, self.example = name, section, brief, items, example
        self.includes = list(dict.fromkeys(item.path for item in items if item.kind != 'header' or item.path in OPENINGS))

    def aliases(self):
        """The other names by which the page is looked up."""
        return [item.name for item in self.items if item.kind != 'header' and item.name != self.name]


def examples_in(path):
    """{page: code}, of a source whose parts begin with a line that names the page."""
    with open(path, encoding='utf-8') as file:
        parts = re.split(r'^/\* page (\S+) \*/\n', file.read(), flags=re.M)[1:]
    return {name: code.strip() for name, code in zip(parts[::2], parts[1::2])}


def read(include_dir, pages=None, names=None, examples=None):
    """The pages, with what the headers in include_dir/hilock say."""
    items = {}
    for name in names or HEADERS:
        for item in header.read(os.path.join(include_dir, 'hilock', name), name):
            items.setdefault(item.name, item)
    for name in [] if names else OPENINGS:
        items[name] = header.opening(os.path.join(include_dir, 'hilock', name), name)
    found, used = [], UNSAID.copy()
    for name, section, brief, on_it in pages or PAGES:
        for word in on_it.split():
            if word in used:
                raise SystemExit(f'{word}: is on two pages; include/reference/pages.py')
            if word not in items:
                raise SystemExit(f'{word}: no header declares it, but page {name} has it; include/reference/pages.py')
            used.add(word)
        found.append(Page(name, section, brief, [items[word] for word in on_it.split()], (examples or {}).get(name, '')))
    unknown = set(examples or {}) - {page.name for page in found}
    if unknown:
        raise SystemExit(f'{", ".join(sorted(unknown))}: an example of no page')
    missing = sorted(items.keys() - used)
    if missing:
        raise SystemExit(f'{", ".join(missing)}: on no page; include/reference/pages.py')
    return found


SPAN = re.compile(r'`([^`]+)`|\b((?:hilock|HILOCK)_\w*[a-zA-Z0-9](?:\(\))?)|^((?:Result|Refusals)(?: as for|:))')


def spans(text):
    """[(kind, text)]: 'text', 'name' a public name, 'code' what stands in backticks, 'lead' what opens a paragraph of a contract."""
    at = 0
    for match in SPAN.finditer(text):
        yield 'text', text[at:match.start()]
        kind = ('code', 'name', 'lead')[match.lastindex - 1]
        yield kind, match.group(match.lastindex)
        at = match.end()
    yield 'text', text[at:]


def paragraphs(text):
    """A contract's results and refusals get paragraphs of their own."""
    return re.split(r'(?<=[.;:)] )(?=(?:Result|Refusals)(?: as for|:))', text)


def answers(doc):
    """(what a doc says of the call, what it says of its answers): paragraphs of results and refusals are answers, and all behind them."""
    said, answered = [], []
    for kind, text in doc:
        for part in paragraphs(text) if kind == 'p' else [text]:
            (answered if answered or re.match(r'(Result|Refusals)\b', part) else said).append((kind, part))
    return said, answered


def returned(item):
    """What a function returns, in a sentence for each type; '' for what is no function."""
    match = re.match(r'(?:static inline |HILOCK_API |HILOCK_CHECKED )*(.*?)\bhilock_\w+\((.*)\);', ' '.join(item.code.split()))
    kind, arguments = (match.group(1).strip(), match.group(2)) if match else ('void', '')
    if item.kind != 'function':
        return ''
    if kind == 'void':
        return 'Nothing.'
    if kind == 'hilock_status':
        return 'HILOCK_OK: accepted, and what was asked for is done or answered later. Below 0: refused, and nothing happened.'
    is_an_object = re.search(r'hilock_(client|lock|validity|blocking|memory)\b', arguments)
    nothing = '""' if kind == 'const char *' else 'NULL' if kind.endswith('*') else '0'
    return 'As described' + (f'. {nothing} of NULL, on a wrong thread and in a forked child, unless it says otherwise.' if is_an_object else '.')


def names_in(item):
    """The public names that an item speaks of."""
    docs = [[('p', item.code)], item.doc] + [doc for member in item.members for doc in (member.doc, member.group)]
    return {part.removesuffix('()') for doc in docs for _, text in doc for kind, part in spans(text) if kind == 'name'}


def constants_in(member):
    """The enumerator that a member is; none for one of a struct."""
    return re.findall(r'^HILOCK_\w+', member.code)


def title(item):
    return f'{item.kind} {item.name}' if item.name.islower() else f'{item.kind} of {item.name} and its like'


def synopsis(item):
    """The lines that declare it, as a reader wants them: without what they mean to a compiler, and not too long."""
    if item.kind == 'macro' and '(' in item.code:
        return [item.code[:item.code.index(')') + 1]]
    code = ' '.join(re.sub(r'\b(HILOCK_API|HILOCK_CHECKED)\s+|\\\n|/\*.*?\*/', '', item.code, flags=re.S).split())
    code = re.sub(r'(?<!,) ', '\0', code) # lines break behind a comma only
    lines = textwrap.wrap(code, SYNOPSIS_COLUMNS, subsequent_indent=' ' * 8, break_long_words=False, break_on_hyphens=False)
    return [line.replace('\0', ' ') for line in lines]
