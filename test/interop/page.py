# SPDX-License-Identifier: BSD-3-Clause
"""page - what the user's page on Redisson says of each kind of lock: the tests are made of its first table, so that it cannot say what is not so."""
import os

from peers import HERE, expect

PAGE = os.path.join(HERE, '..', '..', 'include', 'hilock', 'redisson.md')
COLUMNS = ('excludes', 'woken_by_us', 'wakes_us', 'peeked', 'forced')
KINDS = {  # what a row begins with: its kind in java/Kinds.java
    '`RLock`': 'rlock', '`RFencedLock`': 'fenced', 'non-reentrant': 'nonreentrant', '`RMultiLock`': 'multi', '`RSpinLock`': 'spin', '`RFairLock`': 'fair',
    '`RReadWriteLock`, read': 'read', '`RReadWriteLock`, write': 'write', 'group multilock': 'group',
}


def table():
    """{kind: {column: whether it says yes}}"""
    with open(PAGE, encoding='utf-8') as file:
        text = file.read().partition('## Which lock is which\n')[2].partition('\nWhere it says no')[0]
    found = {}
    for line in text.strip().splitlines()[2:]:
        first, *cells = (cell.strip() for cell in line.strip('|').split('|'))
        kind = next((kind for begin, kind in KINDS.items() if first.startswith(begin)), None)
        expect(kind and len(cells) == len(COLUMNS), f'a row that is understood: {line}')
        found[kind] = {column: cell.startswith('yes') for column, cell in zip(COLUMNS, cells)}
    expect(set(found) == set(KINDS.values()), f'each kind has its row: {set(KINDS.values()) - set(found)}')
    return found


def kinds(column):
    return {kind for kind, row in table().items() if row[column]}
