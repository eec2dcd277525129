# SPDX-License-Identifier: BSD-3-Clause
"""failover.py REDIS_SERVER HILOCK CREW - a command under a lock lives through a failover to a replica that knows the
lock: it goes on beyond the lease that it had, and ends before the lease that it then has, when its holder is killed.
A rival who waited all the while does not run beside it.

ROUNDS=200 in the environment plays more than the 2 of every day."""
import os
import signal
import sys
import tempfile

import lease
from command import store

DOWN_MS = 1000


def play(number, hilock, crew, program, work):
    with store.Server(program, work) as master, \
            store.Server(program, work, '--replicaof', '127.0.0.1', str(master.port),
                         '--repl-diskless-sync-delay', '0') as replica:
        config = (f'sentinel monitor shop 127.0.0.1 {master.port} 1\nsentinel down-after-milliseconds shop {DOWN_MS}\n'
                  'sentinel failover-timeout shop 3000\n')
        with store.Server(program, work, '--sentinel', config=config) as sentinel:
            store.until(lambda: 'slave' in str(sentinel.ask('SENTINEL', 'replicas', 'shop')),
                        'the sentinel knows the replica')
            store.until(lambda: replica.info('replication')['master_link_status'] == 'up', 'the replica follows')
            url = f'redis+sentinel://{store.LOGIN}127.0.0.1:{sentinel.port}/shop'
            crews = [lease.Crew((hilock, crew), url, work, f'crew{number}', 'ignore')]
            try:
                crews[0].await_work()
                crews.append(lease.Crew((hilock, crew), url, work, f'rival{number}', 'obey'))
                had = lease.lease_end(master.url)
                lease.until(lambda: replica.ask('EXISTS', 'name') == 1, 'the replica knows the lock')
                master.kill()
                lease.until(lambda: crews[0].last() > had + lease.LEASE_MS * 500 or not lease.is_alive(crews[0].holder.pid), 'it goes on, or ends')
                store.expect(crews[0].last() > had, 'the command runs beyond the lease that it had at the first master')
                os.kill(crews[0].holder.pid, signal.SIGKILL)
                end = lease.lease_end(replica.url)
                crews[0].await_end()
                store.expect(crews[0].last() < end, f'it is over {(end - crews[0].last()) // 1000} ms before the lease at the second')
                crews[1].await_work()
                store.expect(crews[0].last() < crews[1].first(), 'and the rival runs after it')
            finally:
                for one in crews:
                    one.end()


def main(program, hilock, crew):
    for number in range(int(os.environ.get('ROUNDS', 2))):
        with tempfile.TemporaryDirectory() as work:
            play(number, hilock, crew, program, work)


if __name__ == '__main__':
    if not os.path.exists('/proc/self/stat'):
        print('/proc is not mounted: who lives cannot be seen')
        sys.exit(77)
    main(*sys.argv[1:])
