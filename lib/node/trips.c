/* SPDX-License-Identifier: BSD-3-Clause */
/* trips - what a node's answers show of the network and of its clock. See node.h. */
#include "node/node.h"

enum { TRIPS_MAX = 8 };

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

void hl_node_sample(struct hl_node *node, const struct hl_reply *reply, uint64_t asked_us)
{
    const struct hl_reply *seconds = hl_reply_item(reply, 0, HL_REPLY_STRING),
                          *micros = hl_reply_item(reply, 1, HL_REPLY_STRING);
    uint64_t s, us;
    node->quickest_us = node->usual_us = hl_now_us(node->host) - asked_us;
    node->trips = 0;
    if (seconds && micros && hl_reply_decimal(seconds->bytes, seconds->length, &s) &&
        hl_reply_decimal(micros->bytes, micros->length, &us))
        hl_node_learn_time(node, s * 1000000 + us, asked_us);
}

