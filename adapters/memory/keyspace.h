/* SPDX-License-Identifier: BSD-3-Clause */
/* keyspace - keys, their values and when they expire.
 * A value of any type is a row of items: a string has one (value), a hash has names and values in the order of arrival
 * as a real server's small hash has, a sorted set has names ordered by score, a list has values. Locks' values are
 * short, so a row is searched from its start. Invariant: no value is without items; a key without any is being made. */
#ifndef SIM_STORE_KEYSPACE_H
#define SIM_STORE_KEYSPACE_H

#include "table.h"
#include "lies.h"

enum sim_type { SIM_STRING, SIM_HASH, SIM_ZSET, SIM_LIST };

struct sim_bytes { uint32_t length; char at[]; }; /* a terminator follows, for readers of text */

struct sim_item {
    struct sim_bytes *name, *value; /* NULL where the type has none */
    double score;
};

struct sim_key {
    struct sim_table_entry entry;
    enum sim_type type;
    int64_t expires_ms; /* -1: never */
    struct sim_item *items;
    size_t count, room;
    size_t length;
    char name[];
};

struct sim_keyspace {
    struct sim_table table;
    uint64_t now_us, writes;
    enum sim_store_lie lie;
};

void sim_keyspace_init(struct sim_keyspace *keys);
void sim_keyspace_clear(struct sim_keyspace *keys);
void sim_keyspace_copy(struct sim_keyspace *to, const struct sim_keyspace *from); /* to is empty */
/* no key has its name yet */
struct sim_key *sim_key_copy(struct sim_keyspace *to, const struct sim_key *key, int64_t expires_ms);
void sim_keyspace_sweep(struct sim_keyspace *keys);
int64_t sim_keyspace_now_ms(const struct sim_keyspace *keys);

/* deletes one that it finds expired */
struct sim_key *sim_key_find(struct sim_keyspace *keys, const char *name, size_t length);
/* NULL also when expired */
const struct sim_key *sim_key_peek(const struct sim_keyspace *keys, const char *name, size_t length);
int sim_key_is_alive(const struct sim_keyspace *keys, const struct sim_key *key);
/* of a new name */
struct sim_key *sim_key_new(struct sim_keyspace *keys, const char *name, size_t length, enum sim_type type);
void sim_key_delete(struct sim_keyspace *keys, struct sim_key *key);
void sim_key_expire(struct sim_keyspace *keys, struct sim_key *key, int64_t expires_ms);

struct sim_bytes *sim_bytes_new(const char *bytes, size_t length);
struct sim_item *sim_item_find(const struct sim_key *key, const char *name, size_t length);
void sim_item_add(struct sim_key *key, struct sim_item item); /* at the end; bytes are the key's from now on */
void sim_item_remove(struct sim_key *key, struct sim_item *item);
void sim_items_clear(struct sim_key *key);

#endif
