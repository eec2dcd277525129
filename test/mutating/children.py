# SPDX-License-Identifier: BSD-3-Clause
"""children - processes that may hang, and are started and ended by several threads.
Invariant: whatever a child started ends with it, and all end when end_all was called; then none is started."""
import contextlib
import os
import resource
import signal
import subprocess
import threading


class Ended(Exception):
    pass


class Children:
    def __init__(self):
        self.lock, self.running, self.is_ended = threading.Lock(), set(), False

    def start(self, command, **how):
        with self.lock:
            if self.is_ended:
                raise Ended
            child = subprocess.Popen(command, start_new_session=True, **how)
            self.running.add(child)
            return child

    def end(self, child):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        self.running.discard(child)

    def end_all(self):
        with self.lock:
            self.is_ended = True
        for child in list(self.running):
            self.end(child)

    def run(self, *command, **how):
        """(its exit status, what it said)"""
        child = self.start(command, stdout=subprocess.PIPE, text=True, **how)
        try:
            said = child.communicate()[0]
            if self.is_ended:
                raise Ended
            return child.returncode, said
        finally:
            self.end(child)

    def is_red(self, command, processor_s, asleep_s, **environment):
        """Also if it takes longer, of a processor or by the clock."""
        child = self.start(command, env=dict(os.environ, **environment), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        try:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(child.pid, resource.RLIMIT_CPU, (processor_s, processor_s))
            status = child.wait(asleep_s)
        except subprocess.TimeoutExpired:
            status = -1
        finally:
            self.end(child)
        if self.is_ended:
            raise Ended
        return status != 0
