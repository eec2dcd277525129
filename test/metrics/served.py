# SPDX-License-Identifier: BSD-3-Clause
"""served.py PAGE FOLDER [PROMTOOL] - the metrics that alerts and dashboard name are on the page; promtool takes the page, the alerts, their tests, and
every query of the dashboard, whose panels are described. Without promtool the first is checked, and the rest said to be skipped."""
import json
import os
import re
import subprocess
import sys
import tempfile


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def queries(dashboard):
    """What a panel asks, with Grafana's variables filled in."""
    for panel in json.loads(dashboard)['panels']:
        for target in panel['targets']:
            yield panel['title'], target['expr'].replace('$__rate_interval', '5m').replace('$client', '.*').replace('$instance', '.*')


def named(text):
    return set(re.findall(r'\bhilock_[a-z_]+', text))


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    return [] if done.returncode == 0 else [f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}']


def by_promtool(promtool, page, folder):
    asked = list(queries(read(os.path.join(folder, 'dashboard.json'))))
    with tempfile.TemporaryDirectory() as work:
        rules = os.path.join(work, 'queries.yml')
        with open(rules, 'w', encoding='utf-8') as file: # a query is good if a rule may be made of it; JSON is YAML
            json.dump({'groups': [{'name': 'queries', 'rules': [{'record': f'query_{i}', 'expr': expr} for i, (_, expr) in enumerate(asked)]}]}, file)
        return (run(promtool, 'check', 'metrics', input=page) + run(promtool, 'check', 'rules', os.path.join(folder, 'alerts.yml'))
                + run(promtool, 'test', 'rules', os.path.join(folder, 'alerts_test.yml')) + run(promtool, 'check', 'rules', rules))


def main(program, folder, promtool=None):
    page = subprocess.run([program, 'print'], check=True, stdout=subprocess.PIPE, text=True).stdout
    expressions = re.findall(r'expr: (.*)', read(os.path.join(folder, 'alerts.yml'))) + [expr for _, expr in queries(read(os.path.join(folder, 'dashboard.json')))]
    there = {line.split('{')[0] for line in page.splitlines() if not line.startswith('#')}
    failures = [f'{name}: is not on the page' for name in sorted(named('\n'.join(expressions)) - there)]
    headings = re.findall(r'^# TYPE (\w+)', page, re.M)
    failures += [f'panel {panel["title"]}: says nothing of what it shows' for panel in json.loads(read(os.path.join(folder, 'dashboard.json')))['panels']
                 if not panel.get('description')]
    failures += [f'{name}: has more than one heading' for name in sorted(set(headings)) if headings.count(name) > 1]
    if promtool:
        failures += by_promtool(promtool, page, folder)
    print('\n'.join(failures) or f'{len(expressions)} expressions')
    if not failures and not promtool:
        print('promtool is not installed (Debian: prometheus): page, alerts and dashboard were not checked by it')
        return 77
    return len(failures)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
