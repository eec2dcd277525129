/* SPDX-License-Identifier: BSD-3-Clause */
/* order - see order.h. */
#include "order.h"

#include <string.h>

static int is_before(const struct sim_order *order, const struct sim_item *one, const struct sim_item *other)
{
    size_t common = one->name->length < other->name->length ? one->name->length : other->name->length;
    int names;
    if (one->score < other->score || one->score > other->score)
        return one->score < other->score;
    names = memcmp(one->name->at, other->name->at, common);
    if (names == 0 && one->name->length != other->name->length)
        names = one->name->length < other->name->length ? -1 : 1;
    return order->is_backward ? names > 0 : names < 0;
}

/* Decides which of two items is nearer to the root. The hashes of similar names differ in few bits, so they are
 * spread by a factor. */
static uint64_t height(const struct sim_item *item)
{
    uint64_t mixed = (item->entry.hash ^ item->entry.hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 32;
}

static size_t size_of(const struct sim_item *item) { return item ? item->size : 0; }

static struct sim_item *measured(struct sim_item *item)
{
    item->size = size_of(item->left) + 1 + size_of(item->right);
    return item;
}

/* Splits a tree into the items before `item` and the rest. */
static void split(const struct sim_order *order, struct sim_item *root, const struct sim_item *item,
                  struct sim_item **ret_before, struct sim_item **ret_behind)
{
    if (!root)
        *ret_before = *ret_behind = NULL;
    else if (is_before(order, root, item)) {
        split(order, root->right, item, &root->right, ret_behind);
        *ret_before = measured(root);
    } else {
        split(order, root->left, item, ret_before, &root->left);
        *ret_behind = measured(root);
    }
}

/* Joins two trees, of which every item in `before` comes before every item in `behind`. */
static struct sim_item *joined(struct sim_item *before, struct sim_item *behind)
{
    if (!before || !behind)
        return before ? before : behind;
    if (height(before) >= height(behind)) {
        before->right = joined(before->right, behind);
        return measured(before);
    }
    behind->left = joined(before, behind->left);
    return measured(behind);
}

void sim_order_add(struct sim_order *order, struct sim_item *item)
{
    struct sim_item **place = &order->root;
    while (*place && height(*place) >= height(item)) {
        (*place)->size++;
        place = is_before(order, item, *place) ? &(*place)->left : &(*place)->right;
    }
    split(order, *place, item, &item->left, &item->right);
    *place = measured(item);
}

void sim_order_remove(struct sim_order *order, struct sim_item *item)
{
    struct sim_item **place = &order->root;
    while (*place != item) {
        (*place)->size--;
        place = is_before(order, item, *place) ? &(*place)->left : &(*place)->right;
    }
    *place = joined(item->left, item->right);
}

size_t sim_order_count(const struct sim_order *order) { return size_of(order->root); }

struct sim_item *sim_order_at(const struct sim_order *order, size_t i)
{
    struct sim_item *item = order->root;
    while (item && i != size_of(item->left)) {
        if (i < size_of(item->left))
            item = item->left;
        else {
            i -= size_of(item->left) + 1;
            item = item->right;
        }
    }
    return item;
}

size_t sim_order_place(const struct sim_order *order, const struct sim_item *item)
{
    size_t before = 0;
    for (const struct sim_item *at = order->root; at != item;) {
        if (is_before(order, item, at))
            at = at->left;
        else {
            before += size_of(at->left) + 1;
            at = at->right;
        }
    }
    return before + size_of(item->left);
}

size_t sim_order_below(const struct sim_order *order, double score, int or_equal)
{
    size_t below = 0;
    for (const struct sim_item *at = order->root; at;) {
        if (at->score < score || (or_equal && at->score <= score)) {
            below += size_of(at->left) + 1;
            at = at->right;
        } else
            at = at->left;
    }
    return below;
}
