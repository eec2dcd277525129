# SPDX-License-Identifier: BSD-3-Clause
"""changes - what a mutant is: one small change of one line, of C code or of a script, that nobody may see.

In each line there is looked for a comparison (another one, or off by one), an and or an or, a condition (never), a
return and a call (left out), a one that is added or taken away. A comparison that chooses the smaller or the greater of
two stays: if they are equal both are. mutants.same lists mutants that are the same to any caller; they are left out."""
import collections
import glob
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ('lib/*/*.c', 'lib/*/*.h', 'lib/wire/*.lua')
LEFT_OUT = {'lib/link/tls.c', 'lib/link/bundled.c', 'lib/base/platform.h'}  # not in the build, or for others in part
SAME_TO_ANY = os.path.join(ROOT, 'test/mutants.same')
# besides: TLS is not in the build, and the sentence about a broken invariant is read by nobody but a developer
LEFT_ALONE = re.compile(r'^\s*(#|//|/?\*|enum |static const |HL_REQUIRE)|HL_PLANTED|HL_REQUIRE|broken invariant|'
                        r'shake_hands\(|tls->ops|hl_tls_unref\(|memory\w*\(.*tls_host|'
                        r'if \((link->(tls|ssl)|target->tls_host)\)$')
LUA_LEFT_ALONE = re.compile(r'^\s*--')
LUA_COMPARED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '~=', '~=': '==', 'and': 'or', 'or': 'and'}
COMPARED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&'}
# a < b ? a : b, and if (a < b) a = b
VALUE = r'(?<![\w.>])(?:\(\w+\))?((?:sizeof )?[\w.>*\[\]-]+(?:\([^()]*\))?(?: [-+*/] [\w.>-]+)*)'
CHOICE = re.compile('(?=' + VALUE + ' (<=?|>=?) ' + VALUE + r' \? ' + VALUE + ' : ' + VALUE + ')')
RAISED = re.compile(r'if \(?' + VALUE + ' (<=?|>=?) ' + VALUE + r'(?:\)|(?= then ))')
SET_THEN = re.compile(r'(?:\s*| then )' + VALUE + ' = ' + VALUE + r'(?:;| end)')
Mutant = collections.namedtuple('Mutant', 'path line what text')


def code_of(line):
    """The line with what is no code made blank: texts, characters and comments. Columns stay."""
    return re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'|/\*.*?(\*/|$)', lambda found: ' ' * len(found.group()), line)


def chooses_at(line, following, at):
    """1: the comparison whose operator stands there chooses the smaller or the greater of two values."""
    for found in CHOICE.finditer(line):
        if found.start(2) == at and {found.group(1), found.group(3)} == {found.group(4), found.group(5)}:
            return 1
    for found in RAISED.finditer(line):
        put = SET_THEN.match(line, found.end()) or SET_THEN.match(following)
        if found.start(2) == at and put and {found.group(1), found.group(3)} == {put.group(1), put.group(2)}:
            return 1
    return 0


def changes_of(line, following=''):
    """(what was done, the line then), of one line that is whole, and of what stands in the next one."""
    code = code_of(line)
    for found in re.finditer(r'(?<=[\w)\]] )(<=|>=|==|!=|<|>|&&|\|\|)(?= )', code):
        other = COMPARED[found.group()]
        if chooses_at(line, following, found.start()):
            continue
        yield f'{found.group()} is {other}', line[:found.start()] + other + line[found.end():]
    for found in re.finditer(r'(?<=[\w)\]] [+-] )1\b(?!\.)', code):
        yield f'{code[found.start() - 2]} 1 is left out', line[:found.start()] + '0' + line[found.end():]
    if re.match(r'\s+return;$', code.rstrip()):
        yield 'return is left out', re.sub(r'return;', ';', line)
    found = re.match(r'(\s+(?:else )?if \()(.*)(\)( {)?)$', code.rstrip())
    if found and code.count('(') == code.count(')'):
        yield 'never', line[:found.end(1)] + '0 && (' + line[found.end(1):found.start(3)] + ')' + line[found.start(3):]
    if re.match(r'\s+(\(void\))?[a-z_]\w*(->\w+|\.\w+)*\(.*\);$', code.rstrip()) and code.count('(') == code.count(')'):
        indent = line[:len(line) - len(line.lstrip())]
        yield 'the call is left out', f'{indent}; /* {line[:len(code.rstrip())].strip()} */'


def lua_changes_of(line):
    """The same of a line of a script."""
    code = re.sub(r"'[^']*'|--.*", lambda found: ' ' * len(found.group()), line)
    for found in re.finditer(r'(?<= )(<=|>=|==|~=|<|>|and|or)(?= )', code):
        other = LUA_COMPARED[found.group()]
        if chooses_at(line, '', found.start()):
            continue
        yield f'{found.group()} is {other}', line[:found.start()] + other + line[found.end():]
    for found in re.finditer(r'(?<=[\w)\]] [+-] )1\b(?!\.)', code):
        yield f'{code[found.start() - 2]} 1 is left out', line[:found.start()] + '0' + line[found.end():]
    found = re.search(r'\b((?:else)?if )(.*?)( then)\b', code)
    if found:
        condition = line[found.end(1):found.start(3)]
        yield 'never', f'{line[:found.end(1)]}nil and ({condition}){line[found.start(3):]}'
    if re.match(r'\s*p?call\(.*\)$', code.rstrip()) and code.count('(') == code.count(')'):
        yield 'the call is left out', f'-- {line[:len(code.rstrip())].strip()}'


def mutants_of(path):
    in_comment = False
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        lines = file.read().split('\n')
    if path.endswith('.lua'):
        yield from (Mutant(path, number, what, text) for number, line in enumerate(lines, 1)
                    if not LUA_LEFT_ALONE.search(line) for what, text in lua_changes_of(line))
        return
    for number, line in enumerate(lines, 1):
        was_in = in_comment
        in_comment = line.rfind('/*') > line.rfind('*/') or (was_in and '*/' not in line)
        if was_in or LEFT_ALONE.search(line):
            continue
        for what, text in changes_of(line, lines[number] if number < len(lines) else ''):
            yield Mutant(path, number, what, text)


def same_to_any():
    """{(path, what was done, the line then): why no caller can tell}"""
    reasons = {}
    with open(SAME_TO_ANY, encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            if line.startswith('  ') and reasons:
                reasons[mutant] += line[1:]
            elif line and not line.startswith('#'):
                mutant = tuple(line.split(': ', 2))
                if len(mutant) != 3 or mutant in reasons:
                    sys.exit(f'{SAME_TO_ANY}:{number}: "<file>: <what was done>: <the line then>", each once')
                reasons[mutant] = ''
    return reasons


def worth_judging(mutants):
    """Without those that are listed. What is listed must be a mutant of its file, and have a reason."""
    reasons, paths = same_to_any(), {mutant.path for mutant in mutants}
    made = {(mutant.path, mutant.what, mutant.text.strip()) for mutant in mutants}
    wrong = [listed for listed, reason in reasons.items() if not reason or (listed[0] in paths and listed not in made)]
    if wrong:
        sys.exit('\n'.join(f'{SAME_TO_ANY}: no such mutant, or no reason: {": ".join(listed)}' for listed in wrong))
    return [mutant for mutant in mutants if (mutant.path, mutant.what, mutant.text.strip()) not in reasons]


def strided(mutants, first):
    """All of them, in strides that spread any number of them evenly: about the golden section of the whole."""
    count = len(mutants)
    stride = next(stride for stride in range(int(count * 0.618) or 1, 2 * count + 1) if math.gcd(stride, count) == 1)
    return [mutants[(first + i * stride) % count] for i in range(count)]
