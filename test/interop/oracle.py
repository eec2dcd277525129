# SPDX-License-Identifier: BSD-3-Clause
"""oracle - judge of what contenders wrote down (java/Contenders.java, peer.h), on the one clock of the host.

A hold lasts from when its holder knew of it until it was about to give it back. Where that was not so:
  killed       it lasts until the kill, for what is dead writes nothing
  ours, lost   until when it was valid at the latest, as the holder itself had been told
  Java's, not held any more at its unlock()   Redisson tells its holder nothing before that. If it stood still meanwhile (SIGSTOP) it is counted until then,
               or not at all if it had not begun by then: `blind`
  ours, not held any more at its release, or Java's unlock() failed   it was valid as it was about to be released. If it stood still behind that: `late`
  ours, lost with nothing left when it was reported   it stood still between the library's last look at the clock and the report: `outlasted`, no hold
What ends so and did not stand still is somebody's fault, and counted whole: `unheld`. So it is with a wait that fails (`failed`), which of one that stood
still is `broken`: Redisson gives up what took it longer than its own limits.

Holds of one name may overlap where both share it. How many they may be counts as one is granted, and tokens are in the order of the grants: so whoever has
a lower token, and holds still as the grant of another is known, held the name at that grant.

Invariant: a hold that is left out of the judgement is counted in the verdict by its reason."""
import bisect
import collections
import dataclasses
import itertools


@dataclasses.dataclass
class Turn:
    peer: object
    actor: str
    name: str
    asked_ns: int
    number: int = 1  # it holds with so many at most, itself included
    begun_ns: int = 0
    ended_ns: int = 0
    over_ns: int = 0  # when its last line was written
    token: int = 0
    fate: str = ''  # 'failed': the wait; 'unheld': the unlock; 'lost'

    def __str__(self):
        return (f'{self.peer.label} {self.actor} {self.name}: asked {self.asked_ns}, has it {self.begun_ns} to {self.ended_ns}, over {self.over_ns}, '
                f'token {self.token} of {self.number} {self.fate}; stood still {[span for span in self.peer.stops if span[1] > self.asked_ns][:1]}')


@dataclasses.dataclass
class Verdict:
    turns: list
    grants: int = 0
    overlaps: list = dataclasses.field(default_factory=list)  # of one that holds alone with any
    crowded: list = dataclasses.field(default_factory=list)  # more than the number
    most: int = 0  # held one name as another one came to it, itself included
    backward: list = dataclasses.field(default_factory=list)
    unserved: list = dataclasses.field(default_factory=list)
    faults: list = dataclasses.field(default_factory=list)  # unheld, failed
    fates: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def turns_of(peer):
    """In the order in which they were asked for."""
    turns, current = [], {}
    with open(peer.trace, encoding='utf-8') as file:
        for line in file:
            mark, at, actor, name, more = line.rstrip('\n').split(' ', 4)
            if mark == '?':
                current[actor] = Turn(peer, actor, name, int(at), max(1, int(more)))
                turns.append(current[actor])
                continue
            turn = current[actor]
            turn.over_ns = int(at)
            if mark == '+':
                turn.begun_ns, turn.token = int(at), int(more)
            elif mark in '-!':
                turn.ended_ns, turn.fate = int(at), 'lost' if mark == '!' else ''
            elif mark == 'x':
                turn.fate = 'unheld'
            elif mark == 'e':
                turn.fate = 'failed ' + more
    return turns


def stop_during(turn):
    """When its process stood still between its asking and its last word; None: it did not."""
    return next((begun for begun, end in turn.peer.stops if begun < turn.over_ns and end > turn.asked_ns), None)


def fails(turn, verdict):
    """Its wait ended without a grant, or has no end."""
    if turn.fate.startswith('failed'):
        is_fault = stop_during(turn) is None
        verdict.fates['failed' if is_fault else 'broken'] += 1
        verdict.faults += [turn] if is_fault else []
    elif turn.peer.killed_ns is None:
        verdict.unserved.append(turn)


def settle(turn, verdict):
    """What is to be judged of it: (begin, end), or None."""
    if not turn.begun_ns:
        return fails(turn, verdict)
    if turn.fate == 'lost' and turn.ended_ns <= turn.begun_ns and stop_during(turn) is not None:
        verdict.fates['outlasted'] += 1
        return None
    if not turn.ended_ns:
        verdict.fates['killed'] += 1
        return turn.begun_ns, turn.peer.killed_ns or turn.begun_ns
    stop_ns = stop_during(turn) if turn.fate and turn.fate != 'lost' else None
    if stop_ns is not None and (turn.token or turn.fate != 'unheld'):
        verdict.fates['late'] += 1
    elif stop_ns is not None:
        verdict.fates['blind'] += 1
        return (turn.begun_ns, min(stop_ns, turn.ended_ns)) if turn.begun_ns < stop_ns else None
    elif turn.fate:
        verdict.fates[turn.fate.split()[0]] += 1
        verdict.faults += [turn] if turn.fate != 'lost' else []
    return turn.begun_ns, turn.ended_ns


def judge(peers):
    verdict = Verdict([turn for peer in peers for turn in turns_of(peer)])
    by_name = collections.defaultdict(list)
    for turn in verdict.turns:
        span = settle(turn, verdict)
        if span:
            by_name[turn.name].append((*span, turn))
    for holds in by_name.values():
        verdict.grants += len(holds)
        judge_name(verdict, sorted(holds, key=lambda hold: hold[0]))
    return verdict


def judge_name(verdict, holds):
    """holds: (begin, end, turn), by begin."""
    judge_alone(verdict, holds)
    judge_numbers(verdict, sorted((hold for hold in holds if hold[2].token), key=lambda hold: hold[2].token))
    judge_tokens(verdict, [hold for hold in holds if hold[2].token])


def later(one, other):
    return other if not one or other[1] > one[1] else one


def judge_alone(verdict, holds):
    latest = alone = None
    for hold in holds:
        is_alone = hold[2].number == 1
        before = latest if is_alone else alone
        if before and hold[0] < before[1]:
            verdict.overlaps.append((before, hold))
        latest, alone = later(latest, hold), later(alone, hold) if is_alone else alone


def judge_numbers(verdict, granted):
    """In the order of the grants. Who learns of its own later than those behind it may have been passed by their begin, and is looked at with them."""
    inside = []
    soonest = [*itertools.accumulate(reversed([begun_ns for begun_ns, _, _ in granted]), min)]
    for hold in granted:
        inside = [other for other in inside if other[1] > soonest[-1]]
        soonest.pop()
        count = 1 + sum(other[1] > hold[0] for other in inside)
        verdict.most = max(verdict.most, count)
        if 1 < hold[2].number < count:
            verdict.crowded.append((count, hold))
        inside.append(hold)


def judge_tokens(verdict, holds):
    """They rise from all that began before one that holds alone, or before one asked, and from all that hold alone to those that begin after them."""
    begun, highest = [begun_ns for begun_ns, _, _ in holds], [0, *itertools.accumulate((hold[2].token for hold in holds), max)]
    seen, alone = set(), 0
    for before, hold in enumerate(holds):
        turn = hold[2]
        asked_after = min(before, bisect.bisect_right(begun, turn.asked_ns))
        if turn.token in seen or turn.token <= (highest[before] if turn.number == 1 else max(alone, highest[asked_after])):
            verdict.backward.append(hold)
        seen.add(turn.token)
        alone = max(alone, turn.token) if turn.number == 1 else alone


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0
