/* SPDX-License-Identifier: BSD-3-Clause */
/* chaos.h - half-way: a holder is killed, another sleeps past its lease. */
#ifndef DEMO_CHAOS_H
#define DEMO_CHAOS_H

#include "audit.h"
#include "branch.h"

enum chaos_stage { CHAOS_BEFORE, CHAOS_KILLING, CHAOS_SUSPENDING, CHAOS_ASLEEP, CHAOS_AWAKE, CHAOS_DONE };

struct chaos_victim {
    struct branch *branch;    /* NULL: not found yet */
    struct hold holds[ITEMS_MAX]; /* what it held between its read and its write, as the store showed it while the
                                     process stood still */
    unsigned count;
};

struct chaos {
    const struct plan *plan;
    struct ledger *ledger;
    struct branch *branches; /* SHOPS */
    enum chaos_stage stage;
    struct chaos_victim killed, suspended;
    uint64_t since_ms;       /* when the stage began */
    uint64_t killed_ms;      /* by the ledger's clock; 0: nobody was killed yet */
    uint64_t reopen_ms;      /* when the killed shop opens again; 0: it did */
    unsigned tries;
};

/* A turn of the story; now_ms is monotonic. Called every few milliseconds from half-way on. -1: the store is gone, or a
 * shop. */
int chaos_step(struct chaos *chaos, uint64_t now_ms);

#endif
