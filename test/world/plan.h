/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - a script for the network: which request meets which fate, said in advance by a test.
 *     plan_add(&plans, (struct plan){.on = "mutex_acquire", .fate.answer_is_lost = 1});
 * The first plan that matches decides, and is used up after `times` requests. One of no fate only counts. */
#ifndef TEST_WORLD_PLAN_H
#define TEST_WORLD_PLAN_H

#include "world/net.h"

enum { PLAN_ALWAYS = -1 };

struct plan {
    const char *on;          /* word (store_word); NULL: any */
    const struct store *at;  /* this server's only; NULL: any */
    int on_stream;           /* 0: any link; 1: subscription links; -1: command links */
    int after;               /* so many pass first */
    int times;               /* 0: once; PLAN_ALWAYS */
    struct net_fate fate;    /* its replies are taken over, and copied for each request */
    const char *error;       /* a refusal in words */
    int holds;               /* the answer waits until plan_let_go */
    int seen, met;           /* requests that matched; that met this fate */
    TAILQ_ENTRY(plan) entry;
};

struct plans {
    struct net *net;
    TAILQ_HEAD(, plan) list;
};

void plans_init(struct plans *plans, struct net *net); /* it decides for net from now on */
void plans_done(struct plans *plans);
struct plan *plan_add(struct plans *plans, struct plan plan); /* good until plans_done */
void plan_end(struct plan *plan);                             /* meets nobody any more */
void plan_let_go(struct plans *plans, struct plan *plan);     /* what it holds, and what it would hold */

#endif
