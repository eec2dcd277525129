/* SPDX-License-Identifier: BSD-3-Clause */
/* waiter - an acquire as this folder sees it. This folder decides when the acquire sends a request; it has the line of
 * the client, the places in the queue at the store, and the channels of the grants. lock/acquire.c changes the state of
 * the acquire; this folder calls up through the table at the end. */
#ifndef HL_WAIT_WAITER_H
#define HL_WAIT_WAITER_H

#include "hold/hold.h"
#include "wait/waits.h"
#include "wire/push.h"

struct hl_result_words;
struct hl_queue_place;

enum hl_acquire_state { /* STARVED: the turn of the acquire has come, and there was no memory for its hold (line.c) */
    ACQUIRE_IN_LINE, ACQUIRE_STARVED, ACQUIRE_ASKING, ACQUIRE_SLEEPING, ACQUIRE_GRANTED, ACQUIRE_DECIDED
};
enum { REPORT_WAITING = 1, REPORT_PASSED_OVER = 2, REPORT_RESULT = 4 }; /* the reports of an acquire to its user */

struct hl_acquire {
    struct hl_notice notice;        /* the pending reports are the REPORT_ bits above */
    TAILQ_ENTRY(hl_acquire) entry;  /* links the acquire into its line, until its answer is delivered or it is
                                       DECIDED */
    struct hl_result_words *words;  /* DECIDED: the words of the answer; NULL: those of its status */
    struct hilock_lock *lock;
    struct hl_hold *hold;           /* the hold that sends its requests; NULL: its turn has not come */
    struct hl_queue_place *place;         /* its place in the queue at the store; NULL: it has none */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t ends_at_us;            /* when the wait ends; UINT64_MAX: never */
    uint32_t report_ms;             /* when the next WAITING event is due, counted from the begin; UINT32_MAX: never;
                                       0: as soon as the name is found held */
    uint32_t attempts;
    struct hl_alarm alarm;          /* for the end of the wait and for WAITING events; it is not begun if there are
                                       neither */
    uint8_t state;
    int8_t status;                  /* DECIDED: the answer, a hilock_status */
    uint8_t is_try;
    uint8_t is_held_back;           /* IN_LINE: it may not request a place yet, because too many releases of its
                                       name have no answer (line.c) */
};
_Static_assert(sizeof(struct hl_acquire) <= 128 || sizeof(void *) != 8, "every wait has one");

/* Returns 1 if this acquire sends its own requests as soon as it begins; the others wait until they are the head of
 * their line. */
static inline int hl_waiter_sends_by_itself(const struct hl_acquire *acquire)
{
    return acquire->is_try || hl_has_own_place(acquire->lock->terms);
}

struct hl_waiter_ops {
    /* The turn of the acquire has come: gets the memory that it needs, and returns 1. 0: there is no memory now. */
    int (*prepare)(struct hl_acquire *acquire);
    void (*send)(struct hl_acquire *acquire);   /* sends the request of the acquire, if there is memory for it */
    void (*decide)(struct hl_acquire *acquire, hilock_status status);
    void (*report_waiting)(struct hl_core *core, struct hl_acquire *acquire);
    void (*pushed)(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
};

#endif
