# SPDX-License-Identifier: BSD-3-Clause
"""pairs - each of Redisson's kinds of lock beside each of ours, on one name, in both orders: the second is refused and nothing of the first is changed; who
waits is woken by a message, or not, as the user's page on Redisson says.

    pairs.py REDIS_SERVER PEER JARS RELEASE

Invariant: no claim here rests on how long something took: a message is seen to be published, or not, by MONITOR."""
import re
import sys
import tempfile
import threading

import page
import peers
import servers
import store
from peers import expect

OURS = ('mutex', 'fair')
PAIRED = ('rlock', 'fenced', 'fair', 'spin', 'read', 'write')  # with ours, in both orders: the 24 pairs
MORE = ('nonreentrant', 'multi')  # which consist of RLocks
WOKEN_BY_US, WAKES_US = page.kinds('woken_by_us'), page.kinds('wakes_us')
ASLEEP_MS = 3000  # our lease, where nobody is to be woken: Java's wait ends with it
LONG_MS = 600000  # and where somebody is: longer than any patience


class Monitor:
    """What the server was asked and what scripts did there: the words of each command."""
    def __init__(self, server):
        self.server, self.file, self.lines = server, server.send('MONITOR'), []
        expect(store.answer(self.file) == 'OK', 'the server is watched')
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.file:
            where, _, command = line.decode(errors='replace').partition('] ')
            self.lines.append((where.endswith(' lua'), re.findall(r'"((?:[^"\\]|\\.)*)"', command)))

    def published(self, name):
        """Channels of this name on which something was published until now."""
        seen = len(self.lines)
        self.server.ask('ECHO', name)
        servers.until(lambda: any(words == ['ECHO', name] for _, words in self.lines[seen:]), 'all was seen')
        return [words[1] for _, words in self.lines if words[0].upper() in ('PUBLISH', 'SPUBLISH') and f'{{{name}}}' in words[1]]


class Stage:
    def __init__(self, server, java, ours):
        self.server, self.java, self.ours, self.monitor = server, java, ours, Monitor(server)
        self.count, self.java_id = 0, peers.open_client(java, 'j')
        self.ours_id = peers.open_client(ours, 'c')

    def name(self):
        self.count += 1
        return f'stock:{self.count}'

    def java_do(self, actor, kind, name, *words):
        return self.java.ask('do', 'j', actor, kind, name, *words)

    def has(self, kind):
        """Whether this release of Redisson has it."""
        return 'NoSuchMethod' not in self.java_do('any', kind, 'none', 'locked') or kind == 'multi'


def hash_of(stage, name):
    words = stage.server.ask('HGETALL', name)
    return dict(zip(words[::2], words[1::2]))


def holder(stage, actor, kind):
    return stage.java_do(actor, 'rlock', 'none', 'holder') + (':write' if kind == 'write' else '')


def ours_first(stage, kind, own):
    name = stage.name()
    expect(stage.ours.ask('acquire', 'c', name, own, name, 0, LONG_MS).startswith('OK '), f'{own} is had')
    before, left_ms = hash_of(stage, name), stage.server.ask('PTTL', name)
    expect(stage.java_do('t', kind, name, 'try') == 'false', f'{kind} is refused beside {own}')
    expect(stage.java_do('t', kind, name, 'try', 50, 1000) == 'false', f'{kind} is refused beside {own} when it waits, too')
    expect('IllegalMonitorState' in stage.java_do('t', kind, name, 'unlock'), f'{kind} does not unlock what {own} holds')
    expect(hash_of(stage, name) == before, f'{kind} changes nothing beside {own}: {before} {hash_of(stage, name)}')
    expect(stage.server.ask('PTTL', name) > left_ms - LONG_MS / 2, f'{kind} does not shorten the lease of {own}')
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} was held to its end beside {kind}')
    expect(stage.java_do('t', kind, name, 'try') == 'true', f'{kind} is had when {own} has gone')
    expect(stage.java_do('t', kind, name, 'unlock') == 'ok', f'{kind} was held')


def java_first(stage, kind, own):
    name = stage.name()
    expect(stage.java_do('t', kind, name, 'try') == 'true', f'{kind} is had')
    before = hash_of(stage, name)
    answer = stage.ours.ask('acquire', 'c', name, own, name, 0, LONG_MS)
    expect(answer.split()[0] == 'TIMED_OUT' and answer.split()[-1] == holder(stage, 't', kind), f'{own} is refused beside {kind}, and names it: {answer}')
    expect(hash_of(stage, name) == before, f'{own} changes nothing beside {kind}: {before} {hash_of(stage, name)}')
    expect(stage.java_do('t', kind, name, 'unlock') == 'ok', f'{kind} was held to its end beside {own}')
    expect(stage.ours.ask('acquire', 'c', name, own, name, 0, LONG_MS).startswith('OK '), f'{own} is had when {kind} has gone')
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} was held')


def channel(stage, kind, name, actor):
    """On which that thread of Java waits; None: it polls."""
    if kind == 'spin':
        return None
    if kind in ('read', 'write'):
        return f'redisson_rwlock:{{{name}}}'
    return f'redisson_lock__channel:{{{name}}}' + (':' + holder(stage, actor, 'rlock') if kind == 'fair' else '')


def looked_twice(stage, name, since):
    """It has asked once more behind its subscription, and sleeps."""
    asked = [words for is_lua, words in stage.monitor.lines[since:] if not is_lua and words[0] in ('EVAL', 'EVALSHA') and words[3] == name]
    return len(asked) >= 2


def java_waits(stage, kind, own):
    """Begun: (kind, own, name, tag, since)."""
    name = stage.name()
    lease_ms = LONG_MS if kind in WOKEN_BY_US or kind == 'spin' else ASLEEP_MS
    expect(stage.ours.ask('acquire', 'c', name, own, name, 0, lease_ms).startswith('OK '), f'{own} is had')
    since = len(stage.monitor.lines)
    tag, awaited = stage.java.send('do', 'j', name, kind, name, 'lock'), channel(stage, kind, name, 'any')
    if kind == 'fair':
        servers.until(lambda: stage.server.ask('LLEN', f'redisson_lock_queue:{{{name}}}') == 1, 'an RFairLock waits')
    elif awaited:
        servers.until(lambda: stage.server.ask('PUBSUB', 'NUMSUB', awaited)[1] == 1, f'{kind} listens')
    servers.until(lambda: looked_twice(stage, name, since), f'{kind} has looked twice')
    return kind, own, name, tag


def we_release(stage, kind, own, name, tag):
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} was held')


def java_is_woken(stage, kind, own, name, tag):
    expect(stage.java.answer(tag, f'{kind} waits for {own}') == 'true', f'{kind} gets it from {own}')
    is_woken = channel(stage, kind, name, name) in stage.monitor.published(name)
    expect(stage.java_do(name, kind, name, 'unlock') == 'ok', f'{kind} was held')
    expect(is_woken == (kind in WOKEN_BY_US), f'{own} wakes {kind}: {is_woken}')


def we_wait(stage, kind, own):
    name = stage.name()
    expect(stage.java_do(name, kind, name, 'try') == 'true', f'{kind} is had')
    tag = stage.ours.send('acquire', 'c', name, own, name, -1, LONG_MS)
    expect(stage.ours.answer('@' + name) == holder(stage, name, kind), f'{own} waits for {kind}')
    servers.until(lambda: stage.server.ask('PUBSUB', 'NUMSUB', f'redisson_lock__channel:{{{name}}}')[1] == 1, f'{own} listens')
    return kind, own, name, tag


def java_releases(stage, kind, own, name, tag):
    expect(stage.java_do(name, kind, name, 'unlock') == 'ok', f'{kind} was held')


def we_are_woken(stage, kind, own, name, tag):
    expect(stage.ours.answer(tag, f'{own} waits for {kind}').startswith('OK '), f'{own} gets it from {kind}')
    is_woken = f'redisson_lock__channel:{{{name}}}' in stage.monitor.published(name)
    expect(stage.ours.ask('release', 'c', name).startswith('OK'), f'{own} was held')
    expect(is_woken == (kind in WAKES_US), f'{kind} wakes {own}: {is_woken}')


def exclusion(stage):
    kinds = PAIRED + tuple(kind for kind in MORE if stage.has(kind))
    expect(set(PAIRED + MORE) == page.kinds('excludes'), 'the page says that of these')
    for kind in kinds:
        for own in OURS:
            ours_first(stage, kind, own)
            java_first(stage, kind, own)
        print(f'ok: {kind} and {OURS} exclude each other, in both orders')
    return kinds


def waking(stage, kinds):
    """Those who are not woken sleep all at the same time."""
    for begin, release, end in ((java_waits, we_release, java_is_woken), (we_wait, java_releases, we_are_woken)):
        begun = [begin(stage, kind, own) for kind in kinds for own in OURS]
        for step in (release, end):
            for pair in begun:
                step(stage, *pair)
    print(f'ok: woken by us {sorted(WOKEN_BY_US & set(kinds))}, wake us {sorted(WAKES_US & set(kinds))}, and no other of {kinds}')


def main(program, peer, folder, release):
    class_path = peers.jars(folder, release)
    with tempfile.TemporaryDirectory() as work, servers.single(program, work) as server:
        java, ours = peers.java('java', class_path, work, server.java_url), peers.ours('ours', peer, work, server.ours_url)
        try:
            stage = Stage(server, java, ours)
            waking(stage, exclusion(stage))
            left = [key for key in server.left() if not key.startswith(('redisson_lock_token', 'redisson_unlock_latch'))]
            expect(not left, f'nothing is left but tokens: {left}')
            expect(not java.complaints(), f'Redisson has nothing to complain of:\n{java.complaints()}')
        finally:
            java.end()
            ours.end()


if __name__ == '__main__':
    main(*sys.argv[1:])
