/* SPDX-License-Identifier: BSD-3-Clause */
/* channel - see channel.h. */
#include "wait/channel.h"

#include "base/plant.h"
#include "wait/gate.h"
#include "wait/place.h"

static void hear(struct hl_gate *gate)
{
    hl_gate_has_news(gate);
    gate->is_foreign = 0;
}

/* News counts even during a request, whose answer may be older. Of those in the store's queue it concerns the next one,
 * and those that do not know their place yet. From the first with another place on, none is. */
static void news(struct hl_gate *gate)
{
    const struct hl_acquire *head = TAILQ_FIRST(&gate->line);
    struct hl_acquire *acquire;
    hear(gate);
    hl_gate_advance(gate, !(head && head->place && head->place->position > 1));
    for (acquire = TAILQ_FIRST(&gate->queued); acquire && acquire->place->position <= 1;
         acquire = TAILQ_NEXT(acquire, line))
        gate->core->waiters->wake(acquire->place, 0);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_gate *gate = arg;
    (void)message;
    switch (event) {
    case HL_CHANNEL_ON:
        gate->is_deaf = 0;
        if (!HL_PLANTED(R7_NO_SECOND_TRY))
            news(gate);
        break;
    case HL_CHANNEL_MESSAGE:
        hl_trace(&gate->core->host, HL_WAKEUP, &(struct hl_fact){.name = gate->name->bytes});
        if (!HL_PLANTED(WAKE_IGNORED))
            news(gate);
        break;
    case HL_CHANNEL_OFF: break;
    case HL_CHANNEL_REFUSED:
        gate->is_deaf = 1;
        news(gate); /* sleepers rely on messages: they poll from here on */
        break;
    }
}

/* A channel that others listen to, or did just now, is on at once, but earlier messages are lost: that, too, needs a
 * second try. One that it listens to already has missed nothing. */
static void listen(struct hl_gate *gate, struct hl_listener **listener, const char *channel, size_t length)
{
    struct hl_listener *before = *listener;
    struct hl_subscription *there = &hl_name_node(gate->core, gate->name)->subscription;
    struct hl_listener *now = hl_listener_open(there, channel, length, on_channel, gate);
    int has_missed = now && hl_listener_is_on(now) && !(before && before->channel == now->channel);
    *listener = now;
    if (has_missed && !HL_PLANTED(R7_NO_SECOND_TRY))
        hear(gate);
    hl_listener_close(before);
}

static void listen_for_releases(struct hl_gate *gate)
{
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    const struct hl_name *name = gate->name;
    if (!gate->channel)
        listen(gate, &gate->channel, channel, hl_key_channel_write(channel, name->bytes, name->length));
}

void hl_channel_hear_heir(const struct hl_acquire *acquire, const char *heir, size_t length)
{
    const struct hl_name *name = acquire->lock->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX + HL_HEIR_MAX];
    if (heir && !acquire->lock->terms->is_polling)
        listen(name->gate, &name->gate->heir, channel,
               hl_key_heir_write(channel, name->bytes, name->length, heir, length));
}

/* Each listener counts as another program that wants the name. */
void hl_channel_leave(const struct hl_name *name)
{
    struct hl_gate *gate = name->gate;
    hl_listener_close(gate->channel);
    hl_listener_close(gate->heir);
    gate->channel = gate->heir = NULL;
}

int hl_channel_may_sleep(const struct hl_acquire *acquire)
{
    if (!acquire->lock->terms->is_polling)
        listen_for_releases(acquire->lock->name->gate);
    return hl_gate_is_asked(acquire) || HL_PLANTED(R7_NEWS_FORGOTTEN);
}

/* Messages may have been lost. So all in the store's queue ask, too. */
void hl_channels_retry_at(struct hl_core *core, const struct hl_node *node)
{
    struct hl_name *name = NULL;
    while ((name = hl_gate_name_after(core, name)) != NULL) {
        if (hl_name_node(core, name) != node || HL_PLANTED(R7_NO_RETRY_AT_RECONNECT))
            continue;
        news(name->gate);
        hl_gate_wake_places(name->gate, name->gate->waiting, NULL);
    }
}

/* The channel at the old node is silent from now on. */
void hl_channels_follow(struct hl_core *core)
{
    struct hl_name *name = NULL;
    while ((name = hl_gate_name_after(core, name)) != NULL) {
        struct hl_gate *gate = name->gate;
        const struct hl_node *node = hl_name_node(core, name);
        hl_gate_wake_places(gate, gate->waiting, node);
        if (!gate->channel || hl_listener_where(gate->channel) == &node->subscription)
            continue;
        hl_channel_leave(name);
        listen_for_releases(gate);
        news(gate);
    }
}
