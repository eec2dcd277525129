/* SPDX-License-Identifier: BSD-3-Clause */
/* keys - a server's keyspace: hashes and strings that expire by the server's own clock, in its milliseconds. A key lives while now <= its
 * expiry, as Redis has it: in that very millisecond its PTTL is 0 and it still exists. */
#ifndef TEST_WORLD_KEYS_H
#define TEST_WORLD_KEYS_H

#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

struct keys_bytes { const char *bytes; size_t length; };

static inline struct keys_bytes keys_text(const char *text) { return (struct keys_bytes){text, strlen(text)}; }
static inline int keys_are_same(struct keys_bytes a, struct keys_bytes b) { return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0; }

struct keys_field {
    TAILQ_ENTRY(keys_field) entry;
    struct keys_bytes name, value; /* owned */
};
TAILQ_HEAD(keys_fields, keys_field);

enum keys_type { KEYS_HASH, KEYS_STRING };

struct keys_key {
    UT_hash_handle hh;
    struct keys_bytes name; /* owned */
    enum keys_type type;
    struct keys_fields fields; /* HASH; of a string the one value, under "" */
    int64_t expires_ms;        /* -1: never */
};

struct keys { struct keys_key *first; };

struct keys_key *keys_find(struct keys *keys, struct keys_bytes name, int64_t now_ms); /* NULL: none, or it has expired: gone now */
struct keys_key *keys_make(struct keys *keys, struct keys_bytes name, enum keys_type type); /* there is none of that name */
void keys_delete(struct keys *keys, struct keys_key *key);
void keys_clear(struct keys *keys);
unsigned keys_count(struct keys *keys, int64_t now_ms);

const struct keys_field *keys_get(const struct keys_key *key, struct keys_bytes field); /* NULL: it has no such field */
void keys_set(struct keys_key *key, struct keys_bytes field, struct keys_bytes value);
int keys_unset(struct keys *keys, struct keys_key *key, struct keys_bytes field); /* 1: it was there. A hash of no field is gone */

#endif
