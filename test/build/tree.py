# SPDX-License-Identifier: BSD-3-Clause
"""tree.py ROOT CORE.a ADAPTER.a.. - no rule of the house is broken: those that can be read from source text are here (who may include whom, how
long a file or a function may be, what every folder has), others in objects.py and circles.py. selfcheck.py breaks every rule once.

A new rule is a function here that yields (rule, text), its name in RULES, and a violation planted in selfcheck.py."""
import datetime
import os
import re
import sys

import circles
import objects

# Includes go one way: a folder may include itself and what is listed.
BELOW = {
    'base': [],
    'link': ['base'],
    'node': ['link', 'base'],
    'wire': ['base'],
    'core': ['wire', 'node', 'link', 'base'],
    'hold': ['core', 'wire', 'node', 'link', 'base'],
    'lock': ['hold', 'core', 'wire', 'node', 'link', 'base'],
    'group': ['lock', 'hold', 'core', 'wire', 'node', 'link', 'base'],
    'client': ['group', 'lock', 'hold', 'core', 'wire', 'node', 'link', 'base'],
}
# What the folder `group` may know of the folders hold and lock: these headers, and none of these names.
INNER = {'hold/validity.h', 'lock/inner.h', 'lock/inquiry.h', 'lock/machine.h', 'lock/reentry.h', 'lock/view.h'}
NOT_INNER = re.compile(r'->(?:acquire|hold)\b|\bhl_(?:hold|life|asking|endings?|watchdog|rechecks?|lines?|place|push|grant_channels?|acquire|tenure)_\w+\(')
# Headers of others: where in lib/ they may be included. Whatever is not named here is the C library.
FOREIGN = {
    r'hiredis/': lambda path: path.startswith('lib/link/'),
    r'openssl/|hiredis/hiredis_ssl': lambda path: path.startswith('lib/link/tls'),
    r'uuid/': lambda path: path == 'lib/client/open.c',
    r'uthash|utlist|utarray|utstring': lambda path: path.startswith('lib/base/table.'),
    r'sys/queue\.h': lambda path: False,  # musl has none: base/list.h
    r'event2/|event\.h|evhttp|evdns|uv\.h|uv/|ev\.h|systemd/': lambda path: False,
}
# The top level; what begins with a dot and build directories do not count.
TOP = {'include', 'lib', 'adapters', 'test', 'bench', 'meson.build', 'meson_options.txt', 'README.md', 'LICENSE', 'CHANGELOG.md',
       'CONTRIBUTING.md', 'SECURITY.md'}
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
# How long a line may be: (columns, what to read); the first that matches counts.
COLUMNS_MAX = [
    (100, r'include/hilock/.*\.(h|hpp)$'),
    (120, r'(lib|adapters|bench)/.*\.([ch]|lua)$'),
]
# Pages for users: their running text. Tables, code, commands and lines with a link may be longer.
PAGES = re.compile(r'(README|CONTRIBUTING|CHANGELOG|SECURITY)\.md$|include/hilock/.*\.md$')
PAGE_COLUMNS_MAX = 100
# Where functions have another prefix than their file; all others are found by their name.
STEMS = {
    'lib/node/subscriptions.c': 'hl_listener_',  # they change what it asks the server for
    'lib/link/tls_none.c': 'hl_tls_',  # tls.h where there is no TLS
}
FUNCTION = re.compile(r'^(?!static|typedef|extern)[a-z][\w *]*?\b(hl_\w+)(?:\([^;{]*\)\s*\{|(?:\[\])? = )', re.M)
TEXT = ('.c', '.h', '.cc', '.hpp', '.py', '.lua', '.sh', '.def', '.map')
# What is no code, and where a condition ends: at the parenthesis of a statement, or at one of these outside all other parentheses.
NOT_EVERYWHERE = re.compile(r'\b(?:dup3|accept4|pipe2|SOCK_CLOEXEC|SOCK_NONBLOCK|gettid|getrandom|strchrnul|qsort_r)\b')
IN_PLATFORM = re.compile(r'\b(?:mempcpy|memrchr|explicit_bzero|sigtimedwait|getprogname|dladdr1)\b')
SYSTEM = re.compile(r'#.*\b(?:__linux__|__GLIBC__|__APPLE__|__FreeBSD__|HL_HAS_\w+)\b')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', re.M | re.S)
CONDITION_EDGE = re.compile(r'\b(?:if|for|while|switch)\s*\(|[(),?:;{}]|(?<![=!<>])=(?!=)')
LONGS = re.compile(r'lib/link/tls')  # OpenSSL's errors are
LUA_TEXT = re.compile(r'''(format\s*\(?\s*)?("[^"]*"|'[^']*')(\s*\)?\s*:\s*format)?''')
PLANT = re.compile(r'\bHL_PLANTED\(')
TERMS_MAX = 2
SITES_MAX = 30  # one or two bugs for each safety rule (test/rules has the others)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def files(root, *tops):
    """Paths below root, of the folders named; hidden and generated ones left out."""
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(f for f in folders if not f.startswith('.') and f != '__pycache__')
            for name in sorted(names):
                if not name.startswith('.'):
                    yield os.path.relpath(os.path.join(folder, name), root)


def lines(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        return file.read().splitlines()


def includes(root, path):
    for number, line in enumerate(lines(root, path), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def is_c(path):
    return path.endswith(('.c', '.h', '.def'))


def layers(root):
    for path in filter(is_c, files(root, 'lib')):
        folder = path.split('/')[1]
        if folder not in BELOW:
            yield 'layers', f'{path}: lib/{folder} is not one of the folders that lib/README.md names'
            continue
        for number, is_own, what in includes(root, path):
            if is_own and what.split('/')[0] not in [folder] + BELOW[folder]:
                yield 'layers', (f'{path}:{number}: includes "{what}"; {folder} may include '
                                 + ', '.join([folder] + BELOW[folder]) + ', each named from lib/ on')


def inner(root):
    """A group sees neither an acquire nor a hold of its members: lock/inner.h has what it uses of them."""
    for path in filter(is_c, files(root, 'lib/group')):
        for number, is_own, what in includes(root, path):
            if is_own and what.startswith(('hold/', 'lock/')) and what not in INNER:
                yield 'inner', f'{path}:{number}: includes "{what}"; lib/group may include {", ".join(sorted(INNER))} of these folders'
        for number, line in enumerate(lines(root, path), 1):
            for found in NOT_INNER.findall(line):
                yield 'inner', f'{path}:{number}: {found} is no business of a group: lock/inner.h has what it uses of its members'


def foreign(root):
    for path in filter(is_c, files(root, 'lib')):
        for number, is_own, what in includes(root, path):
            for pattern, is_allowed in FOREIGN.items():
                if not is_own and re.match(pattern, what) and not is_allowed(path):
                    yield 'foreign', f'{path}:{number}: includes <{what}>, which belongs elsewhere (test/build/tree.py: FOREIGN)'


def adapters(root):
    """An adapter knows a loop and include/hilock; never Redis, never the inside of the library. The shell looks past it in one place."""
    for path in filter(is_c, files(root, 'adapters')):
        for number, is_own, what in includes(root, path):
            if path.startswith('adapters/shell/store.') and what in ('base/url.h', 'hiredis/hiredis.h'):
                continue
            if is_own and '/' in what or not is_own and re.match(r'hiredis/|uuid/|openssl/|uthash', what):
                yield 'adapters', f'{path}:{number}: includes {what}; an adapter includes <hilock/...>, its loop and the system'


def public(root):
    """A public header drags in no header of others, or users need them all installed."""
    standard = {'stddef.h', 'stdint.h', 'string.h'}
    for path in files(root, 'include'):
        is_cpp = path.endswith('.hpp')
        for number, is_own, what in includes(root, path) if is_cpp or is_c(path) else ():
            is_standard = re.fullmatch(r'\w+', what) if is_cpp else what in standard
            if is_own or not (is_standard or what.startswith('hilock/')):
                yield 'public', f'{path}:{number}: includes {what}; a public header includes <hilock/...> and {sorted(standard)} only, in C++ the standard library'


def top(root):
    for name in sorted(os.listdir(root)):
        is_build = name.startswith('build') or os.path.isdir(os.path.join(root, name, 'meson-private'))
        if name not in TOP and not name.startswith('.') and not is_build and name not in ('compile_commands.json', '__pycache__'):
            yield 'top', f'{name}: has no place at the top, where only {sorted(TOP)} are'


def readmes(root):
    folders = set()
    for path in files(root, 'lib', 'adapters', 'test', 'bench', 'include'):
        folder = os.path.dirname(path)
        while folder and folder != 'include':
            folders.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(folders):
        if not os.path.exists(os.path.join(root, folder, 'README.md')):
            yield 'readmes', f'{folder}: has no README.md (what lives here, what may be touched from here, where a new thing goes)'


def sizes(root):
    for path in files(root, 'include', 'lib', 'adapters', 'test', 'bench'):
        if path.endswith(TEXT) and len(lines(root, path)) > FILE_LINES_MAX:
            yield 'sizes', f'{path}: {len(lines(root, path))} lines, at most {FILE_LINES_MAX}: split it by concept'


def columns(root):
    for path in files(root, 'include', 'lib', 'adapters', 'test', 'bench'):
        most = next((most for most, pattern in COLUMNS_MAX if re.match(pattern, path)), None)
        for number, line in enumerate(lines(root, path) if most else (), 1):
            if len(line) > most:
                yield 'columns', f'{path}:{number}: {len(line)} columns, at most {most}'
    for path in filter(PAGES.match, [*os.listdir(root), *files(root, 'include')]):
        is_code = False
        for number, line in enumerate(lines(root, path), 1):
            is_code = is_code != line.startswith('```')
            is_free = is_code or line.startswith(('|', '    ', '```')) or '](' in line
            if len(line) > PAGE_COLUMNS_MAX and not is_free:
                yield 'columns', f'{path}:{number}: {len(line)} columns, at most {PAGE_COLUMNS_MAX} in running text'


def functions(text):
    """(first line, count of lines) of every function whose body ends with a brace in column 0. A body that opens a structure, an
    enumeration or a table is not one: it has no parenthesis before its brace."""
    start = head = None
    for number, line in enumerate(text, 1):
        if start is None and line and not line[0].isspace() and line[0] not in '#/*{}':
            start, head = number, ''
        if start is None:
            continue
        if line.startswith('}'):
            if '(' in head.split('{')[0] and '=' not in head.split('{')[0]:
                yield start, number - start + 1
            start = None
        elif '{' not in head:
            head += line
            if re.search(r'[;}]\s*(/\*.*\*/)?\s*$', line) and head.count('{') == head.count('}'):
                start = None


def lengths(root):
    for path in files(root, 'lib', 'adapters'):
        if path.endswith('.c'):
            for start, count in functions(lines(root, path)):
                if count > FUNCTION_LINES_MAX:
                    yield 'lengths', f'{path}:{start}: a function of {count} lines, at most {FUNCTION_LINES_MAX}'


def stems(root):
    """x.c defines hl_x_..., or hl_xs_...: whoever reads a call knows the file."""
    for path in files(root, 'lib'):
        stem = os.path.splitext(os.path.basename(path))[0]
        own = {stem, stem.removesuffix('s'), stem + 's', re.sub('y$', 'ies', stem)}
        with open(os.path.join(root, path), encoding='utf-8') as file:
            names = FUNCTION.findall(file.read()) if path.endswith('.c') else []
        for name in names:
            if not any(re.match(f'hl_{one}(_|$)', name) for one in own) and not name.startswith(STEMS.get(path, '-')):
                yield 'stems', f'{path}: defines {name}: call it hl_{stem}_..., or put it where its name leads'


def conditions(text):
    """(offset, text) of the largest expressions in C: what stands in parentheses belongs to what they stand in."""
    start = depth = 0
    for edge in CONDITION_EDGE.finditer(text):
        if edge.group() == '(':
            depth += 1
        elif edge.group() == ')' and depth:
            depth -= 1
        elif depth == 0 or edge.group() in ';{}':
            yield start, text[start:edge.start()]
            start, depth = edge.end(), 0


def plants(root):
    """Few bugs are planted in the text, and each can be read: it has its line to itself, and stands beside one other term."""
    count = 0
    for path in filter(is_c, files(root, 'lib')):
        text = NO_CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), '\n'.join(lines(root, path)))
        for number, line in enumerate(text.split('\n'), 1):
            if len(PLANT.findall(line)) > 1:
                yield 'plants', f'{path}:{number}: two planted bugs in one line'
        count += len(PLANT.findall(text))
        for start, condition in conditions(text):
            terms = len(re.findall(r'&&|\|\|', condition)) + 1
            plant = PLANT.search(condition)
            if plant and terms > TERMS_MAX:
                number = text.count('\n', 0, start + plant.start()) + 1
                yield 'plants', (f'{path}:{number}: a planted bug in a condition of {terms} terms, at most {TERMS_MAX}: '
                                 'give the real condition a name')
    if count > SITES_MAX:
        yield 'plants', f'lib: {count} sites of planted bugs, at most {SITES_MAX}: make patches of them (test/rules)'


def portable(root):
    """What POSIX has not is called through base/platform.h, or not at all: FreeBSD and macOS compile lib/ too, but before a release only. So
    nothing else asks what system this is."""
    for path in filter(is_c, files(root, 'lib')):
        for number, line in enumerate(lines(root, path) if path != 'lib/base/platform.h' else (), 1):
            for word in SYSTEM.findall(line):
                yield 'portable', f'{path}:{number}: asks what system this is: base/platform.h alone does ({word.strip()})'
        text = NO_CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), '\n'.join(lines(root, path)))
        has_platform = path.endswith('base/platform.h') or 'base/platform.h"' in '\n'.join(lines(root, path))
        for number, line in enumerate(text.split('\n'), 1):
            for word in NOT_EVERYWHERE.findall(line):
                yield 'portable', f'{path}:{number}: {word} is not on every system that compiles lib/'
            for word in () if has_platform else IN_PLATFORM.findall(line):
                yield 'portable', f'{path}:{number}: {word} is not on every system: include base/platform.h, which has it'


def longs(root):
    """A long has 32 bits on some machines and 64 on others: figures have int64_t. Where another library's type is one, it stays there."""
    for path in filter(is_c, files(root, 'lib')):
        text = NO_CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), '\n'.join(lines(root, path)))
        for number, line in enumerate(text.split('\n'), 1):
            if re.search(r'\blong\b', re.sub(r'\blong\s+long\b', '', line)) and not LONGS.match(path):
                yield 'longs', f'{path}:{number}: a long has 32 bits on some machines: take int64_t, or int'


def containers(root):
    """The struct around a member is found by the one macro, which checks the member's type."""
    for path in filter(is_c, files(root, 'lib')):
        for number, line in enumerate(lines(root, path), 1):
            offsets = re.sub(r'(offsetof\([^)]*\)|sizeof \*?\w+) - offsetof\(', '', line)  # a size, not a place
            if path != 'lib/base/container.h' and re.search(r'-\s*offsetof\(', offsets):
                yield 'containers', f'{path}:{number}: an offset by hand: take HL_CONTAINER of base/container.h'
            if re.search(r'\(struct \w+ \*\)\((const )?void \*\)\w', line):
                yield 'containers', f'{path}:{number}: a cast that only the order of members allows: take HL_CONTAINER of base/container.h'


def numbers(root):
    """Lua formats whole numbers through a C long, which cannot hold a time in microseconds where the server is one of 32 bits. In two parts,
    the seconds as they came and '%06d', it can."""
    for path in files(root, 'lib'):
        for number, line in enumerate(lines(root, path) if path.endswith('.lua') else (), 1):
            for before, text, behind in LUA_TEXT.findall(line):
                if (before or behind) and re.search(r'%[-+ #0-9.]*[diouxX]', text.replace('%06d', '')):
                    yield 'numbers', f"{path}:{number}: '%.0f', or '%06d' of the microseconds alone, is exact below 2^53 on every server; this goes through a C long"


def licences(root):
    for path in files(root, 'lib', 'adapters', 'test', 'bench'):
        if path.endswith(('.c', '.h', '.cc', '.hpp')) and lines(root, path)[:1] != ['/* SPDX-License-Identifier: BSD-3-Clause */']:
            yield 'licences', f'{path}: the first line is not /* SPDX-License-Identifier: BSD-3-Clause */'


def packages(root):
    """What a page tells a reader to install stands in test/packages, which CI reads as well, or nobody sees that a list has become too short."""
    listed = set()
    if os.path.exists(os.path.join(root, 'test/packages')):
        listed = set(' '.join(re.findall(r"\[\w+\]='([^']*)'", '\n'.join(lines(root, 'test/packages')))).split())
    for path in ('README.md', 'CONTRIBUTING.md'):
        if os.path.exists(os.path.join(root, path)):
            text = '\n'.join(lines(root, path)).replace('\\\n', ' ')
            for command in re.findall(r'apt-get install([^&\n#]*)', text):
                others = {word for word in command.split() if not word.startswith('-')} - listed
                if others:
                    yield 'packages', f'{path}: test/packages does not have {sorted(others)}'


def anchors(text):
    """What a heading is called in a link to it."""
    headings = re.findall(r'^#+ (.*)$', re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S), re.M)
    return {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-') for heading in headings}


def links(root):
    """Of every page: to files that are there, and to headings that they have."""
    pages = [*os.listdir(root), *files(root, 'include', 'lib', 'adapters', 'test', 'bench')]
    texts = {path: '\n'.join(lines(root, path)) for path in sorted(pages) if path.endswith('.md')}
    for path, text in texts.items():
        for target in re.findall(r'\]\(([^)\s]+)\)', text):
            page, _, anchor = target.partition('#')
            other = os.path.normpath(os.path.join(os.path.dirname(path), page)) if page else path
            is_there = os.path.exists(os.path.join(root, other)) and (not anchor or anchor in anchors(texts.get(other, '')))
            if ':' not in target and not is_there:
                yield 'links', f'{path}: a link leads nowhere: {target}'


VERSIONS = {'meson.build': r"^  version: '([\d.]+)'", 'include/hilock/version.h': r'HILOCK_VERSION "([\d.]+)"',
            'README.md': r'^Version ([\d.]+) ', 'CHANGELOG.md': r'^## ([\d.]+) ', '.debian/changelog': r'^hilock \(([\d.]+)-'}
DATES = {'CHANGELOG.md': (r'^## [\d.]+ \((.*)\)', '%Y-%m-%d'), '.debian/changelog': (r'^ -- .*>  (.*) \+', '%a, %d %b %Y %H:%M:%S'),
         'adapters/shell/hilock.1': (r'^\.Dd (.*)', '%B %d, %Y')}


def release(root):
    """The version is one, and so is its date, wherever they stand."""
    def first(path, pattern):
        match = re.search(pattern, '\n'.join(lines(root, path)), re.M)
        return match.group(1) if match else 'none'

    def day(text, form):
        try:
            return datetime.datetime.strptime(text, form).date().isoformat()
        except ValueError:
            return 'none'
    there = {path for path in {*VERSIONS, *DATES} if os.path.exists(os.path.join(root, path))}
    versions = {path: first(path, pattern) for path, pattern in VERSIONS.items() if path in there}
    dates = {path: day(first(path, pattern), form) for path, (pattern, form) in DATES.items() if path in there}
    for what, told in (('version', versions), ('date', dates)):
        if len(set(told.values())) > 1:
            yield 'release', f'not one {what}: {told} (CONTRIBUTING.md, "Releasing")'


RULES = [layers, inner, foreign, adapters, public, top, readmes, sizes, columns, lengths, stems, plants, portable, longs, containers, numbers, licences, packages,
         links, release]


def check(root):
    return [problem for rule in RULES for problem in rule(root)]


def main(root, core, *adapters):
    problems = check(root) + objects.check(core, *adapters) + circles.check(root, core)
    for rule, text in problems:
        print(f'{rule}: {text}')
    print(f'{len(problems)} broken')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
