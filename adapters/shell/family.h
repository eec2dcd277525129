/* SPDX-License-Identifier: BSD-3-Clause */
/* family - all processes of the command: its process group, and every other descendant, even one with a group or a
 * session of its own. Holder and guard are subreapers: a descendant whose parent ends becomes a child of the guard,
 * or of the holder if the guard is gone. A process that another program starts for the command (systemd, cron, the
 * daemon of a container) is no descendant, and is not found. */
#ifndef SHELL_FAMILY_H
#define SHELL_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

struct family {
    pid_t spared;      /* the holder spares its guard, which gets no signals; its descendants do. 0: nobody is spared */
    pid_t *strangers;  /* children that this process had before it became hilock. Neither they nor their descendants are
                          a part of the command */
    size_t strangers_count;
};

/* Must be called before the command exists: every child of this process except `spared` is a stranger then.
 * Strangers keep their process ids, because nobody reaps them. Returns 0, or -1 without memory. */
int family_begin(struct family *family, pid_t spared);

/* Sends a signal (0: none) to the group, and to each descendant of this process outside of the group. Returns how
 * many of these processes are left; if /proc cannot be read, the group counts as one. */
unsigned family_signal(const struct family *family, pid_t group, int signal);

#endif
