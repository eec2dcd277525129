# SPDX-License-Identifier: BSD-3-Clause
"""tools.py .CI_FOLDER TEST_FOLDER BUILD ROOT - the tools of CI and of those who work here: what tally.py counts of a
run is what happened in it; slot runs no more commands at a time than there are places, gives each place back however
its command ends, passes its exit status on, and ends what does not end; test/near finds the tests of a change, and
some for each folder of the library; test/mutants changes code and nothing else."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile

from outside import write

PASSED = {'name': 'hilock:live / wait', 'result': 'OK'}
FAILED = {'name': 'hilock:live+multi / multi', 'result': 'TIMEOUT'}
SKIPPED = {'name': 'hilock:tls / tls_memory', 'result': 'SKIP', 'stdout': 'no TLS here'}

PLACES, COMMANDS = 2, 6
LOOK = 'import os, sys, time; open(sys.argv[1] + "/" + str(os.getpid()), "w"); time.sleep(0.2); n = len(os.listdir(sys.argv[1])); ' \
       'os.remove(sys.argv[1] + "/" + str(os.getpid())); sys.exit(n)'

FOLLOWED_CODE = 'if (a && b > 1)\n    f(a);\nif (a)\n    g(a);\n'
FOLLOWED = (  # what a rule quotes of that code; what the mutant changes; what it quotes then
    ('  - b > 1\n', ('b > 1', 'b >= 1'), '  - b >= 1\n'),
    ('  - if (a && b > 1)\n  -     f(a);\n', ('b > 1', 'b >= 1'), '  - if (a && b >= 1)\n  -     f(a);\n'),
    ('  - f(a);\n', ('f(a)', ''), '  - ;\n'),
    ('  - b > 1\n', ('a && b > 1', '0 && (a && b > 1)'), '  - b > 1\n'),
    ('  - g(a);\n', ('f(a)', ''), '  - g(a);\n'),
)

NEAR = {
    'lib/lock/line.c': {'unit/line', 'unit/twins'},     # of that name, and a bug is planted in it
    'lib/base/slot.h': {'unit/slots'},
    'lib/wire/mutex_acquire.lua': {'unit/acquire'},     # mentions it
    'test/unit/test_line.c': {'unit/line'},             # is made of it
    'test/unit/stage.h': {'unit/cluster'},              # includes it
    'test/live/support/sentinels.c': {'sentinel/sentinel'},
    'adapters/libevent.c': {'adapter/libevent'},
}

MUTANTS = {
    '    if (a->count < limit && !done)': {'    if (a->count <= limit && !done)', '    if (a->count < limit || !done)',
                                          '    if (0 && (a->count < limit && !done))'},
    '    hl_wake(line, "a == b", 1); /* x == y */': {'    ; /* hl_wake(line, "a == b", 1); */'},
    '    return i + 1;': {'    return i + 0;'},
    '        return;': {'        ;'},
    '    const char *word = say("<= 1", \'<\');': set(),
    'static int is_big(int a);': set(),
    '    span = span < least ? least : span > most ? most : span;': set(), # equal ones are one
    '    memcpy(to, from, size < sizeof *to ? size : sizeof *to);': {'    ; /* memcpy(to, from, size < sizeof *to ? size : sizeof *to); */'},
    '    used = length < 32 ? (int)length : 32;': set(),
    '    return a < b ? a : c;': {'    return a <= b ? a : c;'},
}


def expect(text, found, due):
    if found != due:
        sys.exit(f'{text}: {found}, where {due} was due')
    print('ok:', text)


def outcomes(tally, status, tests, *names):
    """[(outcome, test)] of a run, beside whose log there is another run's."""
    with tempfile.TemporaryDirectory() as logs:
        for log, content in (('gcc-wait.json', tests), ('gcc-compute.json', [FAILED])):
            write(logs, log, ''.join(json.dumps(test) + '\n' for test in content))
        command = [sys.executable, '-B', tally, 'gcc', status, os.path.join(logs, 'gcc-wait'), *names]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [(outcome, test) for outcome, _, test, *_ in (line.split('\t') for line in told.splitlines())]


def tally_counts(tally):
    """That a password fails a test: ../live/secret.py."""
    passed, failed, skipped = ('passed', PASSED['name']), ('failed', FAILED['name']), ('skipped', SKIPPED['name'])
    expect('each as it ended', outcomes(tally, '1', [PASSED, FAILED, SKIPPED]), [passed, failed, skipped])
    expect('asked for by name', outcomes(tally, '0', [PASSED, SKIPPED], 'wait', 'tls_memory'), [passed, skipped])
    expect('a name that is none', outcomes(tally, '0', [PASSED], 'wait', 'wiat'), [passed, ('failed', 'wiat')])
    expect('no test', outcomes(tally, '0', []), [('failed', 'meson test')])
    expect('a status that no test explains', outcomes(tally, '1', [PASSED]), [passed, ('failed', 'meson test')])


def slot_has_places(slot):
    def run(places, seconds, *command):
        return subprocess.run([slot, places, str(seconds), *command], stderr=subprocess.DEVNULL, check=False).returncode

    with tempfile.TemporaryDirectory() as folder:
        places, inside = os.path.join(folder, 'places'), os.path.join(folder, 'inside')
        os.mkdir(inside)
        os.mkfifo(places)
        pool = os.open(places, os.O_RDWR)
        os.write(pool, b' ' * PLACES)
        children = [subprocess.Popen([slot, places, '60', sys.executable, '-c', LOOK, inside]) for _ in range(COMMANDS)]
        at_once = max(child.wait() for child in children)
        expect('no more at a time than there are places', 1 <= at_once <= PLACES, True)
        expect('the status of a command', run(places, 60, 'sh', '-c', 'exit 77'), 77)
        expect('what does not end', run(places, 1, 'sleep', '1000'), 124)
        ended = subprocess.Popen([slot, places, '60', 'sh', '-c', 'echo is on; sleep 1000'], stdout=subprocess.PIPE)
        ended.stdout.readline()
        ended.send_signal(signal.SIGTERM)
        expect('a signal', ended.wait(), 128 + signal.SIGTERM)
        expect('all places are there again', len(os.read(pool, 100)), PLACES)
        expect('without a pool', run(os.path.join(folder, 'none'), 60, 'true'), 0)


def near_finds(near, build, root):
    first_of_each = [sorted(glob.glob(folder + '*.c')) for folder in glob.glob(os.path.join(root, 'lib/*/'))]
    first_of_each = [os.path.relpath(files[0], root) for files in first_of_each if files]
    paths = [os.path.join(root, path) for path in [*NEAR, *first_of_each]]
    command = [sys.executable, '-B', near, '-n', '-C', build, *paths]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [line.removeprefix('near ').split(':') for line in lines if line.startswith('near ')]
    found = {path: set(tests.split()) for path, tests in rows}
    expect('tests of a change', {path: found[path] & wanted for path, wanted in NEAR.items()}, NEAR)
    expect('a folder without tests', [path for path in first_of_each if not found[path]], [])


def mutants_are_of_code(program):
    loader = importlib.machinery.SourceFileLoader('mutants', program)
    mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader('mutants', loader))
    loader.exec_module(mutants)
    for line, wanted in MUTANTS.items():
        expect(f'mutants of {line!r}', {text for _, text in mutants.changes_of(line)}, wanted)
    expect('a maximum by if', list(mutants.changes_of('    if (a < b)', '        a = b;')), [('never', '    if (0 && (a < b))')])
    expect('a limit of a script', list(mutants.lua_changes_of('if a > b then b = a end')),
           [('never', 'if nil and (a > b) then b = a end')])
    listed = subprocess.run([sys.executable, '-B', program, '-n'], stdout=subprocess.DEVNULL, check=False)
    expect('what is listed as the same is a mutant', listed.returncode, 0)
    for quoted, mutant, wanted in FOLLOWED:
        rules = 'R\n  in lib/f.c expression\n' + quoted + '  + 0\n  red sim\n'
        changed = mutants.followed(rules, 'lib/f.c', FOLLOWED_CODE, FOLLOWED_CODE.replace(*mutant))
        expect(f'the quote {quoted!r} beside a mutant', changed, rules.replace(quoted, wanted))
    for count in (1, 2, 3, 10, 997, 4000):
        expect(f'of {count} all come once', sorted(mutants.strided(range(count), 12345)), list(range(count)))


def main(ci, test, build, root):
    tally_counts(os.path.join(ci, 'tally.py'))
    slot_has_places(os.path.join(ci, 'slot'))
    near_finds(os.path.join(test, 'near'), build, root)
    mutants_are_of_code(os.path.join(test, 'mutants'))


main(*sys.argv[1:])
