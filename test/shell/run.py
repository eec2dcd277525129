# SPDX-License-Identifier: BSD-3-Clause
"""run.py REDIS_SERVER HILOCK - what `hilock run` gives a command and what it ends with, as its man page has it; also
at a terminal."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from command import ended, hold, store


def codes(hilock, url):
    run = (hilock, 'run', '--url', url)
    for code, words, text in [(0, ('n', '--', 'true'), ''), (7, ('n', '--', 'sh', '-c', 'exit 7'), ''), (137, ('n', '--', 'sh', '-c', 'kill -KILL $$'), ''),
                              (127, ('n', '--', 'no-such-command'), 'No such file'), (126, ('n', '--', '/'), 'ermission denied'),
                              (64, ('n', 'm', '--', 'true'), 'write --multi'), (64, ('n',), 'no command'), (64, ('--', 'true'), 'name of a lock is missing'),
                              (64, ('a}b{c', '--', 'true'), 'a}b{c'), (64, ('--lease', '1x', 'n', '--', 'true'), 'write 10s'),
                              (64, ('--lease', '900ms', 'n', '--', 'true'), '1s..24h'), (64, ('--holder', 'x', 'n', '--', 'true'), '--holder is not an option of this command'),
                              (64, ('--fair', '--multi', 'n', 'm', '--', 'true'), '--fair does not work'),
                              (64, ('--readers', '--multi', 'n', 'm', '--', 'true'), '--readers does not work with --multi'),
                              (64, ('--permits', '2', '--simple', 'n', '--', 'true'), '--permits does not work with --simple'),
                              (64, ('--permits', '2', '--readers', 'n', '--', 'true'), 'give one of them'),
                              *((64, ('--permits', count, 'n', '--', 'true'), 'write 1..1000000') for count in ('0', '-1', '2x', '1000001', '')),
                              (64, ('--url', 'unix:///other', 'n', '--', 'true'), '--url twice'), (64, ('--grace', '0', 'n', '--', 'true'), 'more than 2000 ms'),
                              (64, ('--lease', '1s', '--grace', '600ms', 'n', '--', 'true'), 'at most half')]:
        got, _, said = ended(*run, *words)
        store.expect(got == code and text in said, f'{" ".join(words)} ends with {code}: {got} {said}')
    store.ask(url, 'HSET', 'map', 'field', 'x')
    got, _, said = ended(*run, 'map', '--', 'true')
    store.expect(got == 65 and 'not a lock hash' in said, f'an ordinary hash under the name ends with 65: {got} {said}')
    store.ask(url, 'DEL', 'map')
    got, _, said = ended(hilock, 'run', '--wait', '300ms', '--url', 'unix:///nowhere/socket', 'n', '--', 'true')
    store.expect(got == 69 and 'To do: ' in said, f'no server ends with 69: {got} {said}')
    got, _, said = ended(*run[:-1], url.replace(store.SECRET, 'other').replace('default', 'nobody'), 'n', '--', 'true')
    store.expect(got == 77 and 'are user and password right?' in said, f'a wrong login ends with 77: {got} {said}')
    got, _, said = ended(*run, '--json', 'n', '--', 'no-such-command')
    store.expect(got == 127 and [json.loads(line)['event'] for line in said.splitlines()] == ['granted', 'log'], f'with --json each sentence is an event: {said}')
    store.expect(ended(hilock, 'walk')[0] == 64 and ended(hilock)[0] == 64 and ended(hilock, '--help') == ended(hilock, 'run', '--help') and ended(hilock, '--help')[0] == 0, 'words that are none end with 64')


def together(hilock, url):
    """Commands that share a name run side by side, as many as there are permits; one that holds alone runs beside none of them."""
    run = (hilock, 'run', '--url', url, '--quiet')
    for sharing, others in ((('--permits', '2'), 2), (('--readers',), 3)):
        held = [hold(hilock, url, 'n', *sharing) for _ in range(2)]
        store.expect(ended(*run, '--try', 'n', '--', 'true')[0] == 124, f'{sharing}: none beside them that holds alone')
        store.expect(ended(*run, '--try', *sharing, 'n', '--', 'true')[0] == (124 if others == 2 else 0), f'{sharing}: a third')
        for one in held:
            store.end(one)
        store.ask(url, 'DEL', 'n', 'hilock:share:{n}')
    alone = hold(hilock, url, 'n', '--permits', '1')
    store.expect(ended(*run, '--try', '--readers', 'n', '--', 'true')[0] == 124, 'one permit holds alone')
    store.end(alone)
    store.ask(url, 'DEL', 'n', 'hilock:share:{n}')


def tokens(hilock, url):
    show = ('--', 'sh', '-c', 'echo "$HILOCK_TOKEN/$HILOCK_TOKENS"')
    first, second = (ended(hilock, 'run', '--url', url, 'n', *show)[1] for _ in range(2))
    store.expect(re.fullmatch(r'(\d+)/\1', first) and int(second.partition('/')[0]) > int(first.partition('/')[0]), f'tokens rise: {first} {second}')
    several = ended(hilock, 'run', '--url', url, '--multi', 'n', 'm', *show)[1]
    store.expect(re.fullmatch(r'/\d+ \d+', several), f'several names have a token each: {several}')
    os.environ['HILOCK_TOKEN'] = '5'
    simple = ended(hilock, 'run', '--url', url, '--simple', 's', *show)[1]
    store.expect(simple == '/', 'a SIMPLE lock has none, nor that of another')
    del os.environ['HILOCK_TOKEN']
    lines = [json.loads(line) for line in ended(hilock, 'run', '--json', '--url', url, '--fair', 'n', '--', 'true')[2].splitlines()]
    store.expect([line['event'] for line in lines] == ['granted'] and lines[0]['locks'][0]['token'] > 0, f'the same as JSON: {lines}')


def has_no_family(pid):
    """All that it has are zombies."""
    children = store.outside.read(f'/proc/{pid}/task/{pid}/children').split()
    try:
        return all(store.outside.read(f'/proc/{child}/stat').rpartition(')')[2].split()[0] == 'Z' for child in children)
    except OSError: # one is gone meanwhile: look again
        return False


def periods(hilock, url):
    """--at-least: who comes later does not run it again; what is longer than the lease is left to the server."""
    run = (hilock, 'run', '--url', url, '--quiet', '--try', '--lease', '1s')
    store.expect(ended(*run, '--at-least', '20s', 'hourly', '--', 'echo', 'once') == (0, 'once', ''), 'it runs once, and ends at once')
    store.expect(0 < store.ask(url, 'PTTL', 'hourly') <= 20000 and 15000 < store.ask(url, 'PTTL', 'hourly'), 'the name stays taken for the rest')
    store.expect(ended(*run, '--at-least', '20s', 'hourly', '--', 'echo', 'twice') == (124, '', ''), 'and nothing is said to who comes second')
    store.ask(url, 'DEL', 'hourly')
    begun_s = time.monotonic()
    code = ended(*run, '--at-least', '900ms', 'often', '--', 'sh', '-c', 'exit 3')[0]
    store.expect(code == 3 and time.monotonic() - begun_s >= 0.9, 'a short rest is kept by hilock itself, which ends as the command did')
    store.expect(ended(*run, 'often', '--', 'true')[0] == 0, 'and then the name is free')
    with store.running(*run, '--lease', '60s', '--at-least', '50s', 'often', '--', 'echo', 'runs') as keeps:
        store.expect(keeps.stdout.readline() == 'runs\n', 'it runs')
        store.until(lambda: has_no_family(keeps.pid), 'command and guard have ended')
        store.expect(ended(*run, 'often', '--', 'true')[0] == 124, 'but the name is kept')
        keeps.send_signal(signal.SIGTERM)
        store.expect(keeps.wait(store.WAITS_S) == 0 and store.ask(url, 'PTTL', 'often') > 40000, 'a signal leaves the rest to the server')
    store.ask(url, 'DEL', 'often')
    for words, text in [(('--at-least', '25h'), 'at most 24h'), (('--quiet', '--verbose'), 'give one of them')]:
        got, _, said = ended(hilock, 'run', '--url', url, *words, 'n', '--', 'true')
        store.expect(got == 64 and text in said, f'{words}: {said}')
    got, _, said = ended(*run, 'a}b{c', '--', 'true')
    store.expect(got == 64 and 'a}b{c' in said, f'what is refused is said all the same: {said}')


def waiting(hilock, url):
    holds = hold(hilock, url, 'n')
    code, text, said = ended(hilock, 'run', '--url', url, '--try', 'n', '--', 'echo', 'overlaps')
    store.expect((code, text) == (124, '') and 'held by' in said, f'a try at what is held: {code} {said}')
    code, _, said = ended(hilock, 'run', '--url', url, '--json', '--wait', '200ms', 'n', '--', 'true')
    store.expect(code == 124 and json.loads(said.splitlines()[-1])['event'] == 'timed-out', f'and a wait: {code} {said}')
    with store.running(hilock, 'run', '--url', url, '--json', 'gone', '--', 'sh', '-c', 'echo holds; read end', stdin=subprocess.PIPE, stderr=subprocess.STDOUT) as loses:
        store.until(lambda: loses.stdout.readline() == 'holds\n', 'it holds')
        store.ask(url, 'DEL', 'gone')
        said = loses.communicate('\n')[0]
        store.expect([json.loads(line)['event'] for line in said.splitlines()] == ['release-failed'], f'a release that failed is an event: {said}')
    with store.running(hilock, 'run', '--url', url, '--json', 'n', '--', 'true', stderr=subprocess.STDOUT) as waits:
        event = json.loads(waits.stdout.readline())
        store.expect(event['event'] == 'waiting' and event['who'].startswith('sh@'), f'who waits says for whom: {event}')
        waits.send_signal(signal.SIGTERM)
        store.expect(waits.wait(store.WAITS_S) == 143, 'a signal ends a wait')
    holds.send_signal(signal.SIGINT)
    store.expect(holds.wait(store.WAITS_S) == 130, 'and goes on to the command')
    store.end(holds)


def looks_after(hilock, url):
    """Who frees a name ends only when it has looked at the waiter that got it. That one is stopped here, and so it does not hold the name then."""
    holds = hold(hilock, url, 'n')
    queue = []
    for _ in range(2):
        queue.append(store.start(hilock, 'run', '--url', url, '--json', 'n', '--', 'sleep', '1000', stderr=subprocess.STDOUT))
        store.expect(json.loads(queue[-1].stdout.readline())['event'] == 'waiting', 'one waits')
    queue[0].send_signal(signal.SIGSTOP)
    holds.send_signal(signal.SIGINT)
    store.expect(holds.wait(store.WAITS_S) == 130, 'the holder has ended')
    holder = store.ask(url, 'HKEYS', 'n')
    store.expect(f'/{queue[0].pid}' not in str(holder), f'and the one that is stopped has lost its turn by then: {holder}')
    queue[0].send_signal(signal.SIGCONT)
    for one in queue:
        store.end(one)
    store.ask(url, 'DEL', 'n')


def leftovers(hilock, url):
    """The command ends, and leaves processes in its group and outside of it: they are ended before the lock is free."""
    with tempfile.NamedTemporaryFile() as pids:
        script = f'sleep 1000 & echo $! >>{pids.name}; setsid sleep 1000 & echo $! >>{pids.name}; exit 3'
        code = ended(hilock, 'run', '--url', url, 'n', '--', 'sh', '-c', script)[0]
        left = [pid for pid in pids.read().decode().split() if os.path.exists(f'/proc/{pid}') and 'sleep' in open(f'/proc/{pid}/cmdline', encoding='latin-1').read()]
    store.expect(code == 3 and not left, f'nothing is left behind by a command that ended: {code} {left}')


def strangers(hilock, url):
    """Children that the process had before it became hilock are none of the command's, and live on when the holder has to end what a killed guard left."""
    script = 'sleep 1000 & echo $!; exec "$0" run --url "$1" n -- sh -c \'kill -KILL $PPID; sleep 1000 & sleep 1000\''
    process = store.start('sh', '-c', script, hilock, url, stderr=subprocess.DEVNULL)
    stranger = int(process.stdout.readline())
    store.expect(process.wait(store.WAITS_S) == 125, 'a command whose guard is killed is ended')
    with open(f'/proc/{stranger}/cmdline', encoding='latin-1') as file:
        store.expect(file.read().startswith('sleep'), 'a child from before is not')
    os.kill(stranger, signal.SIGKILL)
    store.end(process)


def priorities(hilock, url):
    """Those who end the command come before it, where the system allows it; the command keeps the priority that it was given."""
    script = 'of() { sed "s/.*) //" /proc/$1/stat | cut -d" " -f$2; }; for pid in $$ $PPID $(of $PPID 2); do of $pid 17; done' # parent, nice
    given = min(os.getpriority(os.PRIO_PROCESS, 0) + 7, 19)
    of = [int(line) for line in ended('nice', '-n', '7', hilock, 'run', '--url', url, 'n', '--', 'sh', '-c', script)[1].split()]
    store.expect(len(of) == 3 and of[0] == given and of[1] == of[2] in (given, -20), f'priorities of command, guard and holder: {of}, given {given}')


def longer(hilock, url):
    store.expect(ended(hilock, 'run', '--url', url, '--lease', '1s', 'n', '--', 'sleep', '2.5')[0] == 0, 'a command may run for longer than a lease')


def terminal(hilock, url):
    """The command stands in the foreground: it reads what is typed, an interrupt reaches it, and a suspend does not keep
    the lock for ever."""
    try:
        pid, fd = pty.fork()
    except OSError as none:
        print(f'no terminal can be made here: {none}')
        return
    if pid == 0:
        os.execvp(hilock, [hilock, 'run', '--url', url, 'n', '--', 'sh', '-c', 'echo ready; read line; echo "got $line"; exec sleep 1000'])
    text = b''
    for words, typed in ((b'ready', b'typed\n'), (b'got typed', b'\x1a'), (b'goes on: kill -STOP', b'\x03')):
        while words not in text:
            store.expect(select.select([fd], [], [], store.WAITS_S)[0], f'a terminal goes on behind {text}')
            text += os.read(fd, 1000)
        os.write(fd, typed)
    store.expect(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130, f'a command at a terminal: {text}')
    os.close(fd)


def run(url, hilock):
    for scene in (codes, together, tokens, periods, waiting, looks_after, leftovers, strangers, priorities, longer, terminal):
        scene(hilock, url)


if __name__ == '__main__':
    store.drive(run)
