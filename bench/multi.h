/* SPDX-License-Identifier: BSD-3-Clause */
/* multi.h - one play of scenario multi: what its processes are asked for, and what they record. */
#ifndef BENCH_MULTI_H
#define BENCH_MULTI_H

#include "crowd.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { MULTI_WAITS_MAX = 1 << 20, MULTI_EACH_MAX = 64 };
#define MULTI_NAME "bench:multi:%u"

struct multi_waits { /* the waits of all processes of one sort, in no order */
    atomic_uint count;
    uint32_t us[MULTI_WAITS_MAX];
};

struct multi_board {
    char url[512];
    unsigned multis, singles, each, names; /* `multis` processes want `each` names at once, and `singles` want one */
    uint32_t hold_us, think_us;
    atomic_bool is_over;                   /* the time is over: no new wait begins, and the present ones go on */
    uint32_t grants[CROWD_MAX];            /* the grants of each process within the time */
    struct multi_waits of_multis, of_singles;
};

extern const struct crowd_role multi_role;

#endif
