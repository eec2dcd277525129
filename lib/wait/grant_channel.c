/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_channel - see grant_channel.h. */
#include "wait/grant_channel.h"

#include "base/container.h"
#include "base/plant.h"
#include "base/slot.h"
#include "hold/ending.h"
#include "node/clock.h"
#include "node/handshake.h"
#include "wait/line.h"
#include "wait/place.h"

enum { UNDONE_MAX = 256, UNDONE_SPAN_US = 1000000, UNUSED_US = 60000000 };

struct hl_grant_channel {
    struct hl_table_entry by_slot;  /* the key in core->grant_channels */
    LIST_HEAD(, hl_line) lines;     /* the lines of the names whose grants come here */
    struct hl_core *core;
    struct hl_node *node;           /* the node at which the client listens */
    struct hl_listener *channel;    /* NULL: there was no memory for the subscription */
    uint64_t used_us;
    int is_refused;
    unsigned slot;                  /* the hash slot; without slots: the index of the master */
    char tag[HL_SLOT_TAG + 1];      /* the hash tag of the slot; "": there are no slots */
    uint64_t undone_since_us; /* The client releases only so many unknown grants in a second; the others lapse. This
                                 is when the present second began, and how many there were since. */
    unsigned undone;
};

/* Returns NULL for NULL. */
static struct hl_grant_channel *container_of(struct hl_table_entry *entry)
{
    return entry ? HL_CONTAINER(entry, struct hl_grant_channel, by_slot) : NULL;
}

/* grants NULL: returns the first. */
static struct hl_grant_channel *next_of(const struct hl_core *core, const struct hl_grant_channel *grants)
{
    return container_of(hl_table_next(&core->grant_channels, grants ? &grants->by_slot : NULL));
}

static void drop(struct hl_grant_channel *grants)
{
    hl_table_remove(&grants->core->grant_channels, &grants->by_slot);
    hl_listener_close(grants->channel);
    hl_memory_free(&grants->core->host.memory, grants);
}

void hl_grant_channels_done(struct hl_core *core)
{
    struct hl_grant_channel *grants;
    while ((grants = next_of(core, NULL)) != NULL)
        drop(grants);
    if (core->queue_terms)
        hl_terms_unref(core->queue_terms);
    core->queue_terms = NULL;
    hl_memory_free(&core->host.memory, core->places);
    core->places = NULL;
}

/* Returns the node at which the client should listen. A route with slots has no masters and finds the node by the
 * tag. */
static struct hl_node *node_of(const struct hl_grant_channel *grants)
{
    if (grants->node && HL_PLANTED(FAIR_CHANNEL_STAYS))
        return grants->node;
    return hl_route_node(grants->core->route, &(struct hl_about){grants->tag, strlen(grants->tag), grants->slot});
}

/* Returns 1 if a wait with that id ended a moment ago and its release is under way: that release ends the grant. */
static int is_ending(struct hl_core *core, const struct hl_name *name, uint64_t id)
{
    const struct hl_hold *hold;
    if (!name->ending)
        return 0;
    TAILQ_FOREACH_REVERSE(hold, &core->live, hl_holds, live)
        if (hold->id == id && hold->name == name && hold->siblings_wait)
            return 1;
    return 0;
}

/* Handles a grant whose id no wait has. If a heartbeat was faster and found the grant, the hold is HELD already, and
 * the push is no news. Otherwise this client was too slow, so the grant is released (without memory for that, it
 * lapses). The client's other places for the name may be gone, too, so they ask. */
static void on_unknown(struct hl_grant_channel *grants, const struct hl_push *push)
{
    struct hl_core *core = grants->core;
    struct hilock_lock some = {.terms = core->queue_terms};
    uint64_t now_us = hl_now_us(&core->host);
    int is_held;
    if (push->id > core->id_last || HL_PLANTED(FAIR_UNKNOWN_KEPT))
        return;
    if (now_us - grants->undone_since_us > UNDONE_SPAN_US) {
        grants->undone_since_us = now_us;
        grants->undone = 0;
    }
    if (++grants->undone > UNDONE_MAX)
        return;
    some.name = hl_name_ref(core, push->name, push->name_length, core->route->ops->is_spread ? 0 : grants->slot);
    if (!some.name)
        return;
    is_held = (some.name->hold && some.name->hold->id == push->id) || is_ending(core, some.name, push->id);
    if (!is_held &&
        hl_ending_release_id(core, &some, push->id, (struct hl_entry_words){.channel = ENTRY_NONE}, END_QUIET))
        hl_trace(&core->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = some.name->bytes});
    if (!is_held && some.name->line)
        hl_line_wake_places(some.name->line, some.name->line->waiting, NULL);
    hl_name_unref(core, &core->host.memory, some.name);
}

/* The ids are our own and are given out in order, so the remainder spreads them evenly, and nobody else chooses
 * them. */
static struct hl_queue_places *places_of(struct hl_core *core, uint64_t id)
{
    return &core->places[id % HL_PLACE_BUCKETS];
}

static int is_of(const struct hl_queue_place *place, const struct hl_push *push)
{
    const struct hl_name *name = place->acquire->lock->name;
    int is_same = name->length == push->name_length && memcmp(name->bytes, push->name, name->length) == 0;
    return is_same || HL_PLANTED(FAIR_OTHER_NAME_BELIEVED);
}

/* A message "ask" names one waiter, which may have gone meanwhile; the other waiters of that name ask all the same. */
static void on_push(struct hl_grant_channel *grants, const struct hl_reply *message)
{
    struct hl_core *core = grants->core;
    const struct hl_push push = hl_queued_read_push(message, core->uuid);
    struct hl_queue_place *place;
    struct hl_name *name;
    LIST_FOREACH(place, places_of(core, push.id), by_id)
        if (place->acquire->hold->id == push.id)
            break;
    if (push.server_us)
        hl_clock_raise(grants->node, push.server_us);
    if (place && (push.what == HL_PUSH_ASK || is_of(place, &push)))
        core->waiters->pushed(place, grants->node, &push);
    else if (push.what == HL_PUSH_GRANT)
        on_unknown(grants, &push);
    else if (push.what == HL_PUSH_ASK && !push.pause_us) {
        name = hl_name_find(core, push.name, push.name_length, core->route->ops->is_spread ? 0 : grants->slot);
        if (name && name->line)
            hl_line_wake_places(name->line, name->line->waiting, NULL);
    }
}

static void wake_all(struct hl_grant_channel *grants)
{
    struct hl_line *line;
    LIST_FOREACH(line, &grants->lines, by_grants)
        hl_line_wake_places(line, grants->core->waiting, NULL);
}

static void on_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_grant_channel *grants = arg;
    switch (event) {
    case HL_CHANNEL_ON:
        grants->is_refused = 0;
        hl_handshake_report_counts(grants->node, 1);
        if (!HL_PLANTED(R7_NO_HEARTBEAT_WHEN_HEARD))
            wake_all(grants);
        break;
    case HL_CHANNEL_MESSAGE: on_push(grants, message); break;
    case HL_CHANNEL_REFUSED:
        grants->is_refused = 1;
        wake_all(grants);
        break;
    }
}

static void locate(struct hl_grant_channel *grants)
{
    if (grants->node == node_of(grants))
        return;
    hl_listener_close(grants->channel);
    grants->channel = NULL;
    grants->is_refused = 0;
    grants->node = node_of(grants);
}

static void listen(struct hl_grant_channel *grants)
{
    struct hl_subscription *subscription;
    char said[HL_GRANT_CHANNEL_MAX];
    const char *channel = said;
    locate(grants);
    subscription = &grants->node->subscription;
    hl_subscription_start(subscription); /* the subscription link may have been closed as unused */
    if (grants->channel)
        return;
    hl_queued_channel(said, grants->core->uuid, grants->tag, subscription->is_sharded);
    channel += *said == '!';
    grants->channel = hl_listener_open(subscription, channel, strlen(channel), on_channel, grants);
    if (!grants->channel)
        return;
    grants->channel->may_rest = 1;
    if (hl_listener_is_on(grants->channel)) /* the subscription was still on, without a listener */
        wake_all(grants);
}

/* A new channel is rare, so this is the moment to give up old channels without waiters. */
static struct hl_grant_channel *grant_channel_new(struct hl_core *core, unsigned slot)
{
    struct hl_grant_channel *grants = hl_memory_new(&core->host.memory, sizeof *grants), *old, *next;
    for (old = next_of(core, NULL); old; old = next) {
        next = next_of(core, old);
        if (LIST_EMPTY(&old->lines) && old->used_us + UNUSED_US <= core->host.entered_us)
            drop(old);
    }
    if (!core->places) /* made with the first channel: a client that never waits in a queue needs none of this memory */
        core->places = hl_memory_new(&core->host.memory, HL_PLACE_BUCKETS * sizeof core->places[0]);
    if (!grants || !core->places) {
        hl_memory_free(&core->host.memory, grants);
        return NULL;
    }
    grants->core = core;
    grants->slot = slot;
    if (core->route->ops->is_spread)
        hl_slot_tag(slot, grants->tag);
    if (hl_table_add(&core->grant_channels, &grants->by_slot, (const char *)&grants->slot, sizeof grants->slot) == 0)
        return grants;
    hl_memory_free(&core->host.memory, grants);
    return NULL;
}

/* Returns NULL without memory. */
static struct hl_grant_channel *grant_channel_of(struct hl_core *core, const struct hilock_lock *lock)
{
    const struct hl_name *name = lock->name;
    unsigned slot = core->route->ops->is_spread ? hl_slot_of(name->bytes, name->length) : name->master;
    struct hl_grant_channel *grants =
        container_of(hl_table_find(&core->grant_channels, (const char *)&slot, sizeof slot));
    if (!core->queue_terms) {
        core->queue_terms = lock->terms;
        core->queue_terms->refs++;
    }
    if (!grants)
        grants = grant_channel_new(core, slot);
    if (grants)
        grants->used_us = core->host.entered_us; /* the time of the loop's latest call: a minute need not be exact */
    return grants;
}

void hl_grant_channel_join(struct hl_core *core, struct hl_queue_place *place)
{
    struct hl_line *line = place->acquire->lock->name->line;
    struct hl_grant_channel *grants = grant_channel_of(core, place->acquire->lock);
    if (!line->grants && grants) {
        line->grants = grants;
        LIST_INSERT_HEAD(&grants->lines, line, by_grants);
    }
    place->is_indexed = line->grants != NULL; /* without memory for the channel no push finds the place */
    if (place->is_indexed)
        LIST_INSERT_HEAD(places_of(core, place->acquire->hold->id), place, by_id);
}

void hl_grant_channel_leave(struct hl_queue_place *place)
{
    if (!place || !place->is_indexed)
        return;
    LIST_REMOVE(place, by_id);
    place->is_indexed = 0;
}

/* A place without a ticket only states where it would listen: a free name needs no grant channel. */
enum hl_entry_channel hl_grant_channel_listen(const struct hl_queue_place *place)
{
    struct hl_grant_channel *grants = place->acquire->lock->name->line->grants;
    if (!place->is_indexed)
        return ENTRY_POLLS;
    locate(grants);
    if (place->ticket)
        listen(grants);
    if (grants->is_refused || (place->ticket && !grants->channel))
        return ENTRY_POLLS;
    return grants->node->subscription.is_sharded ? ENTRY_SHARDED : ENTRY_PLAIN;
}

void hl_grant_channels_follow(struct hl_core *core)
{
    struct hl_grant_channel *grants;
    for (grants = next_of(core, NULL); grants; grants = next_of(core, grants))
        if (grants->channel && grants->node != node_of(grants))
            listen(grants);
}

void hl_grant_channel_open_early(struct hl_core *core, const struct hilock_lock *lock)
{
    struct hl_grant_channel *grants = lock->terms->is_polling ? NULL : grant_channel_of(core, lock);
    if (grants)
        listen(grants);
}
