/* SPDX-License-Identifier: BSD-3-Clause */
/* alive - is this still the process that made it, or a child forked from it? A page that a fork leaves zeroed in the
 * child (MADV_WIPEONFORK). A check costs a read; getpid costs five times as much as the rest of a call, and is used
 * only without such a page. Counted, from any thread, because it outlives its client: other threads' objects
 * (validity.h) check it when the client is gone. */
#ifndef HL_LOCK_ALIVE_H
#define HL_LOCK_ALIVE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/memory.h"

struct hl_alive {
    atomic_uint refs;
    struct hl_memory memory;
    pid_t pid;
    unsigned char *page; /* NULL: compare pid instead. [0] is 1 in the process that made it; written once, before it is
                            shared */
};

struct hl_alive *hl_alive_new(const struct hl_memory *memory); /* one reference; NULL: no memory */
void hl_alive_ref(struct hl_alive *alive);
void hl_alive_unref(struct hl_alive *alive);
int hl_alive_is_forked(const struct hl_alive *alive);

#endif
