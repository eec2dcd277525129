# SPDX-License-Identifier: BSD-3-Clause
"""manual.py MANDOC REFERENCE PAGE... - mandoc finds nothing wrong with the man pages, nor with others, but that they
have no date: a build gives the same pages on every day. A page with a mistake is tried, too: or else a check that
sees nothing would go unseen."""
import os
import subprocess
import sys

from outside import read

MISTAKE = '.TH X 3 "" "x"\n.SH NAME\nx \\- y\n.SH DESCRIPTION\n.QQ\n'


def complaints(mandoc, where, text):
    """An alias is one request that says where the page is, and is followed."""
    told = subprocess.run([mandoc, '-T', 'lint', '-W', 'warning'], cwd=where, input=text, capture_output=True, text=True).stdout
    return [line for line in told.splitlines() if 'missing date' not in line]


def main(mandoc, where, *others):
    failures, count = [f'{page}: {line}' for page in others for line in complaints(mandoc, where, read(page))], 0
    for folder in ('man3', 'man7'):
        for name in sorted(os.listdir(os.path.join(where, folder))):
            text = read(os.path.join(where, folder, name))
            if text.startswith('.so '):
                failures += [] if os.path.exists(os.path.join(where, text.split()[1])) else [f'{name}: leads nowhere: {text}']
            else:
                failures += [f'{name}: {line}' for line in complaints(mandoc, where, text)]
                count += 1
    if not complaints(mandoc, where, MISTAKE):
        failures.append('a planted mistake was not told')
    print('\n'.join(failures) or f'{count} pages')
    return 1 if failures or not count else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
