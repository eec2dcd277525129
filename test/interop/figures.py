# SPDX-License-Identifier: BSD-3-Clause
"""figures - what Java gets beside hilock, and how long a hand-over takes from one to the other.

    figures.py REDIS_SERVER PEER JARS [--seconds N] [--kind mutex|fair] [--java-kind rlock|fair] [--only shares|handover]

shares: 1 JVM of 8 threads beside 1 process of 8 handles, and 2 beside 2, on 1 and on 4 names, all with default options, hold 1 ms and think 0.1 ms; beside it
as many Java processes alone. handover: 2 JVMs of a thread beside 2 processes of a handle on one name, hold 5 ms and think 2 ms: from where a holder was
about to release until another process, which had waited, knew of its grant. The JVMs run for some seconds before anything counts. To be read on a machine
that does nothing else; figures of one row come from the same run, or from one right behind it."""
import argparse
import collections
import contextlib
import tempfile
import time

import oracle
import peers
import servers

WARM_S = 5
MS = 1e6


class Field:
    """Contenders of both sides at a server of their own; what they did between warm and stop."""
    def __init__(self, options, class_path):
        self.options, self.class_path = options, class_path

    @contextlib.contextmanager
    def programs(self, java, ours):
        with tempfile.TemporaryDirectory() as folder, servers.single(self.options.server, folder) as server:
            started = [peers.java(f'j{i}', self.class_path, folder, server.java_url, quick=False) for i in range(java)]
            started += [peers.ours(f'c{i}', self.options.peer, folder, server.ours_url) for i in range(ours)]
            try:
                for peer in started:
                    peers.open_client(peer, peer.label)
                yield started
            finally:
                for peer in started:
                    peer.end()

    def play(self, java, ours, each, names, hold_us, think_us):
        """Turns that began in the time that counts."""
        with self.programs(java, ours) as started:
            for peer in started:
                kind = self.options.java_kind if peer.label.startswith('j') else self.options.kind
                peer.ask('contend', peer.label, each, kind, hold_us, think_us, 0, *names)
            time.sleep(WARM_S)
            begun_ns = time.monotonic_ns()
            time.sleep(self.options.seconds)
            ended_ns = time.monotonic_ns()
            for peer, tag in [(peer, peer.send('stop')) for peer in started]:
                peer.answer(tag, 'stop')
            verdict = oracle.judge(started)
        peers.expect(not verdict.overlaps and not verdict.fates, f'nobody is in where another is: {verdict.overlaps[:3]} {verdict.fates}')
        return [turn for turn in verdict.turns if begun_ns <= turn.begun_ns < ended_ns]


def is_java(turn):
    return turn.token == 0


def p99_ms(turns):
    return oracle.percentile([(turn.begun_ns - turn.asked_ns) / MS for turn in turns], 0.99)


def shares(field):
    print('| Java : hilock | names | grants/s | share of Java | p99 wait of Java, of ours | as many Java processes alone: grants/s | p99 wait | ratio of p99 |')
    print('|---|---|---|---|---|---|---|---|')
    seconds = field.options.seconds
    for processes in (1, 2):
        for count in (1, 4):
            names = [f'stock:{i}' for i in range(count)]
            turns = field.play(processes, processes, 8, names, 1000, 100)
            alone = field.play(2 * processes, 0, 8, names, 1000, 100)
            java = [turn for turn in turns if is_java(turn)]
            ours = [turn for turn in turns if not is_java(turn)]
            print(f'| {processes}x8 : {processes}x8 | {count} | {len(turns) / seconds:.0f} | {100 * len(java) / len(turns):.0f} % '
                  f'| {p99_ms(java):.0f}, {p99_ms(ours):.0f} ms | {len(alone) / seconds:.0f} | {p99_ms(alone):.0f} ms | {p99_ms(java) / p99_ms(alone):.2f} |', flush=True)


def handovers(turns):
    """{(from Java, to Java): milliseconds}, between processes, to who had waited."""
    turns = sorted(turns, key=lambda turn: turn.begun_ns)
    gaps = collections.defaultdict(list)
    for before, after in zip(turns, turns[1:]):
        if before.peer is not after.peer and after.asked_ns < before.ended_ns:
            gaps[is_java(before), is_java(after)].append((after.begun_ns - before.ended_ns) / MS)
    return gaps


def handover(field):
    gaps = handovers(field.play(2, 2, 1, ['stock'], 5000, 2000))
    base = oracle.percentile(gaps[True, True], 0.5)
    print('| hand-over | count | p50 | p99 | p50 beside Java -> Java |\n|---|---|---|---|---|')
    for pair, name in (((True, True), 'Java -> Java'), ((True, False), 'Java -> hilock'), ((False, True), 'hilock -> Java'), ((False, False), 'hilock -> hilock')):
        p50, p99 = oracle.percentile(gaps[pair], 0.5), oracle.percentile(gaps[pair], 0.99)
        print(f'| {name} | {len(gaps[pair])} | {p50:.2f} ms | {p99:.1f} ms | {p50 / base if base else 0:.2f} |')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('server')
    parser.add_argument('peer')
    parser.add_argument('jars')
    parser.add_argument('--only', choices=('shares', 'handover'))
    parser.add_argument('--seconds', type=float, default=10)
    parser.add_argument('--kind', choices=('mutex', 'fair'), default='mutex')
    parser.add_argument('--java-kind', choices=('rlock', 'fair', 'fenced'), default='rlock')
    parser.add_argument('--release', choices=peers.RELEASES, default='new')
    options = parser.parse_args()
    field = Field(options, peers.jars(options.jars, options.release))
    for what in [options.only] if options.only else ('shares', 'handover'):
        {'shares': shares, 'handover': handover}[what](field)


if __name__ == '__main__':
    main()
