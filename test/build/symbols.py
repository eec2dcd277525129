# SPDX-License-Identifier: BSD-3-Clause
"""symbols.py LIBRARY.so MAP SONAME HEADER... - what the headers declare, what the version script lists and what the library exports are
the same set, each symbol in a version node, and the soname is right. A function of a header that nobody wrote fails here."""
import re
import sys

from outside import read, run


def declared(headers):
    names = set()
    for header in headers:
        text = re.sub(r'/\*.*?\*/', '', read(header), flags=re.S)
        names |= set(re.findall(r'\bHILOCK_API\b[^;{]*?\b(hilock_\w+)\s*\(', text))
    return names


def listed(version_script):
    text = re.sub(r'/\*.*?\*/', '', read(version_script), flags=re.S)
    exported = re.sub(r'local:.*?}', '}', text, flags=re.S)
    return set(re.findall(r'(\w+);', exported)), set(re.findall(r'([\w.]+)\s*{', text)), 'local:' in text and '*;' in text


def exported(library):
    """name -> version node, of what the library defines for others."""
    names = {}
    for line in run('nm', '-D', '--defined-only', '--with-symbol-versions', library).splitlines():
        kind, name = line.split()[-2:]
        name, _, node = name.partition('@')
        if kind != 'A':
            names[name] = node.lstrip('@')
    return names


def check(library, version_script, soname, headers):
    in_headers, (in_map, nodes, is_closed) = declared(headers), listed(version_script)
    in_library = exported(library)
    if not in_headers:
        yield 'no function with HILOCK_API in ' + ', '.join(headers)
    if not is_closed:
        yield f'{version_script}: "local: *;" is missing: everything else would be exported'
    for name in sorted(in_headers - in_map):
        yield f'{name}: declared, but not in the version script'
    for name in sorted(in_map - in_headers):
        yield f'{name}: in the version script, but no header declares it'
    for name in sorted(in_headers - in_library.keys()):
        yield f'{name}: declared, but the library does not define it'
    for name in sorted(in_library.keys() - in_headers):
        yield f'{name}: exported, but no header declares it'
    for name in sorted(n for n, node in in_library.items() if node not in nodes):
        yield f'{name}: exported in no node of the version script'
    if f'[{soname}]' not in run('readelf', '-d', library):
        yield f'the soname is not {soname}'


def main(library, version_script, soname, *headers):
    problems = list(check(library, version_script, soname, headers))
    print('\n'.join(problems) or f'{len(declared(headers))} functions, the same in headers, version script and library')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
