/* SPDX-License-Identifier: BSD-3-Clause */
/* acquire - one accepted hilock_acquire, from the call to its one answer.
 *
 *   IN_LINE ---> ASKING <---> SLEEPING
 *                   |            |
 *                   v            v
 *                GRANTED ---> reported, then freed
 *
 *     From every state it may become DECIDED, which is reported once, and then it is freed.
 *     IN_LINE, STARVED, SLEEPING ---> GRANTED     another handle of this client hands its hold on, or lets it join
 *     IN_LINE, STARVED ---> SLEEPING              the waiter before it leaves it its place
 *     IN_LINE, ASKING, SLEEPING ---> STARVED ---> ASKING   there was no memory, and later there is
 *     ASKING ---> PAUSED ---> IN_LINE             too few replicas had its grant
 *     ASKING, SLEEPING, GRANTED ---> IN_LINE      a grant has too little validity left: its hold goes on alone as an
 *                                                 ending, and the acquire sends its request with another hold. ASKING:
 *                                                 also if the release that carried the request brought no answer to it
 *
 * Invariants: an acquire is answered once, at ends_at_us at the latest, even if the network is down. If the answer is
 * not OK, whatever may be at the store is released (R4). After every subscription and every message the acquire sends
 * its request again before it sleeps (R7). A grant is delivered only if min_validity_ms is left at that moment (R8). */
#ifndef HL_LOCK_ACQUIRE_H
#define HL_LOCK_ACQUIRE_H

#include "hold/hold.h"
#include "lock/locks.h"

struct hl_result_words;
struct hl_queue_place;

enum hl_acquire_state {
    ACQUIRE_IN_LINE,
    ACQUIRE_STARVED,  /* its turn has come, and there was no memory for its hold (line.c) */
    ACQUIRE_ASKING,   /* a request is under way */
    ACQUIRE_SLEEPING, /* until news, or until its next request is due */
    ACQUIRE_PAUSED,   /* too few replicas had its grant: it goes back into the line when the alarm of its hold fires */
    ACQUIRE_GRANTED,
    ACQUIRE_DECIDED
};
enum hl_standing {   /* in which list of its line an acquire stands (line.h). Tries take no place and pass no waiter */
    STANDS_IN_LINE,
    STANDS_HELD_BACK,
    STANDS_IN_QUEUE,
    STANDS_AS_TRY,
    STANDS_AS_SENT_TRY,
    STANDS_LISTS
};
enum hl_reporting { /* when the next WAITING event of an acquire is due */
    REPORTS_WHEN_HELD, /* the first one is due as soon as the name is found held */
    REPORTS_LATER,
    REPORTS_NOTHING    /* none is due any more */
};
enum { REPORT_WAITING = 1, REPORT_PASSED_OVER = 2, REPORT_RESULT = 4 }; /* the reports of an acquire to its user */

struct hl_acquire {
    struct hl_notice notice;        /* the pending reports are the REPORT_ bits above */
    TAILQ_ENTRY(hl_acquire) entry;  /* links the acquire into its line, until its answer is delivered or it is
                                       DECIDED */
    struct hl_result_words *words;  /* DECIDED: the words of the answer; NULL: those of its status */
    struct hilock_lock *lock;
    struct hl_hold *hold;           /* the hold that sends its requests; NULL: its turn has not come */
    struct hl_queue_place *place;   /* for its place in the queue at the store, which it has got if there is a ticket;
                                       NULL: its requests ask for none. A try asks for none, either; of a kind whose
                                       handles have places of their own it has this all the same */
    hilock_result_fn *on_result;
    void *user;
    uint64_t begun_us;
    uint64_t ends_at_us;            /* when the wait ends; UINT64_MAX: never */
    uint32_t report_ms;             /* REPORTS_LATER: when the next WAITING event is due, counted from the begin */
    uint32_t attempts;
    struct hl_alarm alarm;          /* for the end of the wait and for WAITING events; it is not begun if there are
                                       neither */
    uint8_t state;
    int8_t status;                  /* DECIDED: the answer, a hilock_status */
    uint8_t standing;               /* enum hl_standing */
    uint8_t reporting;              /* enum hl_reporting */
};
_Static_assert(sizeof(struct hl_acquire) <= 128 || sizeof(void *) != 8, "every wait has one");

static inline int hl_acquire_is_try(const struct hl_acquire *acquire)
{
    return acquire->standing == STANDS_AS_TRY || acquire->standing == STANDS_AS_SENT_TRY;
}

/* Returns 1 if this waiter may send a request now. wakes: it may also if it sleeps. */
static inline int hl_acquire_is_ready(const struct hl_acquire *acquire, int wakes)
{
    return acquire->state == ACQUIRE_IN_LINE || acquire->state == ACQUIRE_STARVED ||
           (wakes && acquire->state == ACQUIRE_SLEEPING);
}

/* Returns 1 if the acquire has had no WAITING event, and gets one when its name is found held. */
static inline int hl_acquire_is_unreported(const struct hl_acquire *acquire)
{
    return acquire->reporting == REPORTS_WHEN_HELD && acquire->state < ACQUIRE_GRANTED;
}

/* Returns 1 if this acquire sends its own requests as soon as it begins; the others wait until they are the head of
 * their line. */
static inline int hl_waiter_sends_by_itself(const struct hl_acquire *acquire)
{
    return hl_acquire_is_try(acquire) || hl_has_own_place(acquire->lock->terms);
}

/* The only way to another state. Stops the program if the drawing has no arrow to it. */
void hl_acquire_enter(struct hl_acquire *acquire, enum hl_acquire_state state);
void hl_acquire_send(struct hl_acquire *acquire); /* sends the request of this acquire, if there is memory for it */
/* What holds tell (hold.h): the acquire of the hold acts, or the line of its name. */
void hl_acquire_on_hold_event(struct hl_hold *hold, const struct hl_hold_event *event);
void hl_acquire_report_waiting(struct hl_core *core, struct hl_acquire *acquire);
/* Decides the answer, which a notice delivers. If an answer was decided before and is not delivered, the new one
 * replaces it. After this call the acquire has left its line, and only the release of its hold may be pending. */
void hl_acquire_decide(struct hl_acquire *acquire, hilock_status status);
void hl_acquire_drop(struct hl_acquire *acquire);                       /* ends the acquire without a callback */
/* the acquire is DECIDED or delivered; it leaves its handle */
void hl_acquire_free(struct hl_core *core, struct hl_acquire *acquire);

/* The caller has checked everything but memory. limit_us UINT64_MAX: the wait has no limit. Returns HILOCK_OK or
 * HILOCK_NO_MEMORY. */
hilock_status hl_acquire_begin(struct hl_core *core, struct hilock_lock *lock, int is_try, uint64_t limit_us,
                               hilock_result_fn *on_result, void *user);
/* The turn of the acquire has come: makes its place and its hold, and returns 1. 0: there is no memory, so the line is
 * advanced again later. */
int hl_acquire_prepare(struct hl_acquire *acquire);
void hl_acquire_on_alarm(struct hl_alarm *alarm); /* the callback of core->locks->alarms */
/* Returns 1 if, by the latest answer, another program holds the name. Its release grants the name to no waiter. */
int hl_acquire_is_behind_other_program(struct hl_acquire *acquire);
/* No other program holds the name. Sends the request of the waiter again, to learn who the holder is now: when the
 * holder changes, only the first waiter in the queue gets a message. */
void hl_acquire_refresh_holder(struct hl_acquire *acquire);

#endif
