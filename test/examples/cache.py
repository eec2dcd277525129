# SPDX-License-Identifier: BSD-3-Clause
"""cache.py REDIS_SERVER PROGRAM - two servers with one cache: visitors read it together, one of them makes it anew when it is
too old, and what they read was made together. The fence refuses a writer that is too late, and no reader."""
import contextlib
import http.client
import os
import signal
import tempfile
import threading

import store

FRESH_MS, VISITORS, VISITS = 50, 4, 15
HOUR_MS = '3600000'


@contextlib.contextmanager
def server(program, *arguments):
    """Its process and its address."""
    with store.running(program, *arguments) as process:
        yield process, process.stdout.readline().strip()[len('http://'):]


def page(address):
    """(status, first, second, how)"""
    connection = http.client.HTTPConnection(address, timeout=store.WAITS_S)
    try:
        connection.request('GET', '/page')
        reply = connection.getresponse()
        first, second, how = reply.read().decode().split()
        return reply.status, int(first), int(second), how
    finally:
        connection.close()


def at_once(*visits):
    threads = [threading.Thread(target=visit) for visit in visits]
    for thread in threads:
        thread.start()
    return threads


def crowd(program, url, folder):
    seen = []
    with server(program, folder, url, str(FRESH_MS)) as (_, one), server(program, folder, url, str(FRESH_MS)) as (_, other):
        def visit(address):
            for _ in range(VISITS):
                seen.append(page(address))
        for thread in at_once(*[lambda address=address: visit(address) for address in (one, other)] * VISITORS):
            thread.join()
    made = sorted(first for _, first, _, how in seen if how == 'made')
    gaps = [after - before for before, after in zip(made, made[1:])]
    store.expect(all(status == 200 and first == second for status, first, second, _ in seen), f'{len(seen)} visitors get two parts that belong together')
    store.expect(made and all(gap >= FRESH_MS for gap in gaps), f'each is made by one of them, when the last is too old: {gaps}')
    store.expect({first for _, first, _, how in seen if how == 'read'} <= set(made), 'the others read what was made')


def readers_together(program, url, folder):
    answers = []
    with server(program, folder, url, HOUR_MS, HOUR_MS) as (process, address):
        threads = at_once(*[lambda: answers.append(page(address)[0])] * 2)
        store.until(lambda: store.ask(url, 'HGET', 'page', 'mode') == 'shared' and store.ask(url, 'HLEN', 'page') == 3, 'two visitors read together')
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        store.expect_end(process)
    store.expect(answers == [503, 503] and store.locks(url) == [], f'at SIGTERM both give up, and leave no lock: {answers}')


def fence(program, url, folder):
    with open(os.path.join(folder, 'fence'), 'w', encoding='utf-8') as file:
        file.write(f'{2 ** 62:20}\n')
    with server(program, folder, url, HOUR_MS) as (_, address):
        store.expect(page(address)[0] == 200, 'the fence refuses no reader')
    with server(program, folder, url, '0') as (_, address):
        store.expect(page(address)[0] == 503, 'but a writer that is too late')


def cache(url, program):
    with tempfile.TemporaryDirectory() as folder:
        crowd(program, url, folder)
        readers_together(program, url, folder)
        fence(program, url, folder)


if __name__ == '__main__':
    store.drive(cache)
