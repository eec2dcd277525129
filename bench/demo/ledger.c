/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.c - what the resource recorded, and what the store shows just now.
 *
 * The demo judges by this alone: by lines that scripts at the store wrote as they sold or refused, in that order, not
 * by what a shop says of itself. The reader blocks, and does not use hilock, which it observes. It reads a lock as an
 * operator would with redis-cli: HGETALL of its name gives holder -> token, beside the field "mode".
 * Invariant: entries only grow, in the ledger's order. */
#include "ledger.h"

#include "../store.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ledger {
    redisContext *store;
    const struct plan *plan;
    char prefix[PREFIX_SIZE];
    struct entry *entries;
    size_t count, capacity;
};

/* The next reply if it is of that type, else NULL. */
static redisReply *next_reply(struct ledger *ledger, int type)
{
    redisReply *reply = NULL;
    if (redisGetReply(ledger->store, (void **)&reply) != REDIS_OK)
        return NULL;
    if (reply->type == type)
        return reply;
    freeReplyObject(reply);
    return NULL;
}

static bool skip_replies(struct ledger *ledger, unsigned count, int type)
{
    bool is_good = true;
    for (unsigned i = 0; i < count; i++) {
        redisReply *reply = next_reply(ledger, type);
        is_good = is_good && reply;
        if (reply)
            freeReplyObject(reply);
    }
    return is_good;
}

static bool fill_shelves(struct ledger *ledger)
{
    for (unsigned item = 0; item < ledger->plan->items; item++)
        redisAppendCommand(ledger->store, "HSET %sstock %u %u", ledger->prefix, item, ledger->plan->stock);
    return skip_replies(ledger, ledger->plan->items, REDIS_REPLY_INTEGER);
}

struct ledger *ledger_open(const char *url, const char *prefix, const struct plan *plan, char *ret_error)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    snprintf(ret_error, STORE_ERROR_SIZE, "out of memory");
    if (ledger)
        ledger->store = store_connect(url, ret_error);
    if (!ledger || !ledger->store) {
        free(ledger);
        return NULL;
    }
    ledger->plan = plan;
    snprintf(ledger->prefix, sizeof ledger->prefix, "%s", prefix);
    if (fill_shelves(ledger))
        return ledger;
    snprintf(ret_error, STORE_ERROR_SIZE, "the store does not take the stock: %s", ledger->store->errstr);
    ledger_close(ledger);
    return NULL;
}

static bool read_entry(const char *line, struct entry *ret_entry)
{
    static const char *const kinds[] = {[ENTRY_SALE] = "sale", [ENTRY_REFUSED] = "refused", [ENTRY_LOST] = "lost"};
    unsigned long long token, at_ms;
    char kind[16];
    if (sscanf(line, "%15s %u %llu %c %u %u %llu", kind, &ret_entry->item, &token, &ret_entry->shop, &ret_entry->piece,
               &ret_entry->waited_ms, &at_ms) != 7 || ret_entry->item >= ITEMS_MAX || ret_entry->piece > STOCK_MAX)
        return false;
    ret_entry->token = token;
    ret_entry->at_ms = at_ms;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) == 0) {
            ret_entry->kind = (enum entry_kind)i;
            return true;
        }
    }
    return false;
}

static bool make_room(struct ledger *ledger, size_t count)
{
    size_t capacity = ledger->capacity ? ledger->capacity : 1024;
    struct entry *entries;
    while (capacity < count)
        capacity *= 2;
    entries = capacity == ledger->capacity ? ledger->entries : realloc(ledger->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    ledger->entries = entries;
    ledger->capacity = capacity;
    return true;
}

int ledger_follow(struct ledger *ledger)
{
    redisReply *lines;
    bool is_good;
    redisAppendCommand(ledger->store, "LRANGE %sledger %llu -1", ledger->prefix, (unsigned long long)ledger->count);
    lines = next_reply(ledger, REDIS_REPLY_ARRAY);
    if (!lines)
        return -1;
    is_good = make_room(ledger, ledger->count + lines->elements);
    for (size_t i = 0; is_good && i < lines->elements; i++) {
        is_good = read_entry(lines->element[i]->str, &ledger->entries[ledger->count]);
        ledger->count += is_good;
    }
    freeReplyObject(lines);
    return is_good ? 0 : -1;
}

const struct entry *ledger_entries(const struct ledger *ledger, size_t *ret_count)
{
    *ret_count = ledger->count;
    return ledger->entries;
}

/* Arrays of fields and values, one pair an item, in any order; what is absent stays 0. */
static bool read_counts(struct ledger *ledger, uint64_t ret_counts[ITEMS_MAX])
{
    redisReply *hash = next_reply(ledger, REDIS_REPLY_ARRAY);
    if (!hash)
        return false;
    for (size_t i = 0; i + 1 < hash->elements; i += 2) {
        unsigned long item = strtoul(hash->element[i]->str, NULL, 10);
        if (item < ITEMS_MAX)
            ret_counts[item] = strtoull(hash->element[i + 1]->str, NULL, 10);
    }
    freeReplyObject(hash);
    return true;
}

static bool read_holder(struct ledger *ledger, struct shelf *shelf)
{
    redisReply *hash = next_reply(ledger, REDIS_REPLY_ARRAY);
    if (!hash)
        return false;
    for (size_t i = 0; i + 1 < hash->elements; i += 2) {
        if (strcmp(hash->element[i]->str, "mode") == 0)
            continue;
        snprintf(shelf->holder, sizeof shelf->holder, "%s", hash->element[i]->str);
        shelf->token = strtoull(hash->element[i + 1]->str, NULL, 10);
    }
    freeReplyObject(hash);
    return true;
}

int ledger_shelves(struct ledger *ledger, struct shelf ret_shelves[ITEMS_MAX])
{
    uint64_t left[ITEMS_MAX] = {0}, fence[ITEMS_MAX] = {0};
    bool is_good;
    redisAppendCommand(ledger->store, "HGETALL %sstock", ledger->prefix);
    redisAppendCommand(ledger->store, "HGETALL %sfence", ledger->prefix);
    for (unsigned item = 0; item < ITEMS_MAX; item++)
        redisAppendCommand(ledger->store, "HGETALL %sitem:%u", ledger->prefix, item);
    is_good = read_counts(ledger, left) && read_counts(ledger, fence);
    for (unsigned item = 0; is_good && item < ITEMS_MAX; item++) {
        ret_shelves[item] = (struct shelf){.left = (unsigned)left[item], .fence = fence[item]};
        is_good = read_holder(ledger, &ret_shelves[item]);
    }
    return is_good ? 0 : -1;
}

int ledger_now(struct ledger *ledger, uint64_t *ret_now_ms)
{
    redisReply *time;
    redisAppendCommand(ledger->store, "TIME");
    time = next_reply(ledger, REDIS_REPLY_ARRAY);
    if (!time)
        return -1;
    *ret_now_ms = strtoull(time->element[0]->str, NULL, 10) * 1000 + strtoull(time->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(time);
    return 0;
}

void ledger_close(struct ledger *ledger)
{
    if (!ledger)
        return;
    redisAppendCommand(ledger->store, "DEL %sstock %sfence %sledger", ledger->prefix, ledger->prefix, ledger->prefix);
    skip_replies(ledger, 1, REDIS_REPLY_INTEGER);
    redisFree(ledger->store);
    free(ledger->entries);
    free(ledger);
}
