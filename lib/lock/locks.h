/* SPDX-License-Identifier: BSD-3-Clause */
/* locks - what this folder keeps for a client: the alarms of its acquires, and its inquiries. The client has this
 * struct beside its core, and core->locks points to it. */
#ifndef HL_LOCK_LOCKS_H
#define HL_LOCK_LOCKS_H

#include "core/core.h"

TAILQ_HEAD(hl_inquiries, hl_inquiry);

struct hl_locks {
    struct hl_alarms alarms;       /* acquire.c: one for each acquire that has a limit or reports that it waits */
    struct hl_inquiries inquiries; /* inquiry.c */
    unsigned inquiries_open;       /* how many inquiries are not decided yet */
};

#endif
