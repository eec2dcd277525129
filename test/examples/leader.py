# SPDX-License-Identifier: BSD-3-Clause
"""leader.py REDIS_SERVER LEADER - of three candidates one leads; whether it is deposed, stopped or told to go,
another takes over, terms rise, and a leader that was stopped does not work between its awakening and its loss."""
import signal
import threading

import store

NAME, PERIOD_MS, LEASE_MS = 'cron:leader', 50, 3000


class Candidate:
    """Its process, and all lines that it has said so far."""
    news = threading.Condition()

    def __init__(self, program, url):
        self.process = store.start(program, url, NAME, str(PERIOD_MS), str(LEASE_MS))
        self.lines = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.strip())
                self.news.notify_all()

    def term(self):
        """Of its latest leadership, 0 without."""
        return max([int(line.split()[-1]) for line in self.lines if line.startswith('leads, term')], default=0)

    def leads(self):
        last = [line for line in self.lines if line.startswith('leads')]
        return bool(last) and last[-1].startswith('leads, term')

    def said(self, words, since=0):
        return any(line.startswith(words) for line in self.lines[since:])


def until(claim, text):
    with Candidate.news:
        store.expect(Candidate.news.wait_for(claim, store.WAITS_S), text)


def leader(candidates, above):
    """Who leads in a term above this."""
    def found():
        return next((one for one in candidates if one.leads() and one.term() > above), None)
    until(lambda: found() is not None, f'one leads in a term above {above}')
    return found()


def deposed(candidates, first, url):
    since = len(first.lines)
    store.ask(url, 'DEL', NAME)
    until(lambda: first.said('leads no more: TAKEN', since), 'whose lock was taken away is told')
    second = leader(candidates, first.term() if not first.leads() else first.term() - 1)
    return second


def stopped(candidates, second):
    second.process.send_signal(signal.SIGSTOP)
    third = leader([one for one in candidates if one is not second], second.term())
    since = len(second.lines)
    second.process.send_signal(signal.SIGCONT)
    until(lambda: second.said('leads no more', since), 'who was stopped is told of its loss')
    told = next(i for i in range(since, len(second.lines)) if second.lines[i].startswith('leads no more'))
    old = f'work of term {second.term()}'
    store.expect(second.lines[told + 1:].count(old) == 0, 'and works no more in its old term')
    return third


def told_to_go(candidates, third):
    others = [one for one in candidates if one is not third]
    third.process.send_signal(signal.SIGTERM)
    last = leader(others, third.term())
    store.expect(third.process.wait(store.WAITS_S) == 0, 'who is told to go leaves')
    for one in others:
        one.process.send_signal(signal.SIGTERM)
        store.expect(one.process.wait(store.WAITS_S) == 0, 'and so do the others')
    store.expect(last.term() > 0, 'the last one led')


def leaders(url, program):
    candidates = [Candidate(program, url) for _ in range(3)]
    try:
        first = leader(candidates, 0)
        until(lambda: first.said('work of term'), 'it works')
        until(lambda: all(one.said('stands by for') for one in candidates if one is not first), 'the others stand by')
        second = deposed(candidates, first, url)
        third = stopped(candidates, second)
        told_to_go(candidates, third)
    finally:
        for one in candidates:
            one.process.kill()
            one.process.wait()


if __name__ == '__main__':
    store.drive(leaders)
