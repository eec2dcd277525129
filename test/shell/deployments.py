# SPDX-License-Identifier: BSD-3-Clause
"""deployments.py HILOCK REDIS_SERVER - in a cluster and behind Sentinel: run takes locks, status finds who holds names wherever these are, doctor says what
servers and sentinels think of themselves, also when one is gone."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import store  # noqa: E402
from outside import SECRET  # noqa: E402

LOGIN = f'default:{SECRET}@'


def until(claim, text):
    end = time.monotonic() + store.WAITS_S
    while not claim():
        if time.monotonic() > end:
            raise SystemExit('never: ' + text)
        time.sleep(0.05)


def free_port():
    """Of a cluster's server another port is taken, 10 000 above."""
    while True:
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            if probe.getsockname()[1] < 55000:
                return probe.getsockname()[1]


@contextlib.contextmanager
def server(program, work, name, *arguments, config=None):
    """(URL of its socket, port, process)"""
    path, port = os.path.join(work, name + '.sock'), free_port()
    command = [os.environ.get('HILOCK_TEST_SERVER') or program]
    if config:
        with open(os.path.join(work, name + '.conf'), 'w', encoding='utf-8') as file:
            file.write(config)
        command.append(file.name)
    process = subprocess.Popen([*command, '--bind', '127.0.0.1', '--port', str(port), '--unixsocket', path, '--dir', work, *arguments],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: store.outside.answers(path), f'{name} answers')
        yield f'unix://{LOGIN}{path}', port, process
    finally:
        process.kill()
        process.wait()


def said(*command):
    """(exit status, its answers)"""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=store.WAITS_S, check=False)
    store.expect(SECRET not in done.stdout + done.stderr, f'{command[1]} does not say the password')
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def hold(hilock, url, name):
    process = store.start(hilock, 'run', '--url', url, name, '--', 'sh', '-c', 'echo holds; exec sleep 1000', stderr=subprocess.DEVNULL)
    store.expect(process.stdout.readline() == 'holds\n', f'{name} is held')
    return process


def cluster(hilock, program, work):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(server(program, work, f'node{i}', '--cluster-enabled', 'yes', '--cluster-config-file', f'node{i}.nodes', '--save', ''))
                   for i in range(3)]
        for i, (url, port, _) in enumerate(servers):
            store.ask(url, 'CLUSTER', 'ADDSLOTS', *range(i, 16384, 3)) # neighbours are far apart: many ranges
            store.ask(servers[0][0], 'CLUSTER', 'MEET', '127.0.0.1', port)
        until(lambda: all('cluster_state:ok' in store.ask(url, 'CLUSTER', 'INFO') and 'cluster_known_nodes:3' in store.ask(url, 'CLUSTER', 'INFO')
                          for url, _, _ in servers), 'the cluster is whole')
        url = f'redis+cluster://{LOGIN}127.0.0.1:{servers[0][1]}'
        names = [f'shop:{i}' for i in range(6)]
        holders = [hold(hilock, url, name) for name in names]
        code, rows = said(hilock, 'status', '--json', '--url', url, '--prefix', 'shop:')
        store.expect(code == 0 and [row['name'] for row in rows] == names, f'names of all servers are found: {[row["name"] for row in rows]}')
        store.expect(all(row['who'] and row['token'] for row in rows), f'and who holds them, since when: {rows}')
        code, found = said(hilock, 'doctor', '--json', url)
        store.expect(len([row for row in found if row['topic'] == 'version']) == 3, 'doctor sees each server')
        store.expect([row['found'] for row in found if row['topic'] == 'cluster'] == ['all slots are served'] and code == 0, f'and the cluster: {found}')
        for holder in holders:
            holder.send_signal(signal.SIGTERM)
            store.expect(holder.wait(store.WAITS_S) == 143, 'the lock is given back')
            store.end(holder)
        servers[2][2].kill()
        until(lambda: 'cluster_state:fail' in store.ask(servers[0][0], 'CLUSTER', 'INFO'), 'the cluster misses a server')
        code, found = said(hilock, 'doctor', '--json', url)
        store.expect(code == 1 and 'wrong' in [row['grade'] for row in found if row['topic'] in ('cluster', 'servers')], f'what is missing is said: {found}')


def sentinel(hilock, program, work):
    with server(program, work, 'master', '--save', '') as (master_url, port, _):
        config = f'sentinel monitor shop 127.0.0.1 {port} 1\n'
        with server(program, work, 'sentinel', '--sentinel', config=config) as (_, sentinel_port, _):
            url = f'redis+sentinel://{LOGIN}127.0.0.1:{sentinel_port},127.0.0.1:{free_port()}/shop'
            holder = hold(hilock, url, 'n')
            code, (row,) = said(hilock, 'status', '--json', '--url', url, 'n')
            store.expect(code == 0 and row['state'] == 'held' and row['who'], f'status asks the master: {row}')
            _, found = said(hilock, 'doctor', '--json', url)
            grades = [(row['topic'], row['grade']) for row in found if row['topic'].startswith(('sentinel', 'quorum'))]
            store.expect(grades == [('sentinel', 'ok'), ('quorum', 'ok'), ('sentinel', 'doubtful'), ('sentinels', 'doubtful')],
                         f'one sentinel is well, one is not there, and they are too few: {grades}')
            store.expect(said(hilock, 'doctor', '--json', url.replace('/shop', '/other'))[0] == 1, 'a master that nobody knows')
            holder.send_signal(signal.SIGTERM)
            holder.wait(store.WAITS_S)
            store.end(holder)
            store.expect(store.locks(master_url) == [], 'no lock is left')


def main(hilock, program):
    with tempfile.TemporaryDirectory() as work:
        cluster(hilock, program, work)
        sentinel(hilock, program, work)


if __name__ == '__main__':
    main(*sys.argv[1:])
