/* SPDX-License-Identifier: BSD-3-Clause */
/* inside - what a handle believes, read from the client's own memory: its parts, each a hold of one name at one place. A plain handle has one; one
 * that is made of several has one for each member, in the order in which its user gave the names. */
#include "core/lease.h"
#include "group/group.h"
#include "hold/hold.h"
#include "sim.h"

static const struct hl_group *group_of(const struct sim_actor *actor) { return hl_group_of(actor->lock); }

unsigned sim_inside_count(const struct sim_actor *actor)
{
    return group_of(actor) ? group_of(actor)->count : actor->lock->hold != NULL;
}

static unsigned needed(const struct sim_actor *actor) { return group_of(actor) ? group_of(actor)->needed : 1; }

const struct hl_hold *sim_inside_hold(const struct sim_actor *actor, unsigned i)
{
    const struct hl_group *group = group_of(actor);
    for (unsigned j = 0; group && j < group->count; j++)
        if (group->members[j].index == i)
            return group->members[j].lock->hold;
    return actor->lock->hold;
}

/* A member whose loss is still to be reported ended then. */
static uint64_t end_us(const struct sim_actor *actor, unsigned i)
{
    const struct hl_hold *hold = sim_inside_hold(actor, i);
    if (!hold)
        return 0;
    return !hl_hold_is_held(hold) ? hold->since_us : hold->kept == KEPT_OURS ? hold->deadline_us : 0;
}

uint64_t sim_inside_end_us(const struct sim_actor *actor)
{
    uint64_t best_us = 0;
    for (unsigned i = 0; i < sim_inside_count(actor); i++) {
        unsigned as_long = 0;
        for (unsigned j = 0; j < sim_inside_count(actor); j++)
            as_long += end_us(actor, j) >= end_us(actor, i);
        if (as_long >= needed(actor) && end_us(actor, i) > best_us)
            best_us = end_us(actor, i);
    }
    return best_us;
}

uint64_t sim_inside_deadline_us(const struct sim_actor *actor)
{
    unsigned held = 0;
    for (unsigned i = 0; i < sim_inside_count(actor); i++)
        held += sim_inside_hold(actor, i) && hl_hold_is_held(sim_inside_hold(actor, i));
    return held >= needed(actor) ? sim_inside_end_us(actor) : 0;
}

uint64_t sim_inside_left_us(const struct sim_actor *actor) { return hl_left_us(actor->lock->ops->snapshot(actor->lock).ends_us, sim_process_now_us(actor->process)); }

/* Of a quorum: the vote of the first master that was asked is. */
int sim_inside_is_handed_on(const struct sim_actor *actor)
{
    for (unsigned i = 0; i < sim_inside_count(actor); i++)
        if (sim_inside_hold(actor, i) && sim_inside_hold(actor, i)->served)
            return 1;
    return 0;
}

uint64_t sim_inside_id(const struct sim_actor *actor)
{
    const struct hl_hold *hold = actor->lock->hold;
    return group_of(actor) ? group_of(actor)->tenure : hold ? hold->id : 0;
}
