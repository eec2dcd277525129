/* SPDX-License-Identifier: BSD-3-Clause */
/* store_script - the library's scripts as a model in C, line by line as in lib/wire/ (their .lua files tell arguments and answers). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/scripts.h"
#include "world/store.h"

enum { KEY = 1 }; /* words: numkeys, then the keys, then the arguments */

static uint64_t number_of(struct keys_bytes bytes)
{
    char digits[32] = "";
    memcpy(digits, bytes.bytes, bytes.length < sizeof digits ? bytes.length : sizeof digits - 1);
    return strtoull(digits, NULL, 10);
}

static struct keys_bytes digits_of(uint64_t number, char to[24])
{
    return (struct keys_bytes){to, (size_t)snprintf(to, 24, "%" PRIu64, number)};
}

static struct hl_reply *wrong_type(void) { return say_error("WRONGTYPE Operation against a key holding the wrong kind of value"); }

static int64_t left_ms(const struct store *store, const struct keys_key *key) { return key->expires_ms < 0 ? -1 : key->expires_ms - store_ms(store); }

static void extend(const struct store *store, struct keys_key *key, uint64_t lease_ms)
{
    if (left_ms(store, key) < (int64_t)lease_ms)
        key->expires_ms = store_ms(store) + (int64_t)lease_ms;
}

static struct hl_reply *held(struct store *store, struct keys_key *key, struct keys_bytes holder, uint64_t lease_ms)
{
    const struct keys_field *field;
    struct keys_bytes other = {"", 0};
    int64_t left = left_ms(store, key);
    if (key->type != KEYS_HASH)
        return wrong_type();
    TAILQ_FOREACH(field, &key->fields, entry)
    {
        if (keys_are_same(field->name, holder)) {
            extend(store, key, lease_ms);
            return say_integer((int64_t)number_of(field->value));
        }
        if (!keys_are_same(field->name, keys_text("mode")))
            other = field->name;
    }
    return say_array(2, say_integer(-1 - left), say_bytes(other.bytes, other.length));
}

/* Takes the next tokens off the token key; 0: it holds none of ours. */
static uint64_t next_token(struct store *store, struct keys_bytes token_key, uint64_t reserved, uint64_t ttl_ms)
{
    struct keys_key *key = keys_find(&store->keys, token_key, store_ms(store));
    const struct keys_field *before = key ? keys_get(key, keys_text("")) : NULL;
    uint64_t last = before ? number_of(before->value) : 0, now_us = store_us(store), period_us = ttl_ms * 1000;
    uint64_t token = last >= now_us ? last + 1 : now_us, highest = token + reserved;
    char digits[24];
    if (last >= 9000000000000000u)
        return 0;
    if (!key)
        key = keys_make(&store->keys, token_key, KEYS_STRING);
    keys_set(key, keys_text(""), digits_of(highest, digits));
    if (last - last % period_us != now_us - now_us % period_us || highest - highest % period_us != now_us - now_us % period_us)
        key->expires_ms = store_ms(store) + 2 * (int64_t)ttl_ms;
    return token;
}

static struct hl_reply *mutex_acquire(struct store *store, const struct keys_bytes *words)
{
    struct keys_bytes name = words[KEY], holder = words[4];
    uint64_t lease_ms = number_of(words[3]), not_after_ms = number_of(words[6]), now_us = store_us(store), token;
    struct keys_key *key = keys_find(&store->keys, name, store_ms(store));
    char digits[24];
    if (key)
        return held(store, key, holder, lease_ms);
    if (not_after_ms && now_us > not_after_ms * 1000)
        return say_error("LATE %" PRIu64 " %" PRIu64, now_us / 1000000, now_us % 1000000);
    token = next_token(store, words[2], number_of(words[5]), number_of(words[7]));
    if (!token)
        return say_error("BADTOKEN the token key of this name holds no token of ours");
    key = keys_make(&store->keys, name, KEYS_HASH);
    keys_set(key, holder, digits_of(token, digits));
    keys_set(key, keys_text("mode"), keys_text("mutex"));
    key->expires_ms = store_ms(store) + (int64_t)lease_ms;
    return say_integer((int64_t)token);
}

static struct hl_reply *mutex_peek(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    const struct keys_field *field;
    struct keys_bytes holder = {"", 0};
    if (!key)
        return say_array(2, say_integer(-2), say_string(""));
    if (key->type != KEYS_HASH)
        return wrong_type();
    TAILQ_FOREACH(field, &key->fields, entry)
        if (!keys_are_same(field->name, keys_text("mode")))
            holder = field->name;
    return say_array(2, say_integer(left_ms(store, key)), say_bytes(holder.bytes, holder.length));
}

static struct hl_reply *mutex_release(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    if (key && key->type != KEYS_HASH)
        return wrong_type();
    if (!key || !keys_get(key, words[2]))
        return say_integer(0);
    keys_unset(&store->keys, key, words[2]);
    key = keys_find(&store->keys, words[KEY], store_ms(store));
    if (key)
        keys_unset(&store->keys, key, keys_text("mode"));
    if (store->publish_is_denied)
        return say_integer(-1);
    if (keys_are_same(words[4], keys_text("SPUBLISH")))
        return say_integer(1 + (int64_t)store_publish_to_shard(store, words[3], keys_text("0")));
    return say_integer(1 + (int64_t)store_publish_bytes(store, words[3], keys_text("0")));
}

static struct hl_reply *renew(struct store *store, const struct keys_bytes *words)
{
    struct keys_key *key = keys_find(&store->keys, words[KEY], store_ms(store));
    const struct keys_field *field;
    int64_t left;
    if (key && key->type != KEYS_HASH)
        return wrong_type();
    field = key ? keys_get(key, words[3]) : NULL;
    if (!field || !keys_are_same(field->value, words[4]))
        return say_integer(0);
    left = left_ms(store, key);
    extend(store, key, number_of(words[2]));
    return say_integer(1 + (left < 0 ? 0 : left));
}

static const struct {
    const struct hl_script *script;
    int words; /* numkeys included */
    struct hl_reply *(*run)(struct store *store, const struct keys_bytes *words);
} models[] = {
    {&hl_script_fair_acquire, 15, store_fair_acquire},
    {&hl_script_fair_peek, 4, store_fair_peek},
    {&hl_script_fair_release, 12, store_fair_release},
    {&hl_script_mutex_acquire, 8, mutex_acquire},
    {&hl_script_mutex_peek, 2, mutex_peek},
    {&hl_script_mutex_release, 5, mutex_release},
    {&hl_script_renew, 5, renew},
    {&hl_script_simple_peek, 2, store_simple_peek},
    {&hl_script_simple_acquire, 4, store_simple_acquire},
    {&hl_script_simple_renew, 4, store_simple_renew},
    {&hl_script_simple_release, 3, store_simple_release},
};

struct hl_reply *store_script(struct store *store, int script, const struct keys_bytes *words, int count)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i].script != hl_scripts[script])
            continue;
        if (models[i].words != count)
            return say_error("ERR %s: %d words, the model knows %d", hl_scripts[script]->name, count, models[i].words);
        return models[i].run(store, words);
    }
    return say_error("ERR %s: the world has no model of this script", hl_scripts[script]->name);
}

int store_script_of_sha1(struct keys_bytes sha1)
{
    for (int i = 0; hl_scripts[i]; i++)
        if (keys_are_same(sha1, keys_text(hl_scripts[i]->sha1)))
            return i;
    return -1;
}

const char *store_script_name(int script) { return hl_scripts[script]->name; }
