/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - the figures of the demo, in one place. */
#ifndef DEMO_PLAN_H
#define DEMO_PLAN_H

#include <stdint.h>

enum {
    ITEMS_MAX = 8,         /* items are numbered from 0; each has a lock */
    STOCK_MAX = 400,       /* pieces of each item */
    BUYERS_MAX = 48,       /* each buys without a pause, from one shop */
    SHOPS = 3,             /* named A, B, C; a process each */
    RESTART_MS = 1000,     /* after this a killed shop is opened again */
    BUYING_MAX_MS = 24000, /* sold out or not, then the shops close */
    PREFIX_SIZE = 64       /* room for the prefix that the names of all keys of one run have */
};

struct plan {
    const char *name; /* the shops get it as an argument */
    unsigned items, stock, buyers;
    long think_min_ms, think_max_ms; /* a sale's time between reading the stock and writing it */
    uint32_t lease_ms;               /* the locks of a killed shop stay so long at most */
    uint32_t suspended_ms;           /* at least: longer than the lease */
    uint32_t wait_ms;                /* how long a sale waits for its lock; then the buyer wants something else */
    unsigned calm_pieces;            /* how many are sold before the accidents begin */
};

/* A queue for each item all the time. All is sold in about 15 seconds; without the lock, each piece several times. */
extern const struct plan plan_crowd;

/* Few and slow sales, so that each can be seen in a picture: about 7 seconds. */
extern const struct plan plan_picture;

/* NULL: no plan has this name. */
const struct plan *plan_named(const char *name);

#endif
