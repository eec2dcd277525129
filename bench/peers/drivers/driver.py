#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""driver.py PORT - Lock of redis-py and python-redis-lock by the lines of README.md. A contender is a thread, and has a lock object of its own; what
is not installed is not told in the first line."""
import sys
import threading
import time

import redis

try:
    import redis_lock
except ImportError:
    redis_lock = None

now_ns = time.monotonic_ns


def of_redis_py(store, name, lease_ms):
    lock = store.lock(name, timeout=lease_ms / 1000)
    return lambda wait_ms: lock.acquire(blocking_timeout=wait_ms / 1000 if wait_ms else None), lock.release


def of_redis_lock(store, name, lease_ms):
    """Leases and waits are whole seconds."""
    lock = redis_lock.Lock(store, name, expire=max(1, lease_ms // 1000))
    return lambda wait_ms: lock.acquire(timeout=max(1, wait_ms // 1000) if wait_ms else None), lock.release


KINDS = {'redis-py': of_redis_py, **({'python-redis-lock': of_redis_lock} if redis_lock else {})}


def contend(lock, hold_us, think_us, end_ns, wait_ms, lines):
    acquire, release = lock
    while (asked := now_ns()) < end_ns:
        if not acquire(wait_ms):
            lines.append(f'ended {asked} {now_ns()}')
            continue
        granted = now_ns()
        if hold_us:
            time.sleep(hold_us / 1e6)
        releasing = now_ns()
        release()
        lines.append(f'grant {asked} {granted} {releasing} {now_ns()}')
        if think_us:
            time.sleep(think_us / 1e6)


def run(store, kind, name, lease_ms, hold_us, think_us, run_ms, contenders, wait_ms):
    lines, end_ns = [], now_ns() + int(run_ms) * 1000000
    threads = [threading.Thread(target=contend, args=(KINDS[kind](store, name, int(lease_ms)), int(hold_us), int(think_us), end_ns, int(wait_ms), lines))
               for _ in range(int(contenders))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(*lines, 'done')


def hold(store, kind, name, lease_ms):
    acquire, release = KINDS[kind](store, name, int(lease_ms))
    asked = now_ns()
    acquire(0)
    granted = now_ns()
    tell(f'granted {granted}')
    sys.stdin.readline()
    releasing = now_ns()
    release()
    tell(f'grant {asked} {granted} {releasing} {now_ns()}', 'done')


def tell(*lines):
    sys.stdout.write('\n'.join(lines) + '\n')
    sys.stdout.flush()


def main(port):
    store = redis.Redis(host='127.0.0.1', port=int(port))
    store.ping()
    tell('ready ' + ' '.join(KINDS))
    for line in sys.stdin:
        verb, *words = line.split()
        {'run': run, 'hold': hold}[verb](store, *words)


main(*sys.argv[1:])
