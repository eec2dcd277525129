/* SPDX-License-Identifier: BSD-3-Clause */
/* masters.c - finds the servers that a URL means. For a cluster the first host of the URL is asked; a user and a
 * password are not supported for a cluster. */
#include "masters.h"

#include "base/slot.h"
#include "store.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scheme[] = "redis+cluster://";

struct masters {
    char urls[MASTERS_MAX][STORE_ERROR_SIZE];
    unsigned count;
    unsigned char of_slot[HL_SLOTS];
};

static unsigned add(struct masters *masters, const char *host, long long port)
{
    char url[STORE_ERROR_SIZE];
    snprintf(url, sizeof url, strchr(host, ':') ? "redis://[%.200s]:%lld" : "redis://%.200s:%lld", host, port);
    for (unsigned i = 0; i < masters->count; i++)
        if (strcmp(masters->urls[i], url) == 0)
            return i;
    if (masters->count < MASTERS_MAX)
        memcpy(masters->urls[masters->count++], url, sizeof url);
    return masters->count - 1;
}

static void read_slots(struct masters *masters, const redisReply *reply)
{
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *range = reply->element[i];
        unsigned at = add(masters, range->element[2]->element[0]->str, range->element[2]->element[1]->integer);
        for (long long slot = range->element[0]->integer; slot <= range->element[1]->integer; slot++)
            masters->of_slot[slot] = (unsigned char)at;
    }
}

static int ask(struct masters *masters, const char *url, char *ret_error)
{
    char first[STORE_ERROR_SIZE];
    redisContext *store;
    redisReply *reply;
    snprintf(first, sizeof first, "redis://%.*s", (int)strcspn(url + strlen(scheme), ",/"), url + strlen(scheme));
    store = store_connect(first, ret_error);
    if (!store)
        return -1;
    reply = redisCommand(store, "CLUSTER SLOTS");
    if (reply && reply->type == REDIS_REPLY_ARRAY)
        read_slots(masters, reply);
    else
        snprintf(ret_error, STORE_ERROR_SIZE, "CLUSTER SLOTS: %s", reply && reply->str ? reply->str : store->errstr);
    if (reply)
        freeReplyObject(reply);
    redisFree(store);
    return masters->count ? 0 : -1;
}

struct masters *masters_open(const char *url, char *ret_error)
{
    struct masters *masters = calloc(1, sizeof *masters);
    if (!masters) {
        snprintf(ret_error, STORE_ERROR_SIZE, "out of memory");
        return NULL;
    }
    if (strncmp(url, scheme, strlen(scheme)) != 0) {
        snprintf(masters->urls[0], sizeof masters->urls[0], "%s", url);
        masters->count = 1;
        return masters;
    }
    if (ask(masters, url, ret_error) == 0)
        return masters;
    free(masters);
    return NULL;
}

void masters_close(struct masters *masters) { free(masters); }
unsigned masters_count(const struct masters *masters) { return masters->count; }
const char *masters_url(const struct masters *masters, unsigned i) { return masters->urls[i]; }
unsigned masters_of(const struct masters *masters, const char *key, size_t length)
{
    return masters->of_slot[hl_slot_of(key, length)];
}
