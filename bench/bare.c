/* SPDX-License-Identifier: BSD-3-Clause */
/* bare - see bare.h. */
#include "bare.h"

#include "core/terms.h"
#include "store.h"
#include "wire/scripts.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define UUID "5d7bf3c2-6d0e-4b0b-9f0e-0123456789ab"

const char bare_uuid[] = UUID, bare_label[] = "hilock-bench@host/12345";

int bare_load_scripts(const char *url)
{
    static const struct hl_script *const scripts[] = {&hl_script_mutex_acquire, &hl_script_mutex_release,
                                                     &hl_script_share_release};
    char error[STORE_ERROR_SIZE];
    redisContext *store = store_connect(url, error);
    bool is_loaded = store;
    if (!store)
        fprintf(stderr, "bare loop: %s\n", error);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts && is_loaded; i++) {
        redisReply *reply = redisCommand(store, "SCRIPT LOAD %b", scripts[i]->text, scripts[i]->length);
        is_loaded = reply && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, scripts[i]->sha1) == 0;
        if (reply)
            freeReplyObject(reply);
    }
    if (store)
        redisFree(store);
    return is_loaded ? 0 : -1;
}

enum { TOKEN_TTL_MS = 600000, RESERVED = 15 };

struct hl_acquire_params bare_acquire_params(unsigned lease_ms, double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct hl_acquire_params){
        .lease_ms = lease_ms, .reserved = RESERVED, .holders_max = 1, .token_ttl_ms = TOKEN_TTL_MS,
        .entry = {.due_s = HL_DUE_NEVER_S, .window_ms = HL_WINDOW_MIN_MS, .reserved = RESERVED, .holders_max = 1,
                  .channel = "hilock:grant:" UUID},
        .queue_max = HL_QUEUE_MAX,
        .not_after_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)(seconds * 1000) + 60000};
}

void bare_share(struct hl_acquire_params *params)
{
    params->holders_max = params->entry.holders_max = HL_HOLDERS_ANY;
}

struct hl_release_params bare_release_params(int is_sharded)
{
    return (struct hl_release_params){.is_sharded = is_sharded, .token_ttl_ms = TOKEN_TTL_MS};
}
