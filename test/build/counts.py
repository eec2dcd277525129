# SPDX-License-Identifier: BSD-3-Clause
"""counts.py [ROOT [BUILD REDIS_SERVER]] - what the inside of lib/ weighs: files, ties and circles of files; flags and
untagged unions; how often a feature is mentioned outside of its files; and, with a build directory, what five walks
pass: a free acquire, a contended one, a renewal, a release, a loss. Not a test: figures to set beside others.

Ties and circles are of calls and includes in the sources (circles.py). A walk is what walks.c calls, while it runs."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

import circles
import outside

LOCK = ('core/', 'hold/', 'wait/', 'lock/')
MACHINE = (*LOCK, 'group/')
FEATURES = {  # words of it, and the files that are its own
    'FAIR': (r'\bhl_fair_\w+|HILOCK_FAIR', 'fair'),
    'multi': (r'\bhl_multi_\w+|\bmulti\b', 'multi'),
    'quorum': (r'\bhl_quorum_\w+|hl_masters_\w+|\bis_quorum\b|\bmasters\b', 'quorum'),
    'hand-off': (r'\bhl_tenure_(?:next|hand_on)\b|\bhand(?:s|ed)?_(?:off|on|over)\w*', 'turn'),
    'replicas': (r'\bhl_replicas_\w+|\breplicas\b', 'replicas'),
}
FLAG, UNION = r'\buint8_t \w+ : 1;|\bint (?:is|has|was)_\w+[;,]', r'\bunion \{'


def sources(root):
    """{path below lib/: text, without comments}"""
    folder = os.path.join(root, 'lib')
    return {os.path.relpath(path, folder): re.sub(r'/\*.*?\*/', '', outside.read(path), flags=re.S)
            for path in sorted(glob.glob(os.path.join(folder, '**/*.[ch]'), recursive=True))}


def count_files(root, texts):
    ties = circles.in_sources(root)
    pairs = {(one, other) for one, others in ties.items() for other in others}
    calls = {pair for pair in pairs if all(path.endswith('.c') for path in pair)}
    print(f'files: {len(texts)}, of the lock machine: {sum(path.startswith(LOCK) for path in texts)}')
    print(f'ties from file to file: {len(calls)}, pairs tied both ways: {sum((b, a) in calls for a, b in calls) // 2}, '
          f'circles: {[len(circle) for circle in circles.circles(ties)]}')


def count_state(texts):
    flags, unions = collections.Counter(), collections.Counter()
    for path, text in texts.items():
        for name, body in re.findall(r'\bstruct (hl_\w+) \{(.*?)\n\}', text, re.S):
            flags[name] += len(re.findall(FLAG, body)) if path.startswith(MACHINE) else 0
            unions[name] += len(re.findall(UNION, body))
    for what, found in (('flags of the lock machine and lib/group', flags), ('untagged unions of lib', unions)):
        most = (f'{name} {count}' for name, count in found.most_common(6) if count)
        print(f'{what}: {sum(found.values())}', *most, sep=', ')


def count_mentions(texts):
    for feature, (words, own) in FEATURES.items():
        others = [text for path, text in texts.items() if path.startswith(MACHINE) and not re.search(rf'/{own}\.', path)]
        count = sum(len(re.findall(words, text)) for text in others)
        print(f'mentions of {feature} in the lock machine and lib/group outside of {own}.*: {count}')


def places(program, addresses):
    """{address: (function, file)}"""
    command, text = ['addr2line', '-f', '-e', program], '\n'.join(addresses)
    lines = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return dict(zip(addresses, zip(lines[::2], (line.rpartition(':')[0] for line in lines[1::2]))))


def count_walks(build, server):
    """A change of file is a call, each time that it happens, from one file to another; inline functions do not count."""
    program = os.path.join(build, 'test/build/walks')
    subprocess.run(['ninja', '-C', build, '--quiet', 'test/build/walks'], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as work, outside.redis(server, work) as url:
        text = outside.run(program, url.partition('@')[2])
    known = places(program, sorted(set(re.findall(r'0x\w+', text))))
    for name, calls in re.findall(r'walk (.*)\n((?:0x.*\n)*)', text):
        pairs = [(known[function], known[site][1]) for function, site in map(str.split, calls.splitlines())]
        pairs = [(callee, caller) for callee, caller in pairs if not callee[1].endswith('.h')]
        for where, folders in (('lib/', ('',)), ('the lock machine', LOCK)):
            passed = {callee for callee, _ in pairs if any(f'/lib/{folder}' in callee[1] for folder in folders)}
            files = {file for _, file in passed}
            changes = sum(callee[1] != caller for callee, caller in pairs if callee in passed)
            print(f'{name}: {len(passed)} functions of {len(files)} files in {where}, {changes} changes of file')


def main(root='.', build=None, server='redis-server'):
    texts = sources(root)
    count_files(root, texts)
    count_state(texts)
    count_mentions(texts)
    if build:
        count_walks(build, server)


if __name__ == '__main__':
    main(*sys.argv[1:])
