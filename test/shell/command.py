# SPDX-License-Identifier: BSD-3-Clause
"""command - the program hilock as its user starts it."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import store  # noqa: E402


def ended(*command):
    """(exit status, stdout, stderr); none of them has the password."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=store.WAITS_S,
                          check=False)
    if store.SECRET in done.stdout + done.stderr:
        raise SystemExit(f'not so: {command[1]} does not say the password')
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def said(*command):
    """(exit status, its answers)"""
    code, text, _ = ended(*command)
    return code, [json.loads(line) for line in text.splitlines()]


def hold(hilock, url, name, *options):
    """One that holds this name until it is ended."""
    process = store.start(hilock, 'run', '--url', url, *options, name, '--', 'sh', '-c', 'echo holds; exec sleep 1000', stderr=subprocess.DEVNULL)
    store.expect(process.stdout.readline() == 'holds\n', f'{name} is held')
    return process
