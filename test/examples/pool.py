# SPDX-License-Identifier: BSD-3-Clause
"""pool.py REDIS_SERVER POOL - work that is short is done; a worker whose lock is taken away stops, and the others do
not; told to end, all stop."""
import signal

import store

JOBS, FOR_EVER = 4, 10 ** 9


def lines_until(process, lines, done):
    while not done(lines):
        line = process.stdout.readline()
        store.expect(line, f'it goes on: {lines}') if not line else lines.append(line.strip())
    return lines


def of(lines, what):
    return sorted(int(line.split()[1]) for line in lines if line.split(maxsplit=2)[2] == what)


def short(program, url):
    with store.running(program, url, str(2 * JOBS), '5') as process:
        lines = process.stdout.read().splitlines()
        store.expect_end(process)
        store.expect(of(lines, 'done') == list(range(2 * JOBS)), f'all are done: {lines}')


def long(program, url):
    with store.running(program, url, str(JOBS), str(FOR_EVER)) as process:
        lines = lines_until(process, [], lambda lines: len(of(lines, 'works')) == JOBS)
        store.ask(url, 'DEL', 'job:2')
        lines_until(process, lines, lambda lines: of(lines, 'stopped'))
        store.expect(of(lines, 'lost') == [2] and of(lines, 'stopped') == [2], 'whose lock was taken away stops, and nobody else')
        store.expect(store.locks(url) == ['job:0', 'job:1', 'job:3'], 'the others hold theirs')
        process.send_signal(signal.SIGTERM)
        lines += process.stdout.read().splitlines()
        store.expect_end(process)
        store.expect(of(lines, 'stopped') == list(range(JOBS)), f'told to end, all stop: {lines}')


def pool(url, program):
    short(program, url)
    long(program, url)


if __name__ == '__main__':
    store.drive(pool)
