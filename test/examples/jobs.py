# SPDX-License-Identifier: BSD-3-Clause
"""jobs.py REDIS_SERVER JOBS - two servers of coroutines do jobs under locks of one store: one at a time for a name;
who hangs up leaves nothing behind, whether he waited or worked; and a server that is to end answers those who wait,
and lets those who work finish, or be stopped by a second signal."""
import contextlib
import signal
import socket

import store

LONG = 360000  # pieces, an hour's; nothing here takes that long


@contextlib.contextmanager
def jobs(program, url):
    """(process, port)"""
    with store.running(program, url) as process:
        yield process, int(process.stdout.readline())


@contextlib.contextmanager
def caller(port):
    """A function that asks for a job, and one that reads the answer."""
    with socket.create_connection(('127.0.0.1', port), store.WAITS_S) as link, link.makefile('r', encoding='utf-8') as answers:
        yield lambda *words: link.sendall((' '.join(map(str, words)) + '\n').encode()), lambda: answers.readline().strip()


def is_awaited(url):
    return store.ask(url, 'ZCARD', 'hilock:queue:{lamp}') > 0


def turns(url, here, there):
    with caller(here) as (ask, answer), caller(there) as (other_ask, other_answer), caller(there) as (third_ask, third_answer):
        ask('lamp', LONG, 60)
        store.until(lambda: store.locks(url) == ['lamp'], 'a job works under its lock')
        third_ask('lamp', 1, 0)
        store.expect(third_answer() == 'lamp TIMED_OUT', 'another is told so, when it does not wait')
        third_ask('a}b', 1, 0)
        store.expect(third_answer() == 'a}b BAD_NAME', 'a bad name is refused')
        other_ask('lamp', 3, 3600)
        store.until(lambda: is_awaited(url), 'or waits')
        third_ask('desk', 3, 0)
        store.expect(third_answer().startswith('desk done '), 'other names are free meanwhile')
    store.until(lambda: store.locks(url) == [] and not is_awaited(url), 'who hangs up leaves no lock and no wait')
    with caller(here) as (ask, answer), caller(there) as (other_ask, other_answer):
        ask('lamp', 5, 3600)
        other_ask('lamp', 5, 3600)
        told = answer(), other_answer()
        is_so = all(line.startswith('lamp done ') for line in told) and told[0] != told[1]
        store.expect(is_so, f'each gets its turn, and a token of its own: {told}')
        ask('lamp', 1, 3600)
        ask('lamp', 1, 3600)
        store.expect([answer()[:9], answer()[:9]] == ['lamp done'] * 2, 'a caller may ask for several, one after the other')


def ends(program, url, signals, pieces, last):
    with jobs(program, url) as (process, port), caller(port) as (ask, answer), caller(port) as (other_ask, other_answer):
        ask('lamp', pieces, 0)
        store.until(lambda: store.locks(url) == ['lamp'], 'one works')
        other_ask('lamp', 1, 3600)
        process.send_signal(signal.SIGTERM)
        store.expect(other_answer() == 'lamp CLOSED', 'who waits is answered')
        for _ in range(signals - 1):
            process.send_signal(signal.SIGTERM)
        told = answer()
        store.expect(told.startswith(last), f'who works: {told}')
        store.expect_end(process)


def both(url, program):
    with jobs(program, url) as (_, here), jobs(program, url) as (_, there):
        turns(url, here, there)
    ends(program, url, 1, 300, 'lamp done ')
    ends(program, url, 2, LONG, 'lamp LOST')


if __name__ == '__main__':
    store.drive(both)
