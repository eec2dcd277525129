/* SPDX-License-Identifier: BSD-3-Clause */
/* bare - see bare.h. */
#include "bare.h"

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
    static const struct hl_script *const scripts[] = {&hl_script_mutex_acquire, &hl_script_mutex_release};
    char error[STORE_ERROR_SIZE];
    redisContext *store = store_connect(url, error);
    bool is_loaded = store;
    if (!store)
        fprintf(stderr, "bare loop: %s\n", error);
    for (size_t i = 0; i < 2 && is_loaded; i++) {
        redisReply *reply = redisCommand(store, "SCRIPT LOAD %b", scripts[i]->text, scripts[i]->length);
        is_loaded = reply && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, scripts[i]->sha1) == 0;
        if (reply)
            freeReplyObject(reply);
    }
    if (store)
        redisFree(store);
    return is_loaded ? 0 : -1;
}

struct hl_params bare_params(unsigned lease_ms, double seconds, int is_sharded)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct hl_params){.lease_ms = lease_ms, .is_sharded = is_sharded, .reserved = 15, .token_ttl_ms = 600000,
                             .entry = {.due_s = HL_DUE_NEVER_S, .window_ms = HL_WINDOW_MIN_MS, .reserved = 15,
                                       .channel = "hilock:grant:" UUID},
                             .queue_max = HL_QUEUE_MAX,
                             .not_after_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)(seconds * 1000) + 60000};
}

void bare_release(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    struct hl_params end = *params;
    end.entry = (struct hl_queue_entry){.due_s = 0};
    hl_queued_release(command, target, &end);
}
