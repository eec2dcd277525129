#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""picture.py STORY.jsonl - draws STORY.svg, and writes STORY.html with the same picture and the verdict. --check: can it?

Above, the run without locks; below, the run with them, in the same scale. A lane for each shop, in it a row for each item. The words are in the
picture, so that nobody needs a page to read it, and everything that differs in colour differs in place, shape or hatching as well: the palette
is that of Okabe and Ito. Each bar has an id (tale.py), by which check_picture.py finds it."""
import html
import logging
import os
import re
import sys

import tale

try:
    import matplotlib
    matplotlib.use('svg')
    from matplotlib import pyplot
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path
except ImportError:
    matplotlib = None

ITEM_COLOURS = ['#0072B2', '#E69F00', '#009E73', '#56B4E9', '#CC79A7', '#F0E442']
HATCH_COLOURS = ITEM_COLOURS[:5] + ['#A89F00']  # yellow lines are too pale on white
WRONG, WAIT, INK, QUIET, PAPER = '#A3000B', '#C9C9C9', '#1A1A1A', '#5A5A5A', '#FFFFFF'
GROUND, STILL = '#F6F6F6', '#E4E4E4'
FONT = ['Helvetica', 'Arial', 'Liberation Sans', 'DejaVu Sans', 'sans-serif']
WIDTH, LEFT, RIGHT = 524, 72, 8  # in points, as all lengths here
ROW, WORDS, GAP = 8.5, 19, 7  # of a lane: a row, a line of words above or below, to the next lane
TITLE, AXIS, KEY = 30, 42, 30
SMALL, NORMAL, LARGE = 13, 14, 17


class Panel:
    """One run. Its axes are in seconds across and in points down, from the top of the figure."""

    def __init__(self, figure, height, top, seconds):
        self.axes, self.top, self.seconds = figure.add_axes([0, 0, 1, 1], label=str(top)), top, seconds
        per_point = seconds / (WIDTH - LEFT - RIGHT)
        self.axes.set_xlim(-LEFT * per_point, seconds + RIGHT * per_point)
        self.axes.set_ylim(height, 0)
        self.axes.axis('off')
        self.per_point = per_point

    def words(self, x, y, text, size=SMALL, colour=INK, **more):
        return self.axes.text(x, y, text, fontsize=size, color=colour, va='center', **more)

    def box(self, start, end, y, height, name=None, **more):
        self.axes.add_patch(Rectangle((start, y), end - start, height, gid=name, clip_on=False, **more))

    def line(self, xs, ys, **more):
        self.axes.plot(xs, ys, **more)


def frame(panel, run, lanes):
    """Names of the shops and a quiet ground for their rows."""
    for shop, y in lanes.items():
        panel.box(0, panel.seconds, y, run.items * ROW, facecolor=GROUND, linewidth=0)
        panel.words(-10 * panel.per_point, y + run.items * ROW / 2, f'Shop {shop}', NORMAL, ha='right', weight='bold')


def row(run, lanes, bar):
    return lanes[bar.shop] + bar.item * ROW


def draw_without(panel, run, lanes):
    frame(panel, run, lanes)
    for kind in ('sale', 'oversold'):
        for bar in run.bars:
            if bar.kind == kind:
                panel.box(bar.start, bar.end, row(run, lanes, bar) + (0 if kind == 'sale' else ROW * 0.28), ROW - (1 if kind == 'sale' else ROW * 0.56),
                          bar.id, facecolor=ITEM_COLOURS[bar.item] if kind == 'sale' else WRONG, edgecolor=PAPER, linewidth=0.4)


def draw_with(panel, run, lanes):
    frame(panel, run, lanes)
    for stop in run.stops:
        still = stop.end if stop.end is not None else run.opened.get(stop.shop, run.end)
        panel.box(stop.start, still, lanes[stop.shop], run.items * ROW, facecolor=STILL, linewidth=0)
    ends = [(at, row(run, lanes, wait) + ROW / 2) for wait in run.waits for at in (wait.start, wait.end)]
    panel.axes.add_patch(PathPatch(Path(ends, [Path.MOVETO, Path.LINETO] * len(run.waits)), gid='waits', fill=False, edgecolor=WAIT, linewidth=2))
    for bar in run.bars:
        y, colour = row(run, lanes, bar) + 0.5, ITEM_COLOURS[bar.item]
        panel.box(bar.start, bar.end, y, ROW - 1, bar.id, facecolor=colour, edgecolor=PAPER, linewidth=0.4)
        if bar.kept:
            panel.box(bar.end, bar.kept, y, ROW - 1, bar.id.replace('hold', 'kept'), facecolor=PAPER, edgecolor=HATCH_COLOURS[bar.item], linewidth=0.9,
                      hatch='/////')
    for stop in run.stops:
        draw_stop(panel, run, lanes[stop.shop], stop)
    for refusal in run.refusals:
        late = [bar for bar in run.bars if bar.id == refusal.id.replace('refused', 'hold')]
        panel.line([late[0].kept or late[0].end, refusal.at], [row(run, lanes, refusal) + ROW / 2] * 2, color=WRONG, linewidth=1.6,
                   linestyle=(0, (1, 1)))
        panel.line([refusal.at], [row(run, lanes, refusal) + ROW / 2], gid=refusal.id, marker='X', markersize=11, color=WRONG,
                   markeredgecolor=PAPER, markeredgewidth=0.8, zorder=5)


def event(panel, at, above, below, words):
    """A line through a lane, and words that begin at its head."""
    panel.line([at] * 2, [above - WORDS + 3, below], color=INK, linewidth=2)
    panel.words(at + 4 * panel.per_point, above - WORDS / 2, words, weight='bold')


def draw_stop(panel, run, y, stop):
    """What was done to a shop, in words above its lane; and below it its late writes."""
    bottom = y + run.items * ROW
    event(panel, stop.start, y, bottom, 'killed' if stop.end is None else 'suspended')
    if stop.end is None and stop.shop in run.opened:
        event(panel, run.opened[stop.shop], y, bottom, 'opened again')
    if stop.end is None:
        return
    told = [loss for loss in run.losses if loss.shop == stop.shop]
    late = [refusal for refusal in run.refusals if refusal.shop == stop.shop]
    event(panel, stop.end, y, bottom + WORDS - 4, ('goes on', 'loss reported', 'losses reported')[min(len(told), 2)])
    if late:
        panel.words(stop.end + 4 * panel.per_point, bottom + WORDS / 2, 'late write refused' if len(late) == 1 else 'late writes refused', colour=WRONG,
                    weight='bold')


def axis(panel, y):
    for second in range(int(panel.seconds) + 1):
        panel.line([second] * 2, [y, y + 4], color=QUIET, linewidth=0.8)
        panel.words(second, y + 13, f'{second} s' if second == 0 else str(second), colour=QUIET, ha='center')


def key(panel, y, entries):
    """entries: (drawing, words); a line of them."""
    x = 0
    for draw, words in entries:
        draw(x, y)
        panel.words(x + 30 * panel.per_point, y, words, colour=QUIET)
        x += (40 + 6.6 * len(words)) * panel.per_point


def swatch(panel, height=ROW - 1, **more):
    def draw(x, y):
        panel.box(x, x + 24 * panel.per_point, y - height / 2, height, **more)
    return draw


def items_swatch(panel):
    def draw(x, y):
        for number, colour in enumerate(ITEM_COLOURS[:4]):
            start = x + 6 * number * panel.per_point
            panel.box(start, start + 6 * panel.per_point, y - ROW / 2, ROW, facecolor=colour, edgecolor=PAPER, linewidth=0.4)
    return draw


def draw(without, under, path):
    logging.getLogger('matplotlib.font_manager').setLevel(logging.ERROR)  # the reader has the fonts, this machine need not
    matplotlib.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'hilock', 'font.family': FONT, 'hatch.linewidth': 1.1})
    shops, seconds = under.shops, max(without.end, under.end) * 1.01
    struck, suspended = {stop.shop for stop in under.stops}, {stop.shop for stop in under.stops if stop.end is not None}
    y, lanes_without, lanes_under = TITLE, {}, {}
    for shop in shops:
        lanes_without[shop], y = y + GAP, y + without.items * ROW + GAP
    key_without, y = y + KEY / 2 + 4, y + KEY + 22
    title_under, y = y + TITLE / 2, y + TITLE
    for shop in shops:
        lanes_under[shop] = y + (WORDS if shop in struck else GAP)
        y = lanes_under[shop] + under.items * ROW + (WORDS if shop in suspended else 0)
    axis_y, y = y + 3, y + AXIS / 2 + 11
    key_under, height = y + KEY / 2, y + 2 * KEY
    figure = pyplot.figure(figsize=(WIDTH / 72, height / 72), facecolor=PAPER)
    above, below = Panel(figure, height, 0, seconds), Panel(figure, height, 1, seconds)
    left = (-LEFT + 8) * above.per_point
    above.words(left, TITLE / 2 + 2, f'Without a lock: {without.pieces} pieces are sold {without.sold} times', LARGE, weight='bold')
    draw_without(above, without, lanes_without)
    key(above, key_without, [(items_swatch(above), 'a sale'),
                             (swatch(above, ROW * 0.5, facecolor=WRONG, linewidth=0), 'of a piece that was gone already')])
    below.words(left, title_under, f'With hilock: {under.pieces} pieces are sold {under.sold} times', LARGE, weight='bold')
    draw_with(below, under, lanes_under)
    axis(below, axis_y)
    key(below, key_under, [(items_swatch(below), 'an item is locked'), (swatch(below, ROW * 0.28, facecolor=WAIT, linewidth=0), 'a buyer waits')])
    kept = swatch(below, facecolor=PAPER, edgecolor=ITEM_COLOURS[0], linewidth=0.9, hatch='/////')
    key(below, key_under + KEY - 8, [(kept, 'still locked, until the lease ends')])
    figure.savefig(path, metadata={'Date': None, 'Title': 'hilock: three shops sell one stock, without a lock and with it'})
    pyplot.close(figure)
    with open(path, encoding='utf-8') as file:
        text = re.sub(r'(\d+\.\d\d)\d+', r'\1', file.read())  # a hundredth of a point is enough
    with open(path, 'w', encoding='utf-8') as file:
        file.write(re.sub(r' +$', '', text, flags=re.M))


PAGE = '''<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hilock: the demo</title>
<style>
body {{ margin: 0 auto; max-width: 58rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: {INK}; background: {PAPER} }}
figure {{ margin: 0 }}
svg {{ display: block; width: 100%; height: auto }}
h1 {{ font-size: 1.6rem }}
h2 {{ font-size: 1.2rem }}
table {{ border-collapse: collapse; margin: 0.5rem 0 1.5rem; width: 100% }}
td {{ border-top: 1px solid #ddd; padding: 0.3rem 1rem 0.3rem 0; vertical-align: top }}
.no {{ color: {WRONG}; font-weight: bold }}
</style>
<h1>Three shops sell one stock</h1>
<p>{shops} processes sell {items} items of {stock} pieces to {buyers} buyers. A sale reads the stock, thinks, and writes one piece less.
With hilock a shop does that under one lock for each item. One shop is killed in the middle of its sales, another is suspended past its lease.</p>
<figure role="img" aria-label="Without a lock, the shops sell the same pieces again and again. With hilock, each piece is sold once.">
{picture}</figure>
<h2>With hilock</h2>
{under}
<h2>Without a lock</h2>
{without}
</html>
'''


def verdict(run):
    rows = ''.join('<tr><td>{}<td{}>{}<td>{}\n'.format(html.escape(claim['what']), '' if claim['holds'] else ' class="no"',
                                                      'ok' if claim['holds'] else 'FAILED', html.escape(claim['figure'])) for claim in run.claims)
    return f'<table>\n{rows}</table>'


def page(without, under, svg_path, path):
    with open(svg_path, encoding='utf-8') as file:
        picture = file.read()
    picture = picture[picture.index('<svg'):]
    with open(path, 'w', encoding='utf-8') as file:
        file.write(PAGE.format(INK=INK, PAPER=PAPER, WRONG=WRONG, shops=len(under.shops), items=under.items, stock=under.stock, buyers=under.buyers,
                               picture=picture, under=verdict(under), without=verdict(without)))


def main(argument):
    if not matplotlib:
        sys.exit('a picture needs matplotlib: apt-get install python3-matplotlib')
    if argument == '--check':
        return
    stem = os.path.splitext(argument)[0]
    without, under = tale.read(argument)
    draw(without, under, stem + '.svg')
    page(without, under, stem + '.svg', stem + '.html')


if __name__ == '__main__':
    main(*sys.argv[1:])
