/* SPDX-License-Identifier: BSD-3-Clause */
/* grant_channel - see grant_channel.h. */
#include "lock/grant_channel.h"

#include "base/container.h"
#include "base/slot.h"
#include "hold/ending.h"
#include "lock/line.h"
#include "lock/place.h"
#include "node/clock.h"
#include "node/handshake.h"

enum { UNDONE_MAX = 256, UNDONE_SPAN_US = 1000000 };   /* releases of unknown grants in a span; others lapse */
enum { UNUSED_US = 60000000 };                         /* a channel may be given up after so long without waiters */

struct hl_grant_channel {
    struct hl_table_entry by_slot;  /* the key in core->locks->grant_channels */
    LIST_HEAD(, hl_line) lines;     /* the lines of the names whose grants come here */
    struct hl_core *core;
    struct hl_node *node;           /* the node at which the client listens */
    struct hl_listener *listener;   /* while ON or REFUSED */
    uint64_t used_at_us;            /* when a place joined it last */
    enum { GRANTS_OFF, GRANTS_ON, GRANTS_REFUSED } listening; /* OFF: not subscribed yet, or there was no memory for
                                                                 that. REFUSED: by the server */
    unsigned slot;                  /* the hash slot; without slots: the index of the master */
    char tag[HL_SLOT_TAG + 1];      /* the hash tag of the slot; "": there are no slots */
    uint64_t undone_since_us;       /* when the present span of UNDONE_SPAN_US began */
    unsigned undone;                /* how many unknown grants came in that span */
};

/* channel NULL: returns the first. */
static struct hl_grant_channel *next_of(const struct hl_core *core, const struct hl_grant_channel *channel)
{
    struct hl_table_entry *entry = hl_table_next(&core->locks->grant_channels, channel ? &channel->by_slot : NULL);
    return entry ? HL_CONTAINER(entry, struct hl_grant_channel, by_slot) : NULL;
}

static void drop(struct hl_grant_channel *channel)
{
    hl_table_remove(&channel->core->locks->grant_channels, &channel->by_slot);
    hl_listener_close(channel->listener);
    hl_memory_free(&channel->core->host.memory, channel);
}

void hl_grant_channels_done(struct hl_core *core)
{
    struct hl_locks *locks = core->locks;
    struct hl_grant_channel *channel;
    while ((channel = next_of(core, NULL)) != NULL)
        drop(channel);
    if (locks->undo_terms)
        hl_terms_unref(locks->undo_terms);
    locks->undo_terms = NULL;
    hl_memory_free(&core->host.memory, locks->places);
    locks->places = NULL;
}

/* Handles a grant whose id no place has. Perhaps a hold has that id: a heartbeat was faster and found the grant, or the
 * hold is ending, and is released again if nothing of it is under way. A waiter that gave up its place, because it may
 * not use the queue any more, keeps its id: it sends its request again, which finds the grant. If no hold has the id,
 * this client was too slow, so the grant is released (without memory for that, it lapses). The client's other places
 * for the name may be gone, too, so they send a heartbeat. */
static void on_unknown(struct hl_grant_channel *channel, const struct hl_push *push)
{
    struct hl_core *core = channel->core;
    struct hl_ended unknown = {.terms = core->locks->undo_terms, .id = push->id, .entry = {.channel = ENTRY_NONE}};
    uint64_t now_us = hl_now_us(&core->host);
    struct hl_name *name;
    struct hl_hold *hold;
    if (push->id > core->id_last)
        return;
    if (now_us - channel->undone_since_us > UNDONE_SPAN_US) {
        channel->undone_since_us = now_us;
        channel->undone = 0;
    }
    if (++channel->undone > UNDONE_MAX)
        return;
    name = hl_name_ref(core, push->name, push->name_length, core->route->ops->is_spread ? 0 : channel->slot);
    if (!name)
        return;
    unknown.name = name;
    hold = hl_hold_find(core, name, push->id);
    if (hold && hl_hold_is_acquiring(hold)) {
        hl_line_mark_stale(name->line);
        if (hl_hold_handle(hold)->acquire->state == ACQUIRE_SLEEPING)
            hl_line_try_again(hl_hold_handle(hold)->acquire);
    } else if (hold && hl_hold_is_ending(hold))
        hl_ending_go_on(hold);
    else if (!hold && hl_ending_release_id(core, &unknown, END_BY_CLIENT))
        hl_trace(&core->host, HL_HOLD_UNDONE, &(struct hl_fact){.name = name->bytes});
    if (!hold && name->line)
        hl_line_wake_places(name->line, name->line->waiting_here, NULL);
    hl_name_unref(core, &core->host.memory, name);
}

/* Gives a push to the place with its id. If that place is gone: a grant is released; a message "ask" without a pause is
 * news for all places of the name, so the others send a heartbeat instead. */
static void on_push(struct hl_grant_channel *channel, const struct hl_reply *message)
{
    struct hl_core *core = channel->core;
    const struct hl_push push = hl_push_read(message, core->uuid);
    struct hl_queue_place *place;
    struct hl_name *name;
    LIST_FOREACH(place, hl_locks_places(core->locks, push.id), by_id)
        if (place->acquire->hold->id == push.id)
            break;
    if (push.server_us)
        hl_clock_raise(channel->node, push.server_us);
    if (place && push.what == HL_PUSH_ASK)
        hl_place_told_to_ask(place, &push);
    else if (place && push.what == HL_PUSH_GRANT &&
             hl_name_is(place->acquire->lock->name, push.name, push.name_length))
        hl_place_granted(place, channel->node, &push);
    else if (push.what == HL_PUSH_GRANT)
        on_unknown(channel, &push);
    else if (push.what == HL_PUSH_ASK && !push.pause_us) {
        name = hl_name_find(core, push.name, push.name_length, core->route->ops->is_spread ? 0 : channel->slot);
        if (name && name->line)
            hl_line_wake_places(name->line, name->line->waiting_here, NULL);
    }
}

static void wake_all(struct hl_grant_channel *channel)
{
    struct hl_line *line;
    LIST_FOREACH(line, &channel->lines, by_grant_channel)
        hl_line_wake_places(line, channel->core->waiting, NULL);
}

static void on_grant_channel(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    struct hl_grant_channel *channel = arg;
    switch (event) {
    case HL_CHANNEL_ON:
        channel->listening = GRANTS_ON;
        hl_handshake_report_counts(channel->node, 1);
        wake_all(channel);
        break;
    case HL_CHANNEL_MESSAGE: on_push(channel, message); break;
    case HL_CHANNEL_REFUSED:
        channel->listening = GRANTS_REFUSED;
        wake_all(channel);
        break;
    }
}

/* Finds the node at which the client should listen. Returns 1 if that is another one than before: then the client does
 * not listen there yet. A route with slots has no masters and finds the node by the tag. */
static int locate(struct hl_grant_channel *channel)
{
    const struct hl_about about = {channel->tag, strlen(channel->tag), channel->slot};
    struct hl_node *node = hl_route_node(channel->core->route, &about);
    if (channel->node == node)
        return 0;
    hl_listener_close(channel->listener);
    channel->listener = NULL;
    channel->listening = GRANTS_OFF;
    channel->node = node;
    return 1;
}

static void subscribe_to_channel(struct hl_grant_channel *channel)
{
    struct hl_subscriptions *subscriptions;
    char written[HL_GRANT_CHANNEL_MAX];
    const char *text = written;
    (void)locate(channel);
    subscriptions = &channel->node->subscriptions;
    hl_subscriptions_start(subscriptions); /* the subscription link may have been closed as unused */
    if (channel->listening != GRANTS_OFF)
        return;
    hl_record_channel(written, channel->core->uuid, channel->tag, subscriptions->is_sharded);
    text += *written == *HL_CHANNEL_SHARDED; /* this mark is for the scripts, and no part of the name */
    channel->listener = hl_listener_open(subscriptions, text, strlen(text), on_grant_channel, channel);
    channel->listening = channel->listener ? GRANTS_ON : GRANTS_OFF;
    if (!channel->listener)
        return;
    channel->listener->may_rest = 1;
    if (hl_listener_is_on(channel->listener)) /* the subscription was still on, without a listener */
        wake_all(channel);
}

/* A new channel is rare, so this is the moment to give up old channels without waiters. */
static struct hl_grant_channel *grant_channel_new(struct hl_core *core, unsigned slot)
{
    struct hl_grant_channel *channel = hl_memory_new(&core->host.memory, sizeof *channel), *old, *next;
    struct hl_locks *locks = core->locks;
    for (old = next_of(core, NULL); old; old = next) {
        next = next_of(core, old);
        if (LIST_EMPTY(&old->lines) && old->used_at_us + UNUSED_US <= core->host.entered_us)
            drop(old);
    }
    if (!locks->places) /* a client whose kinds have no queue needs no channel, and no list of places */
        locks->places = hl_memory_new(&core->host.memory, HL_PLACE_BUCKETS * sizeof locks->places[0]);
    if (!channel || !locks->places) {
        hl_memory_free(&core->host.memory, channel);
        return NULL;
    }
    channel->core = core;
    channel->slot = slot;
    if (core->route->ops->is_spread)
        hl_slot_tag(slot, channel->tag);
    if (hl_table_add(&locks->grant_channels, &channel->by_slot, (const char *)&channel->slot,
                     sizeof channel->slot) == 0)
        return channel;
    hl_memory_free(&core->host.memory, channel);
    return NULL;
}

/* Returns NULL without memory. */
static struct hl_grant_channel *grant_channel_of(struct hl_core *core, const struct hilock_lock *lock)
{
    const struct hl_name *name = lock->name;
    unsigned slot = core->route->ops->is_spread ? hl_slot_of(name->bytes, name->length) : name->master;
    struct hl_table_entry *entry = hl_table_find(&core->locks->grant_channels, (const char *)&slot, sizeof slot);
    struct hl_grant_channel *channel = entry ? HL_CONTAINER(entry, struct hl_grant_channel, by_slot) : NULL;
    /* the release of a share also ends a hold that has the name alone, so the terms of a share are preferred */
    int is_better = core->locks->undo_terms && hl_holds_alone(core->locks->undo_terms) && !hl_holds_alone(lock->terms);
    if (is_better)
        hl_terms_unref(core->locks->undo_terms);
    if (!core->locks->undo_terms || is_better) {
        core->locks->undo_terms = lock->terms;
        core->locks->undo_terms->refs++;
    }
    if (!channel)
        channel = grant_channel_new(core, slot);
    if (channel)
        channel->used_at_us = core->host.entered_us; /* the loop's latest call: a minute need not be exact */
    return channel;
}

void hl_grant_channel_join(struct hl_core *core, struct hl_queue_place *place)
{
    struct hl_line *line = place->acquire->lock->name->line;
    struct hl_grant_channel *channel = grant_channel_of(core, place->acquire->lock);
    if (!line->grant_channel && channel) {
        line->grant_channel = channel;
        LIST_INSERT_HEAD(&channel->lines, line, by_grant_channel);
    }
    place->is_indexed = line->grant_channel != NULL; /* without memory for the channel no push finds the place */
    if (place->is_indexed)
        LIST_INSERT_HEAD(hl_locks_places(core->locks, place->acquire->hold->id), place, by_id);
}

/* A place without a ticket does not subscribe: the name may be free, and a free name needs no grant channel. The place
 * only says where it would listen. */
enum hl_entry_channel hl_grant_channel_listen(const struct hl_queue_place *place)
{
    struct hl_grant_channel *channel = place->acquire->lock->name->line->grant_channel;
    if (!place->is_indexed)
        return ENTRY_POLLS;
    (void)locate(channel);
    if (place->ticket)
        subscribe_to_channel(channel);
    if (channel->listening == GRANTS_REFUSED || (place->ticket && channel->listening == GRANTS_OFF))
        return ENTRY_POLLS;
    return channel->node->subscriptions.is_sharded ? ENTRY_SHARDED : ENTRY_PLAIN;
}

void hl_grant_channels_follow(struct hl_core *core)
{
    struct hl_grant_channel *channel;
    for (channel = next_of(core, NULL); channel; channel = next_of(core, channel))
        if (channel->listening != GRANTS_OFF && locate(channel))
            subscribe_to_channel(channel);
}

void hl_grant_channel_open_early(struct hl_core *core, const struct hilock_lock *lock)
{
    struct hl_grant_channel *channel = lock->terms->is_polling ? NULL : grant_channel_of(core, lock);
    if (channel)
        subscribe_to_channel(channel);
}
