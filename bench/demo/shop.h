/* SPDX-License-Identifier: BSD-3-Clause */
/* shop.h - one shop process, as its sales see it. */
#ifndef DEMO_SHOP_H
#define DEMO_SHOP_H

#include <hilock/hilock.h>
#include <stdbool.h>

struct event_base;
struct evhttp_request;
struct plan;
struct story;
struct till;
struct hilock_libevent_page;

struct shop {
    const char *name;
    const struct plan *plan;
    struct story *story; /* NULL: none is told */
    struct event_base *base;
    hilock_client *locks; /* NULL: sells without locks, or closed */
    struct hilock_libevent_page *page; /* statistics, at /metrics; NULL: without locks */
    struct till *till;
    unsigned sales;       /* begun and not ended */
    unsigned begun;       /* how many were ever begun: the number of the last one */
    bool has_locks, is_closing;
};

/* evhttp calls it for POST /sell?item=N; user is the shop. Answers 200 sold, 400 no such item, 409 the lock was held
 * too long, 410 sold out, 503 no lock, or a lock that was lost and a write that the till refused. */
void sale_begin(struct evhttp_request *request, void *user);

/* One line of the story about a sale, which hilock knows as the user of its lock. */
void sale_tell(const struct shop *shop, const void *sale, const char *step, uint64_t token);

/* A sale has ended: a shop that closes may be done now. */
void shop_sale_ended(struct shop *shop);

#endif
