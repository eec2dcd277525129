/* SPDX-License-Identifier: BSD-3-Clause */
/* order - the items of a sorted set by score, and by name where scores are equal: found by place, and their places
 * found, in a time that grows with the logarithm of their number.
 * It is a treap: a search tree by score and name, and a heap by a number made from the name alone, so the same items
 * always make the same tree, whatever their history. Invariant: `size` of an item counts it and all below it. */
#ifndef SIM_STORE_ORDER_H
#define SIM_STORE_ORDER_H

#include "table.h"

struct sim_bytes { uint32_t length; char at[]; }; /* a terminator follows, for readers of text */

struct sim_item {
    struct sim_table_entry entry;   /* of the key's items */
    struct sim_bytes *name, *value; /* NULL where the type has none */
    double score;
    struct sim_item *left, *right; /* in a sorted set: before it, and behind it */
    size_t size;
};

struct sim_order {
    struct sim_item *root;
    int is_backward; /* a lie: equal scores are ordered from the last name to the first */
};

void sim_order_add(struct sim_order *order, struct sim_item *item);
void sim_order_remove(struct sim_order *order, struct sim_item *item);
size_t sim_order_count(const struct sim_order *order);
struct sim_item *sim_order_at(const struct sim_order *order, size_t i); /* NULL: there are not so many */
size_t sim_order_place(const struct sim_order *order, const struct sim_item *item);
/* How many have a score below this one; or below it or equal. */
size_t sim_order_below(const struct sim_order *order, double score, int or_equal);

#endif
