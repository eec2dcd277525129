#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""search.py CC MODEL PROPERTY holds|violated [MACRO[=VALUE]..] - searches every state of a model, in a temporary directory.

PROPERTY is an ltl of the model, or `assertions`. `holds`: the search must have been complete, with no error. `violated`: there must be
an error, and it must be of this property. Memory is bounded; a search that does not fit is a failure, not a result."""
import os
import re
import subprocess
import sys
import tempfile

MEMORY_MB = 700
DEPTH = 200000
# Without partial order reduction: in these models everything is shared, so it only costs. Weak fairness needs room for the processes.
SAFETY = (['-DSAFETY', '-DNOREDUCE'], [])
PROGRESS = (['-DNFAIR=3', '-DNOREDUCE'], ['-a', '-f'])


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: status {done.returncode}\n{done.stdout}')
    return done.stdout


def without_claims(text):
    return re.sub(r'^ltl [^{]*\{[^}]*\}', '', text, flags=re.MULTILINE)


def is_progress(text, claim):
    return re.search(r'^ltl\s+' + claim + r'\s*\{\s*<>', text, flags=re.MULTILINE)


def search(cc, folder, text, claim, macros):
    flags, arguments = PROGRESS if is_progress(text, claim) else SAFETY
    arguments = arguments + (['-E'] if claim == 'assertions' else ['-N', claim])
    with open(os.path.join(folder, 'model.pml'), 'w') as file:
        file.write(without_claims(text) if claim == 'assertions' else text)
    run(['spin', '-a', *macros, 'model.pml'], folder)
    run([*cc.split(), '-w', '-O1', f'-DMEMLIM={MEMORY_MB}', *flags, '-c', 'pan.c'], folder) # apart, so that ccache knows it: it takes seconds
    run([*cc.split(), '-o', 'pan', 'pan.o'], folder)
    return run(['./pan', f'-m{DEPTH}', '-w22', *arguments], folder)


def trail(folder, macros):
    lines = run(['spin', '-t', '-p', '-g', *macros, 'model.pml'], folder).splitlines()
    return '\n'.join(lines[-120:])


def wrong_with(report, claim, is_due):
    """None, or what is not as it must be."""
    errors = re.search(r'errors: (\d+)', report)
    if not errors:
        return 'the search told nothing'
    if claim != 'assertions' and not re.search(r'never claim\s+\+ \(' + claim + r'\)', report):
        return 'the search did not look for it'
    if not is_due:
        if errors.group(1) != '0':
            return 'violated'
        # what cuts a search short is told in words, and some of it without an error
        cut = re.search(r'max search depth too small|out of memory|Search not completed|MEMLIM|resource', report)
        return cut and f'the search was not complete: {cut.group(0)}'
    if errors.group(1) == '0':
        return 'not violated: the bug is not seen'
    if 'pan:1: acceptance cycle' in report:
        return None
    named = re.search(r'^pan:1: (.*)$', report, flags=re.MULTILINE)
    is_claim = named and named.group(1).startswith('assertion violated  !( ') # so with the blank: a claim's
    if not named or 'assertion violated' not in named.group(1) or is_claim != (claim != 'assertions'):
        return f'another error than this property: {named and named.group(1)}'
    return None


def main():
    cc, path, claim, verdict, *macros = sys.argv[1:]
    macros = ['-D' + macro for macro in macros]
    with open(path) as file:
        text = file.read()
    with tempfile.TemporaryDirectory(prefix='hilock-model-') as folder:
        report = search(cc, folder, text, claim, macros)
        print(report)
        wrong = wrong_with(report, claim, verdict == 'violated')
        if wrong and 'errors: 0' not in report:
            print(trail(folder, macros))
    sys.exit(wrong and f'{os.path.basename(path)}: {claim}: {wrong}')


main()
