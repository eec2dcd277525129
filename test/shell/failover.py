# SPDX-License-Identifier: BSD-3-Clause
"""failover.py HILOCK CREW REDIS_SERVER - a command under a lock lives through a failover to a replica that knows the lock: it goes on beyond the lease that it
had, and ends before the lease that it then has, when its holder is killed. A rival who waited all the while does not run beside it.

ROUNDS=200 in the environment plays more than the 2 of every day."""
import os
import signal
import sys
import tempfile

import deployments
import lease
import store # found by lease

DOWN_MS = 1000


def play(number, hilock, crew, program, work):
    with deployments.server(program, work, 'master', '--save', '') as (master, port, process), \
            deployments.server(program, work, 'replica', '--save', '', '--replicaof', '127.0.0.1', str(port), '--repl-diskless-sync-delay', '0') as (replica, _, _):
        config = (f'sentinel monitor shop 127.0.0.1 {port} 1\nsentinel down-after-milliseconds shop {DOWN_MS}\nsentinel failover-timeout shop 3000\n')
        with deployments.server(program, work, 'sentinel', '--sentinel', config=config) as (sentinel, sentinel_port, _):
            lease.until(lambda: 'slave' in str(store.ask(sentinel, 'SENTINEL', 'replicas', 'shop')), 'the sentinel knows the replica')
            lease.until(lambda: 'master_link_status:up' in store.ask(replica, 'INFO', 'replication'), 'the replica follows')
            url = f'redis+sentinel://{deployments.LOGIN}127.0.0.1:{sentinel_port}/shop'
            crews = [lease.Crew((hilock, crew), url, work, f'crew{number}', 'ignore')]
            try:
                crews[0].await_work()
                crews.append(lease.Crew((hilock, crew), url, work, f'rival{number}', 'obey'))
                had = lease.lease_end(master)
                lease.until(lambda: store.ask(replica, 'EXISTS', 'name') == 1, 'the replica knows the lock')
                process.kill()
                lease.until(lambda: crews[0].last() > had + lease.LEASE_MS * 500 or not lease.is_alive(crews[0].holder.pid), 'it goes on, or ends')
                store.expect(crews[0].last() > had, 'the command runs beyond the lease that it had at the first master')
                os.kill(crews[0].holder.pid, signal.SIGKILL)
                end = lease.lease_end(replica)
                crews[0].await_end()
                store.expect(crews[0].last() < end, f'it is over {(end - crews[0].last()) // 1000} ms before the lease at the second')
                crews[1].await_work()
                store.expect(crews[0].last() < crews[1].first(), 'and the rival runs after it')
            finally:
                for one in crews:
                    one.end()


def main(hilock, crew, program):
    for number in range(int(os.environ.get('ROUNDS', 2))):
        with tempfile.TemporaryDirectory() as work:
            play(number, hilock, crew, program, work)


if __name__ == '__main__':
    if not os.path.exists('/proc/self/stat'):
        print('/proc is not mounted: who lives cannot be seen')
        sys.exit(77)
    main(*sys.argv[1:])
