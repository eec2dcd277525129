# SPDX-License-Identifier: BSD-3-Clause
"""stage - a server or a cluster, with a program of Java's and one of ours; and what the server is asked, as MONITOR
has it."""
import re
import tempfile
import threading

import peers
import servers
import store
from peers import expect

OURS = ('mutex', 'fair')
LONG_MS = 600000  # longer than any patience


class Monitor:
    """What the server was asked and what scripts did there: the words of each command."""
    def __init__(self, server):
        self.server, self.file, self.lines = server, server.send('MONITOR'), []
        expect(store.answer(self.file) == 'OK', 'the server is watched')
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.file:
            where, _, command = line.decode(errors='replace').partition('] ')
            self.lines.append((where.endswith(' lua'), re.findall(r'"((?:[^"\\]|\\.)*)"', command)))

    def published(self, name):
        """(command, channel) of each message of this name that was published until now."""
        seen = len(self.lines)
        self.server.ask('ECHO', name)
        servers.until(lambda: any(words == ['ECHO', name] for _, words in self.lines[seen:]), 'all was seen')
        said = [(words[0].upper(), words[1]) for _, words in self.lines if len(words) > 1]
        return [(command, channel) for command, channel in said
                if command in ('PUBLISH', 'SPUBLISH') and f'{{{name}}}' in channel]


class Stage:
    """Names are new ones; ours has one client, in which each name is held by an actor of that name."""
    def __init__(self, server, java, ours):
        self.server, self.java, self.ours, self.count = server, java, ours, 0
        peers.open_client(ours, 'c')

    def name(self):
        self.count += 1
        return f'stock:{self.count}'

    def java_do(self, actor, kind, name, *words, client='j'):
        return self.java.ask('do', client, actor, kind, name, *words)

    def java_has(self, actor, kind, name, client='j'):
        answer = self.java_do(actor, kind, name, 'try', client=client)
        expect(answer == 'true', f'{client} has {name} as {kind}: {answer}')

    def java_gives(self, actor, kind, name, client='j'):
        answer = self.java_do(actor, kind, name, 'unlock', client=client)
        expect(answer == 'ok', f'{client} held {name} as {kind}: {answer}')

    def holder(self, actor, kind='rlock'):
        """As Java writes it into the store."""
        return self.java_do(actor, 'rlock', 'none', 'holder') + (':write' if kind == 'write' else '')

    def acquire(self, own, name, lease_ms=LONG_MS):
        return self.ours.ask('acquire', 'c', name, own, name, 0, lease_ms)

    def we_have(self, own, name, lease_ms=LONG_MS):
        answer = self.acquire(own, name, lease_ms)
        expect(answer.startswith('OK '), f'{own} has {name}: {answer}')

    def we_give(self, own, name):
        answer = self.ours.ask('release', 'c', name)
        expect(answer.startswith('OK'), f'{own} held {name}: {answer}')


def play(scene, serve, program, peer, folder, release):
    """scene(stage, release) at such servers: servers.single or servers.cluster."""
    class_path = peers.jars(folder, release)
    with tempfile.TemporaryDirectory() as work, serve(program, work) as server:
        java, ours = peers.java('java', class_path, work, server.java_url), peers.ours('ours', peer, work, server.ours_url)
        try:
            scene(Stage(server, java, ours), release)
        finally:
            java.end()
            ours.end()
