# SPDX-License-Identifier: BSD-3-Clause
"""commands - what Redisson's RLock does to the store, step by step, held against commands.txt; and the same of the live tests' rewriting of it
(live/support/java.c), which stands for it where a JVM would be too slow.

    commands.py REDIS_SERVER REWRITTEN                     the rewriting; needs no Java
    commands.py REDIS_SERVER PEER JARS RELEASE [--write]   the real one, in that release; --write: commands.txt is made of it

Compared is what scripts write and publish, in their order, and what the caller is answered; a rewriting may look before in another way."""
import os
import re
import subprocess
import sys
import tempfile

import peers
import servers
from pairs import Monitor
from peers import HERE, expect

FILE = os.path.join(HERE, 'commands.txt')
HEAD = '# What RLock does to the store in six steps, seen by MONITOR: commands.py --write. H and H2 are threads of one client.\n'
WRITES = {'DEL', 'HDEL', 'HINCRBY', 'HSET', 'PEXPIRE', 'PUBLISH', 'SET'}
STEPS = (('locks', 'H', 'try'), ('locks again', 'H', 'try'), ('is refused', 'H2', 'try'), ('unlocks what is not his', 'H2', 'unlock'),
         ('unlocks once', 'H', 'unlock'), ('unlocks', 'H', 'unlock'))


def told(words, holders):
    """A command without what differs from run to run."""
    words = [holders.get(word, word) for word in words]
    words = [re.sub(r'^(redisson_unlock_latch:\{stock\}):.*', r'\1:<latch>', word) for word in words]
    if words[0] == 'SET':
        words[4] = '<ms>'
    return ' '.join(words)


def steps_of(monitor, holders, answers):
    """A line for each step."""
    done, step = [[] for _ in STEPS], None
    for is_lua, words in monitor.lines:
        words = [words[0].upper(), *words[1:]] if words else ['']
        if words[0] == 'ECHO' and words[1].startswith('step:'):
            step = int(words[1][5:])
        elif is_lua and words[0] in WRITES and step is not None:
            done[step].append(told([word.upper() if word == 'px' else word for word in words], holders))
    return [f'{who} {what}: {"; ".join(commands) or "nothing"} -> {answer.split()[0]}' for (what, who, _), commands, answer in zip(STEPS, done, answers)]


def real(server, work, class_path):
    java = peers.java('java', class_path, work, server.java_url)
    try:
        client = peers.open_client(java, 'j')
        holders = {java.ask('do', 'j', who, 'rlock', 'none', 'holder'): who for who in ('H', 'H2')}
        expect(all(holder.startswith(client) for holder in holders), 'holders are of their client')
        monitor, answers = Monitor(server), []
        for i, (_, who, operation) in enumerate(STEPS):
            server.ask('ECHO', f'step:{i}')
            answers.append(java.ask('do', 'j', who, 'rlock', 'stock', operation))
        monitor.published('stock')  # all was seen
        return steps_of(monitor, holders, answers)
    finally:
        java.end()


def rewriting(server, program):
    monitor = Monitor(server)
    answers = subprocess.run([program, os.path.join(server.folder, 'socket')], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    monitor.published('stock')
    uuid = '6f1c2a3b-0000-4000-8000-00000000beef'
    return steps_of(monitor, {f'{uuid}:57': 'H', f'{uuid}:58': 'H2'}, answers)


def main(program, first, *more):
    with tempfile.TemporaryDirectory() as work, servers.single(program, work) as server:
        lines = real(server, work, peers.jars(*more[:2])) if more else rewriting(server, first)
        servers.until(lambda: not server.left(), f'nothing is left: {server.left()}')
    if '--write' in more:
        with open(FILE, 'w', encoding='utf-8') as file:
            file.write(HEAD + '\n'.join(lines) + '\n')
    with open(FILE, encoding='utf-8') as file:
        wanted = file.read().splitlines()[1:]
    for line, is_so in zip(lines, wanted):
        print(line)
        expect(line == is_so, f'{line}\nwanted: {is_so}')
    expect(len(lines) == len(wanted), 'each step is there')


if __name__ == '__main__':
    main(*sys.argv[1:])
