/* SPDX-License-Identifier: BSD-3-Clause */
/* pubsub - see pubsub.h. */
#include "pubsub.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "slot.h"
#include "state.h"

static struct sim_channel *of(struct sim_table_entry *entry)
{
    return entry ? (struct sim_channel *)(void *)((char *)entry - offsetof(struct sim_channel, entry)) : NULL;
}

void sim_pubsub_init(struct sim_pubsub *pubsub)
{
    *pubsub = (struct sim_pubsub){0};
}

void sim_pubsub_done(struct sim_pubsub *pubsub)
{
    for (unsigned connection = 1; connection <= pubsub->count; connection++)
        sim_pubsub_disconnect(pubsub, connection);
    free(pubsub->connections);
}

unsigned sim_pubsub_connect(struct sim_pubsub *pubsub)
{
    if (pubsub->count == pubsub->room) {
        pubsub->room = pubsub->room ? pubsub->room * 2 : 16;
        pubsub->connections = realloc(pubsub->connections, pubsub->room * sizeof *pubsub->connections);
        SIM_REQUIRE(pubsub->connections);
    }
    pubsub->connections[pubsub->count++] = (struct sim_connection){.is_open = 1};
    return pubsub->count;
}

struct sim_connection *sim_pubsub_connection(const struct sim_pubsub *pubsub, unsigned connection)
{
    struct sim_connection *found = connection > 0 && connection <= pubsub->count ? &pubsub->connections[connection - 1]
                                                                                 : NULL;
    return found && found->is_open ? found : NULL;
}

const struct sim_channel *sim_pubsub_channel(const struct sim_pubsub *pubsub, int is_sharded, const char *name,
                                             size_t length)
{
    return of(sim_table_find(&pubsub->channels[is_sharded], name, length));
}

static struct sim_channel *channel_made(struct sim_pubsub *pubsub, int is_sharded, const char *name, size_t length)
{
    struct sim_channel *channel = of(sim_table_find(&pubsub->channels[is_sharded], name, length));
    if (channel)
        return channel;
    channel = malloc(sizeof *channel + length);
    SIM_REQUIRE(channel);
    *channel = (struct sim_channel){.is_sharded = is_sharded, .length = length};
    memcpy(channel->name, name, length);
    sim_table_add(&pubsub->channels[is_sharded], &channel->entry, channel->name, length);
    return channel;
}

static int is_named(const struct sim_channel *channel, int is_sharded, const char *name, size_t length)
{
    return channel->is_sharded == is_sharded && channel->length == length && memcmp(channel->name, name, length) == 0;
}

static size_t place_of(const struct sim_connection *connection, int is_sharded, const char *name, size_t length)
{
    size_t i = 0;
    while (i < connection->count && !is_named(connection->channels[i], is_sharded, name, length))
        i++;
    return i;
}

static void subscribe(struct sim_pubsub *pubsub, unsigned number, int is_sharded, const char *name, size_t length)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    struct sim_channel *channel;
    if (place_of(connection, is_sharded, name, length) < connection->count)
        return;
    channel = channel_made(pubsub, is_sharded, name, length);
    if (connection->count == connection->room) {
        connection->room = connection->room * 2 + 4;
        connection->channels = realloc(connection->channels, connection->room * sizeof(struct sim_channel *));
        SIM_REQUIRE(connection->channels);
    }
    if (channel->count == channel->room) {
        channel->room = channel->room * 2 + 4;
        channel->listeners = realloc(channel->listeners, channel->room * sizeof *channel->listeners);
        SIM_REQUIRE(channel->listeners);
    }
    connection->channels[connection->count++] = channel;
    channel->listeners[channel->count++] = number;
    connection->sharded += is_sharded != 0;
    pubsub->subscriptions++;
}

static void leave(struct sim_pubsub *pubsub, struct sim_channel *channel, unsigned number)
{
    size_t i = 0;
    while (channel->listeners[i] != number)
        i++;
    channel->count--;
    memmove(channel->listeners + i, channel->listeners + i + 1, (channel->count - i) * sizeof *channel->listeners);
    pubsub->subscriptions--;
    if (channel->count > 0)
        return;
    sim_table_remove(&pubsub->channels[channel->is_sharded], &channel->entry);
    free(channel->listeners);
    free(channel);
}

static void unsubscribe(struct sim_pubsub *pubsub, unsigned number, int is_sharded, const char *name, size_t length)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    size_t i = place_of(connection, is_sharded, name, length);
    if (i == connection->count)
        return;
    connection->sharded -= is_sharded != 0;
    leave(pubsub, connection->channels[i], number);
    connection->count--;
    memmove(connection->channels + i, connection->channels + i + 1,
            (connection->count - i) * sizeof(struct sim_channel *));
}

void sim_pubsub_disconnect(struct sim_pubsub *pubsub, unsigned number)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    if (!connection)
        return;
    while (connection->count > 0)
        leave(pubsub, connection->channels[--connection->count], number);
    free(connection->channels);
    free(connection->name);
    *connection = (struct sim_connection){0};
}

/* ---- messages to listeners ---- */

static void push(struct sim_store *store, unsigned connection, const struct sim_reply *what)
{
    if (store->events)
        store->events->message(store->arg, connection, what);
}

static const struct sim_reply *confirmation(struct sim_store *store, unsigned number, int is_sharded, int is_on,
                                            const char *name, size_t length)
{
    struct sim_replies *replies = &store->replies;
    const struct sim_connection *connection = sim_pubsub_connection(&store->pubsub, number);
    const struct sim_reply *array = sim_reply_array(replies, 3);
    const char *kind = is_sharded ? (is_on ? "ssubscribe" : "sunsubscribe") : is_on ? "subscribe" : "unsubscribe";
    size_t count = is_sharded ? connection->sharded : connection->count - connection->sharded;
    sim_reply_put(replies, array, 0, kind, strlen(kind));
    if (name)
        sim_reply_put(replies, array, 1, name, length);
    sim_reply_set(array, 2, (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = (int64_t)count});
    return array;
}

unsigned sim_pubsub_tell(struct sim_store *store, int is_sharded, const char *name, size_t length, const char *text,
                         size_t text_length)
{
    struct sim_replies *replies = &store->replies;
    const struct sim_channel *channel = sim_pubsub_channel(&store->pubsub, is_sharded, name, length);
    const struct sim_reply *message;
    if (!channel)
        return 0;
    message = sim_reply_array(replies, 3);
    sim_reply_put(replies, message, 0, is_sharded ? "smessage" : "message", is_sharded ? 8 : 7);
    sim_reply_put(replies, message, 1, name, length);
    sim_reply_put(replies, message, 2, text, text_length);
    for (size_t i = 0; i < channel->count && !(store->keys.lie == SIM_LIE_MESSAGE_LOST && text_length == 0); i++)
        push(store, channel->listeners[i], message);
    return (unsigned)channel->count;
}

static const struct sim_reply *unsubscribe_one(struct sim_store *store, unsigned number, int is_sharded,
                                               const char *name, size_t length)
{
    /* the name may be a part of the channel, which can end here, so it is copied */
    char *copy = sim_replies_take(&store->replies, length + 1);
    memcpy(copy, name, length);
    if (store->keys.lie != SIM_LIE_UNSUBSCRIBE_STAYS)
        unsubscribe(&store->pubsub, number, is_sharded, copy, length);
    return confirmation(store, number, is_sharded, 0, copy, length);
}

static const struct sim_channel *first_of(const struct sim_pubsub *pubsub, unsigned slot)
{
    const struct sim_table *table = &pubsub->channels[1];
    for (struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        if (sim_slot_of(of(entry)->name, of(entry)->length) == slot)
            return of(entry);
    return NULL;
}

void sim_pubsub_evict(struct sim_store *store, unsigned slot)
{
    const struct sim_channel *channel;
    while ((channel = first_of(&store->pubsub, slot)) != NULL) {
        unsigned listener = channel->listeners[0];
        push(store, listener, unsubscribe_one(store, listener, 1, channel->name, channel->length));
    }
}

/* ---- commands ---- */

static int is_sharded(const struct sim_call *call)
{
    return (sim_command_find(call->store, call->argv[0], call->lengths[0])->flags & SIM_CHANNEL) != 0;
}

static const struct sim_reply *subscribe_all(const struct sim_call *call)
{
    for (int i = 1;; i++) {
        const struct sim_reply *reply;
        subscribe(&call->store->pubsub, call->connection, is_sharded(call), call->argv[i], call->lengths[i]);
        reply = confirmation(call->store, call->connection, is_sharded(call), 1, call->argv[i], call->lengths[i]);
        if (i + 1 == call->argc)
            return reply;
        push(call->store, call->connection, reply);
    }
}

static const struct sim_channel *some_channel(const struct sim_connection *connection, int is_of_shards)
{
    for (size_t i = 0; i < connection->count; i++)
        if (connection->channels[i]->is_sharded == is_of_shards)
            return connection->channels[i];
    return NULL;
}

static const struct sim_reply *unsubscribe_from_all(const struct sim_call *call)
{
    const struct sim_connection *connection = sim_pubsub_connection(&call->store->pubsub, call->connection);
    const struct sim_reply *reply = NULL;
    const struct sim_channel *channel;
    while ((channel = some_channel(connection, is_sharded(call))) != NULL) {
        if (reply)
            push(call->store, call->connection, reply);
        reply = unsubscribe_one(call->store, call->connection, is_sharded(call), channel->name, channel->length);
        if (call->store->keys.lie == SIM_LIE_UNSUBSCRIBE_STAYS)
            break;
    }
    return reply ? reply : confirmation(call->store, call->connection, is_sharded(call), 0, NULL, 0);
}

static const struct sim_reply *unsubscribe_all(const struct sim_call *call)
{
    if (call->argc == 1)
        return unsubscribe_from_all(call);
    for (int i = 1;; i++) {
        const struct sim_reply *reply = unsubscribe_one(call->store, call->connection, is_sharded(call), call->argv[i],
                                                        call->lengths[i]);
        if (i + 1 == call->argc)
            return reply;
        push(call->store, call->connection, reply);
    }
}

static const struct sim_reply *publish(const struct sim_call *call)
{
    struct sim_store *store = call->store;
    unsigned count;
    if (store->is_mute)
        return sim_reply_error(&store->replies, "NOPERM No permissions to access a channel");
    count = sim_pubsub_tell(store, is_sharded(call), call->argv[1], call->lengths[1], call->argv[2], call->lengths[2]);
    sim_touch(call, count);
    if (store->events && store->events->published)
        store->events->published(store->arg, is_sharded(call),
                                 &(struct sim_said){call->argv[1], call->argv[2], call->lengths[1], call->lengths[2]});
    return sim_reply_integer(&store->replies,
                             count && store->keys.lie == SIM_LIE_PUBLISH_COUNTS_ONE ? 1 : (int64_t)count);
}

static const struct sim_reply *pubsub(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    int is_of_shards = sim_argument_is(call, 1, "SHARDNUMSUB");
    struct sim_reply *array;
    if (sim_argument_is(call, 1, "CHANNELS") && call->argc <= 3)
        return sim_names_like(call, &call->store->pubsub.channels[0], 2);
    if ((is_of_shards && call->store->map && call->store->map->has_no_shards) ||
        (!is_of_shards && !sim_argument_is(call, 1, "NUMSUB")))
        return sim_unknown_subcommand(call, "PUBSUB");
    array = sim_reply_array(replies, (size_t)(call->argc - 2) * 2);
    sim_touch(call, (size_t)call->argc - 2);
    for (int i = 2; i < call->argc; i++) {
        const struct sim_channel *channel = sim_pubsub_channel(&call->store->pubsub, is_of_shards, call->argv[i],
                                                               call->lengths[i]);
        size_t place = (size_t)(i - 2) * 2;
        sim_reply_put(replies, array, place, call->argv[i], call->lengths[i]);
        sim_reply_set(array, place + 1,
                      (struct sim_reply){.type = SIM_REPLY_INTEGER, .integer = channel ? (int64_t)channel->count : 0});
    }
    return array;
}

const struct sim_command sim_commands_pubsub[] = {
    {"subscribe", -2, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS | SIM_GUIDES, subscribe_all},
    {"unsubscribe", -1, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS | SIM_GUIDES, unsubscribe_all},
    {"publish", 3, SIM_ALWAYS | SIM_GUIDES, publish},
    {"ssubscribe", -2, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS | SIM_CHANNEL, subscribe_all},
    {"sunsubscribe", -1, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS | SIM_CHANNEL, unsubscribe_all},
    {"spublish", 3, SIM_ALWAYS | SIM_CHANNEL, publish},
    {"pubsub", -2, SIM_ALWAYS, pubsub},
    {0},
};
