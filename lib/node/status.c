/* SPDX-License-Identifier: BSD-3-Clause */
/* status - whether a node can be asked now, and since when. See node.h. */
#include "base/plant.h"
#include "node/node.h"

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
    return node->is_up && (!oldest || now_us - oldest->sent_us <= patience_us || HL_PLANTED(QUORUM_NO_BREAKER));
}

uint64_t hl_node_guard_left_us(const struct hl_node *node, uint64_t now_us)
{
    int64_t left_us = node->server_info.started_us + (int64_t)node->options.restart_guard_ms * 1000 - (int64_t)now_us;
    return node->options.restart_guard_ms && left_us > 0 ? (uint64_t)left_us : 0;
}

/* A sentinel matters to all holds. */
uint64_t hl_node_left_us(void *arg)
{
    struct hl_node *node = arg;
    const struct hl_node_options *options = &node->options;
    return options->left_us ? options->left_us(options->left_arg, options->is_sentinel ? NULL : hl_node_parent(node))
                            : UINT64_MAX;
}

void hl_node_guard_words(const struct hl_node *node, uint64_t now_us, struct hl_text *text)
{
    uint64_t left_us = hl_node_guard_left_us(node, now_us), up_us = now_us - (uint64_t)node->server_info.started_us;
    hl_text_set(text, "%s started %u s ago: it grants nothing for another %u s (restart_guard_ms)", hl_node_name(node),
                (unsigned)(up_us / 1000000), (unsigned)((left_us + 999999) / 1000000));
}

const char *hl_node_name(const struct hl_node *node) { return node->options.session.endpoint.name; }
const struct hl_address *hl_node_address(const struct hl_node *node) { return &node->options.session.endpoint.address; }
const char *hl_node_why(const struct hl_node *node) { return node->session.why.bytes; }

void hl_node_fault(struct hl_node *node, const char *what)
{
    hl_trace(node->host, HL_NODE_FAULT, &(struct hl_fact){.node = hl_node_name(node), .detail = what});
}
