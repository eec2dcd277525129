/* SPDX-License-Identifier: BSD-3-Clause */
/* store_hand - what an operator, another program or a fault does to a server, and what a test reads of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/state.h"
#include "wire/keys.h"
#include "world/store.h"

static struct sim_key *find(const struct store *store, const char *name) { return sim_key_find(&store_now(store)->keys, name, strlen(name)); }

static int64_t now_ms(const struct store *store) { return (int64_t)(store_us(store) / 1000); }

void store_delete(struct store *store, const char *name)
{
    struct sim_key *key = find(store, name);
    if (key)
        sim_key_delete(&store->core->keys, key);
}

void store_clear(struct store *store) { sim_keyspace_clear(&store->core->keys); }

/* In place of what was there. */
static struct sim_key *make(struct store *store, const char *name, enum sim_type type, const char *field, const char *value)
{
    struct sim_key *key;
    store_delete(store, name);
    key = sim_key_new(&store->core->keys, name, strlen(name), type);
    sim_item_add(key, field ? sim_bytes_new(field, strlen(field)) : NULL, sim_bytes_new(value, strlen(value)), 0);
    return key;
}

static void take(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    char token[24];
    struct sim_key *key;
    snprintf(token, sizeof token, "%" PRIu64, store_us(store));
    key = make(store, name, SIM_HASH, holder, token);
    key->expires_ms = lease_ms ? now_ms(store) + (int64_t)lease_ms : -1;
}

void store_take(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    char spelt[100];
    snprintf(spelt, sizeof spelt, "%s:1", holder);
    take(store, name, strchr(holder, ':') ? holder : spelt, lease_ms);
}

void store_grant(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    take(store, name, holder, lease_ms);
    sim_item_add(find(store, name), sim_bytes_new("mode", 4), sim_bytes_new("mutex", 5), 0);
}

void store_join(struct store *store, const char *name, const char *field)
{
    sim_item_add(find(store, name), sim_bytes_new(field, strlen(field)), sim_bytes_new("1", 1), 0);
}

void store_free_name(struct store *store, const char *name)
{
    char channel[2048];
    size_t length = hl_key_write(channel, hl_key_channel, name, strlen(name));
    store_delete(store, name);
    sim_store_deliver(store->core, 0, &(struct sim_said){channel, "0", length, 1});
}

void store_set_hash(struct store *store, const char *name, const char *field, uint64_t lease_ms)
{
    take(store, name, field, lease_ms);
}

void store_set_string(struct store *store, const char *name, const char *value) { make(store, name, SIM_STRING, NULL, value); }

void store_take_simple(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    store_set_string(store, name, holder);
    if (lease_ms)
        store_expire_ms(store, name, (int64_t)lease_ms);
}

void store_expire_ms(struct store *store, const char *name, int64_t from_now_ms)
{
    struct sim_key *key = find(store, name);
    if (key)
        key->expires_ms = now_ms(store) + from_now_ms;
}

unsigned store_publish(struct store *store, const char *channel, const char *text) { return sim_store_publish(store->core, channel, text); }

unsigned store_publish_to_shard(struct store *store, const char *channel, const char *text)
{
    return sim_store_deliver(store->core, 1, &(struct sim_said){channel, text, strlen(channel), strlen(text)});
}

void store_restart(struct store *store, int keeps_data) { sim_store_restart(store_now(store), keeps_data); }

int64_t store_left_ms(struct store *store, const char *name)
{
    const struct sim_key *key = find(store, name);
    return !key ? -2 : key->expires_ms < 0 ? -1 : key->expires_ms - now_ms(store);
}

uint64_t store_token(struct store *store, const char *name, const char *holder)
{
    size_t length;
    const char *token = sim_store_hash_get(store_now(store), name, strlen(name), holder, strlen(holder), &length);
    return token ? strtoull(token, NULL, 10) : 0;
}

int64_t store_share_left_ms(struct store *store, const char *name, const char *client, uint64_t token)
{
    char share[2048];
    size_t length = hl_key_write(share, hl_key_share, name, strlen(name)), client_length = strlen(client);
    const struct sim_key *key = find(store, name), *ends;
    share[length] = '\0';
    ends = find(store, share);
    if (!key || key->type != SIM_HASH || !ends)
        return -2;
    for (const struct sim_item *item = sim_item_first(key); item; item = sim_item_next(item)) {
        const struct sim_item *end = strncmp(item->name->at, client, client_length) == 0 && strtoull(item->value->at, NULL, 10) == token
            ? sim_item_find(ends, item->name->at, item->name->length) : NULL;
        if (end)
            return (int64_t)(end->score / 1000) - now_ms(store);
    }
    return -2;
}

const char *store_holder(struct store *store, const char *name)
{
    const struct sim_key *key = find(store, name);
    if (key && key->type == SIM_STRING)
        return sim_item_first(key)->value->at;
    for (const struct sim_item *item = key ? sim_item_first(key) : NULL; item; item = sim_item_next(item))
        if (strcmp(item->name->at, "mode") != 0)
            return item->name->at;
    return "";
}

size_t store_listeners(struct store *store, const char *channel) { return sim_store_listeners(store->core, 0, channel, strlen(channel)); }
size_t store_shard_listeners(struct store *store, const char *channel) { return sim_store_listeners(store->core, 1, channel, strlen(channel)); }

void store_copy(struct store *to, const struct store *from)
{
    struct sim_store_data *data = sim_store_save(from->core);
    sim_store_load(to->core, data);
    sim_store_data_free(data);
}

void store_knows(struct store *sentinel, const char *host, int port, uint64_t epoch)
{
    struct sim_sentinel_knows knows = {.master = "mymaster", .address.port = port, .epoch = epoch};
    snprintf(knows.address.host, sizeof knows.address.host, "%s", host);
    sim_store_be_sentinel(sentinel->core, &knows);
}

unsigned store_switch(struct store *sentinel, const char *host, int port, uint64_t epoch)
{
    const struct sim_sentinel_knows *knew = sim_store_knows(sentinel->core);
    char text[256];
    snprintf(text, sizeof text, "%s %s %d %s %d", knew->master, knew->address.host, knew->address.port, host, port);
    store_knows(sentinel, host, port, epoch);
    return store_publish(sentinel, "+switch-master", text);
}

/* ---- the record ---- */

static int is_of(const struct store_line *line, const char *word) { return !word || strcmp(line->word, word) == 0; }

size_t store_count(const struct store *store, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < store->lines_count; i++)
        count += is_of(&store->lines[i], word) ? 1u : 0u;
    return count;
}

const struct store_line *store_line(const struct store *store, const char *word, int nth)
{
    static char nothing[] = "";
    static const struct store_line none = {.word = "", .text = nothing};
    size_t count = store_count(store, word), wanted = nth < 0 ? count + (size_t)nth : (size_t)nth;
    for (size_t i = 0, seen = 0; i < store->lines_count && wanted < count; i++)
        if (is_of(&store->lines[i], word) && seen++ == wanted)
            return &store->lines[i];
    return &none;
}

void store_forget(struct store *store)
{
    for (size_t i = 0; i < store->lines_count; i++)
        free(store->lines[i].text);
    store->lines_count = 0;
}
