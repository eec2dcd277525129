# SPDX-License-Identifier: BSD-3-Clause
"""tools.py .CI_FOLDER TEST_FOLDER BUILD ROOT - the tools of CI and of those who work here: what tally.py counts of a
run is what happened in it; slot runs no more commands at a time than there are places, gives each place back however
its command ends, passes its exit status on, and ends what does not end; test/near finds the tests of a change, and
some for each folder of the library; test/mutants changes code and nothing else, and a mutant behind its switch is that
mutant."""
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

SWITCHED = (  # code of which each mutant is switched; what stands there then
    ('    if (a && b < f("if (x)"))\n        g();', "    if ((HL_MUTANT(1) ? !!(a || b < f(\"if (x)\")) : HL_MUTANT(2) ? !!(a && b <= f(\"if (x)\")) : "
     'HL_MUTANT(3) ? !!(0 && (a && b < f("if (x)"))) : !!(a && b < f("if (x)"))))\n        { if (HL_MUTANT(4)) { ; } else { g(); } }'),
    ('    if (a) {\n        return;\n    } else\n        return;', '    if ((HL_MUTANT(1) ? !!(0 && (a)) : !!(a))) {\n'
     '        { if (HL_MUTANT(2)) { ; } else { return; } }\n    } else\n        { if (HL_MUTANT(3)) { ; } else { return; } }'),
    ('    for (int i = b + 1; i < a; i++)\n        x[i - 1] = 0;',
     '    for (int i = (HL_MUTANT(2) ? (b + 0) : (b + 1)); (HL_MUTANT(1) ? !!(i <= a) : !!(i < a)); i++)\n'
     '        { if (HL_MUTANT(3)) { x[i - 0] = 0; } else { x[i - 1] = 0; } }'),
    ('    struct p q = {.x = a - 1, {b, *c == \'}\'}}, *r = a ||\n        b;', "    struct p q = {.x = (HL_MUTANT(2) ? (a - 0) : (a - 1)), {b, "
     "(HL_MUTANT(1) ? (*c != '}') : (*c == '}'))}}, *r = a ||\n        b;"),
    ('    case 1: return a ||\n        b > c;', '    case 1: { if (HL_MUTANT(1)) { return a ||         b >= c; } else { return a ||\n        b > c; } }'),
    ('    LIST_FOREACH(a, b)\n        do { g(); } while (a != b);', '    LIST_FOREACH(a, b)\n'
     '        do { g(); } while ((HL_MUTANT(1) ? !!(a == b) : !!(a != b)));'),
)
NOT_SWITCHED = ('    char text[SIZE + 1];', '    static int a = B - 1;', '    _Static_assert(A == B, "");', '    case A + 1: break;', '    x = a *\n        f(b);',
                '    int c =\n        f(b);', '    a = b\n#if C\n        + c + 1\n#endif\n        ;', '    )', '    odd a { b + 1; }')

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
    sys.path.insert(0, os.path.join(os.path.dirname(program), 'mutating'))
    changes = __import__('changes')
    for line, wanted in MUTANTS.items():
        expect(f'mutants of {line!r}', {text for _, text in changes.changes_of(line)}, wanted)
    expect('a maximum by if', list(changes.changes_of('    if (a < b)', '        a = b;')), [('never', '    if (0 && (a < b))')])
    expect('a limit of a script', list(changes.lua_changes_of('if a > b then b = a end')),
           [('never', 'if nil and (a > b) then b = a end')])
    listed = subprocess.run([sys.executable, '-B', program, '-n'], stdout=subprocess.DEVNULL, check=False)
    expect('what is listed as the same is a mutant', listed.returncode, 0)
    for count in (1, 2, 3, 10, 997, 4000):
        expect(f'of {count} all come once', sorted(changes.strided(range(count), 12345)), list(range(count)))


def mutants_have_switches():
    changes, switched = __import__('changes'), __import__('switched')

    def with_mutants(code):
        text = f'int f(int a)\n{{\n{code}\n}}\n'
        lines = enumerate(text.split('\n'), 1)
        made = [changes.Mutant('f.c', number, *change) for number, line in lines for change in changes.changes_of(line)]
        text, numbers = switched.with_mutants(text, dict(enumerate(made, 1)))
        return text.split('\n', 2)[2].rsplit('\n}', 1)[0], len(numbers)

    for code, wanted in SWITCHED:
        text, count = with_mutants(code)
        expect(f'mutants in {code!r}', text, wanted)
    for code in NOT_SWITCHED:
        expect(f'no mutants in {code!r}', with_mutants(code), (code, 0))


def main(ci, test, build, root):
    tally_counts(os.path.join(ci, 'tally.py'))
    slot_has_places(os.path.join(ci, 'slot'))
    near_finds(os.path.join(test, 'near'), build, root)
    mutants_are_of_code(os.path.join(test, 'mutants'))
    mutants_have_switches()


main(*sys.argv[1:])
