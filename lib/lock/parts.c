/* SPDX-License-Identifier: BSD-3-Clause */
/* parts - how the parts of a hold stand, all told. */
#include "lock/hold.h"

#include "base/plant.h"

unsigned hl_hold_count(const struct hl_hold *hold, enum hl_part_state state)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hold->parts[i].state == state;
    return found;
}

unsigned hl_hold_heard(const struct hl_hold *hold, enum hl_part_heard heard)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hold->parts[i].heard == heard && !hold->parts[i].is_behind;
    return found;
}

int hl_hold_is_quorum(const struct hl_hold *hold) { return hold->parts_count > 1 && hold->parts[0].name == hold->parts[1].name; }

const struct hl_part *hl_hold_weakest(const struct hl_hold *hold)
{
    const struct hl_part *weakest = hold->parts;
    for (const struct hl_part *part = hold->parts; part < hold->parts + hold->parts_count; part++) {
        if (part->state != PART_OURS)
            return part;
        if (part->deadline_us < weakest->deadline_us)
            weakest = part;
    }
    return weakest;
}

struct hl_share *hl_part_share(struct hl_hold *hold, const struct hl_part *part)
{
    return hold->parts_count > 1 ? (struct hl_share *)(void *)(hold->parts + hold->parts_count) + part->index : NULL;
}

/* The needed-th longest of the deadlines that stand: until then enough parts are ours. */
uint64_t hl_hold_deadline_us(const struct hl_hold *hold)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < hold->parts_count; i++) {
        unsigned as_long = 0;
        for (unsigned j = 0; j < hold->parts_count; j++)
            as_long += hold->parts[j].state == PART_OURS && hold->parts[j].deadline_us >= hold->parts[i].deadline_us;
        if (as_long >= hold->needed && hold->parts[i].state == PART_OURS && hold->parts[i].deadline_us > best)
            best = hold->parts[i].deadline_us;
    }
    return best;
}

unsigned hl_hold_asking(const struct hl_hold *hold)
{
    unsigned found = 0;
    for (unsigned i = 0; i < hold->parts_count; i++)
        found += hl_request_is_busy(&hold->parts[i].request) != 0;
    return found;
}

/* Nothing of its id is at the store, nor will be: it was never asked for, or each answer was a no. */
int hl_hold_is_blank(const struct hl_hold *hold)
{
    return hl_hold_count(hold, PART_CLEAR) == hold->parts_count && !hl_hold_asking(hold);
}

uint64_t hl_hold_max_ends_us(const struct hl_hold *hold)
{
    return hold->terms->hold_max_ms && !HL_PLANTED(HOLD_MAX_IGNORED) ? hold->since_us + (uint64_t)hold->terms->hold_max_ms * 1000 : UINT64_MAX;
}

uint64_t hl_hold_ends_us(const struct hl_hold *hold)
{
    uint64_t deadline_us = hl_hold_deadline_us(hold), max_us = hl_hold_max_ends_us(hold);
    return deadline_us < max_us ? deadline_us : max_us;
}

/* The turns of a hold have its token and those behind it, which its acquire set aside. The store and renewals know the first alone. */
uint64_t hl_hold_token(const struct hl_hold *hold)
{
    unsigned turn = HL_PLANTED(HANDOFF_TOKEN_SAME) ? 0 : hold->turn;
    if (hold->parts_count != 1 || !hold->parts[0].token)
        return 0;
    return hold->parts[0].token + turn - HL_PLANTED(TOKEN_STALE);
}

uint32_t hl_hold_entries(const struct hl_hold *hold) { return 1 + (hold->side ? hold->side->entries_count : 0); }

uint32_t hl_hold_votes(const struct hl_hold *hold) { return hl_hold_is_quorum(hold) ? hl_hold_count(hold, PART_OURS) : 0; }
