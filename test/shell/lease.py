# SPDX-License-Identifier: BSD-3-Clause
"""lease.py REDIS_SERVER HILOCK CREW - nothing of a command runs after its lease, whatever is done to holder, guard
and server. In each round a command of four processes (crew.c) runs under a lock; then comes a fault. Two things are
compared, all on CLOCK_BOOTTIME: the latest stamp of each process with the end of the lease, as the server gave it
once no renewal could come any more; and with the first stamp of a rival, who waited for the lock.

A guard that gets no processor cannot kill in time. So beside the rounds a process does what a guard does, and
measures how late the machine makes it: only by that the command may be late, too, and the round says so.

ROUNDS=200 in the environment plays more than the 20 of every day: ROUNDS=200 meson test -C build -t 10 -v shell-lease"""
import concurrent.futures
import contextlib
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

from command import store

LEASE_MS, AT_ONCE, CREW = 20000, 10, 4 # KILL comes two seconds before the end: longer than a pause of a busy machine
LOOK_S, HOPS, ASKS = 0.1, 2, 5 # a guard stands in line twice: to wake, and behind the command that it ends
STOP, CONT, KILL = signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL
CUT, KILLED = 125, -signal.SIGKILL


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def until(claim, text):
    end = time.monotonic() + 4 * store.WAITS_S # beside all other tests
    while not claim():
        if time.monotonic() > end:
            raise AssertionError('never: ' + text)
        time.sleep(0.01)


def is_alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='latin-1') as file:
            return file.read().rpartition(')')[2].split()[0] not in 'ZX'
    except (FileNotFoundError, ProcessLookupError): # the latter: it ended between the opening and the reading
        return False


class Lateness:
    """How late the machine makes a guard: a process that comes as early as a guard may sleeps, and reads of each process who its parent is, again and again.
    Made before there are threads."""
    def __init__(self, work):
        self.path, parent = os.path.join(work, 'lateness'), os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException): # nothing of it may go on in the parent's place
                self.look_on(parent)
            os._exit(0)

    def look_on(self, parent):
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        with open(self.path, 'wb', buffering=0) as file:
            while os.getppid() == parent:
                begun = now_us()
                time.sleep(LOOK_S)
                for pid in filter(str.isdigit, os.listdir('/proc')):
                    is_alive(int(pid))
                file.write(struct.pack('=QQ', now_us(), now_us() - begun - int(LOOK_S * 1000000)))

    def found(self):
        """[(when, by how much)]"""
        with open(self.path, 'rb') as file:
            return list(struct.iter_unpack('=QQ', file.read()))

    def since(self, begun):
        """The longest, after a last look that began after all that is judged."""
        looks = len(self.found())
        until(lambda: len(self.found()) > looks + 1, 'the machine goes on')
        return max(late for when, late in self.found() if when >= begun)

    def close(self):
        os.kill(self.pid, KILL)
        os.waitpid(self.pid, 0)


class Crew:
    """A command under the lock, and what its processes wrote."""
    def __init__(self, programs, url, work, name, mode):
        hilock, crew = programs
        self.path = os.path.join(work, name)
        self.holder = subprocess.Popen([hilock, 'run', '--url', url, '--lease', f'{LEASE_MS}ms', 'name', '--', crew, self.path, mode],
                                       stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def stamps(self):
        """[(pid, first, last)]"""
        try:
            with open(self.path, 'rb') as file:
                return [row for row in struct.iter_unpack('=QQQ', file.read()) if row[1]]
        except FileNotFoundError:
            return []

    def await_work(self):
        until(lambda: len(self.stamps()) == CREW, 'all of the crew work')

    def await_end(self):
        until(lambda: not any(is_alive(pid) for pid, _, _ in self.stamps()), 'nobody of the crew is left')

    def guard(self):
        with open(f'/proc/{self.holder.pid}/task/{self.holder.pid}/children', encoding='ascii') as file:
            return int(file.read().split()[0])

    def last(self):
        return max(row[2] for row in self.stamps())

    def first(self):
        return min(row[1] for row in self.stamps())

    def end(self):
        if self.holder.poll() is None:
            self.holder.kill()
        for pid in (row[0] for row in self.stamps()):
            with contextlib.suppress(ProcessLookupError):
                if is_alive(pid):
                    os.kill(pid, KILL)
        self.holder.wait()
        self.holder.stderr.close()


def lease_end(url):
    """Not earlier than the lease's end at the server: that is between question and answer, of which a busy machine makes some seconds."""
    ends = []
    for _ in range(ASKS):
        left_ms = store.ask(url, 'PTTL', 'name')
        ends.append(now_us() + max(left_ms + 1, 0) * 1000)
    return min(ends)


def server_of(url):
    return int(next(line.partition(':')[2] for line in store.ask(url, 'INFO', 'server').split('\r\n') if line.startswith('process_id:')))


def halt_renewals(url):
    """From here on the server executes nothing that writes."""
    store.ask(url, 'CLIENT', 'PAUSE', '1000000', 'WRITE')
    return lease_end(url)


# Each fault answers (end of the lease or None, how the holder ends or None, processes to be continued)

def holder_killed(crew, url):
    os.kill(crew.holder.pid, KILL)
    crew.holder.wait()
    return lease_end(url), KILLED, []


def holder_stopped(crew, url):
    os.kill(crew.holder.pid, STOP)
    until(lambda: open(f'/proc/{crew.holder.pid}/stat', encoding='latin-1').read().rpartition(')')[2].split()[0] == 'T', 'the holder stands still')
    return lease_end(url), CUT, [crew.holder.pid]


def guard_killed(crew, url):
    os.kill(crew.guard(), KILL)
    return None, CUT, []


def both_in_turn(crew, url):
    """The guard is stopped, then the holder killed: its death wakes the guard."""
    os.kill(crew.guard(), STOP)
    return holder_killed(crew, url)


def server_killed(crew, url):
    pid, end = server_of(url), halt_renewals(url)
    os.kill(pid, KILL)
    return end, CUT, []


def server_stopped(crew, url):
    pid, end = server_of(url), halt_renewals(url)
    os.kill(pid, STOP)
    return end, CUT, [pid]


def guard_stopped_server_killed(crew, url):
    os.kill(crew.guard(), STOP)
    return server_killed(crew, url)


def guard_stopped_lock_taken(crew, url):
    """By force: the lease is over, so the command ends as soon as the holder learns of it."""
    os.kill(crew.guard(), STOP)
    store.ask(url, 'DEL', 'name')
    return None, CUT, []


def lock_taken(crew, url):
    store.ask(url, 'DEL', 'name')
    return None, CUT, []


FAULTS = [holder_killed, server_killed, guard_stopped_server_killed, holder_stopped, both_in_turn, guard_killed, server_stopped, guard_stopped_lock_taken,
          lock_taken]
RIVALS = [holder_killed, holder_stopped, guard_killed, both_in_turn] # the server is there, and the lease is not broken by force


def judge_time(ran_us, allowed_us, text):
    if ran_us >= allowed_us:
        raise AssertionError(f'ran for {ran_us} us {text}, where the machine itself explains {allowed_us} us')
    return f'; {ran_us // 1000} ms {text}: the machine was late by {allowed_us // HOPS // 1000} ms' if ran_us >= 0 else ''


def play(number, programs, server, lateness):
    fault, mode = FAULTS[number % len(FAULTS)], ('ignore', 'obey')[number // len(FAULTS) % 2]
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        crews = [Crew(programs, url, work, 'crew', mode)]
        stopped = []
        try:
            crews[0].await_work()
            if fault in RIVALS:
                crews.append(Crew(programs, url, work, 'rival', 'obey'))
            time.sleep(random.Random(number).uniform(0, LEASE_MS / 2000)) # anywhere between two renewals
            begun = now_us()
            end, code, stopped = fault(crews[0], url)
            crews[0].await_end()
            last, said = crews[0].last(), ''
            allowed = HOPS * lateness.since(begun)
            if end is not None:
                said += f': over {(end - last) // 1000} ms before its lease' + judge_time(last - end, allowed, 'after the end of the lease')
            if fault in RIVALS:
                crews[1].await_work()
                said += judge_time(last - crews[1].first(), allowed, 'beside the next')
            while stopped:
                os.kill(stopped.pop(), CONT)
            until(lambda: crews[0].holder.poll() is not None, 'the holder ends')
            if crews[0].holder.returncode != code:
                raise AssertionError(f'exit status {crews[0].holder.returncode}, not {code}: {crews[0].holder.stderr.read()}')
        except AssertionError as wrong:
            raise SystemExit(f'not so: round {number}, {fault.__name__}, {mode}: {wrong}') from None
        finally:
            for pid in stopped:
                os.kill(pid, CONT)
            for crew in crews:
                crew.end()
    return f'ok: round {number}, {fault.__name__}, {mode}{said}'


def main(server, hilock, crew):
    rounds = int(os.environ.get('ROUNDS', 20))
    with tempfile.TemporaryDirectory() as work, contextlib.closing(Lateness(work)) as lateness, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for line in pool.map(lambda number: play(number, (hilock, crew), server, lateness), range(rounds)):
            print(line, flush=True)


if __name__ == '__main__':
    if not os.path.exists('/proc/self/stat'):
        print('/proc is not mounted: who lives cannot be seen')
        sys.exit(77)
    main(*sys.argv[1:])
