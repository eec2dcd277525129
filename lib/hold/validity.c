/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - see validity.h.
 *
 * Memory orders. The deadline carries no other data with it: each value is true by itself, so no reader needs what was
 * written before it. The load is an acquire so that the clock is read after it: an old clock with a new deadline would
 * promise too much; the other way round it promises too little. The store is a release so that nothing that led to it
 * can seem to come later. The store of 0 must also be visible before anyone can learn of the lock's release; between
 * the two is a system call that hands bytes to the kernel. A reader that checked just before the end acts on an answer
 * that was true then: fencing tokens protect against that. */
#include "hold/validity.h"

#include "base/plant.h"
#include "core/lease.h"
#include "hold/hold.h"

static void set(struct hl_hold *hold, uint64_t deadline_us)
{
    const struct hl_side *side = hold->side;
    atomic_store_explicit(&side->validity->deadlines_us[side->validity_at], deadline_us, memory_order_release);
}

struct hilock_validity *hl_validity_new(struct hl_core *core, unsigned count, unsigned needed)
{
    struct hilock_validity *validity =
        hl_memory_new(&core->host.memory, sizeof *validity + count * sizeof validity->deadlines_us[0]);
    if (!validity)
        return NULL;
    atomic_init(&validity->refs, 1);
    for (unsigned i = 0; i < count; i++)
        atomic_init(&validity->deadlines_us[i], 0);
    validity->count = count;
    validity->needed = needed;
    validity->now_us = core->host.loop.now_us;
    validity->clock = core->host.loop.clock;
    validity->cell = core->cell;
    hl_cell_ref(validity->cell);
    return validity;
}

int hl_validity_join(struct hl_core *core, struct hl_hold *hold, struct hilock_validity *validity, unsigned at)
{
    struct hl_side *side = hl_hold_side(core, hold);
    if (!side)
        return -1;
    hl_validity_ref(validity);
    side->validity = validity;
    side->validity_at = (uint8_t)at;
    hl_validity_follow(hold);
    return 0;
}

struct hilock_validity *hl_validity_of(struct hl_core *core, struct hl_hold *hold)
{
    struct hilock_validity *validity = hold->side ? hold->side->validity : NULL;
    if (validity) {
        hl_validity_ref(validity);
        return validity;
    }
    validity = hl_validity_new(core, 1, 1);
    if (!validity || hl_validity_join(core, hold, validity, 0) == 0)
        return validity;
    hl_validity_unref(validity);
    return NULL;
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

static uint64_t deadline_of(const struct hilock_validity *validity, unsigned i)
{
    return atomic_load_explicit(&validity->deadlines_us[i], memory_order_acquire);
}

/* Deadlines move one by one meanwhile: each was true when it was read, so enough of them were held. */
static uint64_t needed_deadline_us(const struct hilock_validity *validity)
{
    uint64_t sorted_us[HL_VALIDITY_MAX];
    for (unsigned i = 0; i < validity->count; i++) {
        uint64_t deadline_us = deadline_of(validity, i);
        unsigned at = i;
        for (; at > 0 && sorted_us[at - 1] < deadline_us; at--)
            sorted_us[at] = sorted_us[at - 1];
        sorted_us[at] = deadline_us;
    }
    return sorted_us[validity->needed - 1];
}

uint64_t hl_validity_left_us(const struct hilock_validity *validity)
{
    uint64_t deadline_us;
    if (hl_cell_is_forked(validity->cell))
        return 0;
    deadline_us = needed_deadline_us(validity);
    return deadline_us ? hl_left_us(deadline_us, validity->now_us(validity->clock)) : 0;
}

/* As in cell.c: relaxed up, acquire and release down. */
void hl_validity_ref(struct hilock_validity *validity)
{
    atomic_fetch_add_explicit(&validity->refs, 1, memory_order_relaxed);
}

void hl_validity_unref(struct hilock_validity *validity)
{
    struct hl_cell *cell = validity->cell;
    if (atomic_fetch_sub_explicit(&validity->refs, 1, memory_order_acq_rel) != 1)
        return;
    hl_memory_free(&cell->memory, validity);
    hl_cell_unref(cell);
}
