# SPDX-License-Identifier: BSD-3-Clause
"""solo.py REDIS_SERVER SOLO - a command runs under its lock and alone, its status is solo's, signals reach it, and a
loss ends it."""
import signal
import subprocess

import store

NAME, NOT_HAD, FAILED = 'nightly', 75, 70
LIVES = ('sh', '-c', 'trap \'echo ended; kill $!; exit 3\' TERM; echo runs with $HILOCK_TOKEN; sleep 1000 & wait')


def begun(program, url, *arguments):
    return store.start(program, '-u', url, *arguments, stderr=subprocess.STDOUT)


def ended(process):
    """(exit status, what was said since)"""
    text = process.stdout.read()
    return process.wait(store.WAITS_S), text


def quick(program, url):
    told = ended(begun(program, url, NAME, 'sh', '-c', 'echo done; exit 7'))
    store.expect(told == (7, 'done\n'), f"the command's status is solo's: {told}")
    store.expect(ended(begun(program, url, NAME, 'no-such-command'))[0] == 127, 'a command that is not there is 127')
    status, text = ended(begun(program, url, 'a}b{c', 'true'))
    store.expect(status == FAILED and 'BAD_NAME' in text, f'a bad name is refused in words: {status} {text}')


def alone(program, url):
    """One runs, another gives up in time and a third waits; a signal ends the first, and then the third has it."""
    first = begun(program, url, NAME, *LIVES)
    token = int(first.stdout.readline().split()[-1])
    store.expect(store.locks(url) == [NAME] and token > 0, 'the lock is held while the command runs, and it knows the token')
    status, text = ended(begun(program, url, '-w', '200', NAME, 'echo', 'overlaps'))
    store.expect(status == NOT_HAD and 'TIMED_OUT' in text and 'overlaps' not in text, f'another does not run: {status} {text}')
    third = begun(program, url, NAME, 'echo', 'third')
    first.send_signal(signal.SIGTERM)
    store.expect(ended(first) == (3, 'ended\n'), 'a signal goes on to the command')
    store.expect(ended(third) == (0, 'third\n'), 'the third, which waited, has it then')


def lost(program, url):
    process = begun(program, url, NAME, *LIVES)
    process.stdout.readline()
    store.ask(url, 'DEL', NAME)
    status, text = ended(process)
    store.expect(status == FAILED and text.startswith('ended\n') and 'the lock was lost: TAKEN' in text, f'a loss ends the command: {status} {text}')


def solo(url, program):
    quick(program, url)
    alone(program, url)
    lost(program, url)


if __name__ == '__main__':
    store.drive(solo)
