# SPDX-License-Identifier: BSD-3-Clause
"""symbols_selfcheck.py CC - symbols.py tells every disagreement of header, version script and library."""
import os
import subprocess
import sys
import tempfile

import symbols
from outside import write

HEADER = 'HILOCK_API int hilock_one(void);\nHILOCK_API const char *hilock_two(\n    int x); /* HILOCK_API void hilock_gone(void); */\n'
SCRIPT = 'HILOCK_1.0 {\nglobal:\n    hilock_one;\n    hilock_two;\nlocal:\n    *;\n};\n'
SOURCE = 'int hilock_one(void) { return 1; }\nconst char *hilock_two(int x) { return x ? "" : 0; }\n'
SONAME = 'libcase.so.0'
# (part of the text told, header, version script, source, soname wanted)
CASES = [
    ('declared, but not in the version script', HEADER, SCRIPT.replace('    hilock_two;\n', ''), SOURCE, SONAME),
    ('declared, but the library does not define it', HEADER, SCRIPT, SOURCE.split('\n')[0], SONAME),
    ('in the version script, but no header', HEADER.split('\n')[0], SCRIPT, SOURCE, SONAME),
    ('exported, but no header', HEADER.split('\n')[0], SCRIPT, SOURCE, SONAME),
    ('"local: *;" is missing', HEADER, SCRIPT.replace('local:\n    *;\n', ''), SOURCE, SONAME),
    ('exported in no node', HEADER, SCRIPT.replace('    hilock_two;\n', '').replace('local:\n    *;\n', ''), SOURCE, SONAME),
    ('the soname is not', HEADER, SCRIPT, SOURCE, 'libcase.so.1'),
    ('no function with HILOCK_API', '', SCRIPT, SOURCE, SONAME),
]


def problems(compiler, header, script, source, soname):
    with tempfile.TemporaryDirectory() as root:
        case_h, case_map = write(root, 'case.h', header), write(root, 'case.map', script)
        case_c = write(root, 'case.c', source)
        library = os.path.join(root, 'libcase.so')
        subprocess.run([*compiler, '-shared', '-fPIC', '-w', case_c, '-o', library,
                        '-Wl,--version-script=' + case_map, '-Wl,-soname,' + SONAME], check=True)
        return list(symbols.check(library, case_map, soname, [case_h]))


def main(*compiler):
    failures = [f'silent expected, told {text}' for text in problems(compiler, HEADER, SCRIPT, SOURCE, SONAME)]
    for expected, *case in CASES:
        told = problems(compiler, *case)
        if not any(expected in text for text in told):
            failures.append(f'{expected}: told {told}')
    print('\n'.join(failures) or f'{len(CASES)} disagreements planted, all of them told')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
