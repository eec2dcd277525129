# SPDX-License-Identifier: BSD-3-Clause
"""terminal.py HILOCK REDIS_SERVER - at a terminal the command of `hilock run` stands in the foreground: it reads what is typed, an interrupt reaches it, and a
suspend does not keep the lock for ever."""
import os
import pty
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import store  # noqa: E402


def play(hilock, url):
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(hilock, [hilock, 'run', '--url', url, 'n', '--', 'sh', '-c', 'echo ready; read line; echo "got $line"; exec sleep 1000'])
    text = b''

    def see(words):
        nonlocal text
        while words not in text:
            text += os.read(fd, 1000)
    see(b'ready')
    os.write(fd, b'typed\n')
    see(b'got typed')
    os.write(fd, b'\x1a')
    see(b'goes on: kill -STOP')
    os.write(fd, b'\x03')
    store.expect(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130, f'a command at a terminal: {text}')
    os.close(fd)


def main(hilock, server):
    try:
        for fd in os.openpty():
            os.close(fd)
    except OSError as none:
        print(f'no terminal can be made here: {none}')
        return 77
    with tempfile.TemporaryDirectory() as work, store.redis(server, work) as url:
        play(hilock, url)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
