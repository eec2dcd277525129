# SPDX-License-Identifier: BSD-3-Clause
"""preview.py BUSY PROMETHEUS OUT.svg [SECONDS] - each panel of the dashboard as a real Prometheus answers it, where there is no Grafana to ask.

Three programs (busy.c) want the same locks; one is stopped for longer than its leases, and so loses what it held. A Prometheus scrapes them each
second. Every query of every panel is then evaluated by it, and drawn at the place and in the size that the dashboard gives the panel, with its
description. What Grafana would draw differs in looks, not in figures. Status 1: a query was refused, or the loss is not seen."""
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'build'))
import outside  # noqa: E402

import matplotlib  # noqa: E402
matplotlib.use('svg')
logging.getLogger('matplotlib.font_manager').setLevel(logging.ERROR)  # the reader has the fonts, this machine need not
from matplotlib import pyplot  # noqa: E402

PROGRAMS = ('checkout', 'stock', 'reports')
STOPPED_S = 5  # the lease of busy.c is 2 s
COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#1A1A1A']
WIDTH, ROW = 16, 0.42  # inches: of the page, and of a row of the grid, which has 24 columns


# ---- Prometheus

def api(port, path, **query):
    url = f'http://127.0.0.1:{port}/api/v1/{path}?' + urllib.parse.urlencode(query)
    try:
        with urllib.request.urlopen(url, timeout=outside.WAITS_S) as answer:
            return json.load(answer)['data']['result']
    except urllib.error.HTTPError as error:
        sys.exit(f'{query}: {error.read().decode()}')


def is_ready(port):
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/-/ready', timeout=outside.WAITS_S) as answer:
            return answer.status == 200
    except OSError:
        return False


def start(program, folder, ports):
    """(process, port)"""
    port = outside.free_port()
    config = outside.write(folder, 'prometheus.yml', json.dumps({  # JSON is YAML
        'global': {'scrape_interval': '1s'},
        'scrape_configs': [{'job_name': 'shop', 'static_configs': [{'targets': [f'127.0.0.1:{port}' for port in ports]}]}]}))
    with open(os.path.join(folder, 'prometheus.log'), 'w', encoding='utf-8') as log:
        process = subprocess.Popen([program, f'--config.file={config}', f'--storage.tsdb.path={folder}/data', f'--web.listen-address=127.0.0.1:{port}'],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    outside.until(lambda: process.poll() is not None or is_ready(port), 'Prometheus is ready')
    return process, port


def stop(process, port):
    """Until it has lost something: in most moments it holds a lock, but its program may be about to give that back."""
    def has_lost():
        process.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)
        process.send_signal(signal.SIGCONT)
        time.sleep(1)
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=outside.WAITS_S) as page:
            return re.search(r'^hilock_lost_suspended_total\S* [1-9]', page.read().decode(), re.M)
    outside.until(has_lost, 'a program that is stopped loses a lock')


# ---- panels

def filled(expression, span_s):
    """With Grafana's variables filled in; an hour is what there is."""
    for variable, value in {'$__rate_interval': '5s', '$client': '.*', '$instance': '.*', '[1h]': f'[{span_s}s]'}.items():
        expression = expression.replace(variable, value)
    return expression


def legend(target, labels):
    text = re.sub(r'\{\{(\w+)\}\}', lambda match: labels.get(match.group(1), ''), target['legendFormat'])
    return text or ', '.join(labels.values()) or 'value'


def number(text, unit):
    value = float(text)
    if unit == 'percentunit':
        return f'{value:.1%}'
    return f'{value:.3g}' + (' s' if unit == 's' else '')


def draw_stat(axes, panel, ask):
    """The first query large, the others by their names below it."""
    first, *others = panel['targets']
    (sample, *_) = ask.now(first)
    unit, steps = panel['fieldConfig']['defaults']['unit'], panel['fieldConfig']['defaults']['thresholds']['steps']
    value = float(sample['value'][1])
    colour = [step['color'] for step in steps if step['value'] is None or value >= step['value']][-1]
    axes.axis('off')
    more = [f'{legend(target, {})} {number(ask.now(target)[0]["value"][1], unit)}' for target in others]
    axes.text(0.5, 0.1, ', '.join(more), fontsize=9, ha='center', va='center', transform=axes.transAxes)
    axes.text(0.5, 0.5, number(value, unit), fontsize=24, ha='center', va='center', weight='bold',
              color={'green': '#2B7A3D', 'red': '#A3000B', 'orange': '#B26B00', 'blue': '#0072B2'}[colour], transform=axes.transAxes)


def draw_series(axes, panel, ask):
    count = 0
    for target in panel['targets']:
        for series in ask.span(target):
            xs, ys = zip(*((at - ask.begin, float(value)) for at, value in series['values']))
            axes.plot(xs, ys, color=COLOURS[count % 7], linestyle=['-', '--', ':'][count // 7 % 3], label=legend(target, series['metric']), linewidth=1.5)
            count += 1
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=7, frameon=False, ncol=3, loc='upper left', bbox_to_anchor=(0, -0.12))
    axes.tick_params(labelsize=7)


def draw_heat(axes, panel, ask):
    found = sorted(ask.span(panel['targets'][0]), key=lambda series: float(series['metric']['le']))
    bounds = [series['metric']['le'] for series in found]
    times = [at for at, _ in found[0]['values']]
    below = [[dict((at, float(value)) for at, value in series['values']).get(time, 0) for time in times] for series in found]
    cells = [[max(0, upper - lower) for upper, lower in zip(row, below[i - 1] if i else [0] * len(times))] for i, row in enumerate(below)]
    axes.pcolormesh([time - ask.begin for time in times], range(len(bounds)), cells, cmap='Blues', shading='nearest')
    axes.set_yticks(range(len(bounds)), [bound + ' s' for bound in bounds], fontsize=6)
    axes.tick_params(axis='x', labelsize=7)


def draw_table(axes, panel, ask):
    names, rows = panel['transformations'][1]['options']['renameByName'], {}
    for target in panel['targets']:
        for sample in ask.now(target):
            unit = {'A': 'percentunit', 'D': 's'}.get(target['refId'], 'short')
            rows.setdefault((sample['metric']['client'], sample['metric']['instance']), {})[target['refId']] = number(sample['value'][1], unit)
    heads = ['client', 'instance'] + [names[f'Value #{target["refId"]}'] for target in panel['targets']]
    cells = [[*key, *(row.get(target['refId'], '') for target in panel['targets'])] for key, row in sorted(rows.items())]
    axes.axis('off')
    table = axes.table(cellText=cells, colLabels=heads, loc='center', cellLoc='left', edges='horizontal')
    table.auto_set_font_size(False)
    table.set_fontsize(10)
    table.scale(1, 1.6)


DRAWN = {'stat': draw_stat, 'timeseries': draw_series, 'heatmap': draw_heat, 'table': draw_table}


class Ask:
    """Evaluates a target, now or over the time that was recorded; one without an answer is told."""
    def __init__(self, port, begin, end):
        self.port, self.begin, self.end, self.asked, self.empty, self.above_zero = port, begin, end, 0, [], []

    def kept(self, target, found):
        self.asked += 1
        if not found:
            self.empty.append(target['expr'])
        if any(float(value) > 0 for series in found for _, value in series.get('values', [])):
            self.above_zero.append(target['expr'])
        return found

    def now(self, target):
        return self.kept(target, api(self.port, 'query', query=filled(target['expr'], int(self.end - self.begin)), time=self.end))

    def span(self, target):
        return self.kept(target, api(self.port, 'query_range', query=filled(target['expr'], int(self.end - self.begin)), start=self.begin + 5, end=self.end,
                                     step=1))


def draw(ask, path):
    with open(os.path.join(HERE, '..', '..', 'adapters', 'prometheus', 'dashboard.json'), encoding='utf-8') as file:
        panels = json.load(file)['panels']
    rows = max(panel['gridPos']['y'] + panel['gridPos']['h'] for panel in panels)
    matplotlib.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'hilock', 'axes.spines.top': False, 'axes.spines.right': False,
                                'font.family': ['Helvetica', 'Arial', 'Liberation Sans', 'DejaVu Sans', 'sans-serif']})
    figure = pyplot.figure(figsize=(WIDTH, rows * ROW))
    for panel in panels:
        at, is_small = panel['gridPos'], panel['type'] == 'stat'
        left, width = at['x'] / 24 + 0.028, at['w'] / 24 - 0.04
        top, height = 1 - at['y'] / rows, at['h'] / rows
        words = textwrap.fill(panel['description'], int(at['w'] * 10.5))
        lines = words.count('\n') + 1
        figure.text(left, top - 0.003, panel['title'], fontsize=11, weight='bold', va='top')
        figure.text(left, top - 0.015, words, fontsize=6.5, color='#5A5A5A', va='top')
        head = 0.017 + 0.0066 * lines
        foot = 0.004 if is_small or panel['type'] == 'table' else 0.046 if panel['type'] == 'timeseries' else 0.022
        axes = figure.add_axes([left, top - height + foot, width, height - head - foot])
        DRAWN[panel['type']](axes, panel, ask)
    figure.savefig(path, metadata={'Date': None}, facecolor='white')


def main(busy, prometheus, path, seconds='60'):
    processes = []
    with tempfile.TemporaryDirectory() as folder, outside.redis('redis-server', folder) as url:
        try:
            ports = [outside.free_port() for _ in PROGRAMS]
            for port, label in zip(ports, PROGRAMS):
                processes.append(subprocess.Popen([busy, url, str(port), label], stdin=subprocess.PIPE))
            server, port = start(prometheus, folder, ports)
            processes.append(server)
            begin = time.time()
            time.sleep(int(seconds) / 2)
            stop(processes[1], ports[1])
            time.sleep(int(seconds) / 2)
            ask = Ask(port, begin, time.time())
            draw(ask, path)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    if not any('hilock_lost_suspended' in seen for seen in ask.above_zero):
        sys.exit('no panel shows that a stopped program lost what it held')
    print(f'{ask.asked} queries, {len(ask.empty)} of them without an answer', *ask.empty, sep='\n')


main(*sys.argv[1:])
