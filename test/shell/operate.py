# SPDX-License-Identifier: BSD-3-Clause
"""operate.py REDIS_SERVER HILOCK - status, watch, break and doctor on one server: what they say is so, break ends no
hold but the one that is named, and what they may not ask is said."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from command import ended, hold, said, store

OTHER = '00000000-0000-4000-8000-000000000000:1'


def status(hilock, url):
    held = hold(hilock, url, 'shop:a')
    simple = hold(hilock, url, 'shop:s', '--simple')
    store.ask(url, 'HSET', 'shop:other', 'a', '1', 'b', '2', 'c', '3')
    _, rows = said(hilock, 'status', '--url', url, '--json', 'shop:a', 'shop:free', 'shop:s', 'shop:other')
    rows = {row['name']: row for row in rows}
    row = rows['shop:a']
    store.expect(row['state'] == 'held' and row['layout'] == 'mutex' and 0 < row['remaining_ms'] <= 30000, f'who holds, and for how long: {row}')
    store.expect(row['who'].startswith('sh@') and row['who'].endswith(f'/{held.pid}') and row['holder'].endswith(':' + row['who']), f'in words: {row}')
    store.expect(row['token'] > 0 and 0 <= row['held_ms'] < store.WAITS_S * 1000, f'and since when: {row}')
    store.expect(rows['shop:free']['state'] == 'free' and rows['shop:free']['holder'] is None, 'what is free is said to be')
    store.expect(rows['shop:s']['layout'] == 'simple' and rows['shop:s']['state'] == 'held', 'a SIMPLE lock is found')
    store.expect(rows['shop:other']['status'] == 'WRONG_KIND', 'what is no lock is said to be none')
    for options, names in [((), ['shop:a']), (('--simple',), ['shop:s'])]:
        _, found = said(hilock, 'status', '--url', url, '--json', '--prefix', 'shop:', *options)
        found = [row['name'] for row in found]
        store.expect(found == names, f'by prefix {options}: {found}')
    hold_odd = hold(hilock, url, 'odd*[x]:1')
    table = ended(hilock, 'status', '--url', url, '--prefix', 'odd*[')[1].splitlines()
    store.expect(len(table) == 2 and table[1].startswith('odd*[x]:1  sh@'), f'a prefix is no pattern: {table}')
    store.expect(ended(hilock, 'status', '--url', url)[0] == 64, 'names, or a prefix')
    store.ask(url, 'SET', 'text:\x1b[2J\n', 'who\x1b\u009b\u20ac"', 'PX', 100000)
    text = ended(hilock, 'status', '--url', url, '--simple', '--prefix', 'text:')[1]
    store.expect('\ntext:\\x1b[2J\\x0a  who\\x1b\\xc2\\x9b\u20ac"  ' in text, f'no name and no holder commands a terminal: {text!r}')
    _, (row,) = said(hilock, 'status', '--url', url, '--json', '--simple', '--prefix', 'text:')
    store.expect((row['name'], row['holder']) == ('text:\x1b[2J\n', 'who\x1b\u009b\u20ac"'), f'in JSON they are what they are: {row}')
    store.expect(ended(hilock, 'watch', '--url', url, '--every', '0', 'shop:a')[0] == 64, 'a server is not asked without pause')
    store.end(hold_odd)
    store.ask(url, 'DEL', 'odd*[x]:1')
    return held, simple


def shared(hilock, url):
    """Several that share a name: how many they are, one of them by name; break ends one share and says who is left."""
    sharers = [hold(hilock, url, 'shop:shared', '--permits', '3', '--lease', '9s') for _ in range(3)]
    _, (row,) = said(hilock, 'status', '--url', url, '--json', 'shop:shared')
    store.expect(row['state'] == 'held' and row['holders'] == 3 and row['token'] > 0, f'how many hold: {row}')
    store.expect(row['who'] in {label(one) for one in sharers}, f'and one of them: {row}')
    text = ended(hilock, 'status', '--url', url, 'shop:shared')[1]
    store.expect(re.search(r'^shop:shared  1 of 3: sh@', text, re.M), f'also in the table: {text}')
    listed = row['all_holders']
    store.expect(len({one['token'] for one in listed}) == 3 and {one['who'] for one in listed} == {label(one) for one in sharers} and
                 listed[0]['holder'] == row['holder'] and all(0 < one['remaining_ms'] <= 9000 for one in listed), f'all of them: {row}')
    text = ended(hilock, 'status', '--url', url, '--long', 'shop:shared')[1]
    store.expect(set(re.findall(r'^    id: (\S+), \d\.\d s left$', text, re.M)) == {one['holder'] for one in listed}, f'all ids, in the long form: {text}')
    watch = store.start(hilock, 'watch', '--url', url, '--json', '--every', '20ms', 'shop:shared')
    store.expect(json.loads(watch.stdout.readline())['holders'] == 3, 'watch begins with all of them')
    for left in (2, 1, 0):
        code, (answer,) = said(hilock, 'break', '--url', url, '--json', 'shop:shared', '--holder', row['holder'])
        store.expect(code == 0 and answer['holders_left'] == left and answer['next_holder'] != row['holder'], f'one share is ended, {left} are left: {answer}')
        store.expect(json.loads(watch.stdout.readline())['holders'] == left, 'watch shows the change')
        row['holder'] = answer['next_holder']
    store.expect([one.wait(store.WAITS_S) for one in sharers] == [125] * 3, 'the command of each is ended')
    for one in (watch, *sharers):
        store.end(one)
    reader = hold(hilock, url, 'shop:shared', '--readers')
    _, _, words = ended(hilock, 'run', '--url', url, '--wait', '1s', '--json', 'shop:shared', '--', 'true')
    waits = [event for event in map(json.loads, words.splitlines()) if event['event'] == 'waiting']
    store.expect([(event['holders'], event['who']) for event in waits] == [(1, label(reader))], f'who waits is told how many hold: {words}')
    store.end(reader)
    store.ask(url, 'DEL', 'shop:shared', 'hilock:share:{shop:shared}')


def label(process):
    return f'sh@{os.uname().nodename}/{process.pid}'


def at_terminal(columns, *command):
    """The lines that a command writes to a terminal of so many columns, until it ends or has drawn its page twice."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    text = b''
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        while text.count(b'\x1b[H') < 2:
            try:
                text += os.read(ours, 4096)
            except OSError:  # it has ended
                break
        process.terminate()
    os.close(ours)
    return text.decode().replace('\x1b[H\x1b[2J', '').replace('\r\n', '\n').splitlines()


def table(hilock, url):
    """What is wide is cut to the terminal, and said whole below in the long form; in a pipe nothing is cut."""
    name, holder = 'wide:' + 'größer-' * 12 + '日本語' * 5, OTHER + ':' + 'label-of-64-letters-' * 3 + 'abcd'
    store.ask(url, 'HSET', name, holder, 1, 'mode', 'mutex')
    many = 'many:' + 'größer-' * 12
    for key, command, *words in ((many, 'HSET', *(word for i in range(12) for word in (holder + str(i), 1)), 'mode', 'shared'),
                                 ('hilock:share:{' + many + '}', 'ZADD', *(word for i in range(12) for word in (4e15, holder + str(i))))):
        store.ask(url, command, key, *words)
        store.ask(url, 'PEXPIRE', key, 1000000)
    row = at_terminal(80, hilock, 'status', '--url', url, many)[1]
    store.expect(len(row) <= 80 and re.search(r'\.\.  1 of 12: \S+\.\. ', row), f'how many share a name is not cut: {row}')
    store.ask(url, 'DEL', many, 'hilock:share:{' + many + '}')
    names = ('shop:a', 'shop:free', 'shop:other', name)
    rows = at_terminal(80, hilock, 'status', '--url', url, *names)
    wide = [row for row in rows if len(row) + sum(letter in '日本語' for letter in row) > 80]
    store.expect(not wide and rows[0].split() == ['NAME', 'HOLDER', 'HELD', 'FOR', 'LEFT', 'WAITING'], f'a table of 80 columns: {rows}')
    starts = [rows[0].index(head) for head in ('HOLDER', 'HELD FOR', 'LEFT', 'WAITING')]
    store.expect(all(row[start - 1] == ' ' and row[start] != ' ' for row in rows[1:3] for start in starts), f'its columns are straight: {rows}')
    store.expect(rows[1].startswith('shop:a ') and ' sh@' in rows[1] and rows[2].split() == ['shop:free', '(free)', '-', '-', '0'], f'one row for each: {rows}')
    store.expect(rows[3].split() == ['shop:other', 'WRONG_KIND'] and rows[5].startswith('shop:other: WRONG_KIND: '), f'with the reason below: {rows}')
    store.expect(rows[4].startswith('wide:größer-') and rows[4].count('..') == 2 and 'no end' in rows[4], f'what is wide is cut: {rows[4]}')
    rows = [row.strip() for row in at_terminal(80, hilock, 'status', '--url', url, '--long', name)]
    store.expect('name: ' + name in ''.join(rows) and 'id: ' + holder in ''.join(rows), f'and whole in the long form: {rows}')
    store.expect(name in ended(hilock, 'status', '--url', url, name)[1], 'and in a pipe')
    rows = at_terminal(80, hilock, 'watch', '--url', url, '--every', '20ms', *names[:2])
    store.expect(rows[0].startswith('NAME ') and max(map(len, rows)) <= 80, f'watch draws the same: {rows}')
    line = subprocess.run([hilock, '--help'], capture_output=True, text=True, check=False).stdout.splitlines()
    store.expect(max(map(len, line)) <= 80, 'so is the help')
    store.ask(url, 'DEL', name)


def few_rights(hilock, url):
    """A user that may lock, and nothing else."""
    store.ask(url, 'ACL', 'SETUSER', 'few', 'on', '>' + store.SECRET, '~shop:*', '~hilock:*', '&*', '-@all', '+evalsha', '+script|load', '+time', '+pttl',
              '+hscan', '+hget', '+exists', '+zcount')
    few = url.replace('default:', 'few:')
    code, text, words = ended(hilock, 'status', '--url', few, 'shop:a')
    store.expect(code == 0 and ' sh@' in text and 'not known' not in words, f'who holds is seen by a user who may lock: {text} {words}')
    code, text, words = ended(hilock, 'status', '--url', few, '--prefix', 'shop:')
    store.expect(code == 69 and 'SCAN' in words, f'without that to SCAN: {words}')
    code, text, words = ended(hilock, 'doctor', '--prefix', 'shop:', few)
    queued, simple, sharing = (line for line in text.splitlines() if re.search(' rights (for|to)', line))
    missing = set(re.search(r'missing: (.*?)\. To do', queued).group(1).split()), set(re.search(r'missing: (.*?)\. To do', simple).group(1).split())
    store.expect(code == 1 and missing == ({'+pexpire', '+set', '+hdel', '+hlen', '+hmget', '+zadd', '+zrem', '+zrange', '+zrank', '+zscore', '+lindex', '+publish', '+subscribe', '+unsubscribe'},
                                           {'+pexpire', '+set', '+get', '+del'}), f'doctor names the rights that are missing: {missing}')
    store.expect(sharing.startswith('doubtful') and 'missing: +zadd +zrangebyscore +del.' in sharing, f'and those to share a name: {sharing}')
    store.expect('go to different servers' in text, f'and what it costs to lack +info: {text}')
    text = ended(hilock, 'doctor', '--prefix', 'other:', few)[1]
    store.expect('~NAME*' in text, f'or the pattern: {text}')
    store.expect(not [key for key in store.ask(url, 'KEYS', '*') if 'doctor' in key], 'and leaves nothing behind')


def broken(hilock, url, held, simple):
    _, (before,) = said(hilock, 'status', '--url', url, '--json', 'shop:a')
    code, _, words = ended(hilock, 'break', '--url', url, 'shop:a', '--holder', OTHER)
    _, (after,) = said(hilock, 'status', '--url', url, '--json', 'shop:a')
    store.expect(code == 65 and 'nothing was done' in words and before['holder'] == after['holder'], f'another holder is not touched: {words}')
    watch = store.start(hilock, 'watch', '--url', url, '--json', '--every', '20ms', 'shop:a', 'shop:free')
    first = [json.loads(watch.stdout.readline()) for _ in range(2)]
    store.expect([row['state'] for row in first] == ['held', 'free'], 'watch begins with what is')
    store.expect(ended(hilock, 'break', '--url', url, 'shop:a', '--holder', before['holder'])[0] == 0, 'the one that is named is ended')
    changed = json.loads(watch.stdout.readline())
    store.expect((changed['name'], changed['state']) == ('shop:a', 'free'), f'watch shows the change: {changed}')
    store.end(watch)
    store.expect(held.wait(store.WAITS_S) == 125, 'who held it ends its command')
    holder = said(hilock, 'status', '--url', url, '--json', 'shop:s')[1][0]['holder']
    _, (answer,) = said(hilock, 'break', '--url', url, '--json', 'shop:s', '--holder', holder)
    store.expect(answer['status'] == 'OK', 'a SIMPLE hold is ended likewise')
    store.expect(simple.wait(store.WAITS_S) == 125, 'and its command')


def doctor(hilock, url):
    found = {row['topic']: row for row in said(hilock, 'doctor', '--json', url)[1]}
    store.expect({'version', 'role', 'eviction', 'persistence', 'clock', 'latency', 'rights for SIMPLE', 'rights to share a name', 'kind MUTEX', 'kind FAIR', 'kind SIMPLE', 'shared name'} <= found.keys(), f'topics: {found.keys()}')
    store.expect(not [row for row in found.values() if row['grade'] == 'wrong'] and ended(hilock, 'doctor', url)[0] == 0, f'nothing is wrong: {found}')
    store.expect('restart_guard_ms' in found['persistence']['to_do'], 'no append-only file: what to do')
    store.ask(url, 'CONFIG', 'SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru')
    code, text, _ = ended(hilock, 'doctor', url)
    line = next(line for line in text.splitlines() if 'eviction' in line)
    store.expect(code == 1 and line.startswith('wrong') and 'noeviction' in line, f'a policy that evicts locks: {line}')
    store.expect(ended(hilock, 'doctor', url.replace('/socket', '/none'))[0] == 1, 'a server that is not there')


def operate(url, hilock, *at_terminals):
    held, simple = status(hilock, url)
    if at_terminals:
        table(hilock, url)
    else:
        few_rights(hilock, url)
        shared(hilock, url)
        broken(hilock, url, held, simple)
        doctor(hilock, url)
    for process in (held, simple):
        store.end(process)
    store.ask(url, 'DEL', 'shop:a', 'shop:s', 'shop:other', 'text:\x1b[2J\n')


if __name__ == '__main__':
    if len(sys.argv) > 3:
        try:
            for end in pty.openpty():
                os.close(end)
        except OSError as error:
            print(f'nothing is drawn here: there is no terminal to be had ({error}); is /dev/pts mounted?')
            sys.exit(77)
    store.drive(operate)
