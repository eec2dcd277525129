/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - see validity.h.
 *
 * Memory orders. The deadline carries no other data with it: each value is true by itself, so nobody needs what was written before it.
 * The load is an acquire so that the clock is read behind it: an old clock under a new deadline would say too much, the other way round
 * it says too little. The store is a release so that nothing that led to it can seem to come later; of the store of 0 it is also asked that
 * it be seen before the release of the lock can be heard of, and between them lies a system call that hands bytes to the kernel.
 * A reader that looked just before the end acts on an answer that was true when it was given: that is what the fencing token is for. */
#include "lock/validity.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/lease.h"
#include "lock/side.h"

static void set(struct hl_hold *hold, uint64_t deadline_us)
{
    atomic_store_explicit(&hold->side->validity->deadline_us, deadline_us, memory_order_release);
}

static struct hilock_validity *validity_new(struct hl_core *core)
{
    struct hilock_validity *validity = hl_memory_new(&core->host.memory, sizeof *validity);
    if (!validity)
        return NULL;
    atomic_init(&validity->refs, 1);
    atomic_init(&validity->deadline_us, 0);
    validity->now_us = core->host.loop.now_us;
    validity->clock = core->host.loop.clock;
    validity->alive = core->cell->alive;
    validity->memory = core->host.memory;
    hl_alive_ref(validity->alive);
    return validity;
}

struct hilock_validity *hl_validity_of(struct hl_core *core, struct hl_hold *hold)
{
    struct hl_side *side = hl_side_of(core, hold);
    if (!side)
        return NULL;
    if (!side->validity) {
        side->validity = validity_new(core);
        hl_validity_follow(hold);
    }
    if (side->validity)
        hl_validity_ref(side->validity);
    return side->validity;
}

void hl_validity_follow(struct hl_hold *hold)
{
    if (hold->side && hold->side->validity)
        set(hold, hl_hold_ends_us(hold));
}

void hl_validity_end(struct hl_hold *hold)
{
    if (!hold->side || !hold->side->validity)
        return;
    if (!HL_PLANTED(VALIDITY_OUTLIVES))
        set(hold, 0);
    hl_validity_unref(hold->side->validity);
    hold->side->validity = NULL;
}

uint64_t hl_validity_left_us(const struct hilock_validity *validity)
{
    uint64_t deadline_us;
    if (hl_alive_is_forked(validity->alive))
        return 0;
    deadline_us = atomic_load_explicit(&validity->deadline_us, memory_order_acquire);
    return deadline_us ? hl_left_us(deadline_us, validity->now_us(validity->clock)) : 0;
}

/* As in alive.c: relaxed up, acquire and release down. */
void hl_validity_ref(struct hilock_validity *validity) { atomic_fetch_add_explicit(&validity->refs, 1, memory_order_relaxed); }

void hl_validity_unref(struct hilock_validity *validity)
{
    struct hl_memory memory = validity->memory;
    if (atomic_fetch_sub_explicit(&validity->refs, 1, memory_order_acq_rel) != 1)
        return;
    hl_alive_unref(validity->alive);
    hl_memory_free(&memory, validity);
}
