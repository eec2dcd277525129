/* SPDX-License-Identifier: BSD-3-Clause */
/* waiter - an acquire as those see it who decide when it asks: the local line, its place in the queue at the store, the
 * channel of grants. lock/acquire.c moves it; they call up through the table. */
#ifndef HL_WAIT_WAITER_H
#define HL_WAIT_WAITER_H

#include "hold/hold.h"

struct hl_result_words;
struct hl_queue_place;

enum hl_acquire_state { /* STARVED: its turn has come, and there was no memory for its hold (line.c) */
    ACQUIRE_IN_LINE, ACQUIRE_STARVED, ACQUIRE_ASKING, ACQUIRE_SLEEPING, ACQUIRE_GRANTED, ACQUIRE_DECIDED
};
enum { REPORT_WAITING = 1, REPORT_PASSED_OVER = 2, REPORT_RESULT = 4 }; /* its reports */

struct hl_acquire {
    struct hl_notice notice;        /* the bits above */
    TAILQ_ENTRY(hl_acquire) entry;  /* in its line, until it is delivered or DECIDED */
    struct hl_result_words *words;  /* DECIDED; NULL: none, but for the status' own sentence */
    struct hilock_lock *lock;
    struct hl_hold *hold;           /* its own, for its requests; NULL: its turn to ask has not come */
    struct hl_queue_place *place;         /* in the queue at the store; NULL: it has none */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t ends_us;               /* UINT64_MAX is never */
    uint32_t report_ms;             /* from its begin to the next WAITING event; UINT32_MAX: never; 0: if found held */
    uint32_t attempts;
    struct hl_alarm alarm;          /* for its end and its reports; has not begun if it has neither */
    uint8_t state;
    int8_t status;                  /* DECIDED: hilock_status */
    uint8_t is_try;
    uint8_t is_held_back;           /* IN_LINE: too many releases of its name have no answer (line.c) */
};
_Static_assert(sizeof(struct hl_acquire) <= 128 || sizeof(void *) != 8, "every wait has one");

/* It asks for itself; the others leave that to the first of their line. */
static inline int hl_waiter_asks_itself(const struct hl_acquire *acquire)
{
    return acquire->is_try || acquire->lock->terms->kind->queues_each_handle;
}

struct hl_waiter_ops {
    int (*prepare)(struct hl_acquire *acquire); /* its turn has come: takes what it needs. 0: no memory now */
    void (*ask)(struct hl_acquire *acquire);    /* if it may */
    void (*decide)(struct hl_acquire *acquire, hilock_status status);
    void (*report_waiting)(struct hl_core *core, struct hl_acquire *acquire);
    void (*pushed)(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
};

#endif
