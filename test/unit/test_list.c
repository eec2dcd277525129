/* SPDX-License-Identifier: BSD-3-Clause */
/* A list has its items in order from both ends, after whatever was put in and taken out anywhere. */
#include <string.h>

#include "base/list.h"
#include "suite.h"

struct item {
    TAILQ_ENTRY(item) entry;
    LIST_ENTRY(item) other;
    char name;
};

TAILQ_HEAD(items, item);

static void assert_has(struct items *list, const char *names)
{
    struct item *item;
    size_t count = strlen(names), i = 0;
    TAILQ_FOREACH(item, list, entry)
        assert_int_equal(item->name, i < count ? names[i++] : '\0');
    assert_int_equal(i, count);
    TAILQ_FOREACH_REVERSE(item, list, items, entry)
        assert_int_equal(item->name, i > 0 ? names[--i] : '\0');
    assert_int_equal(i, 0);
    item = TAILQ_LAST(list, items);
    assert_ptr_equal(item && TAILQ_PREV(item, items, entry) ? TAILQ_NEXT(TAILQ_PREV(item, items, entry), entry) : item, item);
    assert_int_equal(TAILQ_EMPTY(list), count == 0);
}

TEST(test_both_ends)
{
    struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'}, d = {.name = 'd'};
    struct items list = TAILQ_HEAD_INITIALIZER(list);
    assert_has(&list, "");
    TAILQ_INSERT_HEAD(&list, &b, entry);
    assert_has(&list, "b");
    TAILQ_INSERT_HEAD(&list, &a, entry);
    TAILQ_INSERT_AFTER(&list, &b, &d, entry); /* at the end */
    TAILQ_INSERT_AFTER(&list, &b, &c, entry); /* in the middle */
    assert_has(&list, "abcd");
    TAILQ_REMOVE(&list, &b, entry);
    assert_has(&list, "acd");
    TAILQ_REMOVE(&list, &d, entry);
    assert_has(&list, "ac");
    TAILQ_REMOVE(&list, &a, entry);
    assert_has(&list, "c");
    TAILQ_INSERT_TAIL(&list, &a, entry);
    assert_has(&list, "ca");
    TAILQ_REMOVE(&list, &a, entry);
    TAILQ_INSERT_HEAD(&list, &a, entry);
    assert_has(&list, "ac");
    TAILQ_REMOVE(&list, &a, entry);
    TAILQ_REMOVE(&list, &c, entry);
    assert_has(&list, "");
    TAILQ_INSERT_TAIL(&list, &d, entry);
    assert_has(&list, "d");
    TAILQ_INIT(&list);
    assert_has(&list, "");
}

TEST(test_an_item_alone_takes_itself_out)
{
    struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'}, *item;
    LIST_HEAD(, item) list;
    LIST_INIT(&list);
    assert_true(LIST_EMPTY(&list));
    LIST_INSERT_HEAD(&list, &c, other);
    LIST_INSERT_HEAD(&list, &b, other);
    LIST_INSERT_HEAD(&list, &a, other);
    LIST_REMOVE(&b, other);
    assert_ptr_equal(LIST_FIRST(&list), &a);
    assert_ptr_equal(LIST_NEXT(&a, other), &c);
    LIST_REMOVE(&a, other);
    LIST_FOREACH(item, &list, other)
        assert_ptr_equal(item, &c);
    LIST_REMOVE(&c, other);
    assert_true(LIST_EMPTY(&list));
}
