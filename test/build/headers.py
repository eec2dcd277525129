# SPDX-License-Identifier: BSD-3-Clause
"""headers.py INCLUDE_DIR CC CXX - each public header compiles alone, also twice, and with the others in any
order, as C99, C11, C++11 and C++20, with every warning an error; and hilock.hpp as C++17, C++20 and C++23: alone,
behind all others, used up to its last function, and as the program in its opening comment. Coroutines are there from
C++20 on. What must not compile is tried, too: or else flags that do nothing would go unseen."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

from outside import read, write

STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Wundef', '-Werror']
STRICT_CXX = ['-Wnon-virtual-dtor', '-Woverloaded-virtual']
QUICK, WHOLE = ['-fsyntax-only'], ['-O1', '-c', '-o', os.devnull]
C_USE = ('const struct hilock_lock_options *use(void);\n'
         'const struct hilock_lock_options *use(void)\n{\n'
         '    static struct hilock_lock_options kept;\n'
         '    kept = *HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 5000);\n'
         '    kept.name_length = HILOCK_CLIENT_OPTIONS(.url = "unix:///s")->size;\n'
         '    return &kept;\n}\n')
CXX_USE = ('hilock_lock_options use();\n'
           'hilock_lock_options use()\n{\n'
           '    auto options = hilock_lock_options_default();\n'
           '    options.on_lost = [](const hilock_event *, void *) {};\n'
           '    return options;\n}\n')
UNIT = 'extern int hilock_unit; /* a unit of nothing but preprocessor lines is not ISO C */\n'
PLANTED = 'static inline unsigned char hilock_narrow(unsigned x) { return x; }\n'
HPP_STANDARDS = ('c++17', 'c++20', 'c++2b')
PARTS = ('hilock/detail/state.hpp', 'hilock/hilock.hpp')
USE = '''
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.hpp>
#include <hilock/loop.h>
#include <type_traits>
using namespace std::chrono_literals;
using hilock::client, hilock::lock, hilock::on_result;
static_assert(!std::is_copy_constructible_v<client> && std::is_nothrow_move_constructible_v<client> && std::is_nothrow_move_assignable_v<client>);
static_assert(!std::is_copy_constructible_v<lock> && std::is_nothrow_move_constructible_v<lock> && std::is_nothrow_move_assignable_v<lock>);
static_assert(std::is_nothrow_destructible_v<lock> && std::is_nothrow_destructible_v<client>);
#define NO_EXCEPTION_CROSSES(call) static_assert(noexcept(call(nullptr, nullptr)))
NO_EXCEPTION_CROSSES(hilock::detail::lock_state::was_answered);
NO_EXCEPTION_CROSSES(hilock::detail::lock_state::was_lost);
NO_EXCEPTION_CROSSES(hilock::detail::lock_state::happened);
NO_EXCEPTION_CROSSES(hilock::detail::client_state::happened);
static_assert(noexcept(hilock::detail::client_state::has_closed(nullptr)));
static_assert(noexcept(hilock::detail::client_state::log(HILOCK_LOG_WARN, "", nullptr)));
int use(event_base *base, const hilock_loop *loop);
int use(event_base *base, const hilock_loop *loop)
{
    client plain(hilock_client_open, loop);
    plain.abandon();
    hilock::client_options where;
    where.lease = 5s;
    where.on_log = [](hilock_log_level, const char *) {};
    where.more.waiters_max = 9;
    client c(hilock_client_open_libevent, base, std::move(where));
    hilock::lock_options how;
    how.on_lost = hilock::lost_ignored;
    how.hold_max = 1min;
    lock l(c, "name", how);
    auto all = lock::all_of(c, {"a", "b"}, how);
    on_result say = [](const hilock::result &r) { (void)to_string(r.status); };
    if (l.acquire(1s, say) != hilock::status::ok || l.extend(2s, say) != hilock::status::ok || l.peek(say) != hilock::status::ok)
        return l.refusal() != nullptr;
    l.release({});
    l.drop();
    const auto seen = all.validity();
    return l.cancel() == c.close(hilock::forever, {}) && l.token() == all.token(1) && hilock::remaining(seen) > l.remaining();
}
'''
AWAIT = '''
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};
task await(client &c);
task await(client &c)
{
    lock l(c, "name", {.on_lost = hilock::lost_ignored, .lease = 5s});
    const hilock::result got = co_await l.acquire(1s);
    if (got && (co_await l.extend()) && (co_await l.downgrade()) && (co_await l.peek()) && (co_await l.holders({})))
        co_await l.release();
    co_await c.close();
}
'''
# In USE, in the place of l.drop(), a line each: why it may not compile, and the line
REFUSED = {'an answer is thrown away': 'l.acquire(1s, say);', 'a conversion': 'unsigned char narrow = static_cast<unsigned>(l.token()); (void)narrow;',
           'microseconds': '(void)l.acquire(1us, say);', 'a copy': 'auto copy = l;', 'nobody awaits': 'l.release();'}


def example(include_dir):
    """The program in the opening comment: its first lines that are set in by five, and those without text between them."""
    found = re.search(r'^ \*     #include.*\n(?: \*(?:     .*)?\n)+', read(os.path.join(include_dir, PARTS[1])), re.M)
    return re.sub(r'^ \*(?:     )?', '', found.group(), flags=re.M)


def compiles(include_dir, compiler, standard, text, how):
    """None, or what is wrong."""
    flags = ['-x', 'c++', *STRICT_CXX] if '++' in standard else ['-x', 'c']
    command = [compiler, *flags, '-std=' + standard, *STRICT, '-I', include_dir, *how, '-']
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


def accepted(include_dir, compiler):
    """Those of REFUSED without an error in their line. All are in one text: to read hilock.hpp takes two seconds."""
    text = USE.replace('l.drop();', '\n'.join(REFUSED.values()))
    before = text[:text.index(REFUSED['an answer is thrown away'])].count('\n')
    told = compiles(include_dir, compiler, 'c++20', text, QUICK) or ''
    wrong = {int(line) - before for line in re.findall(r'^<stdin>:(\d+):\d+: error', told, re.M)}
    return [f'{compiler}: {why}: compiles' for number, why in enumerate(REFUSED, 1) if number not in wrong]


def older_standard(include_dir, compiler):
    """What is wrong with the first error of hilock.hpp as C++14."""
    told = compiles(include_dir, compiler, 'c++14', f'#include <{PARTS[1]}>\n', QUICK) or 'it compiles'
    first = next((line for line in told.splitlines() if 'error' in line), told)
    return [] if 'hilock.hpp needs C++17' in first else [f'{compiler} -std=c++14: {first}']


def texts(names, use):
    for name in names:
        yield name + ' alone, twice', f'#include <{name}>\n' * 2 + UNIT
    for order, title in ((names, 'all'), (names[::-1], 'all, backwards')):
        yield title, ''.join(f'#include <{name}>\n' for name in order) + use


def c_jobs(include_dir, names, planted, c_compiler, cxx_compiler):
    """(compiler, standard, title, text, whether it must compile, folder, how)"""
    every = [(c_compiler, standard, C_USE) for standard in ('c99', 'c11')]
    every += [(cxx_compiler, standard, CXX_USE) for standard in ('c++11', 'c++20')]
    for compiler, standard, use in every:
        for title, text in texts(names, use):
            yield compiler, standard, title, text, True, include_dir, WHOLE
        yield compiler, standard, 'a planted conversion', f'#include <{names[0]}>\n' + UNIT, False, planted, WHOLE


def hpp_jobs(include_dir, c_headers, compiler):
    """Likewise. The program stands behind hilock.hpp alone, twice: each time that this is read costs."""
    alone = {part: f'#include <{part}>\n' * 2 for part in PARTS}
    behind_all = ''.join(f'#include <{name}>\n' for name in [*PARTS, *c_headers])
    for standard in HPP_STANDARDS:
        for title, text, how in (
                (f'{PARTS[0]} alone, twice', alone[PARTS[0]], QUICK),
                (f'{PARTS[1]} alone, twice, and the program of its opening comment', alone[PARTS[1]] + example(include_dir), QUICK),
                ('used', behind_all + USE + ('' if standard == 'c++17' else AWAIT), WHOLE)):
            yield compiler, standard, title, text, True, include_dir, how


def main(include_dir, c_compiler, cxx_compiler):
    names = sorted(os.path.relpath(os.path.join(folder, file), include_dir)
                   for folder, _, files in os.walk(include_dir) for file in files if file.endswith('.h'))
    with tempfile.TemporaryDirectory() as planted, concurrent.futures.ThreadPoolExecutor(2) as pool:
        shutil.copytree(include_dir, planted, dirs_exist_ok=True)
        write(planted, names[0], PLANTED, 'a')
        jobs = [*c_jobs(include_dir, names, planted, c_compiler, cxx_compiler), *hpp_jobs(include_dir, names, cxx_compiler)]
        told = list(pool.map(lambda job: compiles(job[5], job[0], job[1], job[3], job[6]), jobs))
    failures = [f'{job[0]} -std={job[1]}, {job[2]}: ' + (text or 'compiles')
                for job, text in zip(jobs, told) if (text is None) != job[4]]
    failures += accepted(include_dir, cxx_compiler) + older_standard(include_dir, cxx_compiler)
    print('\n'.join(failures) or f'{len(names)} headers, {len(jobs) + 1} compilations by {c_compiler}, {cxx_compiler}')
    return 1 if failures or not names else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
