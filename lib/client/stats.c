/* SPDX-License-Identifier: BSD-3-Clause */
/* stats - statistics given to the program: a copy of the client's counters, with what is counted where it stands; and sums of them. */
#include "client/stats.h"

#include "client/client.h"

void hilock_client_stats(const hilock_client *client, struct hilock_stats *ret_stats)
{
    struct hilock_stats stats;
    const struct hl_core *core;
    size_t size = ret_stats ? ret_stats->size : 0;
    if (size < sizeof size || (client && hl_client_admit(client) != HILOCK_OK))
        return;
    memset(&stats, 0, sizeof stats);
    if (client) {
        core = &client->core;
        stats = client->stats;
        stats.waiting = core->waiting;
        stats.held = core->held;
        stats.locks = core->locks;
        stats.wrong_thread = atomic_load_explicit(&core->cell->wrong_thread, memory_order_relaxed);
        for (struct hl_node *node; (node = core->route->ops->node_at(core->route, stats.nodes)) != NULL; stats.nodes++) {
            stats.inflight += node->sent_count;
            stats.nodes_up += node->is_up ? 1u : 0u;
        }
    }
    stats.size = size;
    memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

static void add_histogram(struct hilock_histogram *total, const struct hilock_histogram *part)
{
    total->count += part->count;
    total->sum_ms += part->sum_ms;
    for (size_t i = 0; i < HILOCK_BUCKETS; i++)
        total->buckets[i] += part->buckets[i];
}

void hl_stats_read(struct hilock_stats *to, const struct hilock_stats *stats)
{
    size_t size = stats ? stats->size : 0;
    memset(to, 0, sizeof *to);
    if (size >= sizeof size)
        memcpy(to, stats, size < sizeof *to ? size : sizeof *to);
}

/* Between size and the gauges stand counters only, one after the other. */
static void add(struct hilock_stats *total, const struct hilock_stats *part)
{
    uint64_t *to = &total->acquires;
    const uint64_t *from = &part->acquires;
    for (size_t i = 0; i < (offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires)) / sizeof *to; i++)
        to[i] += from[i];
    total->waiting += part->waiting;
    total->held += part->held;
    total->locks += part->locks;
    total->inflight += part->inflight;
    total->nodes_up += part->nodes_up;
    total->nodes += part->nodes;
    add_histogram(&total->wait, &part->wait);
    add_histogram(&total->hold, &part->hold);
    add_histogram(&total->command, &part->command);
}

void hilock_stats_add(struct hilock_stats *total, const struct hilock_stats *part)
{
    struct hilock_stats sum, more;
    size_t size = total ? total->size : 0;
    if (size < sizeof size)
        return;
    hl_stats_read(&sum, total);
    hl_stats_read(&more, part);
    add(&sum, &more);
    memcpy(total, &sum, size < sizeof sum ? size : sizeof sum);
}
