/* SPDX-License-Identifier: BSD-3-Clause */
/* courtesy - see courtesy.h. */
#include "lock/courtesy.h"

#include "base/plant.h"

enum { SPAN_US = 1000, SPAN_MAX_US = 250000, BEHIND_MAX = 31 };

/* Two round trips as they usually are, for the latest may have been that of a process that stood still; and bounded, for it may have been the
 * only one. With the quickest that was ever seen, on a way that takes unequal times, who was served would be back before the others have heard. */
uint64_t hl_courtesy_span_us(struct hl_core *core, const struct hl_name *name)
{
    const struct hl_node *node = hl_route_node(core->route, name->bytes, name->length);
    uint64_t span_us = 2 * hl_route_usual_trip_us(core->route, name->bytes, name->length);
    if (HL_PLANTED(HOLD_BACK_UNBOUNDED))
        return 2 * node->round_trip_us;
    return span_us < SPAN_US ? SPAN_US : span_us > SPAN_MAX_US ? SPAN_MAX_US : span_us;
}

void hl_courtesy_for(struct hl_courtesy *courtesy, struct hl_core *core, uint64_t span_us)
{
    courtesy->until_us = (hl_now_us(&core->host) + span_us) & (UINT64_MAX >> 5); /* what it has bits for: more than any clock tells */
}

static void hold_back(struct hl_courtesy *courtesy, struct hl_core *core, const struct hl_name *name)
{
    uint64_t span_us = hl_courtesy_span_us(core, name);
    hl_courtesy_for(courtesy, core, span_us + hl_random_below(&core->host.random, span_us / 2));
}

/* Our own subscription may be on though nobody waits any more: it lingers. */
uint64_t hl_courtesy_others(struct hl_core *core, const struct hl_name *name, uint64_t listeners)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_channel_write(channel, name->bytes, name->length);
    return listeners ? listeners - (hl_subscription_hears(&hl_route_node(core->route, name->bytes, name->length)->subscription, channel, length) != 0) : 0;
}

void hl_courtesy_begin(struct hl_courtesy *courtesy, struct hl_core *core, const struct hl_name *name, uint64_t listeners)
{
    uint64_t others = hl_courtesy_others(core, name, listeners);
    courtesy->behind = (others < BEHIND_MAX ? others : BEHIND_MAX) & BEHIND_MAX;
    if (others)
        hold_back(courtesy, core, name);
}

/* Not while one lasts: messages in quick succession would put off our question again and again. */
void hl_courtesy_go_on(struct hl_courtesy *courtesy, struct hl_core *core, const struct hl_name *name)
{
    if (courtesy->behind && courtesy->until_us <= hl_now_us(&core->host) && !HL_PLANTED(HOLD_BACK_ONCE))
        hold_back(courtesy, core, name);
}

void hl_courtesy_come_back(struct hl_courtesy *courtesy, struct hl_core *core)
{
    if (courtesy->until_us <= hl_now_us(&core->host))
        courtesy->behind = 0;
}

void hl_courtesy_done(struct hl_courtesy *courtesy)
{
    if (courtesy->behind)
        courtesy->behind--;
}
