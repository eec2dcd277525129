# SPDX-License-Identifier: BSD-3-Clause
"""tally.py LANE STATUS LOG [NAME..] - one line per test of a meson run: outcome, lane, test, reason, separated by tabs. LOG is the path of its logs
without what meson puts behind. A run that failed without a failed test, or that ran no test, is a failure of its own; so is a test in whose output
the password of the tests stands, whatever its outcome; and so is each NAME, a test that was asked for, that is none: meson passes over it."""
import glob
import json
import sys

OUTCOMES = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}
SECRET = 's3cret-marker'  # test/secret.h


def output(test):
    return (test.get('stdout') or '') + '\n' + (test.get('stderr') or '')


def reason(test):
    """What the test said last, where that is worth a line."""
    said = [line.strip() for line in output(test).splitlines() if line.strip()]
    last = said[-1].replace('\t', ' ')[:200] if said else 'no reason given'
    return last if test['result'] == 'SKIP' else test['result'].lower() + ', log above'


def judge(test):
    """(outcome, reason)"""
    outcome = OUTCOMES.get(test['result'], 'failed')
    if SECRET in output(test):
        return 'failed', 'the password stands in its output'
    return outcome, '' if outcome == 'passed' else reason(test)


def tests(log):
    for path in glob.glob(glob.escape(log) + '*.json'):
        with open(path, encoding='utf-8', errors='replace') as file:
            yield from map(json.loads, filter(str.strip, file))


def main(lane, status, log, *asked):
    outcomes, ran = [], set()
    for test in tests(log):
        outcome, why = judge(test)
        outcomes.append(outcome)
        ran.add(test['name'].rpartition(' / ')[2])
        print(outcome, lane, test['name'], why, sep='\t')
    for name in asked:
        if name not in ran:
            print('failed', lane, name, 'a list in .ci/run names it, and no test of that name ran here', sep='\t')
    if not outcomes:
        print('failed', lane, 'meson test', 'no test ran', sep='\t')
    elif status != '0' and 'failed' not in outcomes:
        print('failed', lane, 'meson test', 'exit status ' + status, sep='\t')


if __name__ == '__main__':
    main(*sys.argv[1:])
