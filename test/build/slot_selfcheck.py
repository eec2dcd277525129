# SPDX-License-Identifier: BSD-3-Clause
"""slot_selfcheck.py SLOT - .ci/slot runs no more commands at a time than there are places, gives each place back however its command ends, passes
its exit status on, and ends what does not end."""
import os
import signal
import subprocess
import sys
import tempfile

PLACES, COMMANDS = 2, 6
LOOK = 'import os, sys, time; open(sys.argv[1] + "/" + str(os.getpid()), "w"); time.sleep(0.2); n = len(os.listdir(sys.argv[1])); ' \
       'os.remove(sys.argv[1] + "/" + str(os.getpid())); sys.exit(n)'


def expect(text, found, due):
    if found != due:
        sys.exit(f'{text}: {found}, where {due} was due')
    print('ok:', text)


def run(slot, places, seconds, *command):
    return subprocess.run([slot, places, str(seconds), *command], stderr=subprocess.DEVNULL, check=False).returncode


def main(slot):
    with tempfile.TemporaryDirectory() as folder:
        places, inside = os.path.join(folder, 'places'), os.path.join(folder, 'inside')
        os.mkdir(inside)
        os.mkfifo(places)
        pool = os.open(places, os.O_RDWR)
        os.write(pool, b' ' * PLACES)
        children = [subprocess.Popen([slot, places, '60', sys.executable, '-c', LOOK, inside]) for _ in range(COMMANDS)]
        at_once = max(child.wait() for child in children)
        expect('no more at a time than there are places', 1 <= at_once <= PLACES, True)
        expect('the status of a command', run(slot, places, 60, 'sh', '-c', 'exit 77'), 77)
        expect('what does not end', run(slot, places, 1, 'sleep', '1000'), 124)
        ended = subprocess.Popen([slot, places, '60', 'sh', '-c', 'echo is on; sleep 1000'], stdout=subprocess.PIPE)
        ended.stdout.readline()
        ended.send_signal(signal.SIGTERM)
        expect('a signal', ended.wait(), 128 + signal.SIGTERM)
        expect('all places are there again', len(os.read(pool, 100)), PLACES)
        expect('without a pool', run(slot, os.path.join(folder, 'none'), 60, 'true'), 0)


main(*sys.argv[1:])
