/* SPDX-License-Identifier: BSD-3-Clause */
/* command_server - commands about the connection and the server. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static const struct sim_reply *ping(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    const struct sim_connection *connection = sim_pubsub_connection(&call->store->pubsub, call->connection);
    const struct sim_reply *array;
    if (call->argc > 2)
        return sim_wrong_arguments(call, "ping");
    if (connection && connection->count > 0) {
        array = sim_reply_array(replies, 2);
        sim_reply_put(replies, array, 0, "pong", 4);
        sim_reply_put(replies, array, 1, call->argc == 2 ? call->argv[1] : "", call->argc == 2 ? call->lengths[1] : 0);
        return array;
    }
    if (call->argc == 2)
        return sim_reply(replies, SIM_REPLY_STRING, call->argv[1], call->lengths[1]);
    return sim_reply(replies, SIM_REPLY_STATUS, "PONG", 4);
}

static int is_text(const struct sim_call *call, int i, const char *text)
{
    return call->lengths[i] == strlen(text) && memcmp(call->argv[i], text, call->lengths[i]) == 0;
}

static const struct sim_reply *auth(const struct sim_call *call)
{
    const struct sim_store *store = call->store;
    int is_default = call->argc == 2 || is_text(call, 1, "default");
    const char *password = is_default ? store->password : store->user_password;
    if (call->argc > 3)
        return &sim_syntax_error;
    if (call->argc == 2 && !password)
        return sim_reply_error(&call->store->replies,
                               "ERR AUTH <password> called without any password configured for the default user. "
                               "Are you sure your configuration is correct?");
    if ((!is_default && (!store->user || !is_text(call, 1, store->user))) ||
        (password && !is_text(call, call->argc - 1, password)))
        return sim_reply_error(&call->store->replies, "WRONGPASS invalid username-password pair or user is disabled.");
    sim_pubsub_connection(&call->store->pubsub, call->connection)->is_logged_in = 1;
    return &sim_ok;
}

static const struct sim_reply *select_database(const struct sim_call *call)
{
    const struct sim_reply *error;
    int64_t database;
    if (!sim_argument_integer(call, 1, &database, &error))
        return error;
    return database >= 0 && database < 16 ? &sim_ok
                                          : sim_reply_error(&call->store->replies, "ERR DB index is out of range");
}

static const struct sim_reply *client(const struct sim_call *call)
{
    struct sim_connection *connection = sim_pubsub_connection(&call->store->pubsub, call->connection);
    if (sim_argument_is(call, 1, "LIST"))
        return sim_clients_list(call);
    if (sim_argument_is(call, 1, "KILL"))
        return sim_clients_kill(call);
    if (!sim_argument_is(call, 1, "SETNAME"))
        return sim_unknown_subcommand(call, "CLIENT");
    if (call->argc != 3)
        return sim_wrong_arguments(call, "client|setname");
    for (size_t i = 0; i < call->lengths[2]; i++)
        if (call->argv[2][i] < '!' || call->argv[2][i] > '~')
            return sim_reply_error(&call->store->replies,
                                   "ERR Client names cannot contain spaces, newlines or special characters.");
    free(connection->name);
    connection->name = call->lengths[2] ? strndup(call->argv[2], call->lengths[2]) : NULL;
    return &sim_ok;
}

static const struct sim_reply *time_of_day(const struct sim_call *call)
{
    const struct sim_keyspace *keys = &call->store->keys;
    struct sim_replies *replies = &call->store->replies;
    const struct sim_reply *array = sim_reply_array(replies, 2);
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, keys->now_us / 1000000);
    sim_reply_put(replies, array, 0, digits, (size_t)length);
    length = snprintf(digits, sizeof digits, "%" PRIu64,
                      keys->lie == SIM_LIE_TIME_MILLISECONDS ? keys->now_us % 1000000 / 1000 * 1000
                                                             : keys->now_us % 1000000);
    sim_reply_put(replies, array, 1, digits, (size_t)length);
    return array;
}

static const struct sim_reply *info(const struct sim_call *call)
{
    char text[320];
    int is_of_calls = call->argc == 2 && sim_argument_is(call, 1, "COMMANDSTATS");
    uint64_t uptime_s = call->store->keys.now_us / 1000000 - call->store->started_us / 1000000;
    int length = snprintf(
        text, sizeof text,
        "# Server\r\nredis_version:7.0.15\r\nredis_mode:%s\r\nrun_id:%040" PRIx64 "\r\nuptime_in_seconds:%" PRId64
        "\r\n\r\n"
        "# Memory\r\nmaxmemory:%d\r\nmaxmemory_policy:%s\r\n\r\n# Replication\r\nrole:%s\r\nconnected_slaves:0\r\n",
        call->store->map           ? "cluster"
        : call->store->is_sentinel ? "sentinel"
                                   : "standalone",
        call->store->started_us, (int64_t)uptime_s, call->store->policy ? 100000000 : 0,
        call->store->policy ? call->store->policy : "noeviction",
        sim_store_is_replica(call->store) ? "slave" : "master");
    return is_of_calls ? sim_calls_told(call)
                       : sim_reply(&call->store->replies, SIM_REPLY_STRING, text, (size_t)length);
}

static const struct sim_reply *wait_for_replicas(const struct sim_call *call)
{
    const struct sim_reply *error;
    int64_t number;
    if (sim_store_is_replica(call->store))
        return sim_reply_error(
            &call->store->replies,
            "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a "
            "replica is configured to be writable (which is not the default) writes to replicas are just local "
            "and are not propagated.");
    if (!sim_argument_integer(call, 1, &number, &error) || !sim_argument_integer(call, 2, &number, &error))
        return error;
    return number < 0 ? sim_reply_error(&call->store->replies, "ERR timeout is negative") : &sim_zero;
}

/* COMMAND INFO. Clients use it only to find out whether the server has a command: the entry of a command that it has
 * begins with the name, and has nothing else here. The entry of one that it lacks is nil. */
static const struct sim_reply *command(const struct sim_call *call)
{
    struct sim_replies *replies = &call->store->replies;
    struct sim_reply *array = sim_reply_array(replies, (size_t)call->argc - 2);
    if (!sim_argument_is(call, 1, "INFO"))
        return sim_unknown_subcommand(call, "COMMAND");
    for (int i = 2; i < call->argc; i++) {
        const struct sim_command *found = sim_command_find(call->store, call->argv[i], call->lengths[i]);
        struct sim_reply *entry = sim_reply_array(replies, 1);
        if (!found)
            continue;
        sim_reply_put(replies, entry, 0, found->name, strlen(found->name));
        sim_reply_set(array, (size_t)i - 2, *entry);
    }
    return array;
}

const struct sim_command sim_commands_server[] = {
    {"ping", -1, SIM_LISTENS | SIM_GUIDES, ping},
    {"auth", -2, SIM_ALWAYS | SIM_NOSCRIPT | SIM_GUIDES, auth},
    {"select", 2, SIM_ALWAYS, select_database},
    {"client", -2, SIM_ALWAYS | SIM_NOSCRIPT | SIM_GUIDES, client},
    {"time", 1, SIM_ALWAYS, time_of_day},
    {"command", -3, SIM_ALWAYS, command},
    {"info", -1, SIM_ALWAYS | SIM_GUIDES, info},
    {"wait", 3, SIM_NOSCRIPT, wait_for_replicas},
    {0},
};
