# SPDX-License-Identifier: BSD-3-Clause
"""switched - C code that has all its mutants in it, each behind a switch that is read at run time.

A mutant changes one place of a statement. There the text as it is and those of all its mutants then stand side by side,
and HL_MUTANT(number) (switch.h) says which of them runs:

| a place | its mutants are put there |
|---|---|
| a condition | `HL_MUTANT(1) ? !!(mutant) : !!(as it is)` |
| a value: what begins a variable, what a switch asks for, parts of a for | `HL_MUTANT(1) ? (mutant) : (as it is)` |
| a whole statement without a block | `{ if (HL_MUTANT(1)) { mutant } else { as it is } }` |

So that is right, the statements of a function are parsed, as far as ours need it. Invariant: what is not understood,
and what is no part of such a place (a constant, a label, a directive), is left as it is, and its mutants are none of
those that were switched. A mutant has no line ends: lines keep their numbers."""
import collections
import os
import re

from changes import code_of

NO_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||[^\s\w]')
CLOSING = {'(': ')', '[': ']', '{': '}'}
JUMPS = {'return', 'goto', 'break', 'continue'}
CONSTANT = {'static', 'extern', 'typedef', '_Static_assert', '_Alignas', 'typeof', '__typeof__', '__attribute__'}
CUT_SHORT = re.compile(r'((?<!\+)\+|(?<!-)-|[*/%=<>&|!?:,(])\s*;?$|^$')  # a call that was an operand, or all of a value
Token = collections.namedtuple('Token', 'text begin end')
Place = collections.namedtuple('Place', 'form begin end')


class NotUnderstood(Exception):
    pass


def masked(text):
    """The text without comments, with a number in place of a text or a character, and of a directive the mark alone.
    Places stay."""
    def blank(found):
        first = found.group().lstrip()[0]
        if first in '"\'':
            return '0' * len(found.group())
        return ('#' if first == '#' else ' ') + re.sub(r'[^\n]', ' ', found.group()[1:])
    return NO_CODE.sub(blank, text)


class Functions:
    """Where mutants can be put in the functions of a source."""

    def __init__(self, code):
        self.code, self.places = code, []
        self.tokens = [Token(found.group(), found.start(), found.end()) for found in TOKEN.finditer(code)]
        self.closing = {}
        opened = []
        for i, token in enumerate(self.tokens):
            if token.text in CLOSING:
                opened.append(i)
            elif token.text in CLOSING.values():
                if not opened or CLOSING[self.tokens[opened[-1]].text] != token.text:
                    raise NotUnderstood(f'a {token.text} that closes nothing')
                self.closing[opened.pop()] = i
        at = 0
        while at < len(self.tokens):
            if self.text(at) == '{' and self.text(at - 1) == ')':
                self.function(at)
            at = self.after(at)

    def text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ''

    def after(self, at):
        """Behind this token, and what it encloses."""
        return self.closing.get(at, at) + 1

    def add(self, form, first, behind):
        """From the token `first` to the one before `behind`."""
        if first < behind:
            begin, end = self.tokens[first].begin, self.tokens[behind - 1].end
            if '#' not in self.code[begin:end]:
                self.places.append(Place(form, begin, end))

    def function(self, opened):
        """What it has is kept up to where it is not understood."""
        try:
            self.block(opened)
        except (NotUnderstood, KeyError):
            pass

    def block(self, opened):
        at = opened + 1
        while at < self.closing[opened]:
            at = self.statement(at)
        return at + 1

    def statement(self, at):
        """Behind it."""
        word = self.text(at)
        while word == '#':
            at += 1
            word = self.text(at)
        if word == '{':
            return self.block(at)
        if word in (';', '}'):
            return at + (word == ';')
        known = {'if': self.if_else, 'while': self.loop, 'switch': self.switch, 'for': self.for_parts,
                 'do': self.do_while, 'case': self.label, 'default': self.label}
        if word in known:
            return known[word](at)
        if self.text(at + 1) == ':':
            return at + 2
        if self.text(at + 1) == '(' and word.isupper() and re.match(r'\w|\{', self.text(self.after(at + 1))):
            return self.statement(self.after(at + 1))  # LIST_FOREACH(..)
        return self.simple(at)

    def enclosed(self, form, at):
        """What stands in the parentheses there; behind them."""
        if self.text(at) != '(':
            raise NotUnderstood('no (')
        self.add(form, at + 1, self.closing[at])
        return self.after(at)

    def if_else(self, at):
        at = self.statement(self.enclosed('condition', at + 1))
        return self.statement(at + 1) if self.text(at) == 'else' else at

    def loop(self, at):
        return self.statement(self.enclosed('condition', at + 1))

    def switch(self, at):
        return self.statement(self.enclosed('value', at + 1))

    def do_while(self, at):
        at = self.statement(at + 1)
        if self.text(at) != 'while':
            raise NotUnderstood('a do without a while')
        return self.enclosed('condition', at + 1) + 1

    def for_parts(self, at):
        opened, closed = at + 1, self.closing[at + 1]
        first = self.next_of(';', opened + 1, closed)
        second = self.next_of(';', first + 1, closed)
        if self.is_declaration(opened + 1):
            self.initializers(opened + 1, first)
        else:
            self.add('value', opened + 1, first)
        self.add('condition', first + 1, second)
        self.add('value', second + 1, closed)
        return self.statement(closed + 1)

    def label(self, at):
        return self.next_of(':', at, len(self.tokens)) + 1

    def next_of(self, text, at, behind):
        """The next such token that nothing encloses."""
        while at < behind and self.text(at) != text:
            if self.text(at) == '}':
                break
            at = self.after(at)
        if at >= behind or self.text(at) != text:
            raise NotUnderstood(f'no {text}')
        return at

    def simple(self, at):
        behind = self.next_of(';', at, len(self.tokens))
        if self.text(at) in JUMPS or not self.is_declaration(at):
            self.add('statement', at, behind + 1)
        else:
            self.initializers(at, behind)
        return behind + 1

    def is_declaration(self, at):
        """Its first words are a type and a name."""
        words, first = 0, self.text(at)
        if first in CONSTANT:
            return 1
        while re.match(r'[A-Za-z_]|\*$', self.text(at)):
            words += self.text(at) != '*'
            at += 1
        if self.text(at) in ('{', '(') and words:  # a struct, or a pointer to a function
            return first in ('struct', 'union', 'enum') or \
                (self.text(at + 1) == '*' and self.text(self.after(at)) == '(')
        return words > 1

    def initializers(self, at, behind):
        """Of the variables of one declaration."""
        if self.text(at) in CONSTANT:
            return
        while at < behind:
            if self.text(at) != '=':
                at = self.after(at)
            elif self.text(at + 1) == '{':
                self.members(at + 1)
                at = self.after(at + 1)
            else:
                first = at = at + 1
                while at < behind and self.text(at) != ',':
                    at = self.after(at)
                self.add('value', first, at)

    def members(self, opened):
        """Of a struct or an array."""
        at, closed = opened + 1, self.closing[opened]
        while at < closed:
            first, end = at, at
            while end < closed and self.text(end) != ',':
                first = end + 1 if self.text(end) == '=' else first
                end = self.after(end)
            if self.text(first) == '{':
                self.members(first)
            else:
                self.add('value', first, end)
            at = end + 1


def changed_part(line, text):
    """(begin, end, what stands there then) of the part of a line that a mutant changes."""
    before, after = code_of(line).rstrip(), code_of(text).rstrip()
    begin = len(os.path.commonprefix((before, after)))
    tail = len(os.path.commonprefix((before[begin:][::-1], after[begin:][::-1])))
    return begin, len(before) - tail, text[begin:len(after) - tail]


def both(place, text, mutants):
    """What stands there then; mutants: (number, text)."""
    if place.form == 'statement':
        return '{ ' + ''.join(f'if (HL_MUTANT({number})) {{ {mutant} }} else ' for number, mutant in mutants) + \
            f'{{ {text} }} }}'
    sign = '!!' if place.form == 'condition' else ''
    return '(' + ''.join(f'HL_MUTANT({number}) ? {sign}({mutant}) : ' for number, mutant in mutants) + \
        f'{sign}({text}))'


def with_mutants(text, mutants):
    """(the text of a source with its mutants, the numbers of those that are in it); mutants: {number: Mutant}."""
    try:
        places = Functions(masked(text)).places
    except NotUnderstood:
        return text, set()
    lines, put, numbers = text.split('\n'), collections.defaultdict(list), set()
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    for number, mutant in mutants.items():
        line = mutant.line - 1
        begin, end, new = changed_part(lines[line], mutant.text)
        begin, end = begins[line] + begin, begins[line] + end
        place = next((place for place in places if place.begin <= begin and end <= place.end), None)
        if not place:
            continue
        new = (text[place.begin:begin] + new + text[end:place.end]).replace('\n', ' ')
        if CUT_SHORT.search(masked(new).strip()):
            continue
        put[place].append((number, new))
        numbers.add(number)
    for place in sorted(put, key=lambda place: -place.begin):
        text = text[:place.begin] + both(place, text[place.begin:place.end], put[place]) + text[place.end:]
    return text, numbers
