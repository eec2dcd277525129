# SPDX-License-Identifier: BSD-3-Clause
"""The names that a script uses and does not declare. Redis refuses such a name when the script runs, perhaps after the
script's first write; so embed.py refuses it when the library is built.

It reads the Lua of scripts: all but functions, goto and long brackets. To define a function in each run costs as much as
half a command, so a script has none."""
import re

GIVEN = {'KEYS', 'ARGV', 'redis', 'string', 'math', 'tonumber', 'tostring', 'type', 'unpack'}
WORDS = {'nil', 'true', 'false'}
BINARY = {'or', 'and', '<', '>', '<=', '>=', '~=', '==', '..', '+', '-', '*', '/', '%', '^'}
TOKEN = re.compile(r"""--[^\n]*|[A-Za-z_]\w*|\d[\w.]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\.\.|[=~<>]=|\S""")


class Unreadable(Exception):
    pass


class Script:
    """One reading of a text. `found` has (line, name) of each use without a declaration in sight."""
    def __init__(self, text):
        places = [(found[0], found.start()) for found in TOKEN.finditer(text) if not found[0].startswith('--')]
        self.tokens, self.text, self.at = places, text, 0
        self.scopes, self.found = [GIVEN | WORDS], []
        self.block('')
        if self.at < len(self.tokens):
            self.fail()

    @property
    def word(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ''

    def line(self):
        start = self.tokens[min(self.at, len(self.tokens) - 1)][1]
        return self.text[self.text.rfind('\n', 0, start) + 1:self.text.find('\n', start)].strip()

    def fail(self):
        raise Unreadable(f'cannot be read at "{self.word}": {self.line()}')

    def take(self, word):
        if self.word != word:
            return False
        self.at += 1
        return True

    def expect(self, word):
        if not self.take(word):
            self.fail()

    def names(self):
        found = []
        while not found or self.take(','):
            if not re.match(r'[A-Za-z_]', self.word):
                self.fail()
            found.append(self.word)
            self.at += 1
        return found

    def block(self, *ends, names=(), until=False):
        self.scopes.append(set(names))
        while self.word and self.word not in ends:
            self.statement(ends)
        if self.word not in ends:
            self.fail()
        if until: # its expression sees what the block declares
            self.at += 1
            self.expression()
        self.scopes.pop()

    def statement(self, ends):
        if self.take('local'):
            names = self.names()
            if self.take('='):
                self.expressions()
            self.scopes[-1].update(names)
        elif self.take('if'):
            self.branches()
        elif self.take('for'):
            names = self.names()
            if not self.take('='):
                self.expect('in')
            self.expressions()
            self.body(names)
        elif self.take('while'):
            self.expression()
            self.body()
        elif self.take('repeat'):
            self.block('until', until=True)
        elif self.word == 'do':
            self.body()
        elif self.take('return'):
            if self.word and self.word not in ends:
                self.expressions()
        elif not self.take('break') and not self.take(';'):
            self.expressions()
            if self.take('='):
                self.expressions()

    def branches(self):
        self.expression()
        self.expect('then')
        self.block('elseif', 'else', 'end')
        if self.take('elseif'):
            self.branches()
            return
        if self.take('else'):
            self.block('end')
        self.expect('end')

    def body(self, names=()):
        self.expect('do')
        self.block('end', names=names)
        self.expect('end')

    def expressions(self):
        self.expression()
        while self.take(','):
            self.expression()

    def expression(self):
        while True:
            while self.take('not') or self.take('-') or self.take('#'):
                pass
            self.operand()
            if self.word not in BINARY:
                return
            self.at += 1

    def operand(self):
        first = self.word[:1]
        if self.take('('):
            self.expression()
            self.expect(')')
        elif first == '{':
            self.table()
        elif first.isdigit() or first in ('"', "'") and len(self.word) > 1:
            self.at += 1
        elif re.match(r'[A-Za-z_]', first) and self.word not in ('function', 'then', 'do', 'end', 'else', 'elseif', 'until', 'local'):
            if not any(self.word in scope for scope in self.scopes):
                self.found.append((self.line(), self.word))
            self.at += 1
        else:
            self.fail()
        self.suffixes()

    def suffixes(self):
        while True:
            if self.take('.'):
                self.at += 1
            elif self.take('['):
                self.expression()
                self.expect(']')
            elif self.take('('):
                if not self.take(')'):
                    self.expressions()
                    self.expect(')')
            else:
                return

    def table(self):
        self.expect('{')
        while not self.take('}'):
            if self.take('['):
                self.expression()
                self.expect(']')
                self.expect('=')
            elif self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][0] == '=':
                self.at += 2
            self.expression()
            if not self.take(',') and self.word != '}':
                self.fail()


def undeclared(text):
    """[(line, name)]; Unreadable: it is no script of ours."""
    return Script(text).found
