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
    unsigned handles; /* of each process that is started now */
    _Atomic uint64_t released_ns, granted_ns; /* the holder's release call, the callback of the living; 0: not yet */
};

enum {
    SUCCESSION_HOLD = 'h',    /* acquire; answered once it is granted */
    SUCCESSION_WAIT = 'w',    /* all handles acquire; answered at once, and what comes of it is of no interest */
    SUCCESSION_LIVE = 'l',    /* acquire: this one is to live; answered once it is granted */
    SUCCESSION_RELEASE = 'r', /* answered when the store has answered */
};
extern const struct crowd_role succession_role;

#endif
