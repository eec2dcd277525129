/* SPDX-License-Identifier: BSD-3-Clause */
/* command_operator - questions that operators ask: which keys, channels and connections exist, and how often each
 * command was called. The library asks none of them; live tests ask real servers and this one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "state.h"

/* Returns the length of the text before the star of a pattern, or -1: only patterns of a text and one star at its
 * end are supported. */
static ptrdiff_t beginning_of(const char *pattern, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (memchr("*?[\\", pattern[i], 4))
            return pattern[i] == '*' && i + 1 == length ? (ptrdiff_t)i : -1;
    return -1;
}

const struct sim_reply *sim_names_like(const struct sim_call *call, const struct sim_table *table, int i)
{
    struct sim_replies *replies = &call->store->replies;
    const char *pattern = i < call->argc ? call->argv[i] : "*";
    ptrdiff_t begins = beginning_of(pattern, i < call->argc ? call->lengths[i] : 1);
    size_t length = (size_t)begins, count = 0;
    const struct sim_reply *array;
    if (begins < 0)
        return sim_reply_error(replies, "ERR Unsupported pattern");
    for (const struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        count += entry->length >= length && memcmp(entry->key, pattern, length) == 0;
    array = sim_reply_array(replies, count);
    count = 0;
    for (const struct sim_table_entry *entry = table->first; entry; entry = entry->behind)
        if (entry->length >= length && memcmp(entry->key, pattern, length) == 0)
            sim_reply_put(replies, array, count++, entry->key, entry->length);
    return array;
}

static const struct sim_reply *keys(const struct sim_call *call)
{
    sim_keyspace_sweep(&call->store->keys);
    return sim_names_like(call, &call->store->keys.table, 1);
}

/* ---- connections ---- */

/* Answers with a line for each connection; a real server has more fields in a line. */
const struct sim_reply *sim_clients_list(const struct sim_call *call)
{
    const struct sim_pubsub *pubsub = &call->store->pubsub;
    size_t room = 1, used = 0;
    char *text;
    for (unsigned i = 0; i < pubsub->count; i++)
        room += 64 + (pubsub->connections[i].name ? strlen(pubsub->connections[i].name) : 0);
    text = sim_replies_take(&call->store->replies, room);
    for (unsigned i = 0; i < pubsub->count; i++)
        if (pubsub->connections[i].is_open)
            used += (size_t)snprintf(text + used, room - used, "id=%u name=%s sub=%zu\n", i + 1,
                                     pubsub->connections[i].name ? pubsub->connections[i].name : "",
                                     pubsub->connections[i].count);
    return sim_reply(&call->store->replies, SIM_REPLY_STRING, text, used);
}

/* Kills the connections of TYPE normal or pubsub, except for the caller's own. */
const struct sim_reply *sim_clients_kill(const struct sim_call *call)
{
    struct sim_store *store = call->store;
    int is_of_listeners = call->argc > 3 && sim_argument_is(call, 3, "PUBSUB"), killed = 0;
    int is_known = call->argc > 3 && sim_argument_is(call, 2, "TYPE") &&
                   (is_of_listeners || sim_argument_is(call, 3, "NORMAL"));
    if (!is_known || !store->events || !store->events->killed ||
        (call->argc > 4 &&
         (call->argc != 6 || !sim_argument_is(call, 4, "SKIPME") || !sim_argument_is(call, 5, "YES"))))
        return &sim_syntax_error;
    for (unsigned number = 1; number <= store->pubsub.count; number++) {
        const struct sim_connection *connection = sim_pubsub_connection(&store->pubsub, number);
        if (!connection || number == call->connection || (connection->count > 0) != is_of_listeners)
            continue;
        sim_pubsub_disconnect(&store->pubsub, number);
        store->events->killed(store->arg, number);
        killed++;
    }
    return sim_reply_integer(&store->replies, killed);
}

/* ---- how often commands were called ---- */

const struct sim_reply *sim_calls_told(const struct sim_call *call)
{
    const struct sim_store *store = call->store;
    enum { LINE = 64 };
    size_t room = (SIM_COMMANDS_ROOM + 2) * LINE, used;
    char *text = sim_replies_take(&call->store->replies, room);
    used = (size_t)snprintf(text, room, "# Commandstats\r\ncmdstat_script|load:calls=%" PRIu64 "\r\n",
                            store->scripts.loads);
    for (unsigned i = 0; i < SIM_COMMANDS_ROOM; i++)
        if (store->index[i] && store->calls[i] > 0)
            used += (size_t)snprintf(text + used, room - used, "cmdstat_%s:calls=%" PRIu64 "\r\n",
                                     store->index[i]->name, store->calls[i]);
    return sim_reply(&call->store->replies, SIM_REPLY_STRING, text, used);
}

/* The store has no replicas: a limit of one or more makes it refuse writes. */
static const struct sim_reply *set_least_replicas(const struct sim_call *call)
{
    int64_t least;
    if (call->argc != 4 || !sim_argument_is(call, 2, "min-replicas-to-write") ||
        !sim_integer_read(call->argv[3], call->lengths[3], &least))
        return sim_reply_error(&call->store->replies, "ERR Unknown option or number of arguments for CONFIG SET");
    sim_store_refuse(call->store, least > 0 ? SIM_REFUSE_WRITES : SIM_REFUSE_NOTHING,
                     "NOREPLICAS Not enough good replicas to write.");
    return &sim_ok;
}

static const struct sim_reply *config(const struct sim_call *call)
{
    struct sim_store *store = call->store;
    if (sim_argument_is(call, 1, "SET"))
        return set_least_replicas(call);
    if (!sim_argument_is(call, 1, "RESETSTAT") || call->argc != 2)
        return sim_unknown_subcommand(call, "CONFIG");
    memset(store->calls, 0, sizeof store->calls);
    store->scripts.loads = 0;
    return &sim_ok;
}

const struct sim_command sim_commands_operator[] = {
    {"keys", 2, 0, keys},
    {"config", -2, SIM_NOSCRIPT, config},
    {0},
};
