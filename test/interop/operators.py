# SPDX-License-Identifier: BSD-3-Clause
"""operators - peek and force_release on what Redisson put under a name: what is told, what is ended, what is refused and stays as it was.

    operators.py REDIS_SERVER PEER JARS RELEASE"""
import sys
import tempfile

import page
import peers
import servers
from peers import expect

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
    'read': ('OK', 'who read (RReadWriteLock)', 'WRONG_KIND', 'ok'),
    'write': ('OK', 'who writes (RReadWriteLock)', 'WRONG_KIND', 'ok'),
    'group': ('WRONG_KIND', 'not a lock hash', 'WRONG_KIND', 'ok'),
    'map': ('WRONG_KIND', 'not a lock hash', 'WRONG_KIND', ''),
}
OTHERS = {'RSemaphore': ('SET', 3), 'RSet': ('SADD', 'x'), 'RScoredSortedSet': ('ZADD', 1, 'x'), 'RList': ('RPUSH', 'x')}


class Stage:
    def __init__(self, server, java, ours):
        self.server, self.java, self.ours = server, java, ours
        peers.open_client(java, 'j')
        peers.open_client(ours, 'c')

    def do(self, kind, name, operation):
        return self.java.ask('do', 'j', 't', kind, name, operation)

    def peek(self, kind, name):
        """status, holder, remaining_ms, waiters, detail"""
        return self.ours.ask('peek', 'c', kind, name).split(' ', 4)

    def force(self, kind, name, holder='-'):
        return self.ours.ask('force', 'c', kind, name, holder).split()[0]

    def dump(self, name):
        return self.server.send('DUMP', name).readline()  # its length is enough, and its content no text


def is_ended(stage, kind, own, name, holder):
    _, _, forced, unlocked = TABLE[kind]
    before = stage.dump(name)
    expect(stage.force(own, name, 'somebody:1') == ('LOST' if forced == 'OK' else forced), f'{kind}: who does not hold it is not forced')
    expect(stage.dump(name) == before, f'{kind} is as it was')
    expect(stage.force(own, name, holder) == forced, f'{kind}: its holder is forced: {forced}')
    if forced == 'OK':
        expect(stage.server.ask('EXISTS', name) == 0, f'{kind} is free')
        expect(stage.force(own, name) == 'LOST', f'{kind}: nobody is left to be forced')
    else:
        expect(stage.force(own, name) == forced, f'{kind}: nor whoever holds it')
        expect(stage.dump(name) == before, f'{kind} is as it was')
    if unlocked:
        answer = stage.do(kind, name, 'unlock')
        expect(unlocked in answer, f'{kind}: Java unlocks it: {answer}')


def row(stage, kind, own):
    name = f'stock:{kind}:{own}'
    answer = stage.do(kind, name, 'try')
    if 'NoSuchMethod' in answer:
        return False
    expect(answer in ('true', 'ok'), f'{kind} is had: {answer}')
    status, words = TABLE[kind][:2]
    holder = stage.do('rlock', name, 'holder') + (':write' if kind == 'write' else '')
    peeked = stage.peek(own, name)
    expect(peeked[0] == status and words in peeked[4], f'{kind} is peeked at: {peeked}')
    expect(peeked[1] == (holder if status == 'OK' else '-'), f'{kind}: its holder is named: {peeked}')
    is_ended(stage, kind, own, name, holder)
    return True


def queue_stays(stage):
    """A forced release of an RFairLock takes nothing out of Java's queue: who waits there gets it."""
    name = 'stock:queue'
    expect(stage.do('fair', name, 'try') == 'true', 'an RFairLock is had')
    tag = stage.java.send('do', 'j', 'waiter', 'fair', name, 'lock', 5000)
    queue = f'redisson_lock_queue:{{{name}}}'
    servers.until(lambda: stage.server.ask('LLEN', queue) == 1, 'another waits')
    expect(stage.force('mutex', name) == 'OK', 'its holder is forced')
    stage.do('fair', name, 'unlock')  # which does not notice, and wakes who waits; unless that one is quicker, and has it by now
    expect(stage.java.answer(tag) == 'true', 'who waits gets it')
    expect(stage.java.ask('do', 'j', 'waiter', 'fair', name, 'unlock') == 'ok', 'and held it')


def main(program, peer, folder, release):
    class_path = peers.jars(folder, release)
    with tempfile.TemporaryDirectory() as work, servers.single(program, work) as server:
        java, ours = peers.java('java', class_path, work, server.java_url), peers.ours('ours', peer, work, server.ours_url)
        try:
            stage = Stage(server, java, ours)
            for column, of in (('peeked', 0), ('forced', 2)):
                expect({kind for kind, told in TABLE.items() if told[of] == 'OK'} == page.kinds(column), f'the page says whose holder is {column}')
            for kind in TABLE:
                if all([row(stage, kind, own) for own in ('mutex', 'fair')]):
                    print(f'ok: {kind}: {TABLE[kind]}')
            queue_stays(stage)
            for what, (command, *words) in OTHERS.items():
                server.ask(command, what, *words)
                before = stage.dump(what)
                expect(stage.peek('mutex', what)[0] == stage.force('mutex', what) == 'WRONG_KIND', f'{what} is refused')
                expect(stage.dump(what) == before, f'{what} is as it was')
                print(f'ok: {what}: refused')
        finally:
            java.end()
            ours.end()


if __name__ == '__main__':
    main(*sys.argv[1:])
