/* SPDX-License-Identifier: BSD-3-Clause */
/* store_hand - what an operator, another program or a fault does to a server, and what a test reads of it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/keys.h"
#include "world/store.h"

static struct keys_key *find(struct store *store, const char *name) { return keys_find(&store->keys, keys_text(name), store_ms(store)); }

void store_delete(struct store *store, const char *name)
{
    struct keys_key *key = find(store, name);
    if (key)
        keys_delete(&store->keys, key);
}

void store_take(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    struct keys_key *key;
    char token[24];
    store_delete(store, name);
    key = keys_make(&store->keys, keys_text(name), KEYS_HASH);
    snprintf(token, sizeof token, "%" PRIu64, store_us(store));
    keys_set(key, keys_text(holder), keys_text(token));
    key->expires_ms = lease_ms ? store_ms(store) + (int64_t)lease_ms : -1;
}

void store_free_name(struct store *store, const char *name)
{
    char channel[2048];
    size_t length = hl_channel_write(channel, name, strlen(name));
    store_delete(store, name);
    store_publish_bytes(store, (struct keys_bytes){channel, length}, keys_text("0"));
}

void store_set_string(struct store *store, const char *name, const char *value)
{
    store_delete(store, name);
    keys_set(keys_make(&store->keys, keys_text(name), KEYS_STRING), keys_text(""), keys_text(value));
}

void store_take_simple(struct store *store, const char *name, const char *holder, uint64_t lease_ms)
{
    store_set_string(store, name, holder);
    if (lease_ms)
        store_expire_ms(store, name, (int64_t)lease_ms);
}

void store_expire_ms(struct store *store, const char *name, int64_t from_now_ms)
{
    struct keys_key *key = find(store, name);
    if (key)
        key->expires_ms = store_ms(store) + from_now_ms;
}

unsigned store_publish(struct store *store, const char *channel, const char *text)
{
    return store_publish_bytes(store, keys_text(channel), keys_text(text));
}

void store_flush_scripts(struct store *store) { memset(store->has_script, 0, sizeof store->has_script); }

void store_restart(struct store *store, int keeps_data)
{
    store_flush_scripts(store);
    store->started_us = store_us(store);
    store->runs++;
    if (!keeps_data)
        keys_clear(&store->keys);
}

int64_t store_left_ms(struct store *store, const char *name)
{
    const struct keys_key *key = find(store, name);
    return !key ? -2 : key->expires_ms < 0 ? -1 : key->expires_ms - store_ms(store);
}

uint64_t store_token(struct store *store, const char *name, const char *holder)
{
    const struct keys_key *key = find(store, name);
    const struct keys_field *field = key ? keys_get(key, keys_text(holder)) : NULL;
    return field ? strtoull(field->value.bytes, NULL, 10) : 0;
}

const char *store_holder(struct store *store, const char *name)
{
    const struct keys_key *key = find(store, name);
    const struct keys_field *field;
    if (!key)
        return "";
    if (key->type == KEYS_STRING)
        return keys_get(key, keys_text(""))->value.bytes;
    TAILQ_FOREACH(field, &key->fields, entry)
        if (strcmp(field->name.bytes, "mode") != 0)
            return field->name.bytes;
    return "";
}

unsigned store_listeners(struct store *store, const char *channel)
{
    const struct store_peer *peer;
    const struct keys_field *heard;
    unsigned count = 0;
    TAILQ_FOREACH(peer, &store->peers, entry)
        TAILQ_FOREACH(heard, &peer->channels, entry)
            count += keys_are_same(heard->name, keys_text(channel)) ? 1u : 0u;
    return count;
}

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
