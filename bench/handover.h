/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.h - scenario handover: orders to its processes, what they record, and what follows from it. */
#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

#include "crowd.h"
#include "samples.h"

#include <hilock/hilock.h>
#include <stdatomic.h>
#include <stdbool.h>

struct handover_grant { /* one grant of the lock; all times are nanoseconds of one clock */
    uint64_t asked_ns, granted_ns, released_ns; /* the acquire call, its callback, the release call */
    uint32_t process;
};

enum { HANDOVER_GRANTS_MAX = 1 << 18, HANDOVER_LATENCIES_MAX = 1 << 18 };

struct handover_board {
    char url[512], name[64];
    char poller_url[600]; /* the last `pollers` processes use this one */
    unsigned pollers;
    bool has_fair;
    uint32_t hold_us, think_us;
    atomic_bool is_over;      /* end of this stretch: no more acquires */
    atomic_uint grants_all;   /* with those after its end */
    atomic_uint heartbeats;   /* how many requests of waits came after the first of their wait */
    atomic_uint grants, latencies;
    struct handover_grant grant[HANDOVER_GRANTS_MAX]; /* in the order of the grants: each is begun while the lock is
                                                         held */
    uint64_t latency_ns[HANDOVER_LATENCIES_MAX];      /* how long bare PUBLISHes took */
};

/* Orders: a stretch of each; answered when it is over and nothing is held or awaited. */
enum { HANDOVER_MUTEX = 'm', HANDOVER_FAIR = 'f', HANDOVER_PUBLISH = 'p' };
extern const struct crowd_role handover_role;

/* The bare messages, in the same processes (handover_ring.c). NULL: reported on stderr. */
struct ring;
struct ring *ring_open(struct crowd_member *member, void (*on_ready)(struct crowd_member *member));
void ring_begin(struct ring *ring); /* answers the order when the stretch is over */
void ring_close(struct ring *ring);

/* ---- figures (handover_figures.c) ---- */

struct handover_sums { /* over all stretches of one mode */
    struct samples gaps, waits; /* in microseconds */
    uint64_t grants, grants_all, heartbeats, commands;
    double seconds;
    uint64_t by_process[CROWD_MAX];
    unsigned longest_run;
};
/* Those of one stretch. -1: out of memory, reported on stderr. */
int handover_add(struct handover_sums *sums, const struct handover_board *board, unsigned processes, double seconds);
double handover_jain(const struct handover_sums *sums, unsigned processes);
void handover_sums_free(struct handover_sums *sums);

#endif
