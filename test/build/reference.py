# SPDX-License-Identifier: BSD-3-Clause
"""reference.py ROOT REFERENCE HEADERS [MANDOC PAGE...] - HEADERS, with commas between, are not installed here, and have no page. Nothing of the interface is left unsaid or untried. Each public function has a contract in its header
and a page in the reference, and is called by a test; each enumerator and member of a public struct is on its page; each option
has a row, with its default, in the guide. The names are taken from the headers here once more, without the parser of include/reference/. And mandoc finds nothing wrong
with the man pages, nor with others, but that they have no date: a build gives the same pages on every day."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import symbols
from outside import read

LOOPS = ['libevent', 'libuv', 'libev', 'sd-event']
HEADERS = ['hilock.h', 'options.h', 'inquiry.h', 'stats.h', 'trace.h', 'loop.h', 'version.h', 'memory.h', 'blocking.h', *(f'adapters/{loop}.h' for loop in LOOPS)]
OPTIONS = ['hilock_client_options', 'hilock_lock_options']
MISTAKE = '.TH X 3 "" "x"\n.SH NAME\nx \\- y\n.SH DESCRIPTION\n.QQ\n'


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def enumerators(code):
    return [name for body in re.findall(r'\benum\b[^{};]*{([^}]*)}', code) for name in re.findall(r'\bHILOCK_\w+', body)]


def structs(code):
    """{name: members}"""
    found = {}
    for name, body in re.findall(r'\bstruct (hilock_\w+)\s*{(.*?)\n?}', code, re.S):
        members = []
        for member in filter(str.strip, body.split(';')):
            pointer = re.search(r'\(\*(\w+)\)', member)
            members += [pointer.group(1)] if pointer else re.findall(r'(\w+)\s*(?:\[\w+\])?\s*(?=,|$)', member)
        found[name] = members
    return found


def defaults(header, struct):
    """{option: the number its comment begins with}, for the options that have one."""
    found = {}
    for body in re.findall(rf'struct {struct} {{(.*?)\n}};', header, re.S):
        for members, numbers in re.findall(r'\w+ ([\w, ]+);\s*/\* (\d+(?:, \d+)*)', body):
            found.update(zip(members.split(', '), numbers.split(', ')))
    return found


def called(tests):
    """Names of public functions that some test calls."""
    names = set()
    for folder, _, files in os.walk(tests):
        for file in files:
            if file.endswith(('.c', '.cc')):
                names |= set(re.findall(r'\b(hilock_\w+)\s*\(', without_comments(read(os.path.join(folder, file)))))
    return names


def page(made, name):
    """Text of a man page, aliases followed; '' if there is none."""
    text = made.get(f'man3/{name}.3', '')
    return made.get(text[len('.so '):].strip(), '') if text.startswith('.so ') else text


def has_contract(header, name):
    """A comment stands on its line, or before it in its block: what has no blank line in it."""
    for block in header.split('\n\n'):
        declaration = re.search(rf'HILOCK_API\b[^;{{]*?\b{name}\([^;]*;[^\n]*', block)
        if declaration:
            return '/*' in declaration.group() or re.search(r'\*/[^\n]*\n', re.sub(r'/\* -{4}.*', '', block[:declaration.start()])) is not None
    return False


def functions(headers, made, in_tests):
    declared = symbols.declared(headers)
    texts = [read(header) for header in headers]
    anchors = set(re.findall(r'id="(\w+)"', made['hilock.html']))
    for name in sorted(declared):
        if not any(has_contract(text, name) for text in texts):
            yield f'{name}: has no contract: no comment in the header is about it'
        if name not in page(made, name):
            yield f'{name}: no man page has it'
        if name not in anchors:
            yield f'{name}: is not in hilock.html'
        if name not in in_tests:
            yield f'{name}: no test calls it'


def sections(headers, made):
    """A page of functions says what they return, shows one, and where to read on."""
    for name in sorted(symbols.declared(headers)):
        text = page(made, name)
        for head in ('RETURN VALUE', 'EXAMPLES', 'SEE ALSO'):
            if f'\n.SH {head}\n' not in text:
                yield f'{name}: its man page has no {head}'


def words(text):
    return set(re.findall(r'\w+', re.sub(r'\\f[BIP]', ' ', text)))


def details(headers, made):
    anchors = words(made['hilock.html'])
    on_pages = words(' '.join(text for path, text in made.items() if path.startswith('man')))
    for header in headers:
        code = without_comments(read(header))
        for name in sorted(set(enumerators(code)) - (anchors & on_pages)):
            yield f'{name}: is not in the reference'
        for struct, members in structs(code).items():
            on_page = words(page(made, struct))
            for member in members:
                if member not in on_page or member not in anchors:
                    yield f'{struct}.{member}: is not in the reference'


def rows(guide, struct):
    """{option: the rest of its row} of the table below the heading that names the struct; several options may share a row."""
    found = {}
    table = re.search(rf'^### .*\b{struct}\b.*?\n(.*?)(?=^#|\Z)', guide, re.M | re.S)
    for names, rest in re.findall(r'^\| (`\w+`(?:, `\w+`)*) \|(.*)\|$', table.group(1) if table else '', re.M):
        found.update({name: rest for name in re.findall(r'\w+', names)})
    return found


def guided(headers, guide):
    for text in map(read, headers):
        for struct in OPTIONS:
            in_guide, default = rows(guide, struct), defaults(text, struct)
            for member in structs(without_comments(text)).get(struct, []):
                if member not in in_guide:
                    yield f'{struct}.{member}: has no row in the guide'
                elif member in default and not re.search(rf'\b{default[member]}\b', in_guide[member]):
                    yield f'{struct}.{member}: the guide does not give its default, {default[member]}'


def check(headers, made, tests, guide):
    yield from functions(headers, made, called(tests))
    yield from details(headers, made)
    yield from sections(headers, made)
    yield from guided(headers, guide)
    html = made['hilock.html']
    try:
        root = xml.fromstring(html[html.index('<html'):])
    except xml.ParseError as error:
        yield f'hilock.html: not well-formed: {error}'
        return
    anchors = [element.get('id') for element in root.iter() if element.get('id')]
    for name in sorted({name for name in anchors if anchors.count(name) > 1}):
        yield f'hilock.html: two anchors are called {name}'
    links = [link.get('href') for link in root.iter('a') if link.get('href')]
    index = [link.get('href') for nav in root.iter('nav') for link in nav.iter('a')]
    for name in sorted({'#' + section.get('id') for section in root.iter('section')} ^ set(index)):
        yield f'hilock.html: index and pages differ: {name}'
    for name in sorted({element.tag for element in root.iter() if element.get('src') or element.tag in ('link', 'img')}
                       | {link for link in links if not link.startswith('#')}):
        yield f'hilock.html: is not whole without a server: {name}'
    for target in sorted({link.get('href')[1:] for link in root.iter('a') if link.get('href')} - set(anchors)):
        yield f'hilock.html: a link leads nowhere: {target}'


def files(folder):
    return {os.path.relpath(os.path.join(where, name), folder): read(os.path.join(where, name))
            for where, _, names in os.walk(folder) for name in names}


def complaints(mandoc, pages):
    """Of {name: text}. An alias is one request that says where the page is."""
    for name, text in pages.items():
        if text.startswith('.so '):
            yield from [] if text.split()[1] in pages else [f'{name}: leads nowhere: {text}']
        else:
            told = subprocess.run([mandoc, '-T', 'lint', '-W', 'warning'], input=text, capture_output=True, text=True).stdout
            yield from (f'{name}: {line}' for line in told.splitlines() if 'missing date' not in line)


TERMINAL = 80
FIT = ('hilock.1', 'hilock.7')  # pages of calls have code, which is as wide as it is


def too_wide(mandoc, pages):
    """Of {name: text}: lines that a terminal would wrap."""
    for name, text in pages.items():
        if os.path.basename(name) in FIT:
            told = subprocess.run([mandoc, '-T', 'ascii', '-O', f'width={TERMINAL}'], input=text, capture_output=True, text=True).stdout
            for line in re.sub('.\b', '', told).splitlines():
                if len(line) > TERMINAL:
                    yield f'{name}: {len(line)} columns, at most {TERMINAL}: {line.strip()}'


def main(root, reference, absent, mandoc=None, *others):
    headers = [os.path.join(root, 'include/hilock', name) for name in HEADERS if name not in absent.split(',')]
    made = files(reference)
    unwanted = symbols.declared([os.path.join(root, 'include/hilock', name) for name in absent.split(',') if name])
    problems = [f'{name}: has a page, but is not installed' for name in sorted(unwanted) if page(made, name)]
    problems += list(check(headers, made, os.path.join(root, 'test'), read(os.path.join(root, 'include/hilock/operate.md'))))
    if mandoc:
        pages = {name: text for name, text in made.items() if name.startswith('man')}
        pages.update({page: read(page) for page in others})
        problems += [*complaints(mandoc, pages), *too_wide(mandoc, pages)]
        problems += [] if list(too_wide(mandoc, {'man7/hilock.7': '.TH X 7 "" "x"\n.SH NAME\n.nf\n' + 'x' * 90 + '\n'})) else ['a wide line is not seen']
        problems += [] if list(complaints(mandoc, {'a mistake': MISTAKE})) else ['mandoc did not see a planted mistake']
    print('\n'.join(problems) or f'{len(symbols.declared(headers))} functions, {len(made) - 1} man pages')
    if not problems and not mandoc:
        print('mandoc is not installed: it did not check the man pages')
        return 77
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
