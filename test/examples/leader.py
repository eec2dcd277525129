# SPDX-License-Identifier: BSD-3-Clause
"""leader.py REDIS_SERVER LEADER - of three candidates one leads; whether it is deposed, stopped or told to go,
another takes over, terms rise, and a leader that was stopped does not work between its awakening and its loss."""
import contextlib
import signal

import store

NAME, PERIOD_MS, LEASE_MS = 'cron:leader', 50, 3000


class Candidate(store.Program):
    def term(self):
        """Of its latest leadership, 0 without."""
        return max([int(line.split()[-1]) for line in self.lines if line.startswith('leads, term')], default=0)

    def leads(self):
        last = [line for line in self.lines if line.startswith('leads')]
        return bool(last) and last[-1].startswith('leads, term')

    def until_said(self, words, since=0):
        self.until(lambda: any(line.startswith(words) for line in self.lines[since:]), f'it says that it {words}')


def leader(candidates, above):
    """The one that leads in a term above this."""
    def found():
        return [one for one in candidates if one.leads() and one.term() > above]
    store.until(found, f'one leads in a term above {above}')
    return found()[0]


def deposed(candidates, first, url):
    since, term = len(first.lines), first.term()
    store.ask(url, 'DEL', NAME)
    first.until_said('leads no more: TAKEN', since)
    return leader(candidates, term)


def stopped(candidates, second):
    second.process.send_signal(signal.SIGSTOP)
    third = leader([one for one in candidates if one is not second], second.term())
    since = len(second.lines)
    second.process.send_signal(signal.SIGCONT)
    second.until_said('leads no more', since)
    told = next(i for i in range(since, len(second.lines)) if second.lines[i].startswith('leads no more'))
    old = f'work of term {second.term()}'
    store.expect(second.lines[told + 1:].count(old) == 0, 'and works no more in its old term')
    return third


def told_to_go(candidates, third):
    others = [one for one in candidates if one is not third]
    third.process.send_signal(signal.SIGTERM)
    leader(others, third.term())
    third.ended()
    for one in others:
        one.process.send_signal(signal.SIGTERM)
        one.ended()


def leaders(url, program):
    with contextlib.ExitStack() as stack:
        candidates = [stack.enter_context(Candidate(program, url, NAME, str(PERIOD_MS), str(LEASE_MS))) for _ in range(3)]
        first = leader(candidates, 0)
        first.until_said('work of term')
        for one in candidates:
            if one is not first:
                one.until_said('stands by for')
        told_to_go(candidates, stopped(candidates, deposed(candidates, first, url)))


if __name__ == '__main__':
    store.drive(leaders)
