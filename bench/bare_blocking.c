/* SPDX-License-Identifier: BSD-3-Clause */
/* bare_blocking.c - the yardstick of scenario blocking: hiredis' blocking calls.
 *
 * This is what a script would do without a lock client: it sends a command and checks the type of the reply. It has no
 * deadline, no renewal and no retry, and does not notice a loss. */
#include "bare.h"

#include "base/command.h"
#include "store.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char name[] = "bare:blocking";
static const char release_script[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

struct bare_blocking {
    redisContext *store;
    struct hl_target words;
    struct hl_acquire_params params;
    struct hl_command command;
    unsigned lease_ms;
    char release_sha1[41];
};

/* Frees the reply. */
static bool is_yes(redisReply *reply)
{
    const bool is_yes = reply &&
                        (reply->type == REDIS_REPLY_INTEGER ? reply->integer > 0 : reply->type == REDIS_REPLY_STATUS);
    if (!is_yes)
        fprintf(stderr, "bare loop: %s\n", reply && reply->str ? reply->str : "no reply, or an unexpected one");
    if (reply)
        freeReplyObject(reply);
    return is_yes;
}

static bool say(struct bare_blocking *bare)
{
    struct hl_command *command = &bare->command;
    return is_yes(redisCommandArgv(bare->store, command->argc, command->argv, command->lengths));
}

static bool pair_of_mutex(struct bare_blocking *bare)
{
    const struct hl_release_params end = bare_release_params(0);
    bare->words.id++;
    hl_queued_acquire(&bare->command, &bare->words, &bare->params);
    if (!say(bare))
        return false;
    hl_queued_release(&bare->command, &bare->words, &end);
    return say(bare);
}

static bool pair_of_set(struct bare_blocking *bare)
{
    const unsigned long long id = ++bare->words.id;
    return is_yes(redisCommand(bare->store, "SET %s %s:%llu NX PX %u", name, bare_uuid, id, bare->lease_ms)) &&
           is_yes(redisCommand(bare->store, "EVALSHA %s 1 %s %s:%llu", bare->release_sha1, name, bare_uuid, id));
}

void bare_blocking_begin(struct bare_blocking *bare, double seconds)
{
    bare->params = bare_acquire_params(bare->lease_ms, seconds);
}

int bare_blocking_pair(struct bare_blocking *bare, enum bare_pair pair)
{
    return (pair == BARE_MUTEX ? pair_of_mutex(bare) : pair_of_set(bare)) ? 0 : -1;
}

static bool load_release(struct bare_blocking *bare)
{
    redisReply *reply = redisCommand(bare->store, "SCRIPT LOAD %s", release_script);
    const bool is_loaded = reply && reply->type == REDIS_REPLY_STRING && reply->len == 40;
    if (is_loaded)
        memcpy(bare->release_sha1, reply->str, 41);
    if (reply)
        freeReplyObject(reply);
    return is_loaded;
}

struct bare_blocking *bare_blocking_open(const char *url, unsigned lease_ms)
{
    struct bare_blocking *bare = calloc(1, sizeof *bare);
    char error[STORE_ERROR_SIZE] = "out of memory, or its scripts are refused";
    if (!bare)
        return NULL;
    bare->lease_ms = lease_ms;
    bare->words = (struct hl_target){.name = name, .name_length = strlen(name), .uuid = bare_uuid, .label = bare_label};
    bare->store = store_connect(url, error);
    if (bare->store && bare_load_scripts(url) == 0 && load_release(bare))
        return bare;
    fprintf(stderr, "bare loop: %s\n", error);
    bare_blocking_close(bare);
    return NULL;
}

void bare_blocking_close(struct bare_blocking *bare)
{
    if (!bare)
        return;
    if (bare->store)
        redisFree(bare->store);
    free(bare);
}
