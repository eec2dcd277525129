/* SPDX-License-Identifier: BSD-3-Clause */
/* guard - the second process of `run`, and the parent of the command. It ends the command when the lock is over,
 * even if the holder is dead or stopped.
 *
 * Why the command is ended, and which process ends it:
 *   the deadline comes near (server gone, holder stopped)    the guard, by the page's deadline
 *   the holder was killed                                    the guard: its socket ends
 *   ... while the guard was stopped                          the kernel wakes the guard (PDEATHSIG, SIGCONT)
 *   the guard is stopped, and the lock is lost               the holder, by the same deadline
 *   the guard was killed                                     the kernel kills the command, and the holder the rest
 * both were stopped, or killed at once no process, or the kernel the command alone (man hilock) */
#ifndef SHELL_GUARD_H
#define SHELL_GUARD_H

#include "page.h"

#include <signal.h>

enum { GUARD_TEXT_MAX = 65536 };

enum guard_news { GUARD_STARTED = 1, GUARD_ENDED = 2 };
struct guard_report {
    enum guard_news news;
    int status; /* ENDED: the status that waitpid() returned */
    int is_cut; /* ENDED: the guard ended the command or did not start it, because the lock was over */
};

struct guard {
    int socket; /* SOCK_SEQPACKET. The first message has the environment entries of the tokens, each ended by a zero
                   byte; every later message, whatever it has, means that the guard must read the page */
    struct page *page;
    char **command;
    const sigset_t *signals; /* the signals that the command should have blocked */
    pid_t holder;
};

_Noreturn void guard_run(const struct guard *guard);

#endif
