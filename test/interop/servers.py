# SPDX-License-Identifier: BSD-3-Clause
"""servers - redis-servers of a test's own on loopback ports, alone or as a cluster of three masters with a replica each. They end with the block."""
import contextlib

import peers  # noqa: F401 - it knows where store is
from store import SECRET, Server, until

MASTERS = 3
SLOTS = 16384
NODE_TIMEOUT_MS = 2000


@contextlib.contextmanager
def single(program, folder, *arguments):
    with Server(program, folder, *arguments) as server:
        server.ours_url = f'redis://default:{SECRET}@127.0.0.1:{server.port}'
        server.java_url = f'redis://:{SECRET}@127.0.0.1:{server.port}'
        yield server


class Cluster:
    def __init__(self, program, folder, stack):
        arguments = ('--cluster-enabled', 'yes', '--cluster-node-timeout', str(NODE_TIMEOUT_MS))
        self.nodes = [stack.enter_context(Server(program, folder, *arguments)) for _ in range(2 * MASTERS)]
        hosts = ','.join(f'127.0.0.1:{node.port}' for node in self.nodes)
        self.ours_url, self.java_url = f'redis+cluster://default:{SECRET}@{hosts}', f'cluster://:{SECRET}@{hosts}'

    def join(self):
        for i, node in enumerate(self.nodes):
            node.id = node.ask('CLUSTER', 'MYID')
            node.ask('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
            if i < MASTERS:
                node.ask('CLUSTER', 'ADDSLOTS', *range(SLOTS * i // MASTERS, SLOTS * (i + 1) // MASTERS))
        for node in self.nodes[1:]:
            node.ask('CLUSTER', 'MEET', '127.0.0.1', self.nodes[0].port)
        until(lambda: all(len(self.known(node)) == len(self.nodes) for node in self.nodes), 'all know each other')
        for node, master in zip(self.nodes[MASTERS:], self.nodes):
            node.ask('CLUSTER', 'REPLICATE', master.id)
        self.settle()

    @staticmethod
    def known(node):
        return [line for line in node.ask('CLUSTER', 'NODES').splitlines() if 'handshake' not in line and 'noaddr' not in line]

    def settle(self):
        """Until it is whole, and each master has its replica."""
        until(lambda: all(self.is_well(node) for node in self.nodes), 'the cluster is whole')

    @staticmethod
    def is_well(node):
        if not node.answers():
            return False
        info = node.info('replication')
        is_linked = info['connected_slaves'] == '1' if info['role'] == 'master' else info['master_link_status'] == 'up'
        return is_linked and 'cluster_state:ok' in node.ask('CLUSTER', 'INFO')

    def masters(self):
        return [node for node in self.nodes if node.lives() and node.info('replication')['role'] == 'master']

    def owner(self, slot):
        """As the first server that lives has it."""
        slots = next(node for node in self.nodes if node.lives()).ask('CLUSTER', 'SLOTS')
        port = next(entry[2][1] for entry in slots if entry[0] <= slot <= entry[1])
        return next(node for node in self.nodes if node.port == port)

    def slot(self, name):
        return self.nodes[0].ask('CLUSTER', 'KEYSLOT', name)

    def move(self, slot):
        """To the next master, key by key, as redis-cli does it."""
        source, masters = self.owner(slot), self.masters()
        target = masters[(masters.index(source) + 1) % len(masters)]
        target.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
        source.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
        for _ in range(2):  # while locks are taken, keys come and go
            for key in source.ask('CLUSTER', 'GETKEYSINSLOT', slot, 1000):
                source.ask('MIGRATE', '127.0.0.1', target.port, key, 0, 5000, 'REPLACE')
        for node in (target, source, *(node for node in masters if node not in (source, target))):
            node.ask('CLUSTER', 'SETSLOT', slot, 'NODE', target.id)

    def fail_over(self, slot):
        """The master of this slot is killed; its replica takes over, and it comes back as a replica."""
        master = self.owner(slot)
        master.kill()
        until(lambda: self.owner(slot) is not master, 'a replica takes over')
        master.start()

    def left(self):
        return sorted(key for node in self.masters() for key in node.left())


@contextlib.contextmanager
def cluster(program, folder):
    with contextlib.ExitStack() as stack:
        made = Cluster(program, folder, stack)
        made.join()
        yield made
