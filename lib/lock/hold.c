/* SPDX-License-Identifier: BSD-3-Clause */
/* hold - its memory, its alarm, and how its parts stand, all told. Asking is in asking.c, renewal in watchdog.c, the end in ending.c. */
#include "lock/hold.h"

#include "base/contract.h"
#include "base/plant.h"
#include "lock/name.h"
#include "lock/notice.h"
#include "lock/side.h"
#include "lock/terms.h"

static void init_part(struct hl_core *core, struct hl_part *part, unsigned index, struct hl_name *name)
{
    part->request.ops = core->hold_requests;
    part->index = (uint8_t)index;
    part->name = name;
    name->refs++;
}

struct hl_hold *hl_hold_new(struct hl_core *core, const struct hilock_lock *lock)
{
    struct hl_terms *terms = lock->terms;
    const struct hl_route *route = core->route;
    unsigned count = terms->multi ? terms->multi->count : hl_route_members(route);
    struct hl_hold *hold = hl_memory_new(&core->host.memory, sizeof *hold + count * sizeof hold->parts[0] + (count > 1) * count * sizeof(struct hl_share));
    if (!hold)
        return NULL;
    if (hl_alarm_begin(&core->hold_alarms, &hold->alarm) != 0) {
        hl_memory_free(&core->host.memory, hold);
        return NULL;
    }
    hold->notice.ops = core->owner->notice;
    hold->terms = terms;
    terms->refs++;
    hold->parts_count = (uint8_t)count;
    hold->needed = route->masters ? route->needed : (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        init_part(core, &hold->parts[i], i, terms->multi ? terms->multi->of[i] : lock->name);
    core->live_holds++;
    TAILQ_INSERT_TAIL(&core->live, hold, live);
    return hold;
}

void hl_hold_free(struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    for (unsigned i = 0; i < hold->parts_count; i++) {
        HL_REQUIRE(!hl_request_is_busy(&hold->parts[i].request)); /* only a blank one is freed; a teardown forgets requests first */
        hl_name_unref(core, &core->host.memory, hold->parts[i].name);
    }
    hl_notice_cancel(core, &hold->notice);
    TAILQ_REMOVE(&core->live, hold, live);
    core->unheld -= hold->is_unheld;
    hl_alarm_end(&core->hold_alarms, &hold->alarm);
    hl_side_free(core, hold);
    hl_terms_unref(hold->terms);
    hl_memory_free(&core->host.memory, hold);
    if (--core->live_holds == 0 && core->is_closing)
        hl_host_wake(&core->host);
}

void hl_hold_wake_at(struct hl_hold *hold, uint64_t at_us)
{
    struct hl_core *core = hl_hold_core(hold);
    uint64_t now_us = hl_now_us(&core->host);
    hold->due_us = at_us == UINT64_MAX ? 0 : at_us < now_us ? now_us : at_us;
    if (at_us == UINT64_MAX)
        hl_alarm_stop(&core->hold_alarms, &hold->alarm);
    else
        hl_alarm_set(&core->hold_alarms, &hold->alarm, at_us);
}

static struct hl_node *node_of(const struct hl_hold *hold, unsigned i)
{
    struct hl_route *route = hl_hold_core(hold)->route;
    const struct hl_name *name = hold->parts[i].name;
    return route->ops->node_of(route, &(struct hl_about){name->bytes, name->length, i});
}

int hl_hold_is_at(const struct hl_hold *hold, const struct hl_node *node)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (node_of(hold, i) == node)
            return 1;
    return 0;
}

int hl_hold_has_moved(const struct hl_hold *hold)
{
    for (unsigned i = 0; i < hold->parts_count; i++)
        if (!hold->parts[i].request.node || hl_node_home(hold->parts[i].request.node) != node_of(hold, i))
            return 1;
    return 0;
}

/* ---- its parts, all told ---- */

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

uint32_t hl_hold_asked_ms(const struct hl_hold *hold) { return hold->side && hold->side->asked_ms ? hold->side->asked_ms : hold->terms->lease_ms; }

unsigned hl_hold_reserved(const struct hl_hold *hold)
{
    return hold->terms->kind->hands_on && hold->parts_count == 1 ? hl_hold_core(hold)->limits.turns_max - 1 : 0;
}

/* A hold that a visit makes stands at the end, and is not held yet. */
void hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    struct hl_hold *hold, *next;
    for (hold = TAILQ_FIRST(&core->live); hold; hold = next) {
        next = TAILQ_NEXT(hold, live);
        if (hold->state == HOLD_HELD)
            visit(hold, arg);
    }
}
