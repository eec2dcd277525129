/* SPDX-License-Identifier: BSD-3-Clause */
/* signals - see signals.h. The kernel queues a blocked signal even if it is ignored, so ignored signals are not
 * blocked. */
#include "signals.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int signals_take(sigset_t *ret_before)
{
    static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
    sigset_t taken, blocked;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        if (!is_ignored(passed_on[i]))
            sigaddset(&taken, passed_on[i]);
    blocked = taken;
    sigaddset(&blocked, SIGCHLD);
    sigaddset(&blocked, SIGTTOU);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &blocked, ret_before);
    return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals_next(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
