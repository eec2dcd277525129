/* SPDX-License-Identifier: BSD-3-Clause */
/* recent - see recent.h. A ring: a new one replaces the oldest. */
#include "hold/recent.h"

#include "base/plant.h"
#include "hold/ending.h"

enum { RECENT_MAX = 1024 };

struct released {
    struct hl_name *name;   /* NULL: none; referenced */
    struct hl_terms *terms; /* referenced */
    uint64_t id, at_us;
};

struct hl_recent {
    unsigned next;
    struct released ring[RECENT_MAX];
};

static void forget(struct hl_core *core, struct released *released)
{
    if (!released->name)
        return;
    hl_name_unref(core, &core->host.memory, released->name);
    hl_terms_unref(released->terms);
    released->name = NULL;
}

void hl_recent_add(const struct hl_hold *hold)
{
    struct hl_core *core = hl_hold_core(hold);
    struct released *released;
    if (!(core->route->ops->can_forget || hold->terms->kind->has_queue))
        return;
    if (!core->recent)
        core->recent = hl_memory_new(&core->host.memory, sizeof *core->recent);
    if (!core->recent)
        return;
    released = &core->recent->ring[core->recent->next];
    core->recent->next = (core->recent->next + 1) % RECENT_MAX;
    forget(core, released);
    *released = (struct released){hold->name, hold->terms, hold->id, hold->request.node->active_us};
    hold->name->refs++;
    hold->terms->refs++;
}

/* Its server is another one, or another run, than the one that acknowledged it; and its lease and its place in a queue
 * have not ended yet at a server where they came back. */
static int may_be_back(struct hl_core *core, const struct released *released)
{
    const struct hl_node *node = hl_name_node(core, released->name);
    int is_another = node->moved_us >= released->at_us || node->server_info.started_us >= (int64_t)released->at_us;
    uint64_t queue_ms = released->terms->kind->has_queue ? HL_FAIR_ALIVE_MS + HL_FAIR_WINDOW_MS : 0;
    uint64_t lasts_us = hl_terms_lease_us(released->terms) + queue_ms * 1000;
    if (HL_PLANTED(LOST_RELEASES_IGNORED))
        return 0;
    return is_another && released->at_us + lasts_us >= hl_now_us(&core->host);
}

void hl_recent_repeat(struct hl_core *core)
{
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++) {
        struct released *released = &core->recent->ring[i];
        const struct hilock_lock some = {.terms = released->terms, .name = released->name};
        if (some.name && may_be_back(core, released) && hl_ending_of(core, &some, released->id, END_REPEATED))
            forget(core, released); /* else without memory: when a link comes up again */
    }
}

void hl_recent_free(struct hl_core *core)
{
    for (unsigned i = 0; core->recent && i < RECENT_MAX; i++)
        forget(core, &core->recent->ring[i]);
    hl_memory_free(&core->host.memory, core->recent);
    core->recent = NULL;
}
