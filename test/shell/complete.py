# SPDX-License-Identifier: BSD-3-Clause
"""complete.py HILOCK OPTIONS.c hilock.1 hilock.bash _hilock - options, man page and both completions have the same options, and bash completes them."""
import re
import subprocess
import sys

from command import store

read = store.outside.read


def completed(script, *words):
    line = ' '.join(f"'{word}'" for word in words)
    text = subprocess.run(['bash', '--norc', '-c', f'. "$0"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _hilock; printf "%s\\n" "${{COMPREPLY[@]}}"', script],
                          check=True, capture_output=True, text=True).stdout
    return set(text.split())


def main(hilock, options, page, bash, zsh):
    known = set(re.findall(r'\{"([a-z-]+)", (?:required|no)_argument', read(options)))
    said = {'man page': set(re.findall(r'Fl -([a-z][a-z-]+)', read(page))), 'bash': set(re.findall(r'--([a-z][a-z-]+)', read(bash))),
            'zsh': set(re.findall(r'--([a-z][a-z-]+)', read(zsh)))}
    failures = [f'{place}: --{name} is missing' for place, names in said.items() for name in known - names]
    failures += [f'{place}: there is no --{name}' for place, names in said.items() for name in names - known - {'help', 'version'}]
    help_text = subprocess.run([hilock, '--help'], check=True, capture_output=True, text=True).stdout
    failures += [f'--help: there is no --{name}' for name in set(re.findall(r'--([a-z][a-z-]+)', help_text)) - known - {'version'}]
    for words, wanted in [(('hilock', 'st'), {'status'}), (('hilock', 'run', '--w'), {'--wait'}), (('hilock', 'break', '--ho'), {'--holder'}),
                          (('hilock', 'doctor', '--w'), set())]:
        if completed(bash, *words) != wanted:
            failures.append(f'bash: {words} becomes {completed(bash, *words)}')
    if 'printf' not in completed(bash, 'hilock', 'run', 'name', '--', 'print'):
        failures.append('bash: a command is not completed')
    print('\n'.join(failures) or f'{len(known)} options')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
