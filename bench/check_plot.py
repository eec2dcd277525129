#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_plot.py PLOT - each line of JSON becomes a picture that names what was measured, the same one each time; a file without any is refused."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

STORM = {'scenario': 'storm', 'kind': 'fair', 'clients': 7, 'handles': 3, 'wait_least_ms': 5, 'wait_most_ms': 50, 'seconds': 2, 'pause_ms': 0, 'grants': '8 9'}
PEERS = [{'scenario': 'pair', 'kind': kind, 'round': number, 'grants_per_s': rate + number, 'overlaps': 0}
         for kind, rate in {'MUTEX': 800, 'redislock': 400}.items() for number in range(3)]
WORDS = {'storm.svg': ['7 x 3 fair, waits of 5 to 50 ms'], 'peers-ratios.svg': ['pair: MUTEX to redislock', '2'], 'peers-grants.svg': ['MUTEX', '801', '401']}


def expect(holds, what):
    if not holds:
        sys.exit('FAILED: ' + what)


def draw(plot, folder, **files):
    """(exit status, {name: text} of the pictures)"""
    for name, rows in files.items():
        with open(os.path.join(folder, name + '.json'), 'w', encoding='utf-8') as file:
            file.write('not of the run\n' + ''.join(json.dumps(row) + '\n' for row in rows))
    out = os.path.join(folder, 'out')
    done = subprocess.run([sys.executable, '-B', plot, '--out', out, *(os.path.join(folder, name + '.json') for name in files)], check=False,
                          stdout=subprocess.PIPE, text=True)
    drawn = {}
    for path in done.stdout.split():
        with open(path, encoding='utf-8') as file:
            drawn[os.path.basename(path)] = file.read()
    return done.returncode, drawn


def main(plot):
    if not importlib.util.find_spec('matplotlib'):
        print('skipped: python3-matplotlib is not installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        status, drawn = draw(plot, folder, storm=[STORM], peers=PEERS)
        expect(status == 0 and set(drawn) == set(WORDS), f'status {status}, and these pictures: {sorted(drawn)}')
        for name, words in WORDS.items():
            said = [''.join(text.itertext()).strip() for text in ElementTree.fromstring(drawn[name]).iter('{http://www.w3.org/2000/svg}text')]
            expect(set(words) <= set(said), f'{name} says {words}: {said}')
        expect(draw(plot, folder, storm=[STORM], peers=PEERS) == (0, drawn), 'the same figures make the same pictures')
        expect(draw(plot, folder, other=[{'scenario': 'other'}])[0] == 1, 'what cannot be drawn is refused')


main(*sys.argv[1:])
