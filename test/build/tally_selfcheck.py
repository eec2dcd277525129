# SPDX-License-Identifier: BSD-3-Clause
"""tally_selfcheck.py TALLY - what CI counts of a run is what happened in it: a test that was asked for by a name that none has is a failure, and so
is a run without tests, or one that fails without a failed test. (That a password fails a test: ../live/secret.py.)"""
import json
import os
import subprocess
import sys
import tempfile

PASSED = {'name': 'hilock:live / wait', 'result': 'OK'}
FAILED = {'name': 'hilock:live+multi / multi', 'result': 'TIMEOUT'}
SKIPPED = {'name': 'hilock:tls / tls_memory', 'result': 'SKIP', 'stdout': 'no TLS here'}


def outcomes(tally, status, tests, *names):
    """[(outcome, test)] of a run, beside whose log there is another run's."""
    with tempfile.TemporaryDirectory() as logs:
        for log, content in (('gcc-wait.json', tests), ('gcc-compute.json', [FAILED])):
            with open(os.path.join(logs, log), 'w', encoding='utf-8') as file:
                file.writelines(json.dumps(test) + '\n' for test in content)
        command = [sys.executable, '-B', tally, 'gcc', status, os.path.join(logs, 'gcc-wait'), *names]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [(outcome, test) for outcome, _, test, *_ in (line.split('\t') for line in told.splitlines())]


def expect(text, found, due):
    if found != due:
        sys.exit(f'{text}: {found}, where {due} was due')
    print('ok:', text)


def main(tally):
    passed, failed, skipped = ('passed', PASSED['name']), ('failed', FAILED['name']), ('skipped', SKIPPED['name'])
    expect('each as it ended', outcomes(tally, '1', [PASSED, FAILED, SKIPPED]), [passed, failed, skipped])
    expect('asked for by name', outcomes(tally, '0', [PASSED, SKIPPED], 'wait', 'tls_memory'), [passed, skipped])
    expect('a name that is none', outcomes(tally, '0', [PASSED], 'wait', 'wiat'), [passed, ('failed', 'wiat')])
    expect('no test', outcomes(tally, '0', []), [('failed', 'meson test')])
    expect('a status that no test explains', outcomes(tally, '1', [PASSED]), [passed, ('failed', 'meson test')])


main(*sys.argv[1:])
