# SPDX-License-Identifier: BSD-3-Clause
"""Reads a public header: which things it declares, and what its comments say of each. No marks are asked of the comments; where one stands
tells whose it is:
- on the line where a declaration or a member ends: of that one;
- above declarations: of all that follow it without a blank line, but for those that have one of their own;
- above enumerators: of all up to the next such comment; above a member of a struct: of that member;
- a head (/* ---- head ---- */) in a struct: of all members up to the next one;
- first of the file: of the header as a whole, under its file name.
Invariant: no comment is dropped; what stands where this cannot tell whose it is ends in an error."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r'(?P<space>\s+)|(?P<comment>/\*.*?\*/)|(?P<directive>#(?:\\\n|(?!/\*).)*?(?=\s*(?:/\*|\n)))', re.S)
SECTION = re.compile(r'/\* -{4} (.*?) -{4,} \*/')
LINE_IS_FULL = 100


@dataclass
class Member:
    code: str
    doc: list = field(default_factory=list)  # blocks: (kind, text), see blocks()
    group: list = field(default_factory=list)  # of the comment above it and its like: enumerators; the head: of a struct


@dataclass
class Item:
    name: str
    kind: str  # function, macro, struct, enum, type or header
    code: str
    path: str
    doc: list = field(default_factory=list)
    shared: list = field(default_factory=list)  # the names that the comment above is about, this one's first
    members: list = field(default_factory=list)


def ends_paragraph(line, following):
    """Whether the break between two lines is meant: the next word would have had room."""
    return line.endswith('.') and len(line) + len(following.split()[0]) < LINE_IS_FULL


def blocks(comment, is_trailing=False):
    """A comment as [(kind, text)]: 'p' a paragraph, 'li' a numbered point, 'pre' lines to be kept as they are; a group may open with
    a 'head'."""
    lines = [line.rstrip() for line in comment[2:-2].split('\n')]
    if is_trailing:
        return [('p', ' '.join(' '.join(lines).split()))]
    lines = [re.sub(r'^\s*\* ?', '', line) if number else line[1:] for number, line in enumerate(lines)]
    found = []
    for before, line in zip(['', *lines], lines):
        kind, text = found[-1] if found else ('', '')
        if not line.strip():
            found.append(('', ''))
        elif re.match(r'\s*\d+\. ', line):
            found.append(('li', line.strip()))
        elif kind == 'li' or kind == 'p' and line[0] != ' ' and not ends_paragraph(before, line):
            found[-1] = (kind, f'{text} {line.strip()}')
        elif line.startswith('  '):
            found[-1:] = [('pre', f'{text}\n{line}')] if kind == 'pre' else [*found[-1:], ('pre', line)]
        else:
            found.append(('p', line.strip()))
    return [(kind, text) for kind, text in found if kind]


def end_of_declaration(text, start):
    """Where the declaration that begins at start ends: behind its ; or, of an inline function, behind its body."""
    depth, is_body = 0, False
    for match in re.finditer(r'/\*.*?\*/|[{}();]', text[start:], re.S):
        mark = match.group()
        if mark == '{' and depth == 0:
            is_body = text[start:start + match.start()].rstrip().endswith(')')
        depth += {'{': 1, '(': 1, '}': -1, ')': -1}.get(mark, 0)
        if depth == 0 and (mark == ';' or mark == '}' and is_body):
            return start + match.end()
    raise SystemExit('no end: ' + text[start:start + 60])


def split_members(body, separator):
    """[(code, comment behind it, comment above it, head above it)] of a struct's or an enumeration's body."""
    found, code, above, head, depth = [], '', '', '', 0
    for match in re.finditer(r'(?P<comment>/\*.*?\*/)|(?P<line>\n)|(?P<mark>[(){}\[\]])|.', body + separator, re.S):
        text = match.group()
        if match['comment']:
            is_behind = code.strip() or (found and '\n' not in body[found[-1][3]:match.start()])
            if is_behind and code.strip():
                code = f'{code} {text}'
            elif is_behind:
                found[-1][1] = text
            elif SECTION.match(text):
                head = SECTION.match(text).group(1)
            else:
                above = text
        elif text == separator and depth == 0:
            behind = ''.join(re.findall(r'/\*.*?\*/', code, re.S))
            if re.sub(r'/\*.*?\*/', '', code, flags=re.S).strip():
                found.append([' '.join(re.sub(r'/\*.*?\*/', '', code, flags=re.S).split()), behind, above, match.end(), head])
                above = ''
            code = ''
        else:
            depth += {'(': 1, ')': -1, '{': 1, '}': -1}.get(text, 0)
            code += text
    no_orphan(above)
    return [(*member[:3], member[4]) for member in found]


def members(code):
    """(comment of the whole, members) of a declaration with braces."""
    start, end = code.index('{') + 1, code.rindex('}')
    body, is_enum = code[start:end], 'enum' in code[:start]
    whole = re.match(r'[ \t]*(/\*.*?\*/)', body, re.S)
    if whole:
        body = body[whole.end():]
    found, group = [], []
    for text, behind, above, head in split_members(body, ',' if is_enum else ';'):
        doc = blocks(behind, True) if behind else []
        if head:
            group = [('head', head)]
        if above and is_enum:
            group = blocks(above)
        elif above:
            doc = blocks(above) + doc
        found.append(Member(text, doc, group))
    return (blocks(whole.group(1), True) if whole else []), found


def name_of(code):
    """(name, kind) of a declaration; a name of nothing public is ''."""
    head = code.split('{')[0]
    for kind, pattern in (('macro', r'#define (HILOCK_\w+)'),
                          ('enum', r'(?:typedef )?enum (hilock_\w+) {'), ('struct', r'struct (hilock_\w+) {'),
                          ('type', r'typedef [^(]*?\b(hilock_\w+)\('), ('type', r'typedef struct \w+ (\w+);'),
                          ('function', r'(?:HILOCK_API|static inline)\b.*?\b(hilock_\w+)\(')):
        match = re.match(pattern, head + ('{' if '{' in code else ''), re.S)
        if match:
            return match.group(1), kind
    if re.match(r'enum {', code):
        return re.search(r'HILOCK_\w+', code).group(), 'enum'
    return '', ''


def item_of(code, path):
    name, kind = name_of(code)
    item = Item(name, kind, code, path, shared=[name])
    if kind in ('struct', 'enum'):
        item.doc, item.members = members(code)
        item.code = code[:code.index('{')].replace('typedef ', '').strip() + ';' if name.islower() else code
    elif kind == 'function' and '{' in code:
        item.code = code[:code.index('{')].strip() + ';'
    return item


def no_orphan(comment):
    if comment:
        raise SystemExit('a comment that stands above nothing: ' + comment)


def read(path, name):
    """The items of a header, in its order."""
    with open(path, encoding='utf-8') as file:
        text = re.sub(r'^HILOCK_(BEGIN|END)$', '', file.read(), flags=re.M)
    items, above, leader, at, ended = [], '', None, 0, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        token = match.group() if match else text[at:end_of_declaration(text, at)]
        at += len(token)
        if match and match['space']:
            if token.count('\n') > 1:
                leader = no_orphan(above)
        elif match and match['comment']:
            if not items:
                items.append(Item(name, 'header', '', name, blocks(token), [name]))
            elif SECTION.match(token):
                leader = None
            elif '\n' not in text[ended:at - len(token)]:
                items[-1].doc += blocks(token, True)
            else:
                no_orphan(above)
                above = token
        else:
            ended = at
            if match and not token.startswith('#define'):
                continue
            items.append(item_of(token, name))
            if above:
                leader, above, items[-1].doc = items[-1], '', blocks(above)
            elif leader and '/*' not in text[at:].split('\n')[0]:
                leader.shared.append(items[-1].name)
    return [item for item in items if item.name]


def opening(path, name):
    """The item that the first comment of a header is."""
    with open(path, encoding='utf-8') as file:
        return Item(name, 'header', '', name, blocks(TOKEN.match(file.read()).group('comment')), [name])
