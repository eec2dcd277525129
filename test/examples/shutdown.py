# SPDX-License-Identifier: BSD-3-Clause
"""shutdown.py REDIS_SERVER SHUTDOWN - a worker that is told to end lets running jobs finish, gives up waiting ones,
and leaves no lock behind; one whose jobs last too long, or that is told twice, stops them first. Times are the
worker's own: the driver waits for its words."""
import signal

import store

JOBS, NAMES, LONG_MS = 8, 4, 3600 * 1000


def read_until(process, done):
    """Its lines up to the one after which done(lines) holds; or all of them."""
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if done(lines):
            break
    return lines


def count(lines, end):
    return len([line for line in lines if line.endswith(end)])


def run(program, url, work_ms, drain_ms, signals):
    """All of its lines. The first signal comes when as many jobs work as there are names."""
    with store.running(program, url, str(work_ms), str(drain_ms)) as process:
        lines = read_until(process, lambda lines: count(lines, 'works') == NAMES)
        store.expect(count(lines, 'works') == NAMES, f'{NAMES} jobs work: {lines}')
        store.expect(work_ms < LONG_MS or len(store.locks(url)) == NAMES, 'each under its lock')
        for what in signals:
            process.send_signal(what)
            lines += read_until(process, lambda lines: lines[-1] in ('finishing', 'leaving now', 'left'))
        lines += read_until(process, lambda lines: False)
        store.expect_end(process)
        store.expect(store.locks(url) == [], f'no lock is left at the store: {store.locks(url)}')
        store.expect(lines[-1] == 'left', 'it leaves last')
        return lines


def patient(program, url):
    lines = run(program, url, 3000, 2 ** 31 - 1, [signal.SIGTERM])
    done = count(lines, 'done')
    store.expect(done == count(lines, 'works') and done >= NAMES, f'every job that worked is done: {lines}')
    store.expect(done + count(lines, 'CLOSED') == JOBS, 'the others gave up')


def stopped(program, url, drain_ms, signals):
    lines = run(program, url, LONG_MS, drain_ms, signals)
    store.expect(count(lines, 'CLOSED') == JOBS - NAMES, f'those who wait give up: {lines}')
    store.expect(count(lines, 'no time left') == NAMES and count(lines, 'done') == 0, 'those who work are stopped')


def shutdown(url, program):
    patient(program, url)
    stopped(program, url, 100, [signal.SIGTERM])
    stopped(program, url, LONG_MS, [signal.SIGTERM, signal.SIGTERM])


if __name__ == '__main__':
    store.drive(shutdown)
