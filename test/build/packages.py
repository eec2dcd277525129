# SPDX-License-Identifier: BSD-3-Clause
"""packages.py TEST/PACKAGES SCRIPT.. - test/packages installs what is missing and nothing else, and only as root; as anybody else it prints the
command and ends with 1. apt-get, dpkg-query and sudo are plays of their own here: nothing is installed. Each SCRIPT, test/run and bench/demo/run, then
stops there, too: it is run as nobody, in a tree of its own whose test/packages names one package that does not exist."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

NOBODY = 65534
FAKES = {
    'dpkg-query': '[ "$3" = gcc ] || [ -n "$NONE_MISSING" ] && echo installed',
    'apt-get': 'echo "$@" >>"$PLAY/calls"; [ -z "$APT_FAILS" ] || { echo "E: no such mirror"; exit 100; }',
    'sudo': '[ -n "$SUDO_WORKS" ] && shift && exec "$@"',
}


def expect(holds, what):
    print('ok' if holds else 'FAILED', what)
    if not holds:
        sys.exit(1)


def play(folder, user, *arguments, **environment):
    """(status, output, what apt-get was called with)"""
    calls = os.path.join(folder, 'calls')
    with open(calls, 'w', encoding='utf-8'):
        os.chmod(calls, 0o666)
    path = {'PATH': os.path.join(folder, 'bin') + ':/usr/bin:/bin', 'PLAY': folder, **environment}
    done = subprocess.run([os.path.join(folder, 'packages'), *arguments], env=path, cwd=folder, user=user, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    with open(calls, encoding='utf-8') as file:
        return done.returncode, done.stdout, file.read().splitlines()


def stops_without_rights(packages, script):
    """As a new user runs it: with the system's own programs, which alone it calls."""
    source = os.path.dirname(os.path.dirname(packages))
    absent = 'hilock-no-such-package'
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for path in (packages, script):
            copy = os.path.join(folder, os.path.relpath(path, source))
            os.makedirs(os.path.dirname(copy), 0o755, exist_ok=True)
            shutil.copy(path, copy)
        with open(os.path.join(folder, 'test/packages'), 'r+', encoding='utf-8') as file:
            text = file.read().replace("[demo]='", f"[demo]='{absent} ")
            file.seek(0)
            file.write(text)
        done = subprocess.run([copy, os.path.join(folder, 'build')], cwd=folder, user=NOBODY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        command = re.search(f'^    sudo apt-get install .*{absent}.*$', done.stdout, re.M)
        expect(done.returncode == 1 and command and done.stdout.rstrip().endswith(command.group()),
               f'{os.path.relpath(script, source)} prints the command and stops: {done.returncode}, {done.stdout}')


def main(program, *scripts):
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, 'bin'), 0o755)
        shutil.copy(program, os.path.join(folder, 'packages'))
        for name, text in FAKES.items():
            path = os.path.join(folder, 'bin', name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(f'#!/bin/sh\n{text}\n')
            os.chmod(path, 0o755)
        status, names, calls = play(folder, None, 'demo', 'picture')
        expect(status == 0 and not calls and 'gcc' in names.split() and 'python3-matplotlib' in names.split(), 'without --install it lists')
        rest = ' '.join(name for name in names.split() if name != 'gcc')
        install = f'install -y --no-install-recommends {rest}'
        anybody = NOBODY if is_root else None
        status, text, calls = play(folder, anybody, '--install', 'demo', 'picture')
        expect(status == 1 and not calls and f'sudo apt-get {install}\n' in text, 'who is not root gets the command')
        status, text, calls = play(folder, anybody, '--install', 'demo', 'picture', SUDO_WORKS='1')
        expect(status == 0 and calls == ['-q update', install], f'sudo without a password installs what is missing: {calls}')
        status, text, calls = play(folder, anybody, '--install', 'demo', SUDO_WORKS='1', APT_FAILS='1')
        expect(status == 1 and 'E: no such mirror' in text, 'where apt-get fails, what it said is shown')
        status, text, calls = play(folder, anybody, '--install', 'demo', NONE_MISSING='1')
        expect(status == 0 and not calls, 'nothing is missing, nothing is installed')
        status, text, calls = play(folder, anybody, '--install', 'demos')
        expect(status == 2 and not calls and 'there are:' in text, 'a group that is none is refused')
        if is_root:
            status, text, calls = play(folder, None, '--install', 'demo', 'picture', SUDO_WORKS='')
            expect(status == 0 and calls == ['-q update', install] and rest in text, f'root installs what is missing, and says what: {calls}')
    for script in scripts if is_root else (): # who is not root may have a sudo that works, and would install
        stops_without_rights(program, script)


if __name__ == '__main__':
    main(*map(os.path.realpath, sys.argv[1:]))
