/* SPDX-License-Identifier: BSD-3-Clause */
/* place - a place in the queue at the store, and the grants that are pushed to it. Of kind FAIR every handle that waits
 * has one. Of MUTEX a client has one for each name: the first of its line has it, and the others wait behind that one
 * in the client. To the store both are the same: an id and a ticket. Whoever has a place goes through the acquire's
 * states (acquire.h):
 *   ASKING    a heartbeat is under way: the very request that took the place, repeated. It answers the place, or
 *             "granted".
 *   SLEEPING  until the next heartbeat, or until a grant is pushed (grants.h).
 *
 *   push --usable--> GRANTED, for a window: the watchdog makes it a lease
 *     `--not usable, or too little for this lock--> heartbeat at once, which answers {granted} with the whole lease
 *
 * Invariants. The deadline of a pushed grant counts from the send of the heartbeat that it names, plus what the server
 * measured since, with a margin on both (R1): never from when the push came. A push is believed only if that heartbeat
 * went over the links that still stand, to the node that the push came from; any other is confirmed by a heartbeat.
 * Numbers of heartbeats are never used twice. Whatever a heartbeat that ran before the grant says, it does not end the
 * hold. */
#ifndef HL_LOCK_PLACE_H
#define HL_LOCK_PLACE_H

#include "lock/core.h"
#include "wire/queued.h"

/* One is under way at most, and a link does not outlive one without an answer: over the present links a grant names the
 * latest, or the one before. */
enum { HL_FAIR_SENDS = 2 };

struct hl_queue_place {
    struct hl_acquire *acquire;
    struct hl_id_table_entry entry;      /* in core->places, by id, while is_found */
    uint64_t ticket;                 /* 0: none yet */
    uint64_t sent_us[HL_FAIR_SENDS]; /* of the latest ones, at number % HL_FAIR_SENDS */
    uint64_t news_us;                /* an older heartbeat proves nothing */
    struct hl_node *node;            /* of the latest heartbeat */
    const struct hl_hold *behind;    /* whose release asks for this place as well; NULL: none does (next.h) */
    uint32_t position, waiters;
    uint32_t number;                 /* of the latest heartbeat */
    uint8_t is_found;                /* a push finds it */
    uint8_t is_polling;              /* the latest heartbeat named no channel */
    uint8_t hands_over;              /* the holder's release grants */
    uint8_t looks;                   /* in a row, behind another program, whose release may wake nobody */
    uint8_t confirms;                /* in a row: grants of which too little was left */
};

int hl_place_is_wanted(const struct hl_acquire *acquire); /* it is to have one when its turn to ask comes */
int hl_place_take(struct hl_core *core, struct hl_acquire *acquire); /* for one that has none yet; -1: no memory */
/* the server's user may not stand in a queue */
int hl_place_is_denied(const struct hl_acquire *acquire, const struct hl_asked *asked);
void hl_place_give_up(struct hl_acquire *acquire, const struct hl_asked *asked); /* then it polls */
int hl_place_pass(struct hl_acquire *acquire, struct hl_acquire *next); /* it gives up, and leaves its place, and the
                                                                           request that keeps it, to the next in line.
                                                                           0: it cannot */
void hl_place_free(struct hl_core *core, struct hl_acquire *acquire); /* with the acquire */
void hl_place_begin(struct hl_core *core, struct hl_queue_place *place); /* a new id, which may be found */
void hl_place_forget(struct hl_core *core, struct hl_queue_place *place); /* its id is not found any more */

void hl_place_say(struct hl_hold *hold, struct hl_wants *wants); /* a heartbeat leaves */
void hl_place_placed(struct hl_queue_place *place, const struct hl_asked *asked);
int hl_place_may_sleep(struct hl_queue_place *place);            /* 0: news came after the heartbeat left: another one
                                                                    at once (R7) */
uint64_t hl_place_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_asked *asked);
void hl_place_wake(struct hl_queue_place *place, uint64_t within_us); /* news: a heartbeat, at some time within that */

/* a grant, or that the name is left to others for a moment */
void hl_place_pushed(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
int hl_place_confirms(struct hl_queue_place *place); /* too little is left of a grant, reported or not: asked once
                                                        more. 0: it was, and is given back */
void hl_place_crossed(struct hl_hold *hold, const struct hl_answer *answer); /* of a heartbeat, when the push came
                                                                                first: HELD */

#endif
