/* SPDX-License-Identifier: BSD-3-Clause */
/* keyspace - keys, their values and when they expire. A value of any type is a table of items, kept in the order of
 * their arrival. A string has one item with a value, a hash has items with a name and a value, in the same order as
 * a real server's small hash, a sorted set has items with a name, and a list has items with a value. The time to
 * find an item by its name does not depend on the number of items. The order of a sorted set is a tree beside the
 * table (order.h). Invariant: every key has items, except while it is being made. */
#ifndef SIM_STORE_KEYSPACE_H
#define SIM_STORE_KEYSPACE_H

#include "lies.h"
#include "order.h"
#include "table.h"

enum sim_type { SIM_STRING, SIM_HASH, SIM_ZSET, SIM_LIST };

struct sim_key {
    struct sim_table_entry entry;
    enum sim_type type;
    int64_t expires_ms; /* -1: the key does not expire */
    struct sim_table items;
    struct sim_order order; /* only used by a sorted set */
    size_t length;
    char name[];
};

struct sim_keyspace {
    struct sim_table table;
    uint64_t now_us, writes, touched;
    enum sim_store_lie lie;
};

void sim_keyspace_init(struct sim_keyspace *keys);
void sim_keyspace_clear(struct sim_keyspace *keys);
void sim_keyspace_copy(struct sim_keyspace *to, const struct sim_keyspace *from); /* `to` must be empty */
/* Copies a key; `to` must have no key of that name. */
struct sim_key *sim_key_copy(struct sim_keyspace *to, const struct sim_key *key, int64_t expires_ms);
void sim_keyspace_sweep(struct sim_keyspace *keys);
int64_t sim_keyspace_now_ms(const struct sim_keyspace *keys);

/* Finds a key. NULL: there is none. A key that has expired is deleted. */
struct sim_key *sim_key_find(struct sim_keyspace *keys, const char *name, size_t length);
/* Finds a key without changing anything. NULL: there is none, or it has expired. */
const struct sim_key *sim_key_peek(const struct sim_keyspace *keys, const char *name, size_t length);
int sim_key_is_alive(const struct sim_keyspace *keys, const struct sim_key *key);
/* Adds a key without items; no key may have that name. */
struct sim_key *sim_key_new(struct sim_keyspace *keys, const char *name, size_t length, enum sim_type type);
void sim_key_delete(struct sim_keyspace *keys, struct sim_key *key);
void sim_key_expire(struct sim_keyspace *keys, struct sim_key *key, int64_t expires_ms);

struct sim_bytes *sim_bytes_new(const char *bytes, size_t length);
struct sim_item *sim_item_find(const struct sim_key *key, const char *name, size_t length);
/* Finds an item by its index: in the order of scores for a sorted set, otherwise in the order of arrival, by walking
 * from the start. NULL: there are not so many items. */
struct sim_item *sim_item_at(const struct sim_key *key, size_t i);
/* Walk over the items in the order of arrival. NULL: there are no items, or no more. */
struct sim_item *sim_item_first(const struct sim_key *key);
struct sim_item *sim_item_next(const struct sim_item *item);
/* Takes over the bytes. The name must be new to the key, or NULL. */
struct sim_item *sim_item_add(struct sim_key *key, struct sim_bytes *name, struct sim_bytes *value, double score);
void sim_item_rescore(struct sim_key *key, struct sim_item *item, double score);
void sim_item_remove(struct sim_key *key, struct sim_item *item);
void sim_items_clear(struct sim_key *key);

#endif
