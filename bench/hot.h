/* SPDX-License-Identifier: BSD-3-Clause */
/* hot.h - one play of scenario hot: orders to its processes, and what they record. */
#ifndef BENCH_HOT_H
#define BENCH_HOT_H

#include "crowd.h"

#include <hilock/hilock.h>
#include <stdatomic.h>

struct hot_part { /* what one process records */
    uint64_t acquired, failed;
    uint64_t holds; /* grants by the store, each with a release of its own; the other grants were handed over */
    uint64_t lost;
};

struct hot_board {
    char url[512], name[64];
    hilock_kind kind;
    uint32_t turns_max, hold_ms, wait_ms;
    unsigned contenders, tries;
    struct hot_part parts[CROWD_MAX];
    atomic_uint grants;
    uint64_t tokens[]; /* in the order of the grants, because each is written while the lock is held */
};

extern const struct crowd_role hot_role;

#endif
