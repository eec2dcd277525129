/* SPDX-License-Identifier: BSD-3-Clause */
/* storm.h - scenario storm: what its processes are told, and what they record. */
#ifndef BENCH_STORM_H
#define BENCH_STORM_H

#include "crowd.h"

#include <hilock/hilock.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { STORM_STEP_MS = 100, STORM_STEPS_MAX = 36000, STORM_KINDS_MAX = 2 };

struct storm_board {
    char url[512], name[64];
    hilock_kind kinds[STORM_KINDS_MAX]; /* a client's handles take turns in having these */
    unsigned kinds_count, clients, handles, wait_least_ms, wait_most_ms, hold_ms; /* clients: of all processes */
    atomic_bool is_over; /* no more acquires */
    uint64_t began_ns;
    atomic_uint grants[STORM_STEPS_MAX]; /* in each step of the load */
    atomic_uint timed_out, silent, refused; /* ends of waits: the server was silent for all of it; any other */
};

/* Orders: to begin, answered at once; to end: what waits is cancelled, and the answer comes when nothing is held or
 * awaited. */
enum { STORM_BEGIN = 'b', STORM_END = 'e' };
extern const struct crowd_role storm_role;

#endif
