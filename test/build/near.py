# SPDX-License-Identifier: BSD-3-Clause
"""near.py NEAR BUILD ROOT - test/near finds the tests of a change, and some for each folder of the library."""
import glob
import os
import subprocess
import sys

WANTED = {
    'lib/lock/gate.c': {'unit/gate', 'unit/twins'},     # of that name, and a bug is planted in it
    'lib/base/id_table.h': {'unit/id_table'},
    'lib/wire/mutex_acquire.lua': {'unit/acquire'},     # mentions it
    'test/unit/test_gate.c': {'unit/gate'},             # is made of it
    'test/unit/cluster_stage.h': {'unit/cluster'},      # includes it
    'test/live/support/sentinels.c': {'sentinel/sentinel'},
    'adapters/libevent.c': {'adapter/libevent'},
}


def near(program, build, root, paths):
    """{path: tests}"""
    command = [sys.executable, '-B', program, '-n', '-C', build, *(os.path.join(root, path) for path in paths)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [line.removeprefix('near ').split(':') for line in lines if line.startswith('near ')]
    return {path: set(tests.split()) for path, tests in rows}


def main(program, build, root):
    first_of_each = [sorted(glob.glob(folder + '*.c')) for folder in glob.glob(os.path.join(root, 'lib/*/'))]
    first_of_each = [os.path.relpath(files[0], root) for files in first_of_each if files]
    found = near(program, build, root, [*WANTED, *first_of_each])
    wrong = [(path, wanted) for path, wanted in WANTED.items() if not wanted <= found[path]]
    wrong += [(path, 'any') for path in first_of_each if not found[path]]
    for path, wanted in wrong:
        print(f'near {path} there should be {wanted}, there are {sorted(found[path])}')
    return len(wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
