# SPDX-License-Identifier: BSD-3-Clause
"""What programs in Python share: files, commands, a configuration of this source tree outside of it, and a
redis-server of one's own."""
import contextlib
import os
import socket
import subprocess
import time

SECRET = 's3cret-marker'  # in the URL of every server; nothing may tell it (.ci/tally.py). The server takes any password for its default user
STARTS_WITHIN_S = 60
ENDS_WITHIN_S = 200 # a program that hangs is to be named, not only the test that ran it


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(folder, path, text, mode='w'):
    """A file below the folder, and the folders between; its path."""
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode, encoding='utf-8') as file:
        file.write(text)
    return path


def run(*command, **more):
    """The output; a failure shows all of it."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              timeout=ENDS_WITHIN_S, **more)
    except subprocess.TimeoutExpired as hung:
        raise SystemExit(f'{" ".join(command)}: did not end\n{hung.stdout}') from None
    if done.returncode != 0:
        raise SystemExit(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}')
    return done.stdout


def configure(meson, compiler, source, build, *options, pkg_config_path=''):
    """(succeeded, output) of meson setup."""
    paths = [pkg_config_path, os.environ.get('PKG_CONFIG_PATH', '')]
    environment = {**os.environ, 'CC': compiler, 'PKG_CONFIG_PATH': ':'.join(filter(None, paths))}
    done = subprocess.run([meson, 'setup', build, source, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True)
    return done.returncode == 0, done.stdout


@contextlib.contextmanager
def redis(server, directory):
    """The URL of a server that lives in directory and ends with the block."""
    path = os.path.join(directory, 'redis.sock')
    server = os.environ.get('HILOCK_TEST_SERVER') or server
    log = open(os.path.join(directory, 'redis.log'), 'w+', encoding='utf-8')
    process = subprocess.Popen([server, '--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--dir', directory],
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until = time.monotonic() + STARTS_WITHIN_S
        while not answers(path):
            if process.poll() is not None or time.monotonic() > until:
                log.seek(0)
                raise SystemExit('redis-server does not start:\n' + log.read())
            time.sleep(0.02)
        yield f'unix://default:{SECRET}@{path}'
    finally:
        process.terminate()
        process.wait()
        log.close()


def answers(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
            probe.sendall(b'PING\r\n')
            return probe.recv(16).startswith(b'+PONG')
        except OSError:
            return False
