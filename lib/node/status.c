/* SPDX-License-Identifier: BSD-3-Clause */
/* status - whether a node can be asked now, and since when; what its answers show of the network and of its clock. See
 * node.h. */
#include "base/plant.h"
#include "node/node.h"

enum { TRIPS_MAX = 8 };

uint64_t hl_node_since_us(const struct hl_node *node)
{
    uint64_t commands_us = node->session.opened_us, channels_us = node->subscription.session.opened_us;
    if (!commands_us || !channels_us)
        return UINT64_MAX;
    return commands_us > channels_us ? commands_us : channels_us;
}

int hl_node_is_linked_since(const struct hl_node *node, uint64_t at_us)
{
    return node->is_up && node->session.opened_us < at_us;
}

uint64_t hl_node_not_after_ms(const struct hl_node *node, uint64_t now_us)
{
    if (!node->server_us)
        return 0;
    return (node->server_us + (now_us - node->time_sent_us)) / 1000 + node->options.command_timeout_ms + 1;
}

int hl_node_is_able(const struct hl_node *node, uint64_t now_us, uint64_t patience_us)
{
    const struct hl_request *oldest = hl_node_oldest(node);
    if (HL_PLANTED(QUORUM_NO_BREAKER))
        return node->is_up;
    return node->is_up && (!oldest || now_us - oldest->sent_us <= patience_us);
}

uint64_t hl_node_guard_left_us(const struct hl_node *node, uint64_t now_us)
{
    int64_t left_us = node->server_info.started_us + (int64_t)node->options.restart_guard_ms * 1000 - (int64_t)now_us;
    return node->options.restart_guard_ms && left_us > 0 ? (uint64_t)left_us : 0;
}

int hl_node_is_guarded(const struct hl_node *node) { return hl_node_guard_left_us(node, hl_now_us(node->host)) > 0; }

void hl_node_guard_words(const struct hl_node *node, uint64_t now_us, struct hl_text *text)
{
    uint64_t left_us = hl_node_guard_left_us(node, now_us), up_us = now_us - (uint64_t)node->server_info.started_us;
    hl_text_set(text, "%s started %u s ago: it grants nothing for another %u s (restart_guard_ms)", hl_node_name(node),
                (unsigned)(up_us / 1000000), (unsigned)((left_us + 999999) / 1000000));
}

const char *hl_node_name(const struct hl_node *node) { return node->options.session.endpoint.name; }
const struct hl_address *hl_node_address(const struct hl_node *node) { return &node->options.session.endpoint.address; }
const char *hl_node_why(const struct hl_node *node) { return node->session.why.bytes; }

void hl_node_report(struct hl_node *node, enum hl_what what, const char *detail)
{
    hl_trace(node->host, what, &(struct hl_fact){.node = hl_node_name(node), .detail = detail});
}

/* ---- its answers ---- */

void hl_node_learn_time(struct hl_node *node, uint64_t server_us, uint64_t asked_us)
{
    node->server_us = server_us;
    node->time_sent_us = asked_us;
    if (hl_now_us(node->host) - asked_us > node->round_trip_us)
        node->round_trip_us = hl_now_us(node->host) - asked_us;
}

/* A very long one (the process stood still) counts as twice the usual. */
void hl_node_saw_trip(struct hl_node *node, uint64_t took_us)
{
    uint64_t most_us = 2 * node->usual_us;
    if (took_us < node->quickest_us)
        node->quickest_us = took_us;
    node->trips += node->trips < TRIPS_MAX;
    took_us = took_us > most_us ? most_us : took_us;
    node->usual_us = (node->usual_us * (node->trips - 1) + took_us) / node->trips;
}
