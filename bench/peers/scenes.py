# SPDX-License-Identifier: BSD-3-Clause
"""scenes - what each kind of lock plays: crowds that want one name, and what is left of a queue when some of it is killed or stopped.

A scene gets the stage and a kind, and returns its figures. Everybody has the same server, and the same names' length."""
import collections
import contextlib
import itertools
import os
import signal
import time

import figures
import programs

LEASE_MS = 10000
RECOVERY_LEASE_MS = 1000  # a whole number of seconds: python-redis-lock knows no other
RECOVERY_PATIENCE_S = 6
Crowd = collections.namedtuple('Crowd', 'processes contenders hold_us think_us wait_ms run_ms')
CROWDS = {
    'free': Crowd(1, 1, 0, 0, 2000, 300),
    'pair': Crowd(2, 1, 1000, 0, 2000, 500),
    'hot': Crowd(3, 4, 2000, 0, 2000, 600),
    'eight': Crowd(8, 1, 5000, 20000, 2000, 600),
    'crowd': Crowd(32, 1, 1000, 20000, 2000, 600),
    'storm': Crowd(8, 32, 5000, 0, 1000, 1200),
    'permits': Crowd(32, 1, 20000, 0, 2000, 2000),
    'readers': Crowd(32, 1, 5000, 20000, 2000, 1200),
}
SHARED = ('permits', 'readers')  # in which several hold a name together
PERMITS, WRITER = 5, 0  # of `permits`; of `readers` the program that writes
WARM = Crowd(32, 1, 0, 0, 1000, 1000)
RECOVERIES = ('holder-killed', 'waiter-killed', 'waiter-stopped')
TELLS = {
    'free': 'a program alone acquires and releases a name that nobody else wants',
    'pair': 'two programs want one name all the time, and hold it for 1 ms',
    'hot': 'three programs with four contenders each want one name all the time, and hold it for 2 ms',
    'eight': 'eight programs hold one name for 5 ms and think for 20 ms',
    'crowd': '32 programs hold one name for 1 ms and think for 20 ms',
    'storm': 'eight programs with 32 contenders each want one name all the time, hold it for 5 ms, and give a wait up after a second',
    'permits': f'32 programs want one of {PERMITS} permits all the time, and hold it for 20 ms',
    'readers': '31 programs read for 5 ms and think for 20 ms; one writes for 5 ms and thinks for 20 ms',
    'holder-killed': f'the holder is killed; from the end of its lease of {RECOVERY_LEASE_MS} ms to the waiter that lives',
    'waiter-killed': 'the first of two waiters is killed; from the release to the other one',
    'waiter-stopped': 'the first of two waiters is stopped (SIGSTOP); from the release to the other one',
}
names = itertools.count(1)


class Stage:
    """A server, and the drivers of all programs."""
    def __init__(self, server, pool):
        self.server, self.pool = server, pool

    def load(self):
        """What the server has read and worked: (reads, microseconds). A read is a request, or a pipeline of some."""
        stats, cpu = self.server.info('stats'), self.server.info('cpu')
        return int(stats['total_reads_processed']), (float(cpu['used_cpu_user']) + float(cpu['used_cpu_sys'])) * 1e6


def plays(kind, scenario):
    return (scenario if scenario in SHARED else 'lock') in kind.plays


def name():
    return f'peers-{os.getpid()}-{next(names):05}'


# ---- crowds

def word(kind, scenario, program):
    """How a driver is asked for what this program of a scene wants."""
    if scenario == 'permits':
        return f'{kind.name}:{PERMITS}'
    return kind.name if scenario != 'readers' else f'{kind.name}:{"write" if program == WRITER else "read"}'


def run(stage, kind, crowd, has_own_names=False, scenario=None):
    """(grants, ended) of all its programs."""
    drivers, shared = stage.pool.get(kind.program, crowd.processes), name()
    for program, driver in enumerate(drivers):
        driver.send('run', word(kind, scenario, program), name() if has_own_names else shared, LEASE_MS, crowd.hold_us, crowd.think_us, crowd.run_ms, crowd.contenders,
                    crowd.wait_ms)
    grants, ended = [], []
    for program, driver in enumerate(drivers):
        more, over = figures.read(driver.lines(), program)
        grants += more
        ended += over
    return grants, ended


def warm(stage, kind):
    """What a program does once in its life is not measured: connections, scripts, code compiled as it runs."""
    for scenario, has_own_names in ((None, True), (None, False)) if 'lock' in kind.plays else ((kind.plays[0], False),):
        run(stage, kind, WARM, has_own_names, scenario)


def play_crowd(stage, kind, scenario):
    crowd = CROWDS[scenario]
    reads, busy_us = stage.load()
    grants, ended = run(stage, kind, crowd, scenario=scenario)
    reads_after, busy_after_us = stage.load()
    if scenario == 'free':
        found = figures.of_own_names(grants, crowd.run_ms)
    elif scenario == 'permits':
        found = figures.of_permits(grants, ended, crowd.processes, crowd.run_ms, PERMITS)
    elif scenario == 'readers':
        found = figures.of_readers(grants, ended, crowd.processes, crowd.run_ms, WRITER)
    else:
        found = figures.of_one_name(grants, ended, crowd.processes, crowd.run_ms)
    count = max(1, len(grants))
    return {**found, 'requests_per_grant': (reads_after - reads - 2) / count, 'server_us_per_grant': (busy_after_us - busy_us) / count}


# ---- recoveries

class Recovery:
    """A holder, one who waits and is struck (or none), and one who waits and lives."""
    def __init__(self, stage, kind, drivers):
        self.stage, self.kind, self.name = stage, kind, name()
        self.holder, self.living, *self.struck = drivers
        self.free_ns = self.granted_ns = self.killed_ns = None
        self.ended = []  # drivers that cannot play on

    def ask(self, driver):
        driver.send('hold', self.kind.name, self.name, RECOVERY_LEASE_MS)

    def hold(self):
        self.ask(self.holder)
        self.held_ns = int(self.holder.line().split()[1])

    def kill_holder(self):
        self.holder.process.kill()
        self.holder.process.wait()
        self.killed_ns = time.monotonic_ns()
        left_ms = self.stage.server.ask('PTTL', self.kind.key.format(self.name))
        self.free_ns = time.monotonic_ns() + max(0, left_ms) * 1000000
        self.ended.append(self.holder)

    def strike(self, number):
        for driver in self.struck:
            driver.signal(number)
            self.ended.append(driver)

    def release(self):
        self.holder.send('release')
        (grant, *_), _ = figures.read(self.holder.lines(), 0)
        self.free_ns = grant.releasing

    def await_living(self, end):
        try:
            self.granted_ns = int(self.living.line(max(0.1, end - time.monotonic())).split()[1])
            self.living.send('release')
            self.living.lines()
        except programs.Silent:
            self.ended.append(self.living)

    def figures(self):
        until_ns = self.killed_ns or self.free_ns
        return {'recovered_ms': (self.granted_ns - self.free_ns) / 1e6 if self.granted_ns else None,
                'overlaps': int(self.granted_ns is not None and self.granted_ns < until_ns)}


def play_recoveries(stage, kind):
    """{scenario: figures}. All three at once, each with a name of its own: they wait most of their time."""
    drivers = stage.pool.get(kind.program, 8)
    killed, without, beside = plays = [Recovery(stage, kind, drivers[:2]), Recovery(stage, kind, drivers[2:5]), Recovery(stage, kind, drivers[5:8])]
    for play in plays:
        play.hold()
    for play in plays:
        for driver in play.struck:
            play.ask(driver)
    time.sleep(0.2)
    for play in plays:
        play.ask(play.living)
    time.sleep(0.4)
    without.strike(signal.SIGKILL)
    beside.strike(signal.SIGSTOP)
    killed.kill_holder()
    time.sleep(0.05)  # the server sees that their links have ended
    for play in (without, beside):
        play.release()
    end = time.monotonic() + RECOVERY_LEASE_MS / 1000 + RECOVERY_PATIENCE_S
    for play in plays:
        play.await_living(end)
    for driver in itertools.chain.from_iterable(play.ended for play in plays):
        with contextlib.suppress(OSError):
            driver.begin_again()
    for driver in itertools.chain.from_iterable(play.ended for play in plays):
        driver.await_ready()
    return {scenario: play.figures() for scenario, play in zip(RECOVERIES, plays)}
