# SPDX-License-Identifier: BSD-3-Clause
"""headers.py INCLUDE_DIR CC CXX - each public header compiles alone, twice, and with the others in any order, as C99, C11, C++11 and
C++20, with every warning an error. A header that must not compile is tried, too: or else flags that do nothing would go unseen."""
import os
import shutil
import subprocess
import sys
import tempfile

STRICT = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Wundef', '-Werror', '-O1', '-c', '-o', os.devnull]
C_USE = ('const struct hilock_lock_options *use(void);\n'
         'const struct hilock_lock_options *use(void)\n{\n'
         '    static struct hilock_lock_options kept;\n'
         '    kept = *HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 5000);\n'
         '    kept.name_length = HILOCK_CLIENT_OPTIONS(.url = "unix:///s")->size;\n'
         '    return &kept;\n}\n')
CXX_USE = ('hilock_lock_options use();\n'
           'hilock_lock_options use()\n{\n'
           '    auto options = hilock_lock_options_default();\n'
           '    options.on_lost = [](const hilock_event *, void *) {};\n'
           '    return options;\n}\n')
UNIT = 'extern int hilock_unit; /* a unit of nothing but preprocessor lines is not ISO C */\n'
PLANTED = 'static inline unsigned char hilock_narrow(unsigned x) { return x; }\n'


def compiles(include_dir, compiler, standard, text):
    language = 'c++' if '++' in standard else 'c'
    command = [compiler, '-x', language, '-std=' + standard, *STRICT, '-I', include_dir, '-']
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


def texts(names, use):
    for name in names:
        yield name + ' alone', f'#include <{name}>\n' + UNIT
        yield name + ' twice', f'#include <{name}>\n#include <{name}>\n' + UNIT
    for order, title in ((names, 'all'), (names[::-1], 'all, backwards')):
        yield title, ''.join(f'#include <{name}>\n' for name in order) + use


def main(include_dir, c_compiler, cxx_compiler):
    names = sorted(os.path.relpath(os.path.join(folder, file), include_dir)
                   for folder, _, files in os.walk(include_dir) for file in files if file.endswith('.h'))
    failures, count = [], 0
    for compiler, standards, use in ((c_compiler, ('c99', 'c11'), C_USE), (cxx_compiler, ('c++11', 'c++20'), CXX_USE)):
        for standard in standards:
            for title, text in texts(names, use):
                told, count = compiles(include_dir, compiler, standard, text), count + 1
                if told:
                    failures.append(f'{compiler} -std={standard}, {title}:\n{told}')
    with tempfile.TemporaryDirectory() as planted:
        shutil.copytree(include_dir, planted, dirs_exist_ok=True)
        with open(os.path.join(planted, names[0]), 'a', encoding='utf-8') as file:
            file.write(PLANTED)
        for compiler, standard in ((c_compiler, 'c99'), (cxx_compiler, 'c++11')):
            if not compiles(planted, compiler, standard, f'#include <{names[0]}>\n'):
                failures.append(f'{compiler} -std={standard}: a planted conversion was not told')
    print('\n'.join(failures) or f'{len(names)} headers, {count} compilations')
    return 1 if failures or not names else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
