/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - the figures of the demo, in one place.
 *
 * Stock and buyers are chosen so that all of the stock is sold in about 15 seconds, with a queue for every item all the
 * time: without the lock each piece would be sold several times. */
#ifndef DEMO_PLAN_H
#define DEMO_PLAN_H

enum {
    ITEMS = 8,             /* numbered from 0; one lock each */
    STOCK = 400,           /* pieces of each item */
    SHOPS = 3,             /* named A, B, C; a process each */
    BUYERS = 48,           /* each buys without a pause, from one shop */
    THINK_MIN_MS = 10,     /* a sale's time between reading the stock and writing it */
    THINK_MAX_MS = 25,
    LEASE_MS = 3000,       /* how long the locks of a killed shop stay */
    WAIT_MS = 15000,       /* how long a sale waits for its lock */
    SUSPENDED_MS = 3500,   /* at least: longer than the lease */
    RESTART_MS = 1000,     /* after this a killed shop is opened again */
    BUYING_MAX_MS = 24000, /* sold out or not, then the shops close */
    PREFIX_SIZE = 64       /* of the names of all keys of one run */
};

#endif
