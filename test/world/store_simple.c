/* SPDX-License-Identifier: BSD-3-Clause */
/* store_simple - what a SIMPLE lock says to a server: its native commands, and its scripts as a model in C, line by line as in lib/wire/. */
#include <stdlib.h>
#include <string.h>

#include "world/store.h"

enum { KEY = 1, HOLDER = 2, LEASE = 3, WORD_MAX = 32 }; /* of a script's words: numkeys, the key, the arguments */

static struct hl_reply *wrong_type(void) { return say_error("WRONGTYPE Operation against a key holding the wrong kind of value"); }

static int64_t number_of(struct keys_bytes bytes)
{
    char digits[WORD_MAX] = "";
    memcpy(digits, bytes.bytes, bytes.length < sizeof digits ? bytes.length : sizeof digits - 1);
    return strtoll(digits, NULL, 10);
}

static int64_t left_ms(const struct store *store, const struct keys_key *key) { return key->expires_ms < 0 ? -1 : key->expires_ms - store_ms(store); }

static int has_value(const struct keys_key *key, struct keys_bytes value)
{
    return key && key->type == KEYS_STRING && keys_are_same(keys_get(key, keys_text(""))->value, value);
}

static void put(struct store *store, struct keys_bytes name, struct keys_bytes value, int64_t lease_ms)
{
    struct keys_key *key = keys_find(&store->keys, name, store_ms(store));
    if (key)
        keys_delete(&store->keys, key);
    key = keys_make(&store->keys, name, KEYS_STRING);
    keys_set(key, keys_text(""), value);
    key->expires_ms = lease_ms ? store_ms(store) + lease_ms : -1;
}

static void extend(const struct store *store, struct keys_key *key, int64_t lease_ms)
{
    if (left_ms(store, key) < lease_ms)
        key->expires_ms = store_ms(store) + lease_ms;
}

/* ---- scripts ---- */

struct hl_reply *store_simple_acquire(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    struct keys_bytes value;
    if (!key) {
        put(store, words[KEY], words[HOLDER], number_of(words[LEASE]));
        return say_integer(1);
    }
    if (key->type != KEYS_STRING)
        return wrong_type();
    value = keys_get(key, keys_text(""))->value;
    if (!keys_are_same(value, words[HOLDER]))
        return say_array(2, say_integer(left_ms(store, key)), say_bytes(value.bytes, value.length < 255 ? value.length : 255));
    extend(store, key, number_of(words[LEASE]));
    return say_integer(1);
}

struct hl_reply *store_simple_peek(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    struct keys_bytes value;
    if (!key)
        return say_array(2, say_integer(-2), say_string(""));
    if (key->type != KEYS_STRING)
        return wrong_type();
    value = keys_get(key, keys_text(""))->value;
    return say_array(2, say_integer(left_ms(store, key)), say_bytes(value.bytes, value.length < 1025 ? value.length : 1025));
}

struct hl_reply *store_simple_renew(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    int64_t left;
    if (key && key->type != KEYS_STRING)
        return wrong_type();
    if (!has_value(key, words[HOLDER]))
        return say_integer(0);
    left = left_ms(store, key);
    extend(store, key, number_of(words[LEASE]));
    return say_integer(1 + (left < 0 ? 0 : left));
}

static struct hl_reply *delete_if(struct store *store, struct keys_bytes name, struct keys_bytes value)
{
    struct keys_key *key = keys_find(&store->keys, name, store_ms(store));
    if (key && key->type != KEYS_STRING)
        return wrong_type();
    if (!has_value(key, value))
        return say_integer(0);
    keys_delete(&store->keys, key);
    return say_integer(1);
}

struct hl_reply *store_simple_release(struct store *store, const struct keys_bytes *words) { return delete_if(store, words[KEY], words[HOLDER]); }

/* ---- native commands ---- */

static int is_word(struct keys_bytes bytes, const char *text) { return keys_are_same(bytes, keys_text(text)); }

/* SET name value [NX | IFEQ value] [PX ms] */
static struct hl_reply *set(struct store *store, int argc, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[1], store_ms(store));
    int64_t lease_ms = 0;
    for (int i = 3; i < argc; i++) {
        if (is_word(words[i], "NX")) {
            if (key)
                return say_nil();
        } else if (is_word(words[i], "IFEQ") && store->natives && i + 1 < argc) {
            if (key && key->type != KEYS_STRING)
                return wrong_type();
            if (!has_value(key, words[++i]))
                return say_nil();
        } else if (is_word(words[i], "PX") && i + 1 < argc)
            lease_ms = number_of(words[++i]);
        else
            return say_error("ERR syntax error");
    }
    put(store, words[1], words[2], lease_ms);
    return say_status("OK");
}

static struct hl_reply *delete(struct store *store, struct keys_bytes name)
{
    struct keys_key *key = keys_find(&store->keys, name, store_ms(store));
    if (key)
        keys_delete(&store->keys, key);
    return say_integer(key != NULL);
}

static struct hl_reply *entry_of(const struct store *store, struct keys_bytes name)
{
    if (is_word(name, "DELIFEQ") && store->natives & STORE_DELIFEQ)
        return say_array(2, say_string("delifeq"), say_integer(3));
    if (is_word(name, "DELEX") && store->natives & STORE_DELEX)
        return say_array(2, say_string("delex"), say_integer(-2));
    return say_nil();
}

struct hl_reply *store_native(struct store *store, int argc, const struct keys_bytes *words)
{
    if (is_word(words[0], "SET") && argc >= 3)
        return set(store, argc, words);
    if (is_word(words[0], "DEL") && argc == 2)
        return delete(store, words[1]);
    if (is_word(words[0], "DELIFEQ") && argc == 3 && store->natives & STORE_DELIFEQ)
        return delete_if(store, words[1], words[2]);
    if (is_word(words[0], "DELEX") && argc == 4 && is_word(words[2], "IFEQ") && store->natives & STORE_DELEX)
        return delete_if(store, words[1], words[3]);
    if (is_word(words[0], "COMMAND") && argc == 4 && is_word(words[1], "INFO"))
        return say_array(2, entry_of(store, words[2]), entry_of(store, words[3]));
    return NULL;
}
