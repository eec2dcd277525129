# SPDX-License-Identifier: BSD-3-Clause
"""torture - Java and hilock want the same names, and both are killed and suspended all the time: no two ever hold one, every wait is served, the tokens of
our holders rise, and nothing is left but tokens. Some handles of ours share a name by a number (--numbers): none of them has a name beside one that holds
it alone, and none gets a name that as many hold as its number allows.

    torture.py REDIS_SERVER PEER JARS [--seconds N] [--lease-ms MS] [--cluster] [--release old] [--java N] [--ours N] [--calm] [--store-faults]
               [--names N] [--hold-us US] [--think-us US] [--kind mutex|fair] [--numbers 1,2,5,any] [--java-kind rlock|fair|fenced]

2 JVMs of 8 threads and 4 processes of 8 handles, half of these FAIR, on 16 names. Leases of both are short, so that one who dies costs no minute. In a
cluster also a master is killed and comes back, and slots move. Each of these happens once at least, however few the seconds. With --calm nothing of that
happens: then it measures what each side gets, from when the JVMs have run for a while. To be read on a machine that does nothing else.
With --java 0 --store-faults the server is killed as well, and comes back with all that it has answered, and all connections are ended: Redisson's calls
would throw then."""
import argparse
import collections
import itertools
import os
import random
import tempfile
import threading
import time

import oracle
import peers
import servers

EACH = 8
WARM_S = 5
FAULTS = (('kill', 'ours'), ('suspend', 'Java'), ('kill', 'Java'), ('suspend', 'ours'), ('outlast', 'ours'), ('outlast', 'Java'))
CLUSTER_FAULTS = ('move', 'fail over', 'move')  # before each round of these
STORE_FAULTS = ('cut all links', 'kill the server', 'cut all links')  # likewise
DURABLE = ('--appendonly', 'yes', '--appendfsync', 'always')
LATCH_S = 25  # a Java that is killed between its unlock and its DEL leaves a key for 20 s
LOOK_S = 0.1
SHARERS_MAX = 1000000  # a higher number is any number
QUEUE_S = 100  # one of ours that is killed may leave the queue, for 90 s


class Fleet:
    def __init__(self, options, folder, server, class_path):
        self.options, self.folder, self.server, self.class_path = options, folder, server, class_path
        self.names = [f'stock:{i}' for i in range(options.names)]
        self.count, self.live, self.dead, self.faults = 0, {}, [], collections.Counter()
        self.is_over, self.looked_ns = threading.Event(), time.monotonic_ns()
        threading.Thread(target=self.watch_machine, daemon=True).start()

    def watch_machine(self):
        """When the machine itself stands still, so does everybody on it, and a lease may run out."""
        while not self.is_over.wait(LOOK_S):
            looked_ns, self.looked_ns = self.looked_ns, time.monotonic_ns()
            if self.looked_ns - looked_ns > (LOOK_S + self.options.lease_ms / 1000 / 6) * 1e9:
                self.faults['machine stands still'] += 1
                for peer in [*self.live.values()]:
                    peer.stops.append((looked_ns, self.looked_ns))

    def start(self, place):
        """A new process where one was killed, or the first."""
        is_java, label = place < self.options.java, f'p{self.count}'
        self.count += 1
        if is_java:
            peer = peers.java(label, self.class_path, self.folder, self.server.java_url, quick=not self.options.calm)
            peers.open_client(peer, label, f'watchdog={self.options.lease_ms}')
        else:
            peer = peers.ours(label, self.options.peer, self.folder, self.server.ours_url)
            peers.open_client(peer, label, self.options.lease_ms)
        kind = self.options.java_kind if is_java else self.options.kind or ('mutex', 'fair')[place % 2]
        numbers = () if is_java else (self.options.numbers,)
        peer.ask('contend', label, EACH, kind, self.options.hold_us, self.options.think_us, 0, *numbers, *self.names)
        self.live[place] = peer

    def fault(self, what, side):
        """Something happens to one process of that side."""
        self.faults[f'{what} {side}'] += 1
        place = random.randrange(self.options.java) if side == 'Java' else self.options.java + random.randrange(self.options.ours)
        if what == 'kill':
            self.live[place].kill()
            self.dead.append(self.live[place])
            self.start(place)
        else:
            self.live[place].stand_still(self.options.lease_ms / 1000 * (0.2 if what == 'suspend' else 1.3))

    def cluster_fault(self, what):
        self.faults[what] += 1
        slot = self.server.slot(random.choice(self.names))
        if what == 'move':
            self.server.move(slot)
        else:
            self.server.fail_over(slot)
            self.server.settle()

    def store_fault(self, what):
        self.faults[what] += 1
        if what == 'kill the server':
            self.server.kill()
            self.server.start()
        else:
            for kind in ('normal', 'pubsub'):
                self.server.ask('CLIENT', 'KILL', 'TYPE', kind, 'SKIPME', 'yes')

    def places(self):
        return range(self.options.java + self.options.ours)

    def stop(self):
        """Each wait is served before this returns, or the question is named that never was answered."""
        asked = {peer: peer.send('stop') for peer in self.live.values()}
        for peer, tag in asked.items():
            peer.answer(tag, 'stop: a wait was not served')
        for peer in self.live.values():
            peer.ask('close', peer.label)
            peer.end()
        self.is_over.set()


def measure(fleet, options):
    """The time that counts."""
    for place in fleet.places():
        fleet.start(place)
    time.sleep(WARM_S)
    begun_ns = time.monotonic_ns()
    time.sleep(options.seconds)
    ended_ns = time.monotonic_ns()
    fleet.stop()
    return begun_ns, ended_ns


def play(fleet, options):
    begun_ns, end = time.monotonic_ns(), time.monotonic() + options.seconds
    for place in fleet.places():
        fleet.start(place)
    steps = [(fleet.cluster_fault, what) for what in CLUSTER_FAULTS if options.cluster]
    steps += [(fleet.store_fault, what) for what in STORE_FAULTS if options.store_faults]
    steps += [(fleet.fault, *fault) for fault in FAULTS if options.java or fault[1] == 'ours']
    for done, (call, *words) in enumerate(itertools.cycle(steps), 1):
        time.sleep(0.5)
        call(*words)
        if done >= len(steps) and time.monotonic() >= end:
            break
    fleet.stop()
    return begun_ns, time.monotonic_ns()


def check_left(server, is_long):
    """A short run does not wait for what runs out by itself, but looks at what that is."""
    passing = ('redisson_unlock_latch', 'hilock:queue', 'hilock:place')
    left = server.left()
    end = time.monotonic() + (QUEUE_S if is_long else LATCH_S)
    while left and time.monotonic() < end and (is_long or not all(key.startswith(passing) for key in left)):
        time.sleep(0.5)
        left = server.left()
    peers.expect(not left or not is_long and all(key.startswith(passing) for key in left), f'nothing is left but tokens: {left}')


def named(number):
    return 'alone' if number == 1 else f'at most {number}' if number <= SHARERS_MAX else 'any number'


def tell(verdict, fleet, begun_ns, ended_ns):
    waits = collections.defaultdict(list)
    for turn in verdict.turns:
        if begun_ns <= turn.begun_ns < ended_ns:
            waits['ours, ' + named(turn.number) if turn.token else 'Java'].append((turn.begun_ns - turn.asked_ns) / 1e6)
    print(', '.join(f'{count} x {what}' for what, count in sorted(fleet.faults.items())))
    for side, of_side in sorted(waits.items()):
        share = 100 * len(of_side) / sum(map(len, waits.values()))
        print(f'{side}: {len(of_side)} grants, {share:.0f} %, {len(of_side) / (ended_ns - begun_ns) * 1e9:.0f}/s, wait p50 {oracle.percentile(of_side, .5):.1f} ms, p99 {oracle.percentile(of_side, .99):.0f} ms, '
              f'longest {max(of_side) / 1000:.1f} s')
    print(f'{verdict.grants} holds judged, up to {verdict.most} of one name at once, {len(verdict.overlaps)} beside one alone, {len(verdict.crowded)} beyond '
          f'their number, {len(verdict.backward)} tokens out of order, {len(verdict.unserved)} waits not served; of the holds and waits: {dict(verdict.fates)}')


def check(verdict, server, options):
    for latest, hold in verdict.overlaps[:5]:
        print(f'overlap: {latest[2]}\n    and: {hold[2]}')
    for count, hold in verdict.crowded[:5]:
        print(f'one of {count}: {hold[2]}')
    for turn in verdict.unserved[:5] + verdict.faults[:5]:
        print(f'{turn}')
    peers.expect(not verdict.overlaps, 'nobody has a name beside one that holds it alone')
    peers.expect(not verdict.crowded, 'no handle shares a name with more than its number')
    peers.expect('any' not in options.numbers or verdict.most > 1, 'names were shared')
    peers.expect(not verdict.backward, f'tokens rise: {verdict.backward[:3]}')
    peers.expect(not verdict.unserved, 'every wait is served')
    peers.expect(options.cluster or not verdict.faults, 'no wait fails and no hold ends by itself, but of who stood still')
    for is_ours, count in ((False, options.java), (True, options.ours)):
        peers.expect(not count or any(bool(turn.token) == is_ours for turn in verdict.turns if turn.begun_ns), 'both sides have had their turns')
    check_left(server, options.seconds > 120)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('server')
    parser.add_argument('peer')
    parser.add_argument('jars')
    parser.add_argument('--seconds', type=float, default=30 if os.environ.get('CI') else 1)
    parser.add_argument('--lease-ms', type=int, default=6000)
    parser.add_argument('--cluster', action='store_true')
    parser.add_argument('--release', choices=peers.RELEASES, default='new')
    parser.add_argument('--java', type=int, default=2)
    parser.add_argument('--ours', type=int, default=4)
    parser.add_argument('--calm', action='store_true')
    parser.add_argument('--store-faults', action='store_true')
    parser.add_argument('--names', type=int, default=16)
    parser.add_argument('--hold-us', type=int, default=2000)
    parser.add_argument('--think-us', type=int, default=2000)
    parser.add_argument('--kind', choices=('mutex', 'fair'))
    parser.add_argument('--numbers', default='1')
    parser.add_argument('--java-kind', choices=('rlock', 'fair', 'fenced'), default='rlock')
    options = parser.parse_args()
    if options.store_faults and (options.java or options.cluster):
        parser.error('--store-faults is for one server and --java 0')
    class_path = options.java and peers.jars(options.jars, options.release)
    durable = DURABLE if options.store_faults else ()
    with tempfile.TemporaryDirectory() as folder, (servers.cluster if options.cluster else servers.single)(options.server, folder, *durable) as server:
        fleet = Fleet(options, folder, server, class_path)
        try:
            spans = (measure if options.calm else play)(fleet, options)
        finally:
            for peer in fleet.live.values():
                peer.end()
        verdict = oracle.judge([*fleet.live.values(), *fleet.dead])
        tell(verdict, fleet, *spans)
        check(verdict, server, options)


if __name__ == '__main__':
    main()
