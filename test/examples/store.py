# SPDX-License-Identifier: BSD-3-Clause
"""store - what the drivers of the examples share: a private redis-server, and the little of its protocol that a driver needs."""
import os
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import outside  # noqa: E402

redis, SECRET = outside.redis, outside.SECRET
WAITS_S = 120  # for what must come; a hang is a failure, how long it takes is not


def ask(url, *words):
    """The server's answer to one command: str, int, None or a list of them."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(WAITS_S)
        link.connect(url.partition('@')[2])
        link.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in (str(w).encode() for w in words)))
        with link.makefile('rb') as file:
            return answer(file)


def answer(file):
    line = file.readline().decode().rstrip('\r\n')
    kind, rest = line[0], line[1:]
    if kind == '-':
        raise SystemExit('the server says: ' + rest)
    if kind == ':':
        return int(rest)
    if kind == '$':
        return None if rest == '-1' else file.read(int(rest) + 2)[:-2].decode()
    if kind == '*':
        return [answer(file) for _ in range(int(rest))]
    return rest


def locks(url):
    """Names of the locks that are held now: every key but the tokens that are remembered."""
    return sorted(key for key in ask(url, 'KEYS', '*') if not key.startswith('hilock:token'))


def guide(folder):
    """The pages of the guide, one after the other."""
    text = ''
    for page in ('use.md', 'operate.md', 'choose.md'):
        with open(os.path.join(folder, page), encoding='utf-8') as file:
            text += file.read()
    return text


def blocks(text, language):
    """The blocks of a language that a page shows."""
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)


def start(*command, **more):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **more)


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


def expect(claim, text):
    if not claim:
        raise SystemExit('not so: ' + text)
    print('ok:', text)
