# SPDX-License-Identifier: BSD-3-Clause
"""cluster - what the user's page on Redisson says of clusters: messages reach the other side both ways where Java has sharded channels and neither way
where it has not, which names work, and that both exclude each other whatever wakes whom.

    cluster.py REDIS_SERVER PEER JARS RELEASE

Invariant: as in pairs.py nothing rests on a time; what is published where is read from MONITOR at each master."""
import sys
import tempfile

import peers
import servers
from pairs import Monitor
from peers import expect

OURS, LONG_MS, SHORT_MS = ('mutex', 'fair'), 600000, 3000
GOOD = ('stock', '{shop}stock', 'a{b}c')
BAD = ('a}b', 'a{b', '{}', 'a{}b')


class Stage:
    def __init__(self, cluster, java, ours):
        self.cluster, self.java, self.ours, self.count = cluster, java, ours, 0
        self.monitors = {node: Monitor(node) for node in cluster.masters()}
        peers.open_client(ours, 'c')

    def name(self):
        self.count += 1
        return f'stock:{self.count}'

    def java_do(self, client, actor, name, *words):
        return self.java.ask('do', client, actor, 'rlock', name, *words)

    def commands(self, name):
        """Those by which its master published for it."""
        monitor = self.monitors[self.cluster.owner(self.cluster.slot(name))]
        monitor.published(name)  # all was seen
        channel = f'redisson_lock__channel:{{{name}}}'
        return {words[0].upper() for _, words in monitor.lines if words[0].upper().endswith('PUBLISH') and words[1] == channel}

    def listens(self, name, command):
        node, channel = self.cluster.owner(self.cluster.slot(name)), f'redisson_lock__channel:{{{name}}}'
        servers.until(lambda: any(one.ask('PUBSUB', command, channel)[1] for one in ([node] if command == 'SHARDNUMSUB' else self.cluster.nodes)), 'it listens')


def they_wait_for_us(stage, client, own, is_woken):
    name = stage.name()
    expect(stage.ours.ask('acquire', 'c', name, own, name, 0, LONG_MS if is_woken else SHORT_MS).startswith('OK '), f'{own} is had')
    tag = stage.java.send('do', client, name, 'rlock', name, 'lock')
    stage.listens(name, 'SHARDNUMSUB' if is_woken else 'NUMSUB')
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} was held')
    expect(stage.java.answer(tag) == 'true', f'{client} gets it from {own}')
    expect(stage.commands(name) == {'SPUBLISH'}, f'{own} publishes by SPUBLISH: {stage.commands(name)}')
    expect(stage.java_do(client, name, name, 'unlock') == 'ok', f'{client} held it')


def we_wait_for_them(stage, client, own, is_woken):
    name = stage.name()
    expect(stage.java_do(client, name, name, 'try') == 'true', f'{client} has it')
    tag = stage.ours.send('acquire', 'c', name, own, name, -1, LONG_MS)
    stage.ours.answer('@' + name)
    stage.listens(name, 'SHARDNUMSUB')
    expect(stage.java_do(client, name, name, 'unlock') == 'ok', f'{client} held it')
    expect(stage.ours.answer(tag).startswith('OK '), f'{own} gets it from {client}')
    expect(stage.commands(name) == {'SPUBLISH' if is_woken else 'PUBLISH'}, f'{client} publishes: {stage.commands(name)}')
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} held it')


def names(stage):
    for name in GOOD:
        expect(stage.ours.ask('acquire', 'c', name, 'mutex', name, 0, LONG_MS).startswith('OK '), f'{name} is had')
        expect(stage.java_do('auto', 't', name, 'try') == 'false', f'{name} is one lock')
        expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{name} was held')
        expect(stage.java_do('auto', 't', name, 'try') == 'true' and stage.java_do('auto', 't', name, 'unlock') == 'ok', f'{name} is good in Java')
    for name in BAD:
        expect(stage.ours.ask('acquire', 'c', 'bad', 'mutex', name, 0, LONG_MS).startswith('refused BAD_NAME'), f'{name} is refused')
        locked, unlocked = stage.java_do('auto', 't', name, 'lock', 3000), stage.java_do('auto', 't', name, 'unlock')
        expect(locked == 'true' and unlocked.startswith('error'), f'{name}: Java locks it, and cannot unlock it: {locked} {unlocked}')
        print(f'ok: {name}: Java unlocks: {unlocked[:100]}')


def main(program, peer, folder, release):
    class_path = peers.jars(folder, release)
    with tempfile.TemporaryDirectory() as work, servers.cluster(program, work) as cluster:
        java, ours = peers.java('java', class_path, work, cluster.java_url), peers.ours('ours', peer, work, cluster.ours_url)
        try:
            stage = Stage(cluster, java, ours)
            peers.open_client(java, 'auto')
            clients = {'auto': True}
            if release == 'new':  # the old one has no such setting
                peers.open_client(java, 'off', 'sharded=OFF')
                clients['off'] = False
            for client, is_woken in clients.items():
                for own in OURS:
                    they_wait_for_us(stage, client, own, is_woken)
                    we_wait_for_them(stage, client, own, is_woken)
                print(f'ok: sharded {client} and {OURS}, woken: {is_woken}')
            names(stage)
        finally:
            java.end()
            ours.end()


if __name__ == '__main__':
    main(*sys.argv[1:])
