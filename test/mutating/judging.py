# SPDX-License-Identifier: BSD-3-Clause
"""judging - who kills a mutant.

One of C code meets first the tests that reach it (judge.c), then all other programs that are tests of the suite
`unit`, and some seeds of each world of the simulator: all stand in one build, and the environment says which mutant is
on. Those of scripts are judged many at a time, as rules of test/rules. Several judges take from one row of cases.

Invariant: whoever kills is green as the library is."""
import collections
import json
import os
import queue
import re
import shutil
import subprocess
import threading
import time

from changes import strided
from children import Children, Ended
from tree import Tree, text_of, write

RULES = ('test/unit/rules_unit', 'test/memory/rules_scripts')
JUDGES = ('test/mutating/judge_unit', 'test/mutating/judge_scripts')
SIMULATOR = 'test/sim/hilock-sim'
WORLDS = ('single', 'sentinel', 'cluster', 'quorum')
BATCH = 100  # mutants of scripts that are judged together
LEAST_S, SLOWER = 5, 5  # of a processor: so many times what a killer costs without a mutant, and this
ASLEEP_S = 300  # by the clock, likewise: the machine may be busy
SAME = 'the same object'
NOT_SWITCHED = 'nobody, as it cannot be switched'
COMPILER = 'the compiler'
TESTS = 'the tests in virtual time'
Killer = collections.namedtuple('Killer', 'name command seconds')


def is_script(mutant):
    return mutant.path.endswith('.lua')


def killers_beside_judge(tree):
    """{program: killer} of other tests of the suite."""
    made_of = tree.children.run('ninja', '-C', tree.build, '-t', 'inputs', *JUDGES)[1]
    judged = set(re.findall(r'^(test/\S+)\.p/', made_of, re.M)) | set(RULES)
    killers = {}
    for test in json.loads(tree.children.run('meson', 'introspect', tree.build, '--tests')[1]):
        program = os.path.relpath(test['cmd'][0], tree.build)
        is_plain = all(re.fullmatch(r'\w+', arg) for arg in test['cmd'][1:])  # others are about what stands beside us
        if is_plain and 'unit' in {suite.rpartition(':')[2] for suite in test['suite']} and program not in judged:
            killers[program] = Killer(test['name'], test['cmd'], ASLEEP_S)
    return killers


def worlds_of(tree, seeds):
    """They are played in a copy, as the simulator itself is built again for each batch of scripts."""
    simulator = shutil.copy2(os.path.join(tree.build, SIMULATOR), os.path.join(tree.folder, 'hilock-sim'))
    return [Killer(f'the world {world}', [simulator, '--fresh', '--seeds', f'1..{seeds}', '--world', world], ASLEEP_S)
            for world in WORLDS if seeds]


def as_rule(name, mutant, text):
    """A rule of test/rules. Its old text begins so many lines before that it stands in its file once."""
    lines = text.split('\n')
    first = mutant.line - 1
    while text.count('\n'.join(lines[first:mutant.line])) > 1:
        first -= 1
    old, new = lines[first:mutant.line], lines[first:mutant.line - 1] + [mutant.text]
    return f'{name}\n  breaks README.md: x\n  in {mutant.path}\n' + ''.join(f'  - {line}\n' for line in old) + \
        ''.join(f'  + {line}\n' for line in new) + '  red scripts/x: x\n'


class Program:
    """One that judges (judge.c)."""

    def __init__(self, tree, program, is_silent):
        self.child = tree.children.start([os.path.join(tree.build, program)], text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if is_silent else None)

    def heard(self):
        said = self.child.stdout.readline().split()
        if not said:
            raise SystemExit(f'{self.child.args[0]} ended by itself')
        return said[0]

    def kills(self, number):
        self.child.stdin.write(f'{number}\n')
        self.child.stdin.flush()
        return self.heard() == 'killed'


class Court:
    """What several judges share."""

    def __init__(self, asked, tree, mutants):
        self.asked, self.tree, self.children = asked, tree, tree.children
        self.cases = self.in_turn(strided(mutants, asked.first))
        self.killers, self.kills = [], collections.Counter()
        self.fates, self.ends = queue.Queue(), None
        self.case_lock, self.scripts_lock, self.killers_lock = threading.Lock(), threading.Lock(), threading.Lock()
        self.begun = threading.Barrier(asked.jobs, action=self.begin)  # the time counts once all are ready

    def in_turn(self, mutants):
        """One of C code, or many of scripts, at a time."""
        scripts = list(filter(is_script, mutants))
        at_once = max(1, min(BATCH, int(BATCH * self.asked.minutes / 60)))
        for mutant in mutants:
            if not is_script(mutant):
                yield [mutant]
            elif mutant in scripts:
                yield scripts[:at_once]
                scripts = scripts[at_once:]

    def next_case(self):
        with self.case_lock:
            return next(self.cases, None) if time.monotonic() < self.ends else None

    def begin(self):
        self.ends = time.monotonic() + self.asked.minutes * 60

    def measure(self, unknown):
        """What killers cost; several judges share the work."""
        while unknown:
            killer = unknown.pop()
            before = time.monotonic()
            if self.is_red(killer, 0):
                raise SystemExit(f'{killer.name} would kill a mutant as it is: first make that green')
            self.killers.append(killer._replace(seconds=time.monotonic() - before))

    def is_red(self, killer, mutant):
        slowest = SLOWER * killer.seconds
        return self.children.is_red(killer.command, int(LEAST_S + slowest), ASLEEP_S + 2 * slowest,
                                    HL_MUTANT=str(mutant))

    def sit(self, name, unknown):
        """The life of a judge, in a thread of its own."""
        try:
            programs = [Program(self.tree, program, is_silent=name != '0') for program in JUDGES if self.tree.numbers]
            self.measure(unknown)
            if any(program.heard() != 'ready' for program in programs):
                raise SystemExit('a judge does not get ready')
            self.begun.wait()
            while case := self.next_case():
                for fate in self.judged(programs, name, case):
                    self.fates.put(fate)
        except (Ended, threading.BrokenBarrierError):
            pass
        except BaseException as why:  # all others end with it; once they do, nobody listens
            self.begun.abort()
            self.fates.put(why)
        finally:
            self.fates.put(None)

    def judged(self, programs, name, case):
        """(mutant, what killed it), of one case; name: of the judge."""
        if not is_script(case[0]):
            return [(case[0], self.killer_of(programs, name, case[0]))]
        with self.scripts_lock:
            return self.scripts_judged(case)

    def killer_of(self, programs, name, mutant):
        """None: nothing."""
        number = self.tree.numbers.get(mutant)
        if number and any(program.kills(number) for program in programs):
            return TESTS
        compiled = self.tree.is_compiled(mutant, name)
        if not compiled:
            return COMPILER if compiled is None else SAME
        if not number:
            return NOT_SWITCHED
        for killer in sorted(self.killers, key=lambda killer: killer.seconds / (1 + self.kills[killer.name])):
            if self.is_red(killer, number):
                self.kills[killer.name] += 1
                return killer.name
        return None

    def scripts_judged(self, mutants):
        """(mutant, what killed it), of scripts: all of them stand in one build, as the rules do."""
        place = os.path.join(self.tree.path, 'test/rules/scripts.rules')
        names = {f'MUTANT_{number}': mutant for number, mutant in enumerate(mutants)}
        fates, before = {}, text_of(place)
        texts = {mutant.path: text_of(os.path.join(self.tree.path, mutant.path)) for mutant in mutants}
        rules = [as_rule(name, mutant, texts[mutant.path]) for name, mutant in names.items()]
        write(place, '\n'.join([before, *rules]))
        try:
            self.tree.compile(*RULES, SIMULATOR)
        finally:
            write(place, before)
        for program in reversed(RULES):  # those of the scripts are quick
            left = [name for name in names if name not in fates]
            if left:
                program = os.path.join(self.tree.build, program)
                said = self.children.run(program, '--first', *left, stderr=subprocess.DEVNULL)[1]
                fates |= {name: TESTS for name in re.findall(r'^(\w+):\n  \w+', said, re.M)}
        for killer in self.killers:
            if killer.name.startswith('the world '):
                simulator = os.path.join(self.tree.build, SIMULATOR)
                for name in names.keys() - fates.keys():
                    if self.is_red(killer._replace(command=[simulator, '--plant', name, *killer.command[1:]]), 0):
                        fates[name] = killer.name
        return [(mutant, fates.get(name)) for name, mutant in names.items()]


def fates_of(asked, mutants, folder):
    """(mutant, what killed it), of as many as there is time for."""
    children = Children()
    try:
        tree = Tree(folder, children)
        tree.switch(mutants)
        tree.set_up()
        others = killers_beside_judge(tree) if tree.numbers else {}
        tree.compile(SIMULATOR, *(JUDGES if tree.numbers else []), *others)
        court, unknown = Court(asked, tree, mutants), [*others.values(), *worlds_of(tree, asked.seeds)]
        for number in range(asked.jobs):
            threading.Thread(target=court.sit, args=(str(number), unknown), daemon=True).start()
        sitting = asked.jobs
        while sitting:
            fate = court.fates.get()
            if isinstance(fate, BaseException):
                raise fate
            sitting -= not fate
            if fate:
                yield fate
    finally:
        children.end_all()
