/* SPDX-License-Identifier: BSD-3-Clause */
/* order - the items of a sorted set, ordered by score, and by name where scores are equal. Finding the item of a
 * rank, or the rank of an item, takes a time that grows with the logarithm of their number. The order is a treap: a
 * search tree by score and name, and a heap by a number that is made from the name alone. So the same items always
 * make the same tree, whatever their history. Invariant: `size` of an item counts the item and all items below it. */
#ifndef SIM_STORE_ORDER_H
#define SIM_STORE_ORDER_H

#include "table.h"

struct sim_bytes { uint32_t length; char at[]; }; /* a zero byte follows, for readers of text */

struct sim_item {
    struct sim_table_entry entry;   /* the item's entry in the key's table of items */
    struct sim_bytes *name, *value; /* NULL if items of this type have none */
    double score;
    struct sim_item *left, *right; /* in a sorted set: the subtrees before and behind this item */
    size_t size;
};

struct sim_order {
    struct sim_item *root;
    int is_backward; /* a lie (lies.h): items of equal scores are ordered from the last name to the first */
};

void sim_order_add(struct sim_order *order, struct sim_item *item);
void sim_order_remove(struct sim_order *order, struct sim_item *item);
size_t sim_order_count(const struct sim_order *order);
/* Finds the item of rank i, from 0. NULL: there are not so many. */
struct sim_item *sim_order_at(const struct sim_order *order, size_t i);
size_t sim_order_place(const struct sim_order *order, const struct sim_item *item);
/* Counts the items with a score below this one; with or_equal also those with the same score. */
size_t sim_order_below(const struct sim_order *order, double score, int or_equal);

#endif
