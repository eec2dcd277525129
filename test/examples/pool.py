# SPDX-License-Identifier: BSD-3-Clause
"""pool.py REDIS_SERVER PROGRAM - the jobs of several processes: never more at work than there are permits, but as many; and
one that is killed at work holds up the others for its lease and no longer."""
import os
import tempfile

import store

PERMITS, JOBS = 3, 8


def lines(log):
    return store.outside.read(log).splitlines() if os.path.exists(log) else []


def most(told):
    """How many were at work at once, by the order in which they said it."""
    at_work, highest = set(), 0
    for line in told:
        what, job = line.split()
        if what == 'begin':
            at_work.add(job)
        else:
            at_work.discard(job)
        highest = max(highest, len(at_work))
    return highest


def together(url, program, log):
    processes = [store.start(program, log, str(PERMITS), str(JOBS), url) for _ in range(3)]
    for process in processes:
        store.expect_end(process)
        store.end(process)
    told = lines(log)
    ends = [line for line in told if line.startswith('end')]
    store.expect(len(ends) == 3 * JOBS and not any(line.startswith('lost') for line in told), f'all jobs are done: {len(ends)}')
    store.expect(most(told) == PERMITS, f'at most {PERMITS} at the same time, and as many: {most(told)}')


def one_is_killed(url, program, log):
    with store.running(program, log, '1', '1', url, '3600000', '1000') as first:
        store.until(lambda: lines(log), 'the first is at work')
        with store.running(program, log, '1', '1', url) as second:
            store.until(lambda: store.ask(url, 'ZCARD', 'hilock:queue:{pool}') == 1, 'the second waits')
            first.kill()
            store.expect_end(second)
        store.expect([line.split()[0] for line in lines(log)] == ['begin', 'begin', 'end'], 'then it has the permit of the first, which was killed')


def pool(url, program):
    with tempfile.TemporaryDirectory() as work:
        together(url, program, os.path.join(work, 'together'))
        one_is_killed(url, program, os.path.join(work, 'killed'))


if __name__ == '__main__':
    store.drive(pool)
