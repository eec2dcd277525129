/* SPDX-License-Identifier: BSD-3-Clause */
/* family - all processes of the command: its process group, and every other descendant, even one with a group or
 * session of its own. Holder and guard are subreapers: a descendant whose parent ends becomes a child of the guard, and
 * if that is gone, of the holder. What another program starts for the command (systemd, cron, a container's daemon) is
 * not a descendant, and is not found. */
#ifndef SHELL_FAMILY_H
#define SHELL_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

struct family {
    pid_t spared;      /* of the holder: the guard, which is not signalled; its descendants are. 0: none */
    pid_t *strangers;  /* children that this process had before it became hilock: neither they nor their descendants are
                          the command's */
    size_t strangers_count;
};

/* Call it before the command exists: each child of this process but `spared` is a stranger, and keeps its number
 * because no wait reaps it. 0; -1: no memory. */
int family_begin(struct family *family, pid_t spared);

/* Signals (0: none) the group, and each descendant of this process outside of it. Returns how many of them are left;
 * without /proc the group counts as one. */
unsigned family_signal(const struct family *family, pid_t group, int signal);

#endif
