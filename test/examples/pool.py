# SPDX-License-Identifier: BSD-3-Clause
"""pool.py REDIS_SERVER POOL - work is done, a job a name at a time; a worker whose lock is taken away stops, and the
others do not. Told to end, it lets running jobs finish and gives up waiting ones; one whose jobs last too long, or that
is told twice, stops them first. Times are the program's own: the driver waits for its words."""
import signal

import store

JOBS, NAMES, FOR_EVER = 8, 4, 10 ** 9


def of(program, what):
    """The jobs of which that was said."""
    lines = [line.split(maxsplit=2) for line in program.lines if line.startswith('job ')]
    return sorted(int(number) for _, number, said in lines if said == what)


def begun(program, url, *arguments):
    """Each name has its first job."""
    pool = store.Program(program, url, *map(str, arguments))
    pool.until(lambda: len(of(pool, 'works')) >= NAMES, 'a job of each name works')
    return pool


def short(program, url):
    with store.Program(program, url, '5') as pool:
        pool.ended()
        store.expect(of(pool, 'done') == of(pool, 'works') == list(range(JOBS)), f'all are done: {pool.lines}')


def taken(program, url):
    with begun(program, url, FOR_EVER, 0) as pool:
        victim = next(job for job in of(pool, 'works') if job // 2 == 2)
        store.ask(url, 'DEL', 'job:2')
        pool.until(lambda: of(pool, 'stopped') and len(of(pool, 'works')) > NAMES, 'its next one works')
        store.expect(of(pool, 'lost') == of(pool, 'stopped') == [victim], 'whose lock was taken stops, and nobody else')
        store.expect(store.locks(url) == [f'job:{i}' for i in range(NAMES)], 'all names are held')
        pool.process.send_signal(signal.SIGTERM)
        pool.ended()


def finishes(program, url):
    with begun(program, url, 300, 2 ** 31 - 1) as pool:
        pool.process.send_signal(signal.SIGTERM)
        pool.ended()
        done = of(pool, 'done')
        store.expect(done == of(pool, 'works') and len(done) >= NAMES, f'every job that worked is done: {pool.lines}')
        store.expect(sorted(done + of(pool, 'CLOSED')) == list(range(JOBS)), 'the others gave up')


def stops(program, url, drain_ms, signals):
    with begun(program, url, FOR_EVER, drain_ms) as pool:
        for number in range(1, signals + 1):
            pool.process.send_signal(signal.SIGTERM)
            pool.until(lambda: pool.lines.count('finishing') == number, 'it is told to end')
        pool.ended()
        store.expect(len(of(pool, 'CLOSED')) == JOBS - NAMES, f'those who wait give up: {pool.lines}')
        store.expect(of(pool, 'has no time left') == of(pool, 'stopped') == of(pool, 'works'), 'the others are stopped')


def pool_of(url, program):
    short(program, url)
    taken(program, url)
    finishes(program, url)
    stops(program, url, 100, 1)
    stops(program, url, 3600 * 1000, 2)


if __name__ == '__main__':
    store.drive(pool_of)
