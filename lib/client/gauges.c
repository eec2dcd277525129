/* SPDX-License-Identifier: BSD-3-Clause */
/* gauges - see gauges.h. */
#include "client/gauges.h"

#include "core/discipline.h"
#include "core/lock.h"
#include "hold/hold.h"

enum { AGING_US = 1000000 };

static void keep_older(uint64_t *oldest_us, uint64_t since_us)
{
    if (!*oldest_us || since_us < *oldest_us)
        *oldest_us = since_us;
}

struct hl_census hl_gauges_census(const struct hl_core *core)
{
    struct hl_census census = {0};
    const struct hilock_lock *lock;
    TAILQ_FOREACH(lock, &core->handles, entry) {
        const struct hl_snapshot now = lock->ops->snapshot(lock);
        if (now.state != HILOCK_STATE_IDLE)
            keep_older(now.state == HILOCK_STATE_HELD ? &census.hold_since_us : &census.wait_since_us, now.since_us);
        /* a downgrade changes the terms of the hold alone */
        const struct hl_terms *terms = lock->hold ? lock->hold->terms : lock->terms;
        if (now.state != HILOCK_STATE_HELD || hl_holds_alone(terms) || hl_hold_handle(lock->hold) != lock)
            continue; /* handles that count on one share count once */
        census.shares++;
        census.permits += terms->holders_max < HL_HOLDERS_ANY;
    }
    return census;
}

static void publish(atomic_uint *gauge, unsigned value)
{
    atomic_store_explicit(gauge, value, memory_order_relaxed);
}

/* Visits all handles, so it does that at most once a second, and only once another thread has read the statistics. */
static void publish_census(struct hilock_client *client)
{
    struct hl_gauges *gauges = &client->gauges;
    uint64_t now_us = client->core.host.turned_us;
    if (!atomic_load_explicit(&gauges->are_ages_wanted, memory_order_relaxed) || now_us - gauges->aged_us < AGING_US)
        return;
    const struct hl_census census = hl_gauges_census(&client->core);
    gauges->aged_us = now_us;
    atomic_store_explicit(&gauges->hold_since_us, census.hold_since_us, memory_order_relaxed);
    atomic_store_explicit(&gauges->wait_since_us, census.wait_since_us, memory_order_relaxed);
    publish(&gauges->shares, census.shares);
    publish(&gauges->permits, census.permits);
}

void hl_gauges_publish(struct hilock_client *client)
{
    struct hl_core *core = &client->core;
    struct hl_gauges *gauges = &client->gauges;
    unsigned nodes = 0, nodes_up = 0, inflight = 0;
    struct hl_node *node;
    for (; (node = core->route->ops->node_at(core->route, nodes)) != NULL; nodes++) {
        inflight += node->sent_count;
        nodes_up += node->is_up ? 1u : 0u;
    }
    publish(&gauges->waiting, core->waiting);
    publish(&gauges->held, core->held);
    publish(&gauges->locks, client->handles);
    publish(&gauges->inflight, inflight);
    publish(&gauges->nodes_up, nodes_up);
    publish(&gauges->nodes, nodes);
    publish_census(client);
}
