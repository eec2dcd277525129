# SPDX-License-Identifier: BSD-3-Clause
"""deployments.py REDIS_SERVER HILOCK - in a cluster and behind Sentinel: run takes locks, status finds who holds
names wherever these are, doctor says what servers and sentinels think of themselves, also when one is gone."""
import signal
import sys
import tempfile

from command import hold, said, store


def cluster(hilock, program, work):
    with store.masters(program, work, is_mixed=True) as servers:
        url = f'redis+cluster://{store.LOGIN}127.0.0.1:{servers[0].port}'
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
        servers[2].kill()
        store.until(lambda: 'cluster_state:fail' in servers[0].ask('CLUSTER', 'INFO'), 'the cluster misses a server')
        code, found = said(hilock, 'doctor', '--json', url)
        store.expect(code == 1 and 'wrong' in [row['grade'] for row in found if row['topic'] in ('cluster', 'servers')], f'what is missing is said: {found}')


def sentinel(hilock, program, work):
    with store.Server(program, work) as master:
        config = f'sentinel monitor shop 127.0.0.1 {master.port} 1\n'
        with store.Server(program, work, '--sentinel', config=config) as watches:
            url = f'redis+sentinel://{store.LOGIN}127.0.0.1:{watches.port},127.0.0.1:{store.free_port()}/shop'
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
            store.expect(master.left() == [], 'no lock is left')


def main(program, hilock):
    with tempfile.TemporaryDirectory() as work:
        cluster(hilock, program, work)
        sentinel(hilock, program, work)


if __name__ == '__main__':
    main(*sys.argv[1:])
