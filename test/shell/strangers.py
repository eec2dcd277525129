# SPDX-License-Identifier: BSD-3-Clause
"""strangers.py REDIS_SERVER TABLE QUICKSTART HILOCK - what a program is told whose url leads to the wrong server, or to one that is badly set up,
and what doctor finds there. Each of them is played; what is said is compared with the table, whole. After a change of a sentence:
`strangers.py --print REDIS_SERVER TABLE QUICKSTART HILOCK` prints the new one."""
import contextlib
import difflib
import os
import re
import socketserver
import sys
import tempfile
import threading

from command import ended, store


# ---- servers that are none

@contextlib.contextmanager
def port_of(play):
    """A port of loopback on which each connection is played with."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                play(self.request)
    with socketserver.ThreadingTCPServer(('127.0.0.1', 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def answers(text):
    """Says this to the first bytes that come, and closes."""
    def play(link):
        link.recv(4096)
        link.sendall(text)
    return port_of(play)


def greets(text):
    def play(link):
        link.sendall(text)
        link.recv(4096)
    return port_of(play)


def silence():
    def play(link):
        while link.recv(4096):
            pass
    return port_of(play)


def words_of(link):
    """The commands that come."""
    with link.makefile('rb') as file:
        while (line := file.readline()):
            yield [file.read(int(file.readline()[1:]) + 2)[:-2].decode() for _ in range(int(line[1:]))]


def knows(known, otherwise=lambda words: b"-ERR unknown command '%s'\r\n" % words[0].encode()):
    """A proxy: known has what it answers, by the first word of the command."""
    def play(link):
        for words in words_of(link):
            link.sendall(known.get(words[0].upper()) or otherwise(words))
    return port_of(play)


@contextlib.contextmanager
def server(program, *arguments, config=None, then=None):
    """then: a command, once it runs."""
    with tempfile.TemporaryDirectory() as folder, store.Server(program, folder, *arguments, config=config) as one:
        if then:
            one.ask(*then)
        yield one.port


def kept(program, *lines, then=None):
    """A server that keeps its data, with these lines of configuration."""
    return server(program, config='\n'.join(['appendonly yes', 'save ""', *lines, '']), then=then)


@contextlib.contextmanager
def node(program):
    """A node of a cluster that has none of the slots."""
    with tempfile.TemporaryDirectory() as folder, store.Server(program, folder, '--cluster-enabled', 'yes') as owner, \
            store.Server(program, folder, '--cluster-enabled', 'yes') as bare:
        owner.ask('CLUSTER', 'ADDSLOTS', *range(16384))
        owner.ask('CLUSTER', 'MEET', '127.0.0.1', bare.port)
        store.until(lambda: 'cluster_state:ok' in bare.ask('CLUSTER', 'INFO') and 'cluster_slots_ok:16384' in bare.ask('CLUSTER', 'INFO'),
                    'it knows the cluster')
        yield bare.port


@contextlib.contextmanager
def nobody():
    yield store.free_port()


def rows(program):
    """(what stands there, the url, how it is played)"""
    yield 'nobody', 'redis://HOST', nobody()
    yield 'silence', 'redis://HOST', silence()
    yield 'an HTTP server', 'redis://HOST', answers(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    yield 'an HTTP server that sends a page at once', 'redis://HOST', answers(b'<!DOCTYPE HTML>\n<html></html>\n')
    yield 'an HTTP server', 'redis+cluster://HOST', answers(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    yield 'an HTTP server', 'redis+sentinel://HOST', answers(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    yield 'a TLS port that sends an alert', 'redis://HOST', answers(b'\x15\x03\x01\x00\x02\x02\x46')
    yield 'a TLS port that closes, as OpenSSL does', 'redis://HOST', answers(b'')
    yield 'an SSH server', 'redis://HOST', greets(b'SSH-2.0-OpenSSH_9.2p1\r\n')
    yield 'a proxy without scripts', 'redis://HOST', knows({'CLIENT': b'+OK\r\n', 'TIME': b'*2\r\n$1\r\n1\r\n$1\r\n1\r\n'})
    yield 'a server whose EVALSHA and SCRIPT were renamed', 'redis://HOST', server(program, config='rename-command EVALSHA ""\nrename-command SCRIPT ""\n')
    yield 'a single server', 'redis+cluster://HOST', server(program)
    yield 'a single server', 'redis+sentinel://HOST', server(program)
    yield 'a sentinel', 'redis://HOST', server(program, '--sentinel', config='# its own\n')
    yield 'a node of a cluster', 'redis://HOST', node(program)
    yield 'two servers', 'redis://HOST,localhost:6380', nobody()
    yield 'a server that knows another password', 'redis://:wrong@HOST', kept(program, then=['CONFIG', 'SET', 'requirepass', 'right'])
    yield 'a server that wants a password', 'redis://HOST', kept(program, then=['CONFIG', 'SET', 'requirepass', 'right'])
    yield 'a replica whose master is away', 'redis://HOST', kept(program, 'replicaof 127.0.0.1 1', 'replica-serve-stale-data yes')
    yield 'a user without rights', 'redis://few:few@HOST', kept(program, 'user few on >few ~* &* +@all -@scripting')
    yield 'a server without pub/sub', 'redis://HOST', kept(program, 'rename-command SUBSCRIBE ""')
    yield 'a server that ends idle connections', 'redis://HOST', kept(program, 'timeout 5')
    yield 'a server with little room for messages', 'redis://HOST', kept(program, 'client-output-buffer-limit pubsub 1mb 64kb 10')
    yield 'a server as it should be', 'redis://HOST', kept(program)


# ---- what is said

def plain(text, port):
    """Without what differs from run to run. The order of two links' lines is not told; a busy machine has latency."""
    text = text.replace(f'127.0.0.1:{port}', 'HOST')
    text = re.sub(r'\b\d+(\.\d+)? ms\b', 'N ms', text)
    text = re.sub(r'token \d+', 'token N', text)
    text = re.sub(r'\S+@\S+/\d+: ', 'CLIENT: ', text)
    text = re.sub(r'User \S+ has no permissions', 'this user has no permissions', text) # of later servers
    without = r'ok  |doubtful  HOST latency:|\d+ wrong, |.*: subscriptions: '
    lines = [line for line in text.splitlines() if not re.match(without, line)]
    return [re.sub(r'\d+ (tries|requests)', r'N \1', line) for line in lines]


def told(what, url, play, programs):
    with play as port:
        yield f'{what}, at {url}'
        for program in programs:
            _, out, err = ended(*program, url.replace('HOST', f'127.0.0.1:{port}'))
            yield from ('    ' + line for line in plain(err + '\n' + out, port) if line)
        yield ''


def main(is_printing, program, table, quickstart, hilock):
    # a program that was refused ends without freeing its loop, and that is not what is looked at here
    os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
    said = [line for what, url, play in rows(program) for line in told(what, url, play, [[quickstart], [hilock, 'doctor']])]
    if is_printing:
        print('\n'.join(said))
        return
    wanted = store.outside.read(table).split('\n\n', 1)[1].splitlines()
    differences = list(difflib.unified_diff(wanted, said[:-1], 'the table', 'what is said', lineterm=''))
    print('\n'.join(differences))
    store.expect(not differences, 'every program is told what the table has')


if __name__ == '__main__':
    main(sys.argv[1] == '--print', *sys.argv[2 if sys.argv[1] == '--print' else 1:])
