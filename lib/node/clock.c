/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - see clock.h. */
#include "node/clock.h"

#include "node/node.h"

enum { RTT_SAMPLES_MAX = 8, RATES_PART = 100 };

void hl_clock_add_round_trip(struct hl_node *node, uint64_t took_us)
{
    uint64_t most_us = 2 * node->mean_rtt_us;
    if (took_us < node->min_rtt_us)
        node->min_rtt_us = took_us;
    node->rtt_samples += node->rtt_samples < RTT_SAMPLES_MAX;
    took_us = took_us > most_us ? most_us : took_us;
    node->mean_rtt_us = (node->mean_rtt_us * (node->rtt_samples - 1) + took_us) / node->rtt_samples;
}

void hl_clock_learn(struct hl_node *node, uint64_t server_us, uint64_t asked_us)
{
    uint64_t took_us = hl_now_us(node->host) - asked_us;
    node->server_us = server_us;
    node->time_sent_us = asked_us;
    node->clock_error_us = took_us > node->clock_error_us ? took_us : node->clock_error_us;
}

void hl_clock_raise(struct hl_node *node, uint64_t server_us)
{
    uint64_t known_us = hl_clock_server_us(node);
    int is_news = known_us && server_us > known_us;
    if (!is_news)
        return;
    node->server_us = server_us;
    node->time_sent_us = hl_now_us(node->host);
}

uint64_t hl_clock_server_us(const struct hl_node *node)
{
    return node->server_us ? node->server_us + (hl_now_us(node->host) - node->time_sent_us) : 0;
}

uint64_t hl_clock_not_after_ms(const struct hl_node *node, uint64_t sent_us)
{
    uint64_t age_us = sent_us > node->time_sent_us ? sent_us - node->time_sent_us : 0;
    if (!node->server_us)
        return 0;
    return (node->server_us + age_us - age_us / RATES_PART) / 1000 + node->options.command_timeout_ms + 1;
}
