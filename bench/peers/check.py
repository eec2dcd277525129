# SPDX-License-Identifier: BSD-3-Clause
"""check.py REDIS_SERVER python|java [JARS] - two programs of a driver, with two contenders each, want one name for a second: they get it, and no two
grants overlap. What counts the overlaps is seen to count: two holds of two names at once are one.

python: redis-py's Lock, which Debian has (python3-redis). java: Redisson's RLock, with the jars of test/interop (JARS). 77: it is not there."""
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

CROWD = scenes.Crowd(processes=2, contenders=2, hold_us=1000, think_us=0, wait_ms=60000, run_ms=1000)


def python(_):
    if subprocess.run([sys.executable, '-c', 'import redis'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print('skipped: this Python has no redis; Debian has it in python3-redis')
        sys.exit(77)
    return 'redis-py', [sys.executable, os.path.join(programs.DRIVERS, 'driver.py')]


def java(folder, jars):
    """Compiled beside the jars, of which it needs no other."""
    import peers  # pylint: disable=import-outside-toplevel
    path = peers.jars(jars, 'new')
    if not shutil.which('javac'):
        peers.skip('there is no javac here; Debian has it in default-jdk-headless')
    outside.run('javac', '-cp', path, '-d', folder, os.path.join(programs.DRIVERS, 'Driver.java'))
    command = programs.java(folder)
    return 'RLock', [*command[:-2], f'{folder}:{path}', 'Driver']


def hold_at_once(kind, drivers):
    """A name for each."""
    for driver in drivers:
        driver.send('hold', kind.name, scenes.name(), scenes.LEASE_MS)
        driver.line()
    for driver in drivers:
        driver.send('release')
    return sum((figures.read(driver.lines(), driver)[0] for driver in drivers), [])


def main(server, language, *jars):
    with tempfile.TemporaryDirectory() as folder:
        name, command = {'python': python, 'java': java}[language](folder, *jars)
        kind = next(kind for kind in programs.KINDS if kind.name == name)
        with outside.Server(server, folder) as store, programs.Pool({kind.program: command}, store.port) as pool:
            grants, ended = scenes.run(scenes.Stage(store, pool), kind, CROWD)
            apart = hold_at_once(kind, pool.get(kind.program, CROWD.processes))
    counts = [sum(grant.program == program for grant in grants) for program in range(CROWD.processes)]
    print(f'{name}: grants {counts}, {len(ended)} waits ended, overlaps {figures.overlaps(grants)}; of two holds at once {figures.overlaps(apart)}')
    if not all(counts) or ended:
        sys.exit('a program got nothing, or gave up')
    if figures.overlaps(grants):
        sys.exit('two grants of one name overlap')
    if figures.overlaps(apart) != 1:
        sys.exit('two holds at once are not counted as one overlap')


main(*sys.argv[1:])
