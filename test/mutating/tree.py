# SPDX-License-Identifier: BSD-3-Clause
"""tree - a copy of the project, with all mutants of C in it, and its build."""
import collections
import json
import os
import re
import shlex
import shutil
import subprocess

import changes
import switched

OPTIONS = ['-Doptimization=1', '-Ddebug=false', '-Dwerror=false', '-Dbench=disabled', '-Dtls=disabled',
           '-Dlibuv=disabled', '-Dlibev=disabled', '-Dsd-event=disabled']
HERE = os.path.dirname(os.path.abspath(__file__))
CORE = 'lib/libhilock_core.a.p'
DEFINES = 'lib/base/contract.c'  # defines what switch.h declares


def text_of(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


class Tree:
    """Invariant: of a source that has mutants, `plain` has the text as it is in the project."""

    def __init__(self, folder, children):
        self.folder, self.children = folder, children
        self.path, self.build = os.path.join(folder, 'tree'), os.path.join(folder, 'build')
        self.plain, self.numbers, self.commands, self.whole = {}, {}, {}, {}
        command = ['git', 'ls-files', '-co', '--exclude-standard', '-z']
        listed = subprocess.run(command, cwd=changes.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        for path in filter(None, listed.split('\0')):
            if os.path.isfile(os.path.join(changes.ROOT, path)):
                os.makedirs(os.path.dirname(os.path.join(self.path, path)), exist_ok=True)
                shutil.copy2(os.path.join(changes.ROOT, path), os.path.join(self.path, path))

    def switch(self, mutants):
        """Puts all mutants of C there; self.numbers says which is which."""
        by_path = collections.defaultdict(dict, {DEFINES: {}})
        for number, mutant in enumerate(mutants, 1):
            if mutant.path.endswith(('.c', '.h')):
                by_path[mutant.path][number] = mutant
        shutil.copy2(os.path.join(HERE, 'switch.h'), os.path.join(self.path, 'lib/base/mutant.h'))
        for path, here in by_path.items():
            self.plain[path] = text_of(os.path.join(self.path, path))
            text, numbers = switched.with_mutants(self.plain[path], here)
            self.numbers |= {here[number]: number for number in numbers}
            define = f'#define HL_MUTANTS {len(mutants)}\n' if path == DEFINES else ''
            write(os.path.join(self.path, path), f'{define}#include "base/mutant.h"\n#line 1\n{text}')

    def set_up(self):
        environment = dict(os.environ, CC='ccache gcc', CXX='ccache g++') if shutil.which('ccache') else os.environ
        status, said = self.children.run('meson', 'setup', self.build, self.path, *OPTIONS, env=environment)
        if status:
            raise SystemExit(said)
        for command in json.loads(text_of(os.path.join(self.build, 'compile_commands.json'))):
            if command['output'].startswith(CORE):
                path = os.path.relpath(os.path.join(self.build, command['file']), self.path)
                self.commands[path] = shlex.split(command['command'])

    def compile(self, *programs):
        """Ends all if it cannot be built, and says why."""
        status, said = self.children.run('ninja', '-C', self.build, '--quiet', *programs)
        if status:
            errors = re.findall('.*(?:error: |undefined reference|multiple definition).*', said)
            raise SystemExit('\n'.join(errors) or said)  # without the warnings, as mutants have thousands

    def object_of(self, path, text, name):
        """What the compiler makes of this text in place of that source, by files of that name; None: nothing."""
        source, made = os.path.join(self.folder, name + '.c'), os.path.join(self.folder, name + '.o')
        write(source, f'#line 1 "{path}"\n{text}')
        command = self.commands[path]
        command = command[command[0].endswith('ccache'):command.index('-MD')] + ['-w', '-o', made, '-c', source]
        if self.children.run(*command, cwd=self.build, stderr=subprocess.DEVNULL)[0]:
            return None
        with open(made, 'rb') as file:
            return file.read()

    def is_compiled(self, mutant, name):
        """None: it cannot be; 0: to the same object as without the mutant. Of a header that is not known."""
        if mutant.path.endswith('.h'):
            return 1
        lines = self.plain[mutant.path].split('\n')
        lines[mutant.line - 1] = mutant.text
        made = self.object_of(mutant.path, '\n'.join(lines), name)
        if mutant.path not in self.whole:
            self.whole[mutant.path] = self.object_of(mutant.path, self.plain[mutant.path], name)
        return None if made is None else int(made != self.whole[mutant.path])
