/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - see keys.h. */
#include "world/keys.h"

#include <stdlib.h>
#include <string.h>

static struct keys_bytes copy(struct keys_bytes from)
{
    char *to = malloc(from.length + 1);
    if (!to)
        abort();
    memcpy(to, from.bytes, from.length);
    to[from.length] = '\0';
    return (struct keys_bytes){to, from.length};
}

static void drop(struct keys_bytes bytes) { free((void *)(uintptr_t)bytes.bytes); }

struct keys_key *keys_find(struct keys *keys, struct keys_bytes name, int64_t now_ms)
{
    struct keys_key *key;
    HASH_FIND(hh, keys->first, name.bytes, name.length, key);
    if (key && key->expires_ms >= 0 && now_ms > key->expires_ms) {
        keys_delete(keys, key);
        return NULL;
    }
    return key;
}

struct keys_key *keys_make(struct keys *keys, struct keys_bytes name, enum keys_type type)
{
    struct keys_key *key = calloc(1, sizeof *key);
    if (!key)
        abort();
    key->name = copy(name);
    key->type = type;
    key->expires_ms = -1;
    TAILQ_INIT(&key->fields);
    HASH_ADD_KEYPTR(hh, keys->first, key->name.bytes, key->name.length, key);
    return key;
}

static void field_free(struct keys_key *key, struct keys_field *field)
{
    TAILQ_REMOVE(&key->fields, field, entry);
    drop(field->name);
    drop(field->value);
    free(field);
}

void keys_delete(struct keys *keys, struct keys_key *key)
{
    HASH_DEL(keys->first, key);
    while (!TAILQ_EMPTY(&key->fields))
        field_free(key, TAILQ_FIRST(&key->fields));
    drop(key->name);
    free(key);
}

void keys_clear(struct keys *keys)
{
    while (keys->first)
        keys_delete(keys, keys->first);
}

unsigned keys_count(struct keys *keys, int64_t now_ms)
{
    struct keys_key *key, *next;
    unsigned count = 0;
    HASH_ITER(hh, keys->first, key, next)
        count += keys_find(keys, key->name, now_ms) ? 1u : 0u;
    return count;
}

static struct keys_field *find_field(const struct keys_key *key, struct keys_bytes name)
{
    struct keys_field *field;
    TAILQ_FOREACH(field, &key->fields, entry)
        if (keys_are_same(field->name, name))
            return field;
    return NULL;
}

const struct keys_field *keys_get(const struct keys_key *key, struct keys_bytes field) { return find_field(key, field); }

void keys_set(struct keys_key *key, struct keys_bytes name, struct keys_bytes value)
{
    struct keys_field *field = find_field(key, name);
    if (field)
        drop(field->value);
    else {
        field = calloc(1, sizeof *field);
        if (!field)
            abort();
        field->name = copy(name);
        TAILQ_INSERT_TAIL(&key->fields, field, entry);
    }
    field->value = copy(value);
}

int keys_unset(struct keys *keys, struct keys_key *key, struct keys_bytes name)
{
    struct keys_field *field = find_field(key, name);
    if (!field)
        return 0;
    field_free(key, field);
    if (TAILQ_EMPTY(&key->fields))
        keys_delete(keys, key);
    return 1;
}
