# SPDX-License-Identifier: BSD-3-Clause
"""pairs - each of Redisson's kinds of lock beside each of ours, on one name, in both orders: the second is refused
and nothing of the first is changed, nor one of its re-entries; who waits is woken by a message, or not, as the user's
page on Redisson says.

    pairs.py REDIS_SERVER PEER JARS RELEASE

Invariant: no claim here rests on how long something took: a message is seen to be published, or not, by MONITOR."""
import sys

import page
import servers
from peers import expect, open_client
from stage import LONG_MS, OURS, Monitor, play

PAIRED = ('rlock', 'fenced', 'fair', 'spin', 'read', 'write')  # with each of ours, both ways; they count re-entries
MORE = ('nonreentrant', 'multi')  # which consist of RLocks
WOKEN_BY_US, WAKES_US = page.kinds('woken_by_us'), page.kinds('wakes_us')
ASLEEP_MS = 3000  # our lease, where nobody is to be woken: Java's wait ends with it


def hash_of(stage, name):
    words = stage.server.ask('HGETALL', name)
    return dict(zip(words[::2], words[1::2]))


def ours_first(stage, kind, own):
    name = stage.name()
    stage.we_have(own, name)
    before, left_ms = hash_of(stage, name), stage.server.ask('PTTL', name)
    expect(stage.java_do('t', kind, name, 'try') == 'false', f'{kind} is refused beside {own}')
    expect(stage.java_do('t', kind, name, 'try', 50, 1000) == 'false', f'{kind} is refused beside {own} when it waits, too')
    expect('IllegalMonitorState' in stage.java_do('t', kind, name, 'unlock'), f'{kind} does not unlock what {own} holds')
    expect(hash_of(stage, name) == before, f'{kind} changes nothing beside {own}: {before} {hash_of(stage, name)}')
    expect(stage.server.ask('PTTL', name) > left_ms - LONG_MS / 2, f'{kind} does not shorten the lease of {own}')
    stage.we_give(own, name)
    stage.java_has('t', kind, name)
    stage.java_gives('t', kind, name)


def java_first(stage, kind, own):
    name, times = stage.name(), 2 if kind in PAIRED else 1
    for _ in range(times):
        stage.java_has('t', kind, name)
    for _ in range(times):
        before, answer = hash_of(stage, name), stage.acquire(own, name)
        is_refused = answer.startswith('TIMED_OUT ') and answer.split()[-1] == stage.holder('t', kind)
        expect(is_refused, f'{own} is refused beside {kind}, and names it: {answer}')
        expect(hash_of(stage, name) == before, f'{own} changes nothing beside {kind}: {before} {hash_of(stage, name)}')
        stage.java_gives('t', kind, name)
    stage.we_have(own, name)
    stage.we_give(own, name)


def channel(stage, kind, name, actor):
    """On which that thread of Java waits; None: it polls."""
    if kind == 'spin':
        return None
    if kind in ('read', 'write'):
        return f'redisson_rwlock:{{{name}}}'
    return f'redisson_lock__channel:{{{name}}}' + (':' + stage.holder(actor) if kind == 'fair' else '')


def looked_twice(stage, name, since):
    """It has asked once more behind its subscription, and sleeps."""
    asked = [words for is_lua, words in stage.monitor.lines[since:] if not is_lua and words[0] in ('EVAL', 'EVALSHA') and words[3] == name]
    return len(asked) >= 2


def java_waits(stage, kind, own):
    """Begun: (kind, own, name, tag, since)."""
    name = stage.name()
    stage.we_have(own, name, LONG_MS if kind in WOKEN_BY_US or kind == 'spin' else ASLEEP_MS)
    since = len(stage.monitor.lines)
    tag, awaited = stage.java.send('do', 'j', name, kind, name, 'lock'), channel(stage, kind, name, 'any')
    if kind == 'fair':
        servers.until(lambda: stage.server.ask('LLEN', f'redisson_lock_queue:{{{name}}}') == 1, 'an RFairLock waits')
    elif awaited:
        servers.until(lambda: stage.server.ask('PUBSUB', 'NUMSUB', awaited)[1] == 1, f'{kind} listens')
    servers.until(lambda: looked_twice(stage, name, since), f'{kind} has looked twice')
    return kind, own, name, tag


def we_release(stage, kind, own, name, tag):
    stage.we_give(own, name)


def java_is_woken(stage, kind, own, name, tag):
    expect(stage.java.answer(tag, f'{kind} waits for {own}') == 'true', f'{kind} gets it from {own}')
    is_woken = channel(stage, kind, name, name) in [where for _, where in stage.monitor.published(name)]
    stage.java_gives(name, kind, name)
    expect(is_woken == (kind in WOKEN_BY_US), f'{own} wakes {kind}: {is_woken}')


def we_wait(stage, kind, own):
    name = stage.name()
    stage.java_has(name, kind, name)
    tag = stage.ours.send('acquire', 'c', name, own, name, -1, LONG_MS)
    expect(stage.ours.answer('@' + name) == stage.holder(name, kind), f'{own} waits for {kind}')
    servers.until(lambda: stage.server.ask('PUBSUB', 'NUMSUB', f'redisson_lock__channel:{{{name}}}')[1] == 1, f'{own} listens')
    return kind, own, name, tag


def java_releases(stage, kind, own, name, tag):
    stage.java_gives(name, kind, name)


def we_are_woken(stage, kind, own, name, tag):
    expect(stage.ours.answer(tag, f'{own} waits for {kind}').startswith('OK '), f'{own} gets it from {kind}')
    is_woken = f'redisson_lock__channel:{{{name}}}' in [where for _, where in stage.monitor.published(name)]
    stage.we_give(own, name)
    expect(is_woken == (kind in WAKES_US), f'{kind} wakes {own}: {is_woken}')


def has(stage, kind):
    """Whether this release of Redisson has it."""
    return 'NoSuchMethod' not in stage.java_do('any', kind, 'none', 'locked') or kind == 'multi'


def exclusion(stage):
    kinds = PAIRED + tuple(kind for kind in MORE if has(stage, kind))
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


def pairs(stage, _):
    stage.monitor = Monitor(stage.server)
    open_client(stage.java, 'j')
    waking(stage, exclusion(stage))
    left = [key for key in stage.server.left() if not key.startswith(('redisson_lock_token', 'redisson_unlock_latch'))]
    expect(not left, f'nothing is left but tokens: {left}')
    expect(not stage.java.complaints(), f'Redisson has nothing to complain of:\n{stage.java.complaints()}')


if __name__ == '__main__':
    play(pairs, servers.single, *sys.argv[1:])
