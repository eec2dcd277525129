# SPDX-License-Identifier: BSD-3-Clause
"""commands - what Redisson's RLock does to the store, step by step: the real one is held against that by pairs.py, in
each release.

Compared is what scripts write and publish, in their order, and what the caller is answered."""
import re

from peers import expect

WRITES = {'DEL', 'HDEL', 'HINCRBY', 'HSET', 'PEXPIRE', 'PUBLISH', 'SET'}
LATCH = 'SET redisson_unlock_latch:{stock}:<latch>'
CHANNEL = 'redisson_lock__channel:{stock}'
STEPS = (  # H and H2 are threads of one client: who, what, what that does
    ('H', 'try', 'HINCRBY stock H 1; PEXPIRE stock 30000 -> true'),
    ('H', 'try', 'HINCRBY stock H 1; PEXPIRE stock 30000 -> true'),
    ('H2', 'try', 'nothing -> false'),
    ('H2', 'unlock', 'nothing -> error'),
    ('H', 'unlock', f'HINCRBY stock H -1; PEXPIRE stock 30000; {LATCH} 0 PX <ms> -> ok'),
    ('H', 'unlock', f'HINCRBY stock H -1; DEL stock; PUBLISH {CHANNEL} 0; {LATCH} 1 PX <ms> -> ok'),
)


def told(words, holders):
    """A command without what differs from run to run."""
    words = [re.sub(r'^(redisson_unlock_latch:\{stock\}):.*', r'\1:<latch>', holders.get(word, word)) for word in words]
    if words[0] == 'SET':
        words[3], words[4] = words[3].upper(), '<ms>'
    return ' '.join(words)


def steps_of(monitor, holders, answers):
    """What each did; before each the server was told its number."""
    monitor.published('stock')  # all was seen
    done, step = [[] for _ in STEPS], None
    for is_lua, words in monitor.lines:
        words = [words[0].upper(), *words[1:]] if words else ['']
        if words[0] == 'ECHO' and words[1].startswith('step:'):
            step = int(words[1][5:])
        elif is_lua and words[0] in WRITES and step is not None:
            done[step].append(told(words, holders))
    return [f'{"; ".join(commands) or "nothing"} -> {answer.split()[0]}' for commands, answer in zip(done, answers)]


def real(stage, client):
    holders, answers = {stage.java_do(who, 'rlock', 'none', 'holder'): who for who in ('H', 'H2')}, []
    expect(all(holder.startswith(client) for holder in holders), 'holders are of their client')
    for i, (who, operation, _) in enumerate(STEPS):
        stage.server.ask('ECHO', f'step:{i}')
        answers.append(stage.java_do(who, 'rlock', 'stock', operation))
    return steps_of(stage.monitor, holders, answers)


def compare(steps):
    expect(len(steps) == len(STEPS), f'each step is there: {steps}')
    for step, (who, operation, wanted) in zip(steps, STEPS):
        expect(step == wanted, f'{who} {operation}: {step}\nwanted: {wanted}')
        print(f'ok: {who} {operation}: {step}')
