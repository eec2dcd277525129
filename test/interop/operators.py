# SPDX-License-Identifier: BSD-3-Clause
"""operators - peek and force_release on what Redisson put under a name: what is told, what is ended, what is refused
and stays as it was.

    operators.py REDIS_SERVER PEER JARS RELEASE"""
import sys

import page
import servers
from peers import expect, open_client
from stage import OURS, play

# What peek answers and says, what force_release answers, and what Java's unlock() says after it. A fair lock's unlock() is the only one that
# does not notice.
RLOCK = ('OK', 'with an RLock', 'OK', 'IllegalMonitorStateException')
TABLE = {
    'rlock': RLOCK,
    'nonreentrant': RLOCK,
    'fenced': RLOCK,
    'spin': RLOCK,
    'multi': RLOCK,
    'fair': (*RLOCK[:3], 'ok'),
    'read': ('OK', 'for reading (RReadWriteLock)', 'WRONG_KIND', 'ok'),
    'write': ('OK', 'for writing (RReadWriteLock)', 'WRONG_KIND', 'ok'),
    'group': ('WRONG_KIND', 'not a lock hash', 'WRONG_KIND', 'ok'),
    'map': ('WRONG_KIND', 'not a lock hash', 'WRONG_KIND', ''),
}
OTHERS = {'RSemaphore': ('SET', 3), 'RSet': ('SADD', 'x'), 'RScoredSortedSet': ('ZADD', 1, 'x'), 'RList': ('RPUSH', 'x')}


def peek(stage, kind, name):
    """status, holder, remaining_ms, waiters, detail"""
    return stage.ours.ask('peek', 'c', kind, name).split(' ', 4)


def force(stage, kind, name, holder='-'):
    return stage.ours.ask('force', 'c', kind, name, holder).split()[0]


def dump(stage, name):
    return stage.server.send('DUMP', name).readline()  # its length is enough, and its content no text


def is_ended(stage, kind, own, name, holder):
    _, _, forced, unlocked = TABLE[kind]
    before = dump(stage, name)
    of_another = force(stage, own, name, 'somebody:1')
    expect(of_another == ('LOST' if forced == 'OK' else forced), f'{kind}: who does not hold it is not forced')
    expect(dump(stage, name) == before, f'{kind} is as it was')
    expect(force(stage, own, name, holder) == forced, f'{kind}: its holder is forced: {forced}')
    if forced == 'OK':
        expect(stage.server.ask('EXISTS', name) == 0, f'{kind} is free')
        expect(force(stage, own, name) == 'LOST', f'{kind}: nobody is left to be forced')
    else:
        expect(force(stage, own, name) == forced, f'{kind}: nor whoever holds it')
        expect(dump(stage, name) == before, f'{kind} is as it was')
    if unlocked:
        answer = stage.java_do('t', kind, name, 'unlock')
        expect(unlocked in answer, f'{kind}: Java unlocks it: {answer}')


def row(stage, kind, own):
    name = f'stock:{kind}:{own}'
    answer = stage.java_do('t', kind, name, 'try')
    if 'NoSuchMethod' in answer:
        return False
    expect(answer in ('true', 'ok'), f'{kind} is had: {answer}')
    status, words = TABLE[kind][:2]
    holder = stage.holder('t', kind)
    peeked = peek(stage, own, name)
    expect(peeked[0] == status and words in peeked[4], f'{kind} is peeked at: {peeked}')
    expect(peeked[1] == (holder if status == 'OK' else '-'), f'{kind}: its holder is named: {peeked}')
    is_ended(stage, kind, own, name, holder)
    return True


def queue_stays(stage):
    """A forced release of an RFairLock takes nothing out of Java's queue: who waits there gets it."""
    name = 'stock:queue'
    stage.java_has('t', 'fair', name)
    tag = stage.java.send('do', 'j', 'waiter', 'fair', name, 'lock', 5000)
    queue = f'redisson_lock_queue:{{{name}}}'
    servers.until(lambda: stage.server.ask('LLEN', queue) == 1, 'another waits')
    expect(force(stage, 'mutex', name) == 'OK', 'its holder is forced')
    # which does not notice, and wakes who waits; unless that one is quicker, and has it by now
    stage.java_do('t', 'fair', name, 'unlock')
    expect(stage.java.answer(tag) == 'true', 'who waits gets it')
    stage.java_gives('waiter', 'fair', name)


def operators(stage, _):
    open_client(stage.java, 'j')
    for column, of in (('peeked', 0), ('forced', 2)):
        expect({kind for kind, told in TABLE.items() if told[of] == 'OK'} == page.kinds(column), f'the page says whose holder is {column}')
    for kind in TABLE:
        if all([row(stage, kind, own) for own in OURS]):
            print(f'ok: {kind}: {TABLE[kind]}')
    queue_stays(stage)
    for what, (command, *words) in OTHERS.items():
        stage.server.ask(command, what, *words)
        before = dump(stage, what)
        expect(peek(stage, 'mutex', what)[0] == force(stage, 'mutex', what) == 'WRONG_KIND', f'{what} is refused')
        expect(dump(stage, what) == before, f'{what} is as it was')
        print(f'ok: {what}: refused')


if __name__ == '__main__':
    play(operators, servers.single, *sys.argv[1:])
