/* SPDX-License-Identifier: BSD-3-Clause */
/* grants - see grants.h. */
#include "lock/grants.h"

#include "base/plant.h"
#include "lock/ending.h"
#include "lock/fair.h"
#include "lock/gate.h"
#include "lock/hold.h"
#include "lock/turn.h"

enum { PACE_US = 20, UNDONE_MAX = 256, UNDONE_SPAN_US = 1000000 };

struct hl_grants {
    TAILQ_ENTRY(hl_grants) entry; /* in core->grants */
    struct hl_core *core;
    struct hl_node *node;
    struct hl_channel *channel;
    int is_refused;
    uint64_t undone_since_us; /* of the grants that nobody knew, only so many are released a second: the rest lapse */
    unsigned undone;
};

void hl_grants_init(struct hl_core *core)
{
    TAILQ_INIT(&core->grants);
    hl_table_init(&core->fair_waits, &core->host.memory, core->names.seed[0], core->names.seed[1]);
    hl_fair_channel(core->grant_channel, core->uuid);
}

void hl_grants_done(struct hl_core *core)
{
    struct hl_grants *grants;
    while ((grants = TAILQ_FIRST(&core->grants)) != NULL) {
        TAILQ_REMOVE(&core->grants, grants, entry);
        hl_channel_close(grants->channel);
        hl_memory_free(&core->host.memory, grants);
    }
    if (core->fair_terms)
        hl_terms_unref(core->fair_terms);
    core->fair_terms = NULL;
}

/* ---- what is pushed ---- */

static int is_too_much(struct hl_grants *grants)
{
    uint64_t now_us = hl_now_us(&grants->core->host);
    if (now_us - grants->undone_since_us > UNDONE_SPAN_US) {
        grants->undone_since_us = now_us;
        grants->undone = 0;
    }
    return ++grants->undone > UNDONE_MAX;
}

void hl_grants_undo(struct hl_core *core, struct hl_name *name, uint64_t id)
{
    const struct hilock_lock some = {.terms = core->fair_terms, .name = name};
    if (core->fair_terms && hl_ending_of(core, &some, id))
        hl_trace(&core->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = name->bytes});
}

/* Held already, found by a heartbeat that was faster: then it is no news. */
static void on_unknown(struct hl_grants *grants, const struct hl_push *push)
{
    struct hl_core *core = grants->core;
    struct hl_name *name;
    if (push->id > core->id_last || is_too_much(grants) || HL_PLANTED(FAIR_UNKNOWN_KEPT))
        return;
    name = hl_name_ref(core, push->name, push->name_length);
    if (!name)
        return;
    if (!name->hold || name->hold->id != push->id)
        hl_grants_undo(core, name, push->id);
    hl_name_unref(core, &core->host.memory, name);
}

static void on_push(struct hl_grants *grants, const struct hl_reply *message)
{
    const struct hl_push push = hl_fair_heard(message, grants->core->uuid);
    struct hl_table_entry *entry = hl_table_find(&grants->core->fair_waits, (const char *)&push.id, sizeof push.id);
    struct hl_fair *fair = entry ? (struct hl_fair *)(void *)((char *)entry - offsetof(struct hl_fair, entry)) : NULL;
    switch (push.what) {
    case HL_PUSH_NONSENSE: break;
    case HL_PUSH_GRANT:
        if (fair)
            hl_fair_granted(fair, grants->node, &push);
        else
            on_unknown(grants, &push);
        break;
    case HL_PUSH_YIELD:
        if (fair)
            hl_fair_yielded(fair, &push);
        break;
    }
}

static void wake_all(struct hl_grants *grants)
{
    struct hl_core *core = grants->core;
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->fair_waits, entry)) != NULL) {
        struct hl_fair *fair = (struct hl_fair *)(void *)((char *)entry - offsetof(struct hl_fair, entry));
        if (fair->node == grants->node)
            hl_fair_wake(fair, (uint64_t)core->waiting * PACE_US);
    }
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_grants *grants = arg;
    switch (event) {
    case HL_CHANNEL_ON:
        grants->is_refused = 0;
        wake_all(grants);
        break;
    case HL_CHANNEL_MESSAGE: on_push(grants, message); break;
    case HL_CHANNEL_OFF: break; /* who asks meanwhile is passed over, and keeps the place */
    case HL_CHANNEL_REFUSED:
        grants->is_refused = 1;
        wake_all(grants);
        break;
    }
}

/* ---- channels ---- */

static struct hl_grants *grants_at(struct hl_core *core, struct hl_node *node)
{
    struct hl_grants *grants;
    TAILQ_FOREACH(grants, &core->grants, entry)
        if (grants->node == node)
            return grants;
    grants = hl_memory_new(&core->host.memory, sizeof *grants);
    if (!grants)
        return NULL;
    grants->core = core;
    grants->node = node;
    grants->channel = hl_channel_open(&node->subscription, core->grant_channel, strlen(core->grant_channel), on_channel, grants);
    if (!grants->channel) {
        hl_memory_free(&core->host.memory, grants);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&core->grants, grants, entry);
    return grants;
}

const char *hl_grants_channel(struct hl_core *core, struct hl_node *node)
{
    const struct hl_grants *grants = grants_at(core, node);
    return grants && !grants->is_refused ? core->grant_channel : "";
}

void hl_grants_warm(struct hl_core *core, const struct hilock_lock *lock)
{
    if (!core->fair_terms) {
        core->fair_terms = lock->terms;
        lock->terms->refs++;
    }
    if (!lock->terms->is_polling)
        (void)grants_at(core, hl_route_node(core->route, lock->name->bytes, lock->name->length));
}
