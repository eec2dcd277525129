# SPDX-License-Identifier: BSD-3-Clause
"""check.py REDIS_SERVER python|java [JARS] - two programs of a driver, with two contenders each, want one name for a second: they get it, and no two
grants overlap. What counts the overlaps is seen to count: two holds of two names at once are one. Java's also have a semaphore, and read and write, for a
part of that second.

python: redis-py's Lock, which Debian has (python3-redis). java: Redisson's, with the jars of test/interop (JARS). 77: it is not there."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(HERE, '..', '..', 'test', folder) for folder in ('build', 'interop'))]
import figures  # noqa: E402
import outside  # noqa: E402
import programs  # noqa: E402
import scenes  # noqa: E402

LONGER = (1, 5, 25)
CROWD = scenes.Crowd(processes=2, contenders=2, hold_us=1000, think_us=0, wait_ms=60000, run_ms=1000)
SHARED = {'RPermitExpirableSemaphore': ('permits', {'permits': scenes.PERMITS}), 'RReadWriteLock': ('readers', {'writer': scenes.WRITER})}


def python(_):
    if subprocess.run([sys.executable, '-c', 'import redis'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print('skipped: this Python has no redis; Debian has it in python3-redis')
        sys.exit(77)
    return ['redis-py'], [sys.executable, os.path.join(programs.DRIVERS, 'driver.py')]


def java(folder, jars):
    """Compiled beside the jars, of which it needs no other."""
    import peers  # pylint: disable=import-outside-toplevel
    path = peers.jars(jars, 'new')
    if not shutil.which('javac'):
        peers.skip('there is no javac here; Debian has it in default-jdk-headless')
    outside.run('javac', '-cp', path, '-d', folder, os.path.join(programs.DRIVERS, 'Driver.java'))
    command = programs.java(folder)
    return ['RLock', *SHARED], [*command[:-2], f'{folder}:{path}', 'Driver']


def hold_at_once(kind, drivers):
    """A name for each."""
    for driver in drivers:
        driver.send('hold', kind.name, scenes.name(), scenes.LEASE_MS)
        driver.line()
    for driver in drivers:
        driver.send('release')
    return sum((figures.read(driver.lines(), driver)[0] for driver in drivers), [])


def check_rules():
    """Of three grants that are held at once."""
    grants = [figures.Grant(0, begun, 10, 11, program) for program, begun in enumerate((1, 2, 3))]
    for rule, wanted in (({}, 2), ({'permits': 2}, 1), ({'permits': 3}, 0), ({'writer': 3}, 0), ({'writer': 0}, 2), ({'writer': 2}, 1)):
        if figures.overlaps(grants, **rule) != wanted:
            sys.exit(f'overlaps of three at once by {rule}: {figures.overlaps(grants, **rule)}, wanted {wanted}')


def play(stage, kind, run_ms):
    """On a busy machine a program may still be starting when a short play ends, so longer ones follow."""
    scenario, rule = SHARED.get(kind.name, (None, {}))
    for longer in LONGER:
        grants, ended = scenes.run(stage, kind, CROWD._replace(run_ms=longer * run_ms), scenario=scenario)
        counts = [sum(grant.program == program for grant in grants) for program in range(CROWD.processes)]
        print(f'{kind.name}: grants {counts}, {len(ended)} waits ended, overlaps {figures.overlaps(grants, **rule)}')
        if all(counts) or ended or figures.overlaps(grants, **rule):
            break
    if not all(counts) or ended:
        sys.exit('a program got nothing, or gave up')
    if figures.overlaps(grants, **rule):
        sys.exit('grants of one name overlap')


def main(server, language, *jars):
    check_rules()
    with tempfile.TemporaryDirectory() as folder:
        names, command = {'python': python, 'java': java}[language](folder, *jars)
        kinds = [kind for kind in programs.KINDS if kind.name in names]
        with outside.Server(server, folder) as store, programs.Pool({kinds[0].program: command}, store.port) as pool:
            for kind in kinds:
                play(scenes.Stage(store, pool), kind, CROWD.run_ms // len(kinds))
            apart = hold_at_once(kinds[0], pool.get(kinds[0].program, CROWD.processes))
    if figures.overlaps(apart) != 1:
        sys.exit('two holds at once are not counted as one overlap')


main(*sys.argv[1:])
