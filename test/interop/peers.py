# SPDX-License-Identifier: BSD-3-Clause
"""peers - programs that want locks, one with hilock (peer.h) or one with Redisson (java/Peer.java), each driven by lines; and the jars of the latter.

Invariant: a peer answers each line once, under the tag that it was given, so that many questions may be under way; what never comes is a failure that
names the question, not a hang."""
import collections
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'examples'))
import store  # noqa: E402

PATIENCE_S = store.WAITS_S
RELEASES = {'new': '4.7.0', 'old': '3.24.3'}  # as pom.xml pins them


def skip(why):
    print(f'skipped: {why}')
    sys.exit(77)


def expect(claim, text):
    if not claim:
        raise SystemExit('not so: ' + text)


# ---- jars

def sources():
    return [os.path.join(HERE, 'pom.xml'), *(os.path.join(HERE, 'java', name) for name in os.listdir(os.path.join(HERE, 'java')))]


def is_whole(folder):
    """Made of the sources as they are now, and to the end: the stamp comes last."""
    stamp = os.path.join(folder, 'whole')
    return os.path.exists(stamp) and all(os.path.getmtime(path) <= os.path.getmtime(stamp) for path in sources())


def make_jars(folder, profile):
    if not shutil.which('mvn') or not shutil.which('javac'):
        skip('there is neither Maven with a JDK here nor a folder of jars (HILOCK_INTEROP_JARS); Debian has them in maven, default-jdk-headless')
    repository = os.environ.get('HILOCK_MAVEN_REPOSITORY')
    options = [f'-Dmaven.repo.local={repository}'] if repository else []
    done = subprocess.run(['mvn', '-q', '-B', '-P', profile, '-f', os.path.join(HERE, 'pom.xml'), f'-Dout={folder}', *options,
                           'compiler:compile', 'dependency:copy-dependencies'],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        with open(os.path.join(folder, 'whole'), 'w', encoding='utf-8'):
            return
    text = f'Maven could not make the Java peer:\n{done.stdout}'
    if os.environ.get('CI') or 'COMPILATION ERROR' in done.stdout:
        raise SystemExit(text)
    skip(text)


def jars(folder, profile):
    """The class path of that release; HILOCK_INTEROP_JARS names a folder in which all was made before."""
    folder = os.path.abspath(os.path.join(os.environ.get('HILOCK_INTEROP_JARS') or folder, profile))
    if not shutil.which('java'):
        skip('there is no Java here; Debian has it in default-jdk-headless')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'making'), 'w', encoding='utf-8') as making:
        fcntl.flock(making, fcntl.LOCK_EX)  # several tests may want them
        if not is_whole(folder):
            make_jars(folder, profile)
    return os.path.join(folder, 'classes') + ':' + os.path.join(folder, 'lib', '*')


# ---- programs

class Peer:
    """Its lines are read as they come, and its answers are kept by their tags."""
    def __init__(self, label, command, folder, own_url):
        self.label, self.url = label, own_url
        self.trace = os.path.join(folder, label + '.trace')
        self.errors = os.path.join(folder, label + '.err')
        self.answers, self.count, self.news = collections.defaultdict(list), 0, threading.Condition()
        self.killed_ns, self.stops = None, []  # (from, to) in ns: it stood still
        with open(self.errors, 'a', encoding='utf-8') as errors:
            self.process = store.start(*command, self.trace, stdin=subprocess.PIPE, stderr=errors, errors='replace')
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            tag, at_ns, words = (line.rstrip('\n').split(' ', 2) + [''])[:3]
            with self.news:
                self.answers[tag].append((int(at_ns), words))
                self.news.notify_all()

    def send(self, *words):
        """The tag, for answer()."""
        self.count += 1
        tag = str(self.count)
        self.process.stdin.write(' '.join([tag, *map(str, words)]) + '\n')
        self.process.stdin.flush()
        return tag

    def answer_at(self, tag, what=''):
        with self.news:
            if not self.news.wait_for(lambda: self.answers[tag], PATIENCE_S):
                raise SystemExit(f'{self.label} never answered {tag} {what}\n{self.complaints()}')
            return self.answers[tag].pop(0)

    def answer(self, tag, what=''):
        return self.answer_at(tag, what)[1]

    def ask(self, *words):
        return self.answer(self.send(*words), words)

    def complaints(self):
        with open(self.errors, encoding='utf-8') as file:
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.killed_ns = time.monotonic_ns()

    def stand_still(self, span_s):
        self.process.send_signal(signal.SIGSTOP)
        begun_ns = time.monotonic_ns()
        time.sleep(span_s)
        self.stops.append((begun_ns, time.monotonic_ns()))
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def java(label, class_path, folder, url, quick=True):
    """quick: begins soon; without, it becomes as fast as it can."""
    tuning = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] if quick else []
    peer = Peer(label, ['java', '-Xmx256m', *tuning, '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', class_path, 'Peer'], folder, url)
    check_clock(peer)
    return peer


def ours(label, program, folder, url):
    peer = Peer(label, [program], folder, url)
    check_clock(peer)
    return peer


def check_clock(peer):
    before_ns, at_ns, after_ns = time.monotonic_ns(), peer.answer_at(peer.send('now'))[0], time.monotonic_ns()
    expect(before_ns <= at_ns <= after_ns, f'{peer.label} has the clock of this program: {before_ns} {at_ns} {after_ns}')


def open_client(peer, client, *more):
    answer = peer.ask('open', client, peer.url, *more)
    expect(answer.startswith('ok '), f'{peer.label} opens {client}: {answer}')
    return answer.split()[1]


if __name__ == '__main__':  # peers.py FOLDER: makes the jars, for tests to come
    for release in RELEASES:
        jars(sys.argv[1], release)
