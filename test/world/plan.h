/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - a script for the network: which request meets which fate, said in advance by a test.
 *     plan_add(&plans, (struct plan){.on = "mutex_acquire", .act = PLAN_LOSE_ANSWER});
 * The first plan that matches decides, and is used up after `times` requests. */
#ifndef TEST_WORLD_PLAN_H
#define TEST_WORLD_PLAN_H

#include "world/net.h"

enum plan_act {
    PLAN_NOTHING,       /* only counted */
    PLAN_REFUSE,        /* not executed; `error` is the answer, `us` later */
    PLAN_INSTEAD,       /* not executed; `reply` is the answer */
    PLAN_ANSWER,        /* executed, but `reply` is the answer */
    PLAN_DELAY_REQUEST, /* by us */
    PLAN_DELAY_ANSWER,
    PLAN_HOLD,          /* the answer waits until plan_let_go */
    PLAN_LOSE_REQUEST,  /* and all that follows on that connection */
    PLAN_LOSE_ANSWER,
    PLAN_RESET_BEFORE,
    PLAN_RESET_AFTER,
    PLAN_STRAY          /* arrives `us` later, though its link be closed by then */
};

enum { PLAN_ALWAYS = -1 };

struct plan {
    const char *on;          /* word (store_word); NULL: any */
    const struct store *at;  /* this server's only; NULL: any */
    int on_stream;           /* 0: any link; 1: subscription links; -1: command links */
    int after;               /* so many pass first */
    int times;               /* 0: once; PLAN_ALWAYS */
    enum plan_act act;
    uint64_t us;
    const char *error;
    struct hl_reply *reply;  /* taken over */
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
