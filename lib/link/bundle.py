# SPDX-License-Identifier: BSD-3-Clause
"""bundle.py OUT.o NM LD OBJCOPY -- ARCHIVE.. -- HIREDIS.a.. - the library and hiredis in one object, in which the names of
hiredis are known to nobody outside: a program may have another hiredis, and neither finds the other."""
import os
import subprocess
import sys


def names(nm, archives):
    text = subprocess.run([nm, '-g', '--defined-only', '-f', 'posix', *archives], check=True, capture_output=True, text=True).stdout
    return sorted({line.split()[0] for line in text.splitlines() if len(line.split()) >= 3})


def main(out, nm, ld, objcopy, archives, hiredis):
    both, listed = out + '.both', out + '.names'
    with open(listed, 'w', encoding='utf-8') as file:
        file.write('\n'.join(names(nm, hiredis)) + '\n')
    subprocess.run([ld, '-r', '-o', both, '--whole-archive', *archives, *hiredis], check=True)
    subprocess.run([objcopy, f'--localize-symbols={listed}', both, out], check=True)
    os.unlink(both)
    os.unlink(listed)


if __name__ == '__main__':
    parts = ' '.join(sys.argv[1:]).split(' -- ')
    main(*parts[0].split(), *(part.split() for part in parts[1:]))
