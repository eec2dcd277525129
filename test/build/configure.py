# SPDX-License-Identifier: BSD-3-Clause
"""configure.py MESON CC SOURCE_ROOT - which hiredis is refused at configure time, and that the reason is said. The versions are those of a
hiredis.pc that is found before the real one."""
import os
import sys
import tempfile

import outside

# (version, what meson says; None: accepted)
CASES = [('0.13.3', "'>=0.14.1'"), ('0.14.1', None), ('1.0.0', 'can kill a good connection'), ('1.0.2', 'can kill a good connection'),
         ('1.1.0', None)]
PC = 'Name: hiredis\nDescription: another version\nVersion: {}\nLibs: -lhiredis\nCflags:\n'


def main(meson, compiler, source):
    failures = []
    for version, expected in CASES:
        with tempfile.TemporaryDirectory() as work:
            outside.write(work, 'hiredis.pc', PC.format(version))
            done, text = outside.configure(meson, compiler, source, os.path.join(work, 'build'), '-Dtests=disabled', '-Dbench=disabled',
                                           pkg_config_path=work)
        if done != (expected is None) or expected and expected not in text:
            failures.append(f'hiredis {version}: expected {expected or "success"}, told:\n{text}')
        else:
            print('ok: hiredis', version, 'refused' if expected else 'accepted')
    print('\n'.join(failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
