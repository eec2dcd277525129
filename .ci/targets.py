# SPDX-License-Identifier: BSD-3-Clause
"""targets.py BUILD SUITE/NAME.. - what ninja must make for these tests, and no more: "unit/" is a whole suite, "unit/line" one test."""
import json
import os
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(['meson', 'introspect', build, what], check=True, stdout=subprocess.PIPE, text=True).stdout)


def is_wanted(test, wanted):
    suites = [suite.rpartition(':')[2] for suite in test['suite']]
    return any(f'{suite}/{name}' in wanted for suite in suites for name in (test['name'], ''))


def main(build, *wanted):
    files = {target['id']: target['filename'] for target in introspect(build, '--targets')}
    needed = {target for test in introspect(build, '--tests') if is_wanted(test, wanted) for target in test['depends']}
    root = os.path.abspath(build)
    print(*sorted(os.path.relpath(file, root) for target in needed for file in files.get(target, [])))


if __name__ == '__main__':
    main(*sys.argv[1:])
