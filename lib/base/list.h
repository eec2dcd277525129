/* SPDX-License-Identifier: BSD-3-Clause */
/* list - doubly linked lists whose items hold their own links. The names are those of <sys/queue.h>, which musl does
 * not have; only the macros that the library uses are here.
 *
 * A TAILQ has two ends, and removing an item needs the list. Removing an item from a LIST needs only the item.
 * Invariant: a list of zeroes is empty, and the links of an item are valid from its insertion to its removal. The
 * macros evaluate their arguments more than once. */
#ifndef HL_BASE_LIST_H
#define HL_BASE_LIST_H

#include <stddef.h>

#define TAILQ_HEAD(name, type) struct name { struct type *first, *last; }
#define TAILQ_ENTRY(type) struct { struct type *next, *prev; }
#define TAILQ_HEAD_INITIALIZER(list) {NULL, NULL}
#define TAILQ_INIT(list) ((list)->first = NULL, (list)->last = NULL)

#define TAILQ_EMPTY(list) (!(list)->first)
#define TAILQ_FIRST(list) ((list)->first)
#define TAILQ_LAST(list, name) ((list)->last)
#define TAILQ_NEXT(item, entry) ((item)->entry.next)
#define TAILQ_PREV(item, name, entry) ((item)->entry.prev)
#define TAILQ_FOREACH(item, list, entry) for ((item) = (list)->first; (item); (item) = (item)->entry.next)
#define TAILQ_FOREACH_REVERSE(item, list, name, entry) \
    for ((item) = (list)->last; (item); (item) = (item)->entry.prev)

#define TAILQ_INSERT_HEAD(list, item, entry)    \
    do {                                        \
        (item)->entry.prev = NULL;              \
        (item)->entry.next = (list)->first;     \
        if ((list)->first)                      \
            (list)->first->entry.prev = (item); \
        else                                    \
            (list)->last = (item);              \
        (list)->first = (item);                 \
    } while (0)

#define TAILQ_INSERT_TAIL(list, item, entry)   \
    do {                                       \
        (item)->entry.next = NULL;             \
        (item)->entry.prev = (list)->last;     \
        if ((list)->last)                      \
            (list)->last->entry.next = (item); \
        else                                   \
            (list)->first = (item);            \
        (list)->last = (item);                 \
    } while (0)

#define TAILQ_INSERT_AFTER(list, before, item, entry)  \
    do {                                               \
        (item)->entry.prev = (before);                 \
        (item)->entry.next = (before)->entry.next;     \
        if ((before)->entry.next)                      \
            (before)->entry.next->entry.prev = (item); \
        else                                           \
            (list)->last = (item);                     \
        (before)->entry.next = (item);                 \
    } while (0)

#define TAILQ_REMOVE(list, item, entry)                          \
    do {                                                         \
        if ((item)->entry.next)                                  \
            (item)->entry.next->entry.prev = (item)->entry.prev; \
        else                                                     \
            (list)->last = (item)->entry.prev;                   \
        if ((item)->entry.prev)                                  \
            (item)->entry.prev->entry.next = (item)->entry.next; \
        else                                                     \
            (list)->first = (item)->entry.next;                  \
    } while (0)

/* `here` is the address of the pointer to the item, which is in the list or in the item before it. */
#define LIST_HEAD(name, type) struct name { struct type *first; }
#define LIST_ENTRY(type) struct { struct type *next, **here; }

#define LIST_INIT(list) ((list)->first = NULL)
#define LIST_EMPTY(list) (!(list)->first)
#define LIST_FIRST(list) ((list)->first)
#define LIST_NEXT(item, entry) ((item)->entry.next)
#define LIST_FOREACH(item, list, entry) for ((item) = (list)->first; (item); (item) = (item)->entry.next)

#define LIST_INSERT_HEAD(list, item, entry)                  \
    do {                                                     \
        (item)->entry.next = (list)->first;                  \
        (item)->entry.here = &(list)->first;                 \
        if ((list)->first)                                   \
            (list)->first->entry.here = &(item)->entry.next; \
        (list)->first = (item);                              \
    } while (0)

#define LIST_REMOVE(item, entry)                                 \
    do {                                                         \
        if ((item)->entry.next)                                  \
            (item)->entry.next->entry.here = (item)->entry.here; \
        *(item)->entry.here = (item)->entry.next;                \
    } while (0)

#endif
