/* SPDX-License-Identifier: BSD-3-Clause */
/* pubsub - see pubsub.h. */
#include "store/pubsub.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "store/state.h"

static struct sim_channel *of(struct hl_table_entry *entry)
{
    return entry ? (struct sim_channel *)(void *)((char *)entry - offsetof(struct sim_channel, entry)) : NULL;
}

void sim_pubsub_init(struct sim_pubsub *pubsub)
{
    *pubsub = (struct sim_pubsub){0};
    hl_memory_init(&pubsub->memory, NULL);
    hl_table_init(&pubsub->channels, &pubsub->memory, 3, 4);
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
        HL_REQUIRE(pubsub->connections);
    }
    pubsub->connections[pubsub->count++] = (struct sim_connection){.is_open = 1};
    return pubsub->count;
}

struct sim_connection *sim_pubsub_connection(const struct sim_pubsub *pubsub, unsigned connection)
{
    struct sim_connection *found = connection > 0 && connection <= pubsub->count ? &pubsub->connections[connection - 1] : NULL;
    return found && found->is_open ? found : NULL;
}

const struct sim_channel *sim_pubsub_channel(const struct sim_pubsub *pubsub, const char *name, size_t length)
{
    return of(hl_table_find(&pubsub->channels, name, length));
}

static struct sim_channel *channel_made(struct sim_pubsub *pubsub, const char *name, size_t length)
{
    struct sim_channel *channel = of(hl_table_find(&pubsub->channels, name, length));
    if (channel)
        return channel;
    channel = malloc(sizeof *channel + length);
    HL_REQUIRE(channel);
    *channel = (struct sim_channel){.length = length};
    memcpy(channel->name, name, length);
    HL_REQUIRE(hl_table_add(&pubsub->channels, &channel->entry, channel->name, length) == 0);
    return channel;
}

static size_t place_of(const struct sim_connection *connection, const char *name, size_t length)
{
    size_t i = 0;
    while (i < connection->count && (connection->channels[i]->length != length || memcmp(connection->channels[i]->name, name, length) != 0))
        i++;
    return i;
}

static void subscribe(struct sim_pubsub *pubsub, unsigned number, const char *name, size_t length)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    struct sim_channel *channel;
    if (place_of(connection, name, length) < connection->count)
        return;
    channel = channel_made(pubsub, name, length);
    if (connection->count == connection->room) {
        connection->room = connection->room * 2 + 4;
        connection->channels = realloc(connection->channels, connection->room * sizeof(struct sim_channel *));
        HL_REQUIRE(connection->channels);
    }
    if (channel->count == channel->room) {
        channel->room = channel->room * 2 + 4;
        channel->listeners = realloc(channel->listeners, channel->room * sizeof *channel->listeners);
        HL_REQUIRE(channel->listeners);
    }
    connection->channels[connection->count++] = channel;
    channel->listeners[channel->count++] = number;
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
    hl_table_remove(&pubsub->channels, &channel->entry);
    free(channel->listeners);
    free(channel);
}

static void unsubscribe(struct sim_pubsub *pubsub, unsigned number, const char *name, size_t length)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    size_t i = place_of(connection, name, length);
    if (i == connection->count)
        return;
    leave(pubsub, connection->channels[i], number);
    connection->count--;
    memmove(connection->channels + i, connection->channels + i + 1, (connection->count - i) * sizeof(struct sim_channel *));
}

void sim_pubsub_disconnect(struct sim_pubsub *pubsub, unsigned number)
{
    struct sim_connection *connection = sim_pubsub_connection(pubsub, number);
    if (!connection)
        return;
    while (connection->count > 0)
        leave(pubsub, connection->channels[--connection->count], number);
    free(connection->channels);
    *connection = (struct sim_connection){0};
}

/* ---- commands ---- */

static const struct hl_reply *confirmation(const struct sim_call *call, const char *kind, const char *name, size_t length)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_connection *connection = sim_pubsub_connection(&call->store->pubsub, call->connection);
    const struct hl_reply *array = sim_reply_array(replies, 3);
    sim_reply_put(replies, array, 0, kind, strlen(kind));
    if (name)
        sim_reply_put(replies, array, 1, name, length);
    sim_reply_set(array, 2, (struct hl_reply){.type = HL_REPLY_INTEGER, .integer = (int64_t)connection->count});
    return array;
}

static void push(const struct sim_call *call, unsigned connection, const struct hl_reply *what)
{
    if (call->store->events)
        call->store->events->message(call->store->arg, connection, what);
}

static const struct hl_reply *subscribe_all(const struct sim_call *call)
{
    for (int i = 1;; i++) {
        const struct hl_reply *reply;
        subscribe(&call->store->pubsub, call->connection, call->argv[i], call->lengths[i]);
        reply = confirmation(call, "subscribe", call->argv[i], call->lengths[i]);
        if (i + 1 == call->argc)
            return reply;
        push(call, call->connection, reply);
    }
}

static const struct hl_reply *unsubscribe_one(const struct sim_call *call, const char *name, size_t length)
{
    const struct hl_reply *reply;
    char *copy = sim_replies_take(&call->store->replies, length + 1); /* the name may be the channel's own */
    memcpy(copy, name, length);
    if (call->store->keys.lie != SIM_LIE_UNSUBSCRIBE_STAYS)
        unsubscribe(&call->store->pubsub, call->connection, copy, length);
    reply = confirmation(call, "unsubscribe", copy, length);
    return reply;
}

static const struct hl_reply *unsubscribe_from_all(const struct sim_call *call)
{
    struct sim_connection *connection = sim_pubsub_connection(&call->store->pubsub, call->connection);
    if (connection->count == 0)
        return confirmation(call, "unsubscribe", NULL, 0);
    while (connection->count > 1) {
        push(call, call->connection, unsubscribe_one(call, connection->channels[0]->name, connection->channels[0]->length));
        if (call->store->keys.lie == SIM_LIE_UNSUBSCRIBE_STAYS)
            break;
    }
    return unsubscribe_one(call, connection->channels[0]->name, connection->channels[0]->length);
}

static const struct hl_reply *unsubscribe_all(const struct sim_call *call)
{
    if (call->argc == 1)
        return unsubscribe_from_all(call);
    for (int i = 1;; i++) {
        const struct hl_reply *reply = unsubscribe_one(call, call->argv[i], call->lengths[i]);
        if (i + 1 == call->argc)
            return reply;
        push(call, call->connection, reply);
    }
}

static const struct hl_reply *publish(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_channel *channel = sim_pubsub_channel(&call->store->pubsub, call->argv[1], call->lengths[1]);
    enum sim_store_lie lie = call->store->keys.lie;
    const struct hl_reply *message;
    if (!channel)
        return &sim_zero;
    message = sim_reply_array(replies, 3);
    sim_reply_put(replies, message, 0, "message", 7);
    sim_reply_put(replies, message, 1, call->argv[1], call->lengths[1]);
    sim_reply_put(replies, message, 2, call->argv[2], call->lengths[2]);
    for (size_t i = 0; i < channel->count && !(lie == SIM_LIE_MESSAGE_LOST && call->lengths[2] == 0); i++)
        push(call, channel->listeners[i], message);
    return sim_reply_integer(replies, lie == SIM_LIE_PUBLISH_COUNTS_ONE ? 1 : (int64_t)channel->count);
}

static const struct hl_reply *pubsub(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    struct hl_reply *array;
    if (!sim_argument_is(call, 1, "NUMSUB"))
        return sim_unknown_subcommand(call, "PUBSUB");
    array = sim_reply_array(replies, (size_t)(call->argc - 2) * 2);
    for (int i = 2; i < call->argc; i++) {
        const struct sim_channel *channel = sim_pubsub_channel(&call->store->pubsub, call->argv[i], call->lengths[i]);
        size_t place = (size_t)(i - 2) * 2;
        sim_reply_put(replies, array, place, call->argv[i], call->lengths[i]);
        sim_reply_set(array, place + 1, (struct hl_reply){.type = HL_REPLY_INTEGER, .integer = channel ? (int64_t)channel->count : 0});
    }
    return array;
}

const struct sim_command sim_commands_pubsub[] = {
    {"subscribe", -2, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS, subscribe_all},
    {"unsubscribe", -1, SIM_ALWAYS | SIM_NOSCRIPT | SIM_LISTENS, unsubscribe_all},
    {"publish", 3, SIM_ALWAYS, publish},
    {"pubsub", -2, SIM_ALWAYS, pubsub},
    {0},
};
