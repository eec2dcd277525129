# SPDX-License-Identifier: BSD-3-Clause
"""checks - what the checks of all scenarios do: run one small, and read its JSON."""
import json
import subprocess
import sys


def play(scenario, asked, *more):
    """What BENCH, the first argument, tells: an object for each line. asked: options that each of them names; more: other words."""
    options = [word for key, value in asked.items() for word in (f'--{key.replace("_", "-")}', str(value))]
    run = subprocess.run([sys.argv[1], scenario, *options, *more, '--json'], stdout=subprocess.PIPE, text=True, check=False)
    print(run.stdout)
    if run.returncode != 0:
        sys.exit(f'status {run.returncode}')
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{')]
    if not lines:
        sys.exit('there is no line of JSON')
    for told in lines:
        expect_asked(told, {'scenario': scenario, **asked})
    return lines


def by(key, lines):
    return {told[key]: told for told in lines}


def expect_asked(told, asked):
    wrong = {key: told.get(key) for key, value in asked.items() if told.get(key) != value}
    if wrong:
        sys.exit(f'these are not the parameters that were asked for: {wrong}')


def expect_positive(told, figures):
    wrong = {key: told.get(key) for key in figures if not (told.get(key) or 0) > 0}
    if wrong:
        sys.exit(f'not above 0, or missing: {wrong}')
