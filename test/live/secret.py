# SPDX-License-Identifier: BSD-3-Clause
"""secret.py SOURCE_ROOT LEAK - what CI looks for in the output of every test is the password that tests use; and when a program logs it, .ci/tally.py
fails that test, though it passed or was skipped."""
import json
import os
import subprocess
import sys
import tempfile

LOGS_IT = 'PASSWORD_LOGGED'


def expect(claim, text):
    if not claim:
        raise SystemExit('not so: ' + text)
    print('ok:', text)


def tally(root, **test):
    """What is recorded of a run of this one test, as it would stand in the summary."""
    with tempfile.TemporaryDirectory() as logs:
        with open(os.path.join(logs, 'testlog.json'), 'w', encoding='utf-8') as file:
            file.write(json.dumps({'name': 'a test', **test}) + '\n')
        command = [sys.executable, '-B', os.path.join(root, '.ci/tally.py'), 'lane', '0', os.path.join(logs, 'testlog')]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def log_of(leak, *plant):
    done = subprocess.run([leak, *plant], env={**os.environ, 'LIVE_VERBOSE': '1'}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    expect(done.returncode == 0 and ': connected' in done.stderr, f'a client logs that it is connected, {plant or "nothing planted"}')
    return done.stderr


def main(root, leak):
    secret = ''
    with open(os.path.join(root, 'test/secret.h'), encoding='utf-8') as file:
        secret = file.read().partition('TEST_SECRET "')[2].partition('"')[0]
    expect(len(secret) > 8, 'tests have a password')
    for path in ('.ci/tally.py', 'test/build/outside.py'):
        with open(os.path.join(root, path), encoding='utf-8') as file:
            expect(repr(secret) in file.read(), path + ' means the same')
    clean, leaking = log_of(leak), log_of(leak, LOGS_IT)
    expect(secret not in clean and secret in leaking, 'with the bug planted, and only then, the password is in the log')
    for stream in ('stdout', 'stderr'):
        for result, outcome in (('OK', 'passed'), ('SKIP', 'skipped'), ('FAIL', 'failed')):
            told = tally(root, result=result, **{stream: clean})
            expect(len(told) == 1 and told[0].startswith(outcome + '\t'), f'{result} with a clean {stream} is {outcome}')
            told = tally(root, result=result, **{stream: leaking})
            expect(len(told) == 1 and told[0].startswith('failed\t'), f'{result} with the password in its {stream} has failed')
            expect(secret not in told[0], 'and the summary does not repeat it')


if __name__ == '__main__':
    main(*sys.argv[1:])
