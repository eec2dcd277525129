/* SPDX-License-Identifier: BSD-3-Clause */
/* alive - whether this is still the process that made it, or a child forked from it: a page that a fork leaves zeroed in the child
 * (MADV_WIPEONFORK). Asking costs a read; getpid costs five times as much as all the rest of a call, and is asked where
 * there is no such page.
 * Counted, from any thread, for it outlives its client: what was given to other threads (validity.h) asks it when the client is gone. */
#ifndef HL_LOCK_ALIVE_H
#define HL_LOCK_ALIVE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/memory.h"

struct hl_alive {
    atomic_uint refs;
    struct hl_memory memory;
    pid_t pid;
    unsigned char *page; /* NULL: pid tells. [0] is 1 in the process that made it; written before anybody else sees it, and never again */
};

struct hl_alive *hl_alive_new(const struct hl_memory *memory); /* one reference; NULL: no memory */
void hl_alive_ref(struct hl_alive *alive);
void hl_alive_unref(struct hl_alive *alive);
int hl_alive_is_forked(const struct hl_alive *alive);

#endif
