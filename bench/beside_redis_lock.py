#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""beside_redis_lock.py storm|succession [options] - python-redis-lock in the scenarios of the same names of hilock-bench, with their figures.

Needs the packages redis and python-redis-lock of PyPI; without them it says so and ends with 77. Its waits are whole seconds, so a storm of it has
waits of a second; its waiters wait in BLPOP, for as long as a lease at most. Clients of the storm are threads. A private redis-server on a unix socket
is started and ended."""
import argparse
import contextlib
import multiprocessing
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

try:
    import redis
    import redis_lock
except ImportError as error:
    print(f'nothing was measured: {error}')
    sys.exit(77)

CASES = {'killed': (signal.SIGKILL, True), 'killed-waiters': (signal.SIGKILL, False), 'stopped': (signal.SIGSTOP, True),
         'stopped-waiters': (signal.SIGSTOP, False)}
LEASE_S, SETTLE_S, PATIENCE_S = 3, 1, 60
fork = multiprocessing.get_context('fork')


def connect(path):
    return redis.StrictRedis(unix_socket_path=path, socket_timeout=PATIENCE_S)


@contextlib.contextmanager
def server():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'socket')
        process = subprocess.Popen([shutil.which('redis-server') or 'valkey-server', '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no',
                                    '--maxclients', '20000', '--dir', folder], stdout=subprocess.DEVNULL)
        try:
            while True:
                with contextlib.suppress(redis.exceptions.ConnectionError):
                    if connect(path).ping():
                        break
                time.sleep(0.05)
            yield path, process.pid
        finally:
            process.terminate()
            process.wait()


# ---- storm


def one_client(path, args, began, grants, ended):
    store = connect(path)
    while time.monotonic() < began + args.seconds:
        lock = redis_lock.Lock(store, 'storm', expire=30)
        if lock.acquire(timeout=1):
            second = int(time.monotonic() - began)
            if second < args.seconds:
                with grants.get_lock():
                    grants[second] += 1
            time.sleep(args.hold_ms / 1000)
            with contextlib.suppress(redis_lock.NotAcquired):
                lock.release()
        else:
            with ended.get_lock():
                ended.value += 1


def many_clients(count, *what):
    threads = [threading.Thread(target=one_client, args=what) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def storm(args):
    with server() as (path, pid):
        grants, ended, began = fork.Array('L', args.seconds), fork.Value('L', 0), time.monotonic()
        processes = [fork.Process(target=many_clients, args=(args.clients // args.processes, path, args, began, grants, ended)) for _ in range(args.processes)]
        for process in processes:
            process.start()
        store, pings, paused = connect(path), {False: [], True: []}, args.pause_ms == 0
        while time.monotonic() < began + args.seconds:
            if not paused and time.monotonic() >= began + args.seconds / 2:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(args.pause_ms / 1000)
                os.kill(pid, signal.SIGCONT)
                paused = True
            asked = time.monotonic()
            store.ping()
            pings[paused].append((time.monotonic() - asked) * 1e6)
            time.sleep(0.01)
        for process in processes:
            process.join()
    print('grants of each second:', *grants)
    for is_after, found in pings.items():
        if len(found) > 1:
            print('PING', 'after ' if is_after else 'before', f'{statistics.median(found):.0f} us p50, {statistics.quantiles(found, n=100)[98]:.0f} us p99,',
                  f'{max(found):.0f} us at most of {len(found)}')
    print('waits that ended by their limit:', ended.value)


# ---- succession


def wait_for(path, name, count, granted):
    def one():
        redis_lock.Lock(connect(path), name, expire=LEASE_S).acquire()
        granted.value = time.monotonic()
        time.sleep(PATIENCE_S)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hold(path, name, order, released):
    lock = redis_lock.Lock(connect(path), name, expire=LEASE_S, auto_renewal=True)
    lock.acquire()
    order.recv()
    released.value = time.monotonic()
    lock.release()


def await_true(what):
    end = time.monotonic() + PATIENCE_S
    while not what():
        if time.monotonic() > end:
            sys.exit('it did not come to that in a minute')
        time.sleep(0.002)


def begin(target, *what):
    process = fork.Process(target=target, args=what, daemon=True)
    process.start()
    return process


def succeed(path, name, case, shape, count):
    """Returns milliseconds."""
    how, has_holder = CASES[case]
    store, granted, lost, released = connect(path), fork.Value('d', 0), fork.Value('d', 0), fork.Value('d', 0)
    here, there = fork.Pipe()
    holder = begin(hold, path, name, there, released)
    await_true(lambda: store.exists('lock:' + name))
    waiters = [begin(wait_for, path, name, count, lost)] if shape == 'handles' else [begin(wait_for, path, name, 1, lost) for _ in range(count)]
    await_true(lambda: store.info('clients')['blocked_clients'] >= count)
    living = begin(wait_for, path, name, 1, granted)
    await_true(lambda: store.info('clients')['blocked_clients'] >= count + 1)
    time.sleep(SETTLE_S)
    for process in waiters + [holder] * has_holder:
        os.kill(process.pid, how)
    time.sleep(0.02)
    if has_holder:
        free = time.monotonic() + store.pttl('lock:' + name) / 1000
    else:
        here.send('release')
        await_true(lambda: released.value)
        free = released.value
    await_true(lambda: granted.value)
    for process in [*waiters, holder, living]:
        process.kill()
        process.join()
    await_true(lambda: store.info('clients')['blocked_clients'] == 0)
    return (granted.value - free) * 1000


def succession(args):
    with server() as (path, _):
        for case in [args.case] if args.case else CASES:
            for count in map(int, args.waiters.split(',')):
                for shape in ('processes', 'handles') if count else ('processes',):
                    found = [succeed(path, f'{case}:{shape}:{count}:{i}', case, shape, count) for i in range(args.rounds)]
                    print(f'{case:16} {shape:10} {count:4} {statistics.median(found):10.1f} ms median, {max(found):10.1f} ms at most of {len(found)}', flush=True)


parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
parser.add_argument('scenario', choices=('storm', 'succession'))
parser.add_argument('--clients', type=int, default=1000)
parser.add_argument('--processes', type=int, default=4)
parser.add_argument('--hold-ms', type=int, default=2)
parser.add_argument('--seconds', type=int, default=60)
parser.add_argument('--pause-ms', type=int, default=1500)
parser.add_argument('--waiters', default='0,1,2,4,8,16,64')
parser.add_argument('--case', choices=CASES)
parser.add_argument('--rounds', type=int, default=20)
given = parser.parse_args()
(storm if given.scenario == 'storm' else succession)(given)
