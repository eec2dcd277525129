/* SPDX-License-Identifier: BSD-3-Clause */
/* store - see store.h: how a store begins and ends, and the steps by which it executes a command. */
#include "store.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "contract.h"
#include "state.h"

/* ---- finding a command ---- */

static unsigned place_of(const char *name, size_t length)
{
    unsigned place = (unsigned)length;
    for (size_t i = 0; i < length; i++)
        place = place * 31 + ((unsigned char)name[i] | 32u);
    return place % SIM_COMMANDS_ROOM;
}

static void index_commands(struct sim_store *store, const struct sim_command *commands)
{
    for (; commands->name; commands++) {
        unsigned place = place_of(commands->name, strlen(commands->name));
        while (store->index[place])
            place = (place + 1) % SIM_COMMANDS_ROOM;
        store->index[place] = commands;
    }
}

static int is_called(const struct sim_command *command, const char *name, size_t length)
{
    return strlen(command->name) == length && strncasecmp(command->name, name, length) == 0;
}

const struct sim_command *sim_command_find(const struct sim_store *store, const char *name, size_t length)
{
    for (unsigned place = place_of(name, length); store->index[place]; place = (place + 1) % SIM_COMMANDS_ROOM)
        if (is_called(store->index[place], name, length))
            return store->index[place];
    return NULL;
}

const struct sim_reply *sim_command_run(const struct sim_call *call, const struct sim_command *command)
{
    struct sim_store *store = call->store;
    unsigned place = place_of(command->name, strlen(command->name));
    while (store->index[place] && store->index[place] != command)
        place = (place + 1) % SIM_COMMANDS_ROOM;
    store->calls[place]++;
    sim_touch(call, command->flags & SIM_KEYS ? (size_t)call->argc - 1 : (command->flags & SIM_KEY) != 0);
    return command->run(call);
}

int sim_command_fits(const struct sim_command *command, int argc)
{
    return command->arity >= 0 ? argc == command->arity : argc >= -command->arity;
}

/* ---- begin and end ---- */

struct sim_store *sim_store_new(const struct sim_store_events *events, void *arg)
{
    static const struct sim_command *const lists[] = {
        sim_commands_keys,   sim_commands_string,   sim_commands_hash,   sim_commands_zset,   sim_commands_list,
        sim_commands_server, sim_commands_operator, sim_commands_pubsub, sim_commands_script, sim_commands_peers,
        sim_commands_map};
    struct sim_store *store = calloc(1, sizeof *store);
    SIM_REQUIRE(store);
    store->events = events;
    store->arg = arg;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        index_commands(store, lists[i]);
    sim_keyspace_init(&store->keys);
    sim_replies_init(&store->replies);
    sim_pubsub_init(&store->pubsub);
    sim_scripts_init(store);
    return store;
}

void sim_store_free(struct sim_store *store)
{
    if (!store)
        return;
    sim_scripts_done(store);
    sim_pubsub_done(&store->pubsub);
    sim_replies_done(&store->replies);
    sim_keyspace_clear(&store->keys);
    free(store->password);
    free(store->map);
    free(store);
}

void sim_store_set_time(struct sim_store *store, uint64_t wall_us)
{
    if (!store->started_us)
        store->started_us = wall_us;
    store->keys.now_us = wall_us;
}

void sim_store_set_started(struct sim_store *store, uint64_t wall_us) { store->started_us = wall_us; }

unsigned sim_store_connect(struct sim_store *store) { return sim_pubsub_connect(&store->pubsub); }

void sim_store_disconnect(struct sim_store *store, unsigned connection)
{
    sim_pubsub_disconnect(&store->pubsub, connection);
}

void sim_store_restart(struct sim_store *store, int keeps_data)
{
    for (unsigned connection = 1; connection <= store->pubsub.count; connection++)
        sim_pubsub_disconnect(&store->pubsub, connection);
    sim_scripts_flush(store);
    if (!keeps_data)
        sim_keyspace_clear(&store->keys);
    store->started_us = store->keys.now_us;
}

void sim_store_flush_scripts(struct sim_store *store) { sim_scripts_flush(store); }

void sim_store_sweep(struct sim_store *store) { sim_keyspace_sweep(&store->keys); }

void sim_store_set_password(struct sim_store *store, const char *password)
{
    for (unsigned i = 0; i < store->pubsub.count; i++)
        store->pubsub.connections[i].is_logged_in = 1;
    free(store->password);
    store->password = password ? strdup(password) : NULL;
}

void sim_store_set_user(struct sim_store *store, const char *name, const char *password)
{
    store->user = name;
    store->user_password = password;
}

void sim_store_set_policy(struct sim_store *store, const char *policy) { store->policy = policy; }

void sim_store_mute(struct sim_store *store) { store->is_mute = 1; }

void sim_store_deny(struct sim_store *store, const char *command, const char *prefix)
{
    store->denied_command = command;
    store->denied_prefix = prefix;
}

void sim_store_refuse(struct sim_store *store, enum sim_refusal what, const char *error)
{
    store->refuses = what;
    store->refusal = error;
}

void sim_store_lie(struct sim_store *store, enum sim_store_lie lie) { store->keys.lie = lie; }

/* ---- executing a command ---- */

static const struct sim_reply *unknown(const struct sim_call *call)
{
    char with[160] = "";
    size_t used = 0;
    for (int i = 1; i < call->argc && used < 128; i++) {
        size_t length = call->lengths[i] < 128 - used ? call->lengths[i] : 128 - used;
        with[used++] = '\'';
        memcpy(with + used, call->argv[i], length);
        used += length;
        memcpy(with + used, "' ", 3);
        used += 2;
    }
    return sim_reply_error(&call->store->replies, "ERR unknown command '%.128s', with args beginning with: %s",
                           sim_reply(&call->store->replies, SIM_REPLY_STRING, call->argv[0], call->lengths[0])->bytes,
                           with);
}

const char *sim_write_refusal(const struct sim_store *store, const struct sim_command *command)
{
    if (!(command->flags & SIM_WRITES))
        return NULL;
    if (sim_store_is_replica(store))
        return "READONLY You can't write against a read only replica.";
    if (store->refuses == SIM_REFUSE_GROWTH && command->flags & SIM_GROWS && !store->scripts.has_written)
        return store->refusal;
    return store->refuses == SIM_REFUSE_WRITES ? store->refusal : NULL;
}

/* Returns why a real server would not even begin the command; NULL: it would. */
static const struct sim_reply *refusal(const struct sim_call *call, const struct sim_command *command,
                                      const struct sim_connection *connection, int is_asking)
{
    struct sim_store *store = call->store;
    const struct sim_reply *elsewhere;
    const char *refused;
    if (!sim_command_fits(command, call->argc))
        return sim_wrong_arguments(call, command->name);
    if (store->password && !connection->is_logged_in && strcmp(command->name, "auth") != 0)
        return sim_reply_error(&store->replies, "NOAUTH Authentication required.");
    if ((elsewhere = sim_map_refusal(call, command, is_asking)) != NULL)
        return elsewhere;
    if ((refused = sim_write_refusal(store, command)) != NULL)
        return sim_reply_error(&store->replies, "%s", refused);
    if (connection->count > 0 && !(command->flags & SIM_LISTENS))
        return sim_reply_error(
            &store->replies,
            "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
            "allowed in this context",
            command->name);
    if (store->refuses == SIM_REFUSE_ALL && !(command->flags & SIM_ALWAYS))
        return sim_reply_error(&store->replies, "%s", store->refusal);
    return NULL;
}

const struct sim_reply *sim_store_execute(struct sim_store *store, unsigned connection, int argc,
                                          const char *const *argv, const size_t *lengths)
{
    const struct sim_call call = {store, connection, argc, argv, lengths};
    struct sim_connection *from = sim_pubsub_connection(&store->pubsub, connection);
    const struct sim_command *command;
    const struct sim_reply *refused;
    int is_asking;
    SIM_REQUIRE(argc > 0);
    if (!from)
        return NULL;
    is_asking = from->is_asking; /* ASKING counts for the next command alone */
    from->is_asking = 0;
    sim_replies_reset(&store->replies);
    store->commands++;
    command = sim_command_find(store, argv[0], lengths[0]);
    if (!command || (store->is_sentinel && !(command->flags & SIM_GUIDES)) ||
        (!store->is_sentinel && command->flags & SIM_GUIDES_ONLY))
        return unknown(&call);
    store->scripts.is_asking = is_asking;
    refused = refusal(&call, command, from, is_asking);
    return refused ? refused : sim_command_run(&call, command);
}
