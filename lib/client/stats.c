/* SPDX-License-Identifier: BSD-3-Clause */
/* stats - statistics for the program: a copy of the client's counters and gauges; and sums of them. */
#include "client/stats.h"

#include "client/client.h"
#include "group/group.h"
#include "lock/lease.h"
#include "lock/lock.h"

struct ages { uint64_t now_us, hold_us, wait_us; };

static uint64_t later(uint64_t one, uint64_t other) { return one > other ? one : other; }

static void age(const struct hilock_lock *lock, void *arg)
{
    struct ages *ages = arg;
    const struct hl_look look = lock->ops->look(lock, ages->now_us);
    if (look.state == HILOCK_STATE_WAITING)
        ages->wait_us = later(ages->wait_us, ages->now_us - look.since_us);
    else if (look.state == HILOCK_STATE_HELD)
        ages->hold_us = later(ages->hold_us, ages->now_us - look.since_us);
}

void hilock_client_stats(const hilock_client *client, struct hilock_stats *ret_stats)
{
    struct hilock_stats stats;
    const struct hl_core *core;
    struct ages ages = {0};
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
        ages.now_us = hl_now_us(&core->host);
        hl_groups_visit(core, age, &ages);
        stats.oldest_hold_ms = hl_lease_span_ms(ages.hold_us);
        stats.oldest_wait_ms = hl_lease_span_ms(ages.wait_us);
        stats.wrong_thread = atomic_load_explicit(&core->cell->wrong_thread, memory_order_relaxed);
        for (struct hl_node *node; (node = core->route->ops->node_at(core->route, stats.nodes)) != NULL;
             stats.nodes++) {
            stats.inflight += node->sent_count;
            stats.nodes_up += node->is_up ? 1u : 0u;
        }
    }
    stats.size = size;
    memcpy(ret_stats, &stats, size < sizeof stats ? size : sizeof stats);
}

void hl_stats_read(struct hilock_stats *to, const struct hilock_stats *stats)
{
    size_t size = stats ? stats->size : 0;
    memset(to, 0, sizeof *to);
    if (size >= sizeof size)
        memcpy(to, stats, size < sizeof *to ? size : sizeof *to);
}

static void add_numbers(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

/* Between size and the gauges are only counters, without gaps; and so are the histograms behind them. */
static void add(struct hilock_stats *total, const struct hilock_stats *part)
{
    add_numbers(&total->acquires, &part->acquires,
                offsetof(struct hilock_stats, waiting) - offsetof(struct hilock_stats, acquires));
    add_numbers(&total->wait.count, &part->wait.count, sizeof *total - offsetof(struct hilock_stats, wait));
    total->waiting += part->waiting;
    total->held += part->held;
    total->locks += part->locks;
    total->inflight += part->inflight;
    total->nodes_up += part->nodes_up;
    total->nodes += part->nodes;
    if (total->oldest_hold_ms < part->oldest_hold_ms)
        total->oldest_hold_ms = part->oldest_hold_ms;
    if (total->oldest_wait_ms < part->oldest_wait_ms)
        total->oldest_wait_ms = part->oldest_wait_ms;
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
