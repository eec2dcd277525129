/* SPDX-License-Identifier: BSD-3-Clause */
/* channel - see channel.h. */
#include "wait/channel.h"

#include "base/plant.h"
#include "core/lease.h"
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
    TAILQ_FOREACH(acquire, &gate->queued, line)
    {
        if (acquire->place->position > 1)
            break;
        gate->core->waiters->wake(acquire->place, 0);
    }
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
 * second try. */
static void listen(struct hl_gate *gate)
{
    const struct hl_name *name = gate->name;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX];
    size_t length = hl_key_channel_write(channel, name->bytes, name->length);
    if (gate->channel)
        return;
    gate->channel = hl_listener_open(&hl_name_node(gate->core, name)->subscription, channel, length, on_channel, gate);
    if (HL_PLANTED(R7_NO_SECOND_TRY))
        return;
    if (gate->channel && hl_listener_is_on(gate->channel))
        hear(gate);
}

/* As above; a channel that it listens to already has missed nothing. */
void hl_channel_hear_heir(const struct hl_acquire *acquire, const char *heir, size_t length)
{
    const struct hl_name *name = acquire->lock->name;
    struct hl_gate *gate = name->gate;
    struct hl_listener *before = gate->heir;
    char channel[HILOCK_NAME_MAX + HL_KEY_PREFIX_MAX + HL_HEIR_MAX];
    size_t used = heir ? hl_key_heir_write(channel, name->bytes, name->length, heir, length) : 0;
    if (!heir || acquire->lock->terms->is_polling)
        return;
    gate->heir = hl_listener_open(&hl_name_node(gate->core, name)->subscription, channel, used, on_channel, gate);
    if (gate->heir && hl_listener_is_on(gate->heir) && !(before && before->channel == gate->heir->channel))
        hear(gate);
    hl_listener_close(before);
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
    struct hl_gate *gate = acquire->lock->name->gate;
    if (!acquire->lock->terms->is_polling)
        listen(gate);
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
        listen(gate);
        news(gate);
    }
}
