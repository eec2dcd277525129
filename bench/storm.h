/* SPDX-License-Identifier: BSD-3-Clause */
/* storm.h - scenario storm: the settings of its processes, and what they record. */
#ifndef BENCH_STORM_H
#define BENCH_STORM_H

#include "crowd.h"

#include <hilock/hilock.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { STORM_STEP_MS = 100, STORM_STEPS_MAX = 36000, STORM_KINDS_MAX = 2 };

struct storm_board {
    char url[512], name[64];
    hilock_kind kinds[STORM_KINDS_MAX]; /* the handles of a client have these kinds in turn */
    unsigned kinds_count, clients, handles, wait_least_ms, wait_most_ms, hold_ms; /* clients: in all processes */
    atomic_bool is_over; /* no new acquire may begin */
    uint64_t began_ns;
    atomic_uint grants[STORM_STEPS_MAX]; /* the grants in each step of the load */
    /* how waits without a grant ended: by their limit; the server was silent for the whole wait; in any other way */
    atomic_uint timed_out, silent, refused;
};

/* The orders. The one to begin is answered at once. The one to end cancels every wait, and is answered when no
 * handle holds or waits. */
enum { STORM_BEGIN = 'b', STORM_END = 'e' };
extern const struct crowd_role storm_role;

#endif
