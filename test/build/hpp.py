# SPDX-License-Identifier: BSD-3-Clause
"""hpp.py INCLUDE_DIR CXX - hilock.hpp compiles as C++17, C++20 and C++23, with every warning an error: alone, from behind, beside the C headers, used
up to its last function, and as the program in its opening comment. Coroutines are there from C++20 on. What must not compile is tried, too."""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

STANDARDS = ('c++17', 'c++20', 'c++2b')
STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Wundef', '-Wnon-virtual-dtor', '-Woverloaded-virtual', '-Werror']
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
    if (got && (co_await l.extend()) && (co_await l.peek()))
        co_await l.release();
    co_await c.close();
}
'''
# In USE, in the place of l.drop(): (why it may not compile, text)
REFUSED = [('an answer is thrown away', 'l.acquire(1s, say);'), ('a conversion', 'unsigned char narrow = static_cast<unsigned>(l.token()); (void)narrow;'),
           ('microseconds', '(void)l.acquire(1us, say);'), ('a copy', 'auto copy = l;'), ('nobody awaits', 'l.release();')]


def example(include_dir):
    """The program in the opening comment: its first lines that are set in by five, and those without text between them."""
    with open(os.path.join(include_dir, PARTS[1]), encoding='utf-8') as file:
        found = re.search(r'^ \*     #include.*\n(?: \*(?:     .*)?\n)+', file.read(), re.M)
    return re.sub(r'^ \*(?:     )?', '', found.group(), flags=re.M)


def compiles(include_dir, compiler, standard, text, *more):
    command = [compiler, '-x', 'c++', '-std=' + standard, *STRICT, '-I', include_dir, *more, '-']
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


def cases(include_dir, standard):
    """(title, text, whether it must compile, options)"""
    c_headers = sorted(os.path.relpath(os.path.join(folder, file), include_dir)
                       for folder, _, files in os.walk(include_dir) for file in files if file.endswith('.h'))
    quick, whole = ['-fsyntax-only'], ['-O1', '-c', '-o', os.devnull]
    has_coroutines = standard != 'c++17'
    for part in PARTS:
        yield f'{part} alone, twice', f'#include <{part}>\n' * 2, True, quick
    text = ''.join(f'#include <{name}>\n' for name in [*PARTS, *c_headers]) + USE + (AWAIT if has_coroutines else '')
    yield 'used', text, True, whole
    yield 'the program of the opening comment', example(include_dir), True, quick
    if standard == 'c++20':
        for title, planted in REFUSED:
            yield title, USE.replace('l.drop();', planted), False, quick


def main(include_dir, compiler):
    jobs = [(standard, *case) for standard in STANDARDS for case in cases(include_dir, standard)]
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda job: compiles(include_dir, compiler, job[0], job[2], *job[4]), jobs))
    failures = [f'{compiler} -std={job[0]}, {job[1]}: ' + (text or 'compiles') for job, text in zip(jobs, told) if (text is None) != job[3]]
    print('\n'.join(failures) or f'{compiler}: {len(jobs)} compilations')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
