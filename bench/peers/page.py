# SPDX-License-Identifier: BSD-3-Clause
"""page JSON.. - what `run` measured, as a page: for each scene a table of all kinds, and the ratio of ours to the best peer, round by round.
Of several files each has scenes of its own."""
import json
import sys

import programs
import scenes

PICTURES = {
    'ratios': 'The ratio of hilock to the best peer in each scene',
    'gaps': 'How long the lock stays idle between two grants, as a distribution, for each kind of lock',
    'grants': 'Grants a second of each kind of lock in each scene',
    'requests': 'Requests that the server reads for a grant, for each kind of lock',
    'recoveries': 'The time until a living waiter has the lock, for each kind of lock',
}
NEVER = f'> {scenes.RECOVERY_PATIENCE_S} s'


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def figure(value):
    if value is None:
        return NEVER
    if abs(value) >= 100:
        return f'{value:.0f}'
    return f'{value:.1f}' if abs(value) >= 10 else f'{value:.2f}' if abs(value) >= 0.1 else f'{value:.2g}'


def sentence(row):
    if 'recovered_ms' in row:
        return 'not again in time' if row['recovered_ms'] is None else f'{row["recovered_ms"]:.1f} ms'
    more = f', gap p50 {figure(row["gap_p50_us"])} us' if row.get('gap_p50_us') is not None else ''
    ended = f', {row["ended"]} waits ended' if row.get('ended') else ''
    overlaps = f', {row["overlaps"]} OVERLAPS' if row['overlaps'] else ''
    return f'{row["grants_per_s"]:.0f} grants/s{more}, {row["requests_per_grant"]:.2f} requests a grant{ended}{overlaps}'


# ---- of all rounds

def by_kind(rows, scenario):
    """{kind: its rows, by rounds}"""
    found = {}
    for row in sorted((row for row in rows if row['scenario'] == scenario), key=lambda row: row['round']):
        found.setdefault(row['kind'], []).append(row)
    return found


def merit(row):
    """More is better. Of the free cycle its median time counts, which is the same thing where nothing else runs on the machine, and hardly moves where
    something does; of readers and a writer how long the writer waits; of a semaphore how much of it is in use; of a recovery that did not come in time, what it took at least."""
    if 'recovered_ms' in row:
        late_ms = scenes.RECOVERY_PATIENCE_S * 1000
        return 1 / max(0.01, row['recovered_ms'] if row['recovered_ms'] is not None else late_ms)
    if 'permits_in_use' in row:
        return row['permits_in_use']
    if 'writers_wait_p50_ms' in row:
        return 1000 / row['writers_wait_p50_ms']
    return 1e6 / row['pair_p50_us'] if 'pair_p50_us' in row else row['grants_per_s']


def best(found, is_ours):
    kinds = [kind for kind in found if kind != 'bare' and (kind in programs.OURS) == is_ours]
    return max(kinds, key=lambda kind: median(map(merit, found[kind])), default=None)


def ratios(ours, theirs):
    return sorted(merit(one) / merit(other) for one, other in zip(ours, theirs))


def span(values):
    """The median and the range; what never came is worth more than anything."""
    ordered = sorted(values, key=lambda value: float('inf') if value is None else value)
    return f'{figure(ordered[len(ordered) // 2])} ({figure(ordered[0])} to {figure(ordered[-1])})'


def compare(rows):
    """(scenario, our best kind, best peer, ratios) of each scene that both played."""
    for scenario in scenes.TELLS:
        found = by_kind(rows, scenario)
        ours, theirs = best(found, True), best(found, False)
        if ours and theirs:
            yield scenario, ours, theirs, ratios(found[ours], found[theirs])


# ---- tables

COLUMNS = {  # heading: the figure
    'grants /s': lambda row: row['grants_per_s'],
    'us a pair, p50': lambda row: row['pair_p50_us'],
    'idle gap p50, us': lambda row: row['gap_p50_us'],
    'requests a grant': lambda row: row['requests_per_grant'],
    'server, us a grant': lambda row: row['server_us_per_grant'],
    'longest wait, ms': lambda row: row['longest_wait_ms'],
    'least share': lambda row: row['least_share'],
    'permits in use': lambda row: row['permits_in_use'],
    'writer\'s grants /s': lambda row: row['writers_grants_per_s'],
    'writer waits, p50, ms': lambda row: row['writers_wait_p50_ms'],
    'writer waits at most, ms': lambda row: row['writers_longest_wait_ms'],
    'ms': lambda row: row['recovered_ms'],
}
SPANS = ('grants /s', 'permits in use', 'writer waits, p50, ms', 'ms')
MOST = ('longest wait, ms', 'writer waits at most, ms')  # of all rounds


def columns(scenario):
    if scenario in scenes.RECOVERIES:
        return ['ms']
    if scenario == 'free':
        return ['grants /s', 'us a pair, p50', 'requests a grant', 'server, us a grant']
    if scenario == 'permits':
        return ['permits in use', 'grants /s', 'requests a grant', 'server, us a grant', 'longest wait, ms', 'least share']
    if scenario == 'readers':
        return ['writer waits, p50, ms', 'writer waits at most, ms', 'writer\'s grants /s', 'grants /s', 'requests a grant', 'server, us a grant']
    return ['grants /s', 'idle gap p50, us', 'requests a grant', 'server, us a grant', 'longest wait, ms', 'least share']


def cell(rows, heading):
    values = [COLUMNS[heading](row) for row in rows]
    if heading in SPANS:
        return span(values)
    if heading in MOST:
        return figure(max(values))
    known = [value for value in values if value is not None]
    return figure(median(known)) if known else ''


def table(rows, scenario):
    found, heads = by_kind(rows, scenario), columns(scenario)
    is_ended = any(row.get('ended') for kind in found.values() for row in kind)
    yield '| | ' + ' | '.join(heads) + (' | waits ended without a grant |' if is_ended else ' |')
    yield '|---|' + '---|' * (len(heads) + is_ended)
    for kind in sorted(found, key=lambda kind: -median(map(merit, found[kind]))):
        cells = [cell(found[kind], heading) for heading in heads]
        if is_ended:
            cells.append(str(sum(row['ended'] for row in found[kind])))
        yield f'| {"**" + kind + "**" if kind in programs.OURS else kind} | ' + ' | '.join(cells) + ' |'


def ratio_table(rows):
    yield '| scene | hilock\'s best kind | best peer | ratio | range |'
    yield '|---|---|---|---|---|'
    for scenario, ours, theirs, found in compare(rows):
        middle = figure(median(found))
        yield f'| [{scenario}](#{scenario}) | {ours} | {theirs} | {middle if median(found) > 1 else "**" + middle + "**"} | {figure(found[0])} to {figure(found[-1])} |'


def machine(about, is_alone):
    if not is_alone:
        yield f'Of {", ".join(about.get("scenes", ["the others"]))}:'
        yield ''
    peers = ', '.join(f'{kind} {version}' for kind, version in about['versions'].items() if version)
    tools = ', '.join(about['tools'].values())
    yield f'{about["date"]}, commit {about["commit"]}, {about["rounds"]} {"rounds" if about["rounds"] > 1 else "round"}. {about["processor"]}, {about["cores"]} cores, Linux {about["kernel"]}, ' \
          f'load {about["load_before"]} before and {about["load_after"]} after; Redis {about["server"]} on loopback.'
    yield ''
    yield f'{peers}. {tools}.'
    if about['absent']:
        yield ''
        yield f'Not played, because this machine could not make them: {", ".join(about["absent"])}.'


def text(rows):
    abouts = [row for row in rows if row['scenario'] == 'about']
    played = [row for row in rows if 'overlaps' in row]
    lines = [
        '# hilock beside its peers', '',
        'Made by `bench/peers/run FOLDER --json FOLDER/peers.json --page bench/peers/PEERS.md`, after `bench/peers/setup FOLDER`.'
        + (f' These are {len(abouts)} runs, which played scenes of their own (`--scenes`), on one page (`bench/peers/page.py`).' if len(abouts) > 1 else ''),
        'What a scene is, and how it is played, is in [README.md](README.md).', '',
        *(line for about in abouts for line in (*machine(about, len(abouts) == 1), '')),
        f'Spans of a grant that overlapped another of the same name, in all {len(played)} plays: **{sum(row["overlaps"] for row in played)}**'
        + ''.join(f', {row["kind"]} in {row["scenario"]}' for row in played if row["overlaps"]) + '.', '',
        'The ratio is hilock\'s best kind to the best peer, each the kind with the best median: of grants a second; of `permits` of permits in use; of `free`,',
        '`readers` (how long the writer waits) and the recoveries it is the ratio of times, the other way round. Above 1 hilock is the better one. It is taken',
        'round by round; here is the median, and the range.', '',
        *ratio_table(rows), '',
        'The pictures are made by `bench/plot --out bench/peers FOLDER/peers.json`:', '',
    ]
    lines.append('\n\n'.join(f'![{what}](peers-{name}.svg)' for name, what in PICTURES.items()))
    for scenario, what in scenes.TELLS.items():
        if not by_kind(rows, scenario):
            continue
        lines += ['', f'## {scenario}', '', what[0].upper() + what[1:] + '.', '', *table(rows, scenario)]
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    all_rows = []
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as lines_of_json:
            all_rows += map(json.loads, lines_of_json)
    sys.stdout.write(text(all_rows))
