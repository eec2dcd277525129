# SPDX-License-Identifier: BSD-3-Clause
"""cluster - what the user's page on Redisson says of clusters: messages reach the other side both ways where Java
has sharded channels and neither way where it has not, which names work, and that both exclude each other whatever
wakes whom.

    cluster.py REDIS_SERVER PEER JARS RELEASE

Invariant: as in pairs.py nothing rests on a time; what is published where is read from MONITOR at each master."""
import sys

import servers
from peers import expect, open_client
from stage import LONG_MS, OURS, Monitor, play

SHORT_MS = 3000
GOOD = ('stock', '{shop}stock', 'a{b}c')
BAD = ('a}b', 'a{b', '{}', 'a{}b')


def channel(name):
    return f'redisson_lock__channel:{{{name}}}'


def publish(stage, name):
    """The commands by which its master published for it."""
    monitor = stage.monitors[stage.server.owner(stage.server.slot(name))]
    return {command for command, where in monitor.published(name) if where == channel(name)}


def until_it_listens(stage, name, command):
    nodes = [stage.server.owner(stage.server.slot(name))] if command == 'SHARDNUMSUB' else stage.server.nodes
    servers.until(lambda: any(node.ask('PUBSUB', command, channel(name))[1] for node in nodes), 'it listens')


def they_wait_for_us(stage, client, own, is_woken):
    name = stage.name()
    stage.we_have(own, name, LONG_MS if is_woken else SHORT_MS)
    tag = stage.java.send('do', client, name, 'rlock', name, 'lock')
    until_it_listens(stage, name, 'SHARDNUMSUB' if is_woken else 'NUMSUB')
    stage.we_give(own, name)
    expect(stage.java.answer(tag) == 'true', f'{client} gets it from {own}')
    expect(publish(stage, name) == {'SPUBLISH'}, f'{own} publishes by SPUBLISH: {publish(stage, name)}')
    stage.java_gives(name, 'rlock', name, client)


def we_wait_for_them(stage, client, own, is_woken):
    name = stage.name()
    stage.java_has(name, 'rlock', name, client)
    tag = stage.ours.send('acquire', 'c', name, own, name, -1, LONG_MS)
    stage.ours.answer('@' + name)
    until_it_listens(stage, name, 'SHARDNUMSUB')
    stage.java_gives(name, 'rlock', name, client)
    expect(stage.ours.answer(tag).startswith('OK '), f'{own} gets it from {client}')
    said = publish(stage, name)
    expect(said == {'SPUBLISH' if is_woken else 'PUBLISH'}, f'{client} publishes: {said}')
    stage.we_give(own, name)


def names(stage):
    for name in GOOD:
        stage.we_have('mutex', name)
        expect(stage.java_do('t', 'rlock', name, 'try', client='auto') == 'false', f'{name} is one lock')
        stage.we_give('mutex', name)
        stage.java_has('t', 'rlock', name, 'auto')
        stage.java_gives('t', 'rlock', name, 'auto')
    for name in BAD:
        expect(stage.acquire('mutex', name).startswith('refused BAD_NAME'), f'{name} is refused')
        locked = stage.java_do('t', 'rlock', name, 'lock', 3000, client='auto')
        unlocked = stage.java_do('t', 'rlock', name, 'unlock', client='auto')
        expect(locked == 'true' and unlocked.startswith('error'), f'{name}: Java locks it, and cannot unlock it: {locked} {unlocked}')
        print(f'ok: {name}: Java unlocks: {unlocked[:100]}')


def cluster(stage, release):
    stage.monitors = {node: Monitor(node) for node in stage.server.masters()}
    open_client(stage.java, 'auto')
    clients = {'auto': True}
    if release == 'new':  # the old one has no such setting
        open_client(stage.java, 'off', 'sharded=OFF')
        clients['off'] = False
    for client, is_woken in clients.items():
        for own in OURS:
            they_wait_for_us(stage, client, own, is_woken)
            we_wait_for_them(stage, client, own, is_woken)
        print(f'ok: sharded {client} and {OURS}, woken: {is_woken}')
    names(stage)


if __name__ == '__main__':
    play(cluster, servers.cluster, *sys.argv[1:])
