/* SPDX-License-Identifier: BSD-3-Clause */
/* succession.h - scenario succession: orders to its processes, and what they record. */
#ifndef BENCH_SUCCESSION_H
#define BENCH_SUCCESSION_H

#include "crowd.h"

#include <hilock/hilock.h>
#include <stdatomic.h>

struct succession_board {
    char url[512], name[64];
    hilock_kind kind;
    uint32_t lease_ms;
    unsigned handles; /* how many handles a process has that is started now */
    /* when the holder called release, and when the living one was granted the lock; 0: not yet */
    _Atomic uint64_t released_ns, granted_ns;
};

enum {
    SUCCESSION_HOLD = 'h',    /* acquires; answered when the lock is granted */
    SUCCESSION_WAIT = 'w',    /* all handles acquire; answered at once, and the results are ignored */
    SUCCESSION_LIVE = 'l',    /* acquires, as the living one; answered when the lock is granted */
    SUCCESSION_RELEASE = 'r', /* releases; answered when the store has answered */
};
extern const struct crowd_role succession_role;

#endif
