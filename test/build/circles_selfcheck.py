# SPDX-License-Identifier: BSD-3-Clause
"""circles_selfcheck.py COMPILER... - circles.py finds a circle that is planted, in sources and in objects, and none where there is none."""
import os
import subprocess
import sys
import tempfile

import circles

UPPER = '#include "a/lower.h"\nint hl_upper(void);\nint hl_upper(void)\n{\n    return hl_lower();\n}\n'
LOWER = '#include "a/lower.h"\n{}\nint hl_lower(void)\n{{\n    return {};\n}}\n'
HEADER = 'int hl_lower(void); /* hl_upper() may be told of in words */\n'


def found(lower, through='1'):
    with tempfile.TemporaryDirectory() as root:
        folder, objects, archive = os.path.join(root, 'lib/a'), [], os.path.join(root, 'a.a')
        os.makedirs(folder)
        for name, text in (('upper.c', UPPER), ('lower.c', LOWER.format(lower, through)), ('lower.h', HEADER)):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        for name in ('upper', 'lower'):
            objects.append(os.path.join(root, f'a_{name}.c.o'))
            subprocess.run([*sys.argv[1:], '-I', os.path.join(root, 'lib'), '-c', os.path.join(folder, f'{name}.c'), '-o', objects[-1]], check=True)
        subprocess.run(['ar', 'rc', archive, *objects], check=True)
        return {line.split(':')[0] for line in circles.check(root, archive) if 'circle' in line}


assert found('') == set(), 'a circle where there is none'
assert found('int hl_upper(void);', 'hl_upper()') == {'sources', 'objects'}, 'a planted circle was not found'
assert found('extern int hl_upper(void);\n#define UP hl_upper', 'UP()') == {'sources', 'objects'}, 'a circle by a macro was not found'
