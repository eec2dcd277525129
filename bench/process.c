/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - child processes that never outlive this one.
 *
 * Invariant: when this process ends in any way, kill -9 included, its children end: the kernel sends them SIGKILL
 * (PR_SET_PDEATHSIG). Each child leads a process group of its own, so a Ctrl-C on the terminal reaches only this
 * process, which then ends the children in its own order. A failed exec is reported through a pipe, which a
 * successful exec closes. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void begin_child(pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before the line above */
        _exit(127);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become(const char *const *argv, int output_fd, int failure_fd)
{
    int why;
    if (output_fd < 0 || (dup2(output_fd, STDOUT_FILENO) >= 0 && dup2(output_fd, STDERR_FILENO) >= 0))
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    why = errno;
    while (write(failure_fd, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(127);
}

int process_start(pid_t *ret_pid, const char *const *argv, int output_fd)
{
    int failure[2], why = 0;
    pid_t parent = getpid(), pid;
    ssize_t got;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return errno;
    pid = fork();
    if (pid == 0) {
        begin_child(parent);
        become(argv, output_fd, failure[1]);
    }
    if (pid < 0)
        why = errno;
    close(failure[1]);
    do {
        got = pid < 0 ? 0 : read(failure[0], &why, sizeof why);
    } while (got < 0 && errno == EINTR);
    close(failure[0]);
    if (got == (ssize_t)sizeof why)
        waitpid(pid, NULL, 0);
    if (why == 0)
        *ret_pid = pid;
    return why;
}

int process_fork(pid_t *ret_pid, int (*work)(void *arg), void *arg)
{
    pid_t parent = getpid(), pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        int status;
        begin_child(parent);
        status = work(arg);
        fflush(NULL);
        _exit(status);
    }
    if (pid < 0)
        return errno;
    *ret_pid = pid;
    return 0;
}

bool process_has_ended(pid_t pid, int *ret_status)
{
    return waitpid(pid, ret_status, WNOHANG) == pid;
}

int process_stop(pid_t pid, uint32_t patience_ms)
{
    static const struct timespec pause = {0, 5000000};
    int status = 0;
    kill(pid, SIGCONT); /* a suspended child gets no other signal until it goes on. This comes first, because a
                           child that is ending may already be traced by a leak checker */
    kill(pid, SIGTERM);
    for (uint32_t waited_ms = 0; waited_ms < patience_ms; waited_ms += 5) {
        if (process_has_ended(pid, &status))
            return status;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}
