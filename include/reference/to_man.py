# SPDX-License-Identifier: BSD-3-Clause
"""Pages as man(7): the macros that groff and mandoc both know, nothing else."""
import re

import pages


def escaped(text):
    for mark, instead in (('\\', '\\e'), ('-', '\\-'), ("'", '\\(aq'), ('`', '\\(ga'), ('^', '\\(ha'), ('~', '\\(ti'), ('"', '\\(dq')):
        text = text.replace(mark, instead)
    return text


def line(text, style=''):
    """One input line; what begins with a dot would be a request."""
    text = escaped(text)
    text = f'\\f{style}{text}\\fP' if style else text
    return '\\&' + text if text.startswith('.') else text


def prose(text):
    styles = {'name': 'B', 'code': 'I', 'lead': 'B'}
    made = ''.join(f'\\f{styles[kind]}{escaped(part)}\\fP' if kind in styles else escaped(part) for kind, part in pages.spans(text))
    return '\\&' + made if made.startswith('.') else made


def described(doc, first='.PP'):
    """Blocks, each opened by a macro; first opens the first, or is '' behind a tag."""
    made, opening = [], first
    for kind, text in doc:
        if kind == 'pre':
            made += ['.PP' if first else '.IP', '.nf', *(line(each) for each in text.split('\n')), '.fi']
        elif kind == 'head':
            made += ['.PP', line(text, 'B')]
        elif kind == 'li':
            number, rest = text.split(' ', 1)
            made += [f'.IP {number} 4', prose(rest)]
        else:
            for paragraph in pages.paragraphs(text):
                made += [opening] * bool(opening) + [prose(paragraph)]
                opening = '.IP' if not first else '.PP'
    return made


def tagged(tag, doc):
    return ['.TP', line(tag, 'B'), *(described(doc, '') or ['\\&'])]


def member_list(item):
    made, group = [], []
    for member in item.members:
        if member.group and member.group != group:
            made += described(member.group)
        group = member.group
        made += tagged(member.code, member.doc)
    return made


def description(page):
    made, shared = [], set()
    functions = [item for item in page.items if item.kind not in ('struct', 'enum', 'header')]
    docs = {item.name: pages.answers(item.doc)[0] if item.kind == 'function' else item.doc for item in page.items}
    for item in page.items:
        names = ', '.join(item.shared)
        if item.kind in ('struct', 'enum'):
            made += [f'.SS "{pages.title(item)}"', *described(item.doc), *member_list(item)]
        elif item.kind == 'header' or item.doc and len(functions) == 1:
            made += described(docs[item.name])
        elif item.doc:
            made += ([] if shared else ['.PP']) + tagged(names, docs[item.name])
            shared.add(names)
    return made


def return_value(page):
    """Of each function that returns something, what, and its contract's results and refusals."""
    made = []
    for item in page.items:
        sentence = pages.returned(item)
        answered = pages.answers(item.doc)[1]
        if item.kind == 'function' and (sentence or answered):
            made += tagged(item.name, [('p', sentence)] * bool(sentence) + answered)
    return made


def see_also(page, every):
    names = {name for item in page.items for name in pages.names_in(item)}
    others = [other for other in every if other is not page and (other.section == 7 or names & {other.name, *other.aliases()})]
    others.sort(key=lambda other: (other.section, other.name))
    return [f'.BR {other.name} ({other.section}){"," if other is not others[-1] else ""}' for other in others]


def contents(every):
    made = []
    for other in every:
        if other.section != 7:
            more = [name for name in other.aliases() if name.islower()]
            made += ['.TP', f'.BR {other.name} (3)', escaped(other.brief + (': ' if more else '') + ', '.join(more))]
    return made


def man(page, every, version):
    made = [f'.TH {page.name.upper()} {page.section} "" "hilock {version}" "hilock"', '.SH NAME', f'{page.name} \\- {escaped(page.brief)}',
            '.SH SYNOPSIS', '.nf']
    made += [line(f'#include <hilock/{path}>', 'B') for path in page.includes] + ['.PP']
    made += [line(each, 'B') for item in page.items for each in pages.synopsis(item)]
    made += ['.fi', '.SH DESCRIPTION', *description(page)]
    if page.section == 7:
        made += ['.SH LINKING', '.B cc $(pkg\\-config \\-\\-cflags \\-\\-libs hilock\\-libevent)', '.SH PAGES', *contents(every)]
    else:
        made += ['.SH RETURN VALUE'] * bool(return_value(page)) + return_value(page)
        if page.example:
            made += ['.SH EXAMPLES', '.nf', *(line(each) for each in page.example.split('\n')), '.fi']
        made += ['.SH SEE ALSO', *see_also(page, every)]
    text = re.sub(r'\n(\.PP\n)+(?=\.(SH|SS|PP|TP|IP))', '\n', '\n'.join(made) + '\n')
    return re.sub(r'(\n\.(SH|SS) .*\n)\.PP\n', r'\1', text)


def files(every, version):
    """{path below the man directory: text}; an alias is a page of one line."""
    made = {}
    for page in every:
        path = f'man{page.section}/{page.name}.{page.section}'
        made[path] = man(page, every, version)
        aliases = page.aliases() + ([page.name] if page.section != 3 else [])
        made.update({f'man3/{name}.3': f'.so {path}\n' for name in aliases})
    return made
