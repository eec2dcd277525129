/* SPDX-License-Identifier: BSD-3-Clause */
/* channel - see channel.h. */
#include "lock/channel.h"

#include "base/plant.h"
#include "lock/ballot.h"
#include "lock/courtesy.h"
#include "lock/fair.h"
#include "lock/gate_inside.h"
#include "lock/lease.h"
#include "lock/wait.h"

enum { PACE_US = 20 };

/* News is written down even while a request is out: its answer may be older than the news. Of those in the store's queue it concerns who is next
 * there, and who has not heard its place yet: behind the first one that has another place nobody is. */
static void news(struct hl_gate *gate)
{
    struct hl_acquire *acquire;
    gate->news_us = hl_now_us(&gate->core->host);
    hl_gate_advance(gate, 1);
    TAILQ_FOREACH(acquire, &gate->queued, line)
    {
        if (hl_fair_of(acquire)->position > 1)
            break;
        gate->core->waiter->wake(acquire, 0);
    }
}

static unsigned heard_at(const struct hl_gate *gate)
{
    unsigned heard = 0;
    for (unsigned i = 0; i < hl_route_members(gate->core->route); i++)
        heard += gate->channels[i] && hl_listener_is_on(gate->channels[i]);
    return heard;
}

/* From one master at least comes word of every release of so many votes as a hold needs. */
static unsigned enough_to_hear(const struct hl_route *route) { return route->masters ? route->masters - route->needed + 1u : 1u; }

/* All who wait hear of a release at the same time, and from every master: the first of the line here asks in order (ballot.h). Whose lease is too
 * short for that comes at random, not again while it lasts. */
static void line_up(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    struct hl_acquire *head = TAILQ_FIRST(&gate->line);
    uint64_t span_us = hl_courtesy_span_us(core, gate->name);
    if (!head || !core->route->masters)
        return;
    head->halvings = 1;
    if (head->hold && !hl_ballot_can_order(head) && gate->courtesy.until_us + span_us < hl_now_us(&core->host))
        hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, (1 + gate->name->crowd) * span_us));
}

/* All who wait for this name come within as many turns as they are. */
static void cut_pause(struct hl_gate *gate)
{
    struct hl_core *core = gate->core;
    uint64_t most_us = (1 + gate->name->crowd) * hl_courtesy_span_us(core, gate->name);
    uint64_t left_us = hl_left_us(gate->yields_until_us, hl_now_us(&core->host));
    if (gate->courtesy.until_us == gate->yields_until_us && left_us > most_us)
        hl_courtesy_for(&gate->courtesy, core, hl_random_below(&core->host.random, most_us));
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_gate *gate = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        gate->is_deaf = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY) && heard_at(gate) == enough_to_hear(gate->core->route))
            news(gate);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&gate->core->host, HL_WAKEUP, &(struct hl_fact){.name = gate->name->bytes});
        cut_pause(gate);
        hl_courtesy_go_on(&gate->courtesy, gate->core, gate->name);
        line_up(gate);
        if (!HL_PLANTED(WAKE_IGNORED))
            news(gate);
        break;
    case HL_CHANNEL_OFF: break;
    case HL_CHANNEL_REFUSED:
        gate->is_deaf = 1;
        news(gate); /* whoever sleeps counts on messages: it polls from here on */
        break;
    }
}

/* A channel that lingers is on at once, but what came before somebody listened is lost: that too asks for a second try. */
static void listen(struct hl_gate *gate)
{
    const struct hl_name *name = gate->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_channel_write(channel, name->bytes, name->length);
    for (unsigned i = 0; i < hl_route_members(gate->core->route); i++) {
        struct hl_node *node = hl_route_member(gate->core->route, name->bytes, name->length, i);
        if (gate->channels[i])
            continue;
        gate->channels[i] = hl_listener_open(&node->subscription, channel, length, on_channel, gate);
        if (gate->channels[i] && hl_listener_is_on(gate->channels[i]) && !HL_PLANTED(R7_NO_SECOND_TRY))
            gate->news_us = hl_now_us(&gate->core->host);
    }
}

int hl_channel_may_sleep(const struct hl_acquire *acquire, uint64_t asked_us)
{
    struct hl_gate *gate = hl_wait_name(acquire)->gate;
    if (!acquire->lock->terms->is_polling)
        listen(gate);
    return gate->news_us <= asked_us || HL_PLANTED(R7_NEWS_FORGOTTEN);
}

/* What may have passed unheard is asked for by everybody who stands in the store's queue, but for those last heard of at that node; paced, for
 * they may be many. */
static void wake_queued(struct hl_gate *gate, const struct hl_node *but)
{
    struct hl_acquire *acquire;
    TAILQ_FOREACH(acquire, &gate->queued, line)
        if (hl_fair_of(acquire)->node != but || !but)
            gate->core->waiter->wake(acquire, (uint64_t)gate->waiting * PACE_US);
}

void hl_channels_retry_at(struct hl_core *core, const struct hl_node *node)
{
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        if (!name->is_awaited || !hl_route_is_member(core->route, name->bytes, name->length, node) || HL_PLANTED(R7_NO_RETRY_AT_RECONNECT))
            continue;
        hl_gate_wake_tries(name->gate);
        news(name->gate);
        wake_queued(name->gate, NULL);
    }
}

/* A channel at the old node says nothing any more. */
void hl_channels_follow(struct hl_core *core)
{
    struct hl_table_entry *entry = NULL;
    while ((entry = hl_table_next(&core->names, entry)) != NULL) {
        struct hl_name *name = (struct hl_name *)(void *)entry;
        struct hl_gate *gate = hl_gate_at(name);
        const struct hl_node *node = gate ? hl_route_node(core->route, name->bytes, name->length) : NULL;
        if (gate)
            wake_queued(gate, node);
        if (!gate || !gate->channels[0] || hl_listener_where(gate->channels[0]) == &node->subscription)
            continue;
        hl_listener_close(gate->channels[0]);
        gate->channels[0] = NULL;
        listen(gate);
        news(gate);
    }
}

