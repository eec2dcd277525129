/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - see multi.h. */
#include "lock/multi.h"

#include "base/plant.h"
#include "lock/hold.h"
#include "lock/known.h"
#include "lock/name.h"
#include "lock/wait.h"

enum {
    HALVINGS_MAX = 6, /* of the most names that there may be: one at a time */
    KEEPS_AFTER = 4, TRIP_LEAST_US = 1000
};

static int bars(const struct hl_name *name, const struct hl_acquire *acquire)
{
    return name->ending || name->hold || (hl_known_is_held(name) && !acquire->has_moved);
}

int hl_multi_barred_at(const struct hl_acquire *acquire)
{
    const struct hl_names *names = acquire->lock->terms->multi;
    for (unsigned i = 0; names && !HL_PLANTED(MULTI_PASSES_SIBLINGS) && i < names->count; i++)
        if (i != acquire->at && acquire->hold->parts[i].state != PART_OURS && bars(names->of[i], acquire))
            return (int)i;
    return -1;
}

/* Two trips for each, where the way is quick: what was too slow after all is told by hl_multi_late. */
static uint64_t trips_us(const struct hl_acquire *acquire)
{
    const struct hl_name *name = hl_wait_name(acquire);
    uint64_t trips_us = 2 * hl_route_round_trip_us(acquire->lock->terms->cell->core->route, name->bytes, name->length);
    return trips_us < TRIP_LEAST_US ? TRIP_LEAST_US : trips_us;
}

/* Fewer take longer: not so few that a quarter of the lease is over meanwhile. */
unsigned hl_multi_step(const struct hl_acquire *acquire)
{
    unsigned count = acquire->lock->terms->multi->count, step = HL_PLANTED(MULTI_ALL_AT_ONCE) ? count : count >> acquire->halvings;
    for (step += !step; step < count && (count + step - 1) / step * trips_us(acquire) > hl_terms_lease_us(acquire->lock->terms) / 4; step *= 2)
        ;
    return step;
}

void hl_multi_refused(struct hl_acquire *acquire)
{
    if (acquire->halvings < HALVINGS_MAX)
        acquire->halvings++;
}

int hl_multi_keeps(const struct hl_acquire *acquire)
{
    uint64_t until_us = hl_wait_keeps_until_us(acquire);
    if (HL_PLANTED(MULTI_KEEPS))
        return 1;
    return until_us != UINT64_MAX && until_us > hl_now_us(&acquire->lock->terms->cell->core->host) && !acquire->is_try &&
           acquire->halvings >= KEEPS_AFTER && hl_multi_step(acquire) == 1 && !HL_PLANTED(MULTI_STARVES);
}

int hl_multi_is_adrift(const struct hl_acquire *acquire)
{
    const struct hl_names *names = acquire->lock->terms->multi;
    for (unsigned i = 0; names && i < names->count; i++) {
        const struct hl_part *part = &acquire->hold->parts[i];
        const struct hl_node *node = hl_route_node(acquire->lock->terms->cell->core->route, names->of[i]->bytes, names->of[i]->length);
        int has_moved = node->moved_us >= part->request.sent_us && !HL_PLANTED(MULTI_ADRIFT_BY_MOVE);
        int is_other = !node->is_up || node->earlier_us >= part->request.sent_us || has_moved;
        if (part->state == PART_OURS && is_other && !HL_PLANTED(MULTI_ADRIFT))
            return 1;
    }
    return 0;
}

void hl_multi_late(struct hl_acquire *acquire)
{
    if (acquire->halvings)
        acquire->halvings--;
}

unsigned hl_multi_crowd(const struct hl_acquire *acquire)
{
    const struct hl_names *names = acquire->lock->terms->multi;
    unsigned crowd = names ? 0 : acquire->lock->name->crowd;
    for (unsigned i = 0; names && i < names->count; i++)
        crowd += names->of[i]->crowd;
    return crowd;
}

int hl_multi_held_at(const struct hilock_lock *lock)
{
    const struct hl_names *names = lock->terms->multi;
    for (unsigned i = 0; names && i < names->count; i++)
        if (hl_known_is_held(names->of[i]))
            return (int)i;
    return !names && hl_known_is_held(lock->name) ? 0 : -1;
}
