#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_picture.py DEMO - the demo's picture shows what the ledger recorded: each sale is one bar, no piece more or less was oversold in the upper
half, and in the lower half no item has two bars at a time and each refused write stands behind the end of its own bar. The verdict counts all
sales that were struck."""
import collections
import html
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SVG = '{http://www.w3.org/2000/svg}'
WORDS = ['Without a lock', 'With hilock', 'Shop A', 'Shop B', 'Shop C', 'killed', 'opened again', 'suspended', r'loss(es)? reported', r'late writes? refused']


def expect(holds, what):
    if not holds:
        sys.exit('FAILED: ' + what)


def bars(root):
    """{id: (left, right)} of what has a path; {id: x} of what is one mark; an id that stands twice fails."""
    spans, marks = {}, {}
    for group in root.iter(SVG + 'g'):
        name, path, mark = group.get('id', ''), group.find(SVG + 'path'), group.find('.//' + SVG + 'use')
        if not re.match(r'(hold|kept|sale|oversold|refused)-', name):
            continue
        expect(name not in spans and name not in marks, f'{name} stands in the picture once')
        if mark is not None:
            marks[name] = float(mark.get('x'))
        else:
            xs = [float(x) for x in re.findall(r'[ML] ([-\d.]+) [-\d.]+', path.get('d'))]
            spans[name] = min(xs), max(xs)
    return spans, marks


def of(names, kind):
    return {name for name in names if name.startswith(kind + '-')}


def check_without(ledger, spans):
    pieces = {(entry['item'], entry['piece']) for entry in ledger}
    expect(len(of(spans, 'sale')) == len(pieces), f'{len(pieces)} pieces are a bar each: {len(of(spans, "sale"))}')
    expect(len(of(spans, 'oversold')) == len(ledger) - len(pieces) > 0, f'{len(ledger) - len(pieces)} sales of pieces that were gone are a bar each')


def check_under(ledger, spans, marks):
    sales = {f'hold-{entry["item"]}-{entry["token"]}' for entry in ledger if entry['kind'] == 'sale'}
    refused = [f'{entry["item"]}-{entry["token"]}' for entry in ledger if entry['kind'] == 'refused']
    expect(sales, 'something was sold')
    expect(not sales - set(spans), f'each sale of the ledger has the bar of its grant: {sorted(sales - set(spans))}')
    expect(refused and set(marks) == {'refused-' + name for name in refused}, f'{len(refused)} refused writes are marked: {sorted(marks)}')
    for name in refused:
        end = max(spans[bar][1] for bar in (f'hold-{name}', f'kept-{name}') if bar in spans)
        expect(marks[f'refused-{name}'] > end, f'the refused write of hold-{name} stands behind it')
    rows = collections.defaultdict(list)
    for name in of(spans, 'hold') | of(spans, 'kept'):
        rows[name.split('-')[1]].append((*spans[name], name))
    for row in rows.values():
        for (_, end, one), (start, _, other) in zip(sorted(row), sorted(row)[1:]):
            expect(start > end - 0.02, f'{one} has ended when {other} begins: {end}, {start}')


def check_struck(events, ledger):
    """The verdict counts each sale that a shop was in the middle of when it was struck. It may count more than were traced: a look
    at the stock whose answer the shop did not live to read is no event."""
    sold = {(entry['item'], entry['token']) for entry in ledger if entry['kind'] == 'sale'}
    said = {event['what']: event['figure'] for event in events if event['step'] == 'claim'}
    counted = {'killed': re.search(r'middle of (\d+) sales', said['holders killed']), 'continued': re.match(r'\d+ of (\d+)', said['losses told'])}
    stopped, longest = {}, {}
    for event in events:
        if event['step'] == 'stopped':
            stopped[event['shop']] = event['at_us']
        elif event['step'] in counted:
            span = event['at_us'] - stopped[event['shop']]
            longest[event['step']] = max(longest.get(event['step'], (0, 0, '')), (span, stopped[event['shop']], event['shop']))
    for step, count in counted.items():
        _, at, shop = longest[step]
        before = [event for event in events if event['who'] == shop and event['at_us'] < at]
        looked, refused = ({(event['item'], event['token']) for event in before if event['step'] == step} for step in ('looked', 'refused'))
        held = len(looked - refused - sold)
        expect(int(count[1]) >= held, f'shop {shop} was in the middle of {held} sales, the verdict says {count[1]}')


def check(stem):
    with open(stem + '.jsonl', encoding='utf-8') as file:
        events = [json.loads(line) for line in file]
    halves = [number for number, event in enumerate(events) if event['step'] == 'begin']
    expect(len(halves) == 2, 'the story has two runs')
    without, under = events[:halves[1]], events[halves[1]:]
    root = ElementTree.parse(stem + '.svg').getroot()
    spans, marks = bars(root)
    check_without([event for event in without if event['step'] == 'ledger'], spans)
    check_under([event for event in under if event['step'] == 'ledger'], spans, marks)
    check_struck(under, [event for event in under if event['step'] == 'ledger'])
    text = ' '.join(' '.join(words.itertext()) for words in root.iter(SVG + 'text'))
    for words in WORDS:
        expect(re.search(words, text), f'the picture says "{words}"')
    with open(stem + '.html', encoding='utf-8') as file:
        page = file.read()
    with open(stem + '.svg', encoding='utf-8') as file:
        expect(file.read().partition('<svg')[2] in page, 'the page has the same picture')
    for event in events:
        if event['step'] == 'claim':
            expect(html.escape(event['figure']) in page, f'the page has the verdict: {event["what"]}')


def main(demo):
    if not importlib.util.find_spec('matplotlib'):
        print('python3-matplotlib is not installed: no picture was drawn')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        stem = os.path.join(folder, 'demo')
        done = subprocess.run([demo, '--picture', stem + '.svg'], check=False)
        expect(done.returncode == 0, f'the demo has drawn, and all of it holds: {done.returncode}')
        check(stem)


if __name__ == '__main__':
    main(*sys.argv[1:])
