# SPDX-License-Identifier: BSD-3-Clause
"""echo.py REDIS_SERVER ECHO - one connection at a time has the lock of a name; it ends with the connection, and the
connection with it."""
import signal
import socket

import store

LEASE_MS = 3000


class Caller:
    def __init__(self, port):
        self.link = socket.create_connection(('127.0.0.1', port), store.WAITS_S)
        self.lines = self.link.makefile('r')

    def say(self, *lines):
        self.link.sendall(''.join(line + '\n' for line in lines).encode())

    def heard(self):
        """A line; '' when the connection has ended."""
        try:
            return self.lines.readline().rstrip('\n')
        except ConnectionError:  # it ended before all was read
            return ''

    def leave(self):
        self.lines.close()
        self.link.close()


def granted(port, name):
    """One that has the lock, which may still be somebody's who has left; and its token."""
    while True:
        caller = Caller(port)
        caller.say(name)
        words = caller.heard().split()
        if words[0] == 'ours':
            return caller, int(words[1])
        store.expect(words == ['busy'], 'who does not get it is told that it is busy')
        caller.leave()


def exclusion(port):
    first, token = granted(port, 'lamp')
    first.say('one', 'two')
    store.expect([first.heard(), first.heard()] == [f'{token} one', f'{token} two'], 'lines come back behind the token')
    second = Caller(port)
    second.say('lamp', 'early')
    store.expect(second.heard() == 'busy' and second.heard() == '', 'another one is told that it is busy, and left')
    other, _ = granted(port, 'chair')
    waiting = Caller(port)
    waiting.say('lamp')
    waiting.leave()
    first.leave()
    third, later = granted(port, 'lamp')
    store.expect(later > token, 'who left gave it back, and the next has a higher token')
    for caller in (other, second):
        caller.leave()
    return third


def loss(port, url, holder):
    store.ask(url, 'DEL', 'lamp')
    store.expect(holder.heard().startswith('lost: TAKEN') and holder.heard() == '', 'a loss ends the connection, and says why')
    holder.leave()
    endless, _ = granted(port, 'lamp')
    endless.say('too long' * 100)
    store.expect(endless.heard() == '', 'a line that is too long ends the connection')
    endless.leave()


def echo(url, program):
    with store.running(program, url, '0', str(LEASE_MS)) as process:
        port = int(process.stdout.readline().split()[1])
        loss(port, url, exclusion(port))
        last, _ = granted(port, 'chair')
        process.send_signal(signal.SIGTERM)
        store.expect_end(process)
        store.expect(last.heard() == '', 'no connection is left')


if __name__ == '__main__':
    store.drive(echo)
