# SPDX-License-Identifier: BSD-3-Clause
"""figures.py ROOT - pages of figures say of which commit they are, and are of this release or the one before."""
import os
import re
import shutil
import subprocess
import sys

from outside import read

PAGES = ('test/build/COUNTS.md', 'test/sim/EVIDENCE.md', 'test/live/QUORUM.md', 'test/live/DEPLOYMENTS.md')


def version_of(text):
    return re.search(r"version: '([^']+)'", text).group(1)


def version_at(root, commit):
    """None: the history of HEAD has no such commit. One that a rebase left behind is in the clone where it was made only."""
    git = ['git', '-C', root]
    if subprocess.run([*git, 'merge-base', '--is-ancestor', commit, 'HEAD'], stderr=subprocess.DEVNULL, check=False).returncode:
        return None
    shown = subprocess.run([*git, 'show', f'{commit}:meson.build'], stdout=subprocess.PIPE, text=True, check=True)
    return version_of(shown.stdout)


def complaints(root, path, releases):
    """releases: the versions of CHANGELOG.md, the newest first."""
    stamps = re.findall(r'\b[Cc]ommit:? ([0-9a-f]{7,40})(-dirty)?\b', read(os.path.join(root, path)))
    if not stamps:
        yield f'{path} does not say of which commit it is'
    for commit, dirty in stamps:
        version = version_at(root, commit)
        if dirty:
            yield f'{path} was made of a tree that had changed since {commit}'
        if version is None:
            yield f'{path}: the history has no commit {commit}. Make the page again'
        elif version not in releases[:2]:
            yield f'{path} is of {version}, commit {commit}: older than the release before this one. Make it again'


def main(root):
    known = shutil.which('git') and subprocess.run(['git', '-C', root, 'rev-parse', 'HEAD'], capture_output=True, check=False)
    if not known or known.returncode:
        print('no history here, or no git: how old the pages of figures are cannot be said')
        return 77
    releases = re.findall(r'^## (\d+\.\d+\.\d+)', read(os.path.join(root, 'CHANGELOG.md')), re.M)
    if version_of(read(os.path.join(root, 'meson.build'))) != releases[0]:
        sys.exit(f'CHANGELOG.md begins with {releases[0]}, which is not the version in meson.build')
    wrong = [line for path in PAGES for line in complaints(root, path, releases)]
    print(*wrong, sep='\n')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
