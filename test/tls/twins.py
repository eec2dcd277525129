# SPDX-License-Identifier: BSD-3-Clause
"""twins.py RULES.def HANDSHAKE TRAFFIC - each planted bug of TLS (HL_TLS_PLANT) breaks the one test that is named
here, by the claim that is named, and by no other. The programs are test_handshake.c and test_traffic.c on the
library with planted bugs; without any the suite has them as they are."""
import os
import re
import subprocess
import sys

IS_UP = r'\n.*waited for "down\(", but was told "up"'
TWINS = {  # planted bug: (program, its test, what it says)
    'TLS_NAME_UNVERIFIED': ('handshake', 'who_is_who', r'\nwrong name' + IS_UP),
    'TLS_CHAIN_UNVERIFIED': ('handshake', 'who_is_who', r'\nwrong authority' + IS_UP),
    'TLS_OLD_VERSIONS': ('handshake', 'who_is_who', r'\nTLS 1\.1' + IS_UP),
    'TLS_READ_AHEAD_FORGOTTEN': ('traffic', 'many_records_in_one_packet', r'!= 0x64\n'),
}


def main(plants, handshake, traffic):
    programs = {'handshake': handshake, 'traffic': traffic}
    with open(plants, encoding='utf-8') as file:
        named = set(re.findall(r'^HL_TLS_PLANT\((\w+),', file.read(), re.M))
    wrong = [f'{plant}: no test finds it' for plant in named - TWINS.keys()]
    for plant, (program, test, wound) in TWINS.items():
        environment = {**os.environ, 'PLANT': plant, 'PLAY': test}
        done = subprocess.run(programs[program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=100, check=False)
        if done.returncode != 1 or not re.search(wound, done.stdout):
            wrong.append(f'{plant}: {program} ends with {done.returncode}, and says\n{done.stdout}')
    print('\n'.join(wrong) or f'{len(TWINS)} planted bugs, all of them found')
    return len(wrong)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
