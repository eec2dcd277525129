/* SPDX-License-Identifier: BSD-3-Clause */
/* fair - a wait of kind FAIR. It stands in no local line: it has an id and a ticket of its own in the queue at the store, for life, and goes
 * through the acquire's states (acquire.h) on its own:
 *   ASKING    a heartbeat is under way: the very request that stood it in the queue, said again. It answers the place, or "granted".
 *   SLEEPING  until the next heartbeat, or until a grant is pushed (grants.h).
 *
 *   push --usable--> GRANTED, for a window: the watchdog makes it a lease
 *     `--not usable, or too little for this lock--> heartbeat at once, which answers {granted} with the whole lease
 *
 * Invariants. The deadline of a pushed grant counts from the send of the heartbeat that it names, plus what the server measured since, with a
 * margin on both (R1): never from when the push came. A push is believed only if that heartbeat went over the links that still stand, to the
 * node that the push came from; any other is confirmed by a heartbeat. Numbers of heartbeats are never used twice. Whatever a heartbeat that
 * ran before the grant says, it does not end the hold. */
#ifndef HL_LOCK_FAIR_H
#define HL_LOCK_FAIR_H

#include "lock/core.h"
#include "wire/queued.h"

/* One is under way at most, and a link does not outlive one without an answer: over the present links a grant names the latest, or the one before. */
enum { HL_FAIR_SENDS = 2 };

struct hl_fair {
    struct hl_acquire acquire;       /* first */
    struct hl_roll_entry entry;      /* in core->fair_waits, by id, while is_found */
    uint64_t ticket;                 /* 0: none yet */
    uint64_t sent_us[HL_FAIR_SENDS]; /* of the latest ones, at number % HL_FAIR_SENDS */
    uint64_t news_us;                /* an older heartbeat proves nothing */
    struct hl_node *node;            /* of the latest heartbeat */
    uint32_t position, waiters;
    uint32_t number;                 /* of the latest heartbeat */
    uint8_t is_found;                /* a push finds it */
    uint8_t is_polling;              /* the latest heartbeat named no channel */
    uint8_t hands_over;              /* the holder's release grants */
    uint8_t confirms;                /* in a row: grants of which too little was left */
};

static inline struct hl_fair *hl_fair_of(struct hl_acquire *acquire) /* NULL: its kind has no queue */
{
    return acquire->lock->terms->kind->has_queue ? (struct hl_fair *)(void *)acquire : NULL;
}

static inline size_t hl_fair_size(const struct hl_terms *terms) /* of an acquire of this kind */
{
    return terms->kind->has_queue ? sizeof(struct hl_fair) : sizeof(struct hl_acquire);
}

void hl_fair_begin(struct hl_core *core, struct hl_fair *fair); /* a new id, which may be found */
void hl_fair_forget(struct hl_core *core, struct hl_fair *fair); /* its id is not found any more */

void hl_fair_say(struct hl_hold *hold, const struct hl_part *part, struct hl_wants *wants); /* a heartbeat leaves */
void hl_fair_placed(struct hl_fair *fair, const struct hl_asked *asked);
int hl_fair_may_sleep(struct hl_fair *fair);            /* 0: news came after the heartbeat left: another one at once (R7) */
uint64_t hl_fair_sleep_us(struct hl_core *core, struct hl_fair *fair, const struct hl_asked *asked);
void hl_fair_wake(struct hl_fair *fair, uint64_t within_us); /* news: a heartbeat, at some time within that */

void hl_fair_pushed(struct hl_fair *fair, struct hl_node *node, const struct hl_push *push); /* a grant, or that the name is left to others for a moment */
int hl_fair_confirms(struct hl_fair *fair); /* too little is left of a grant, told or not: asked once more. 0: it was, and is given back */
void hl_fair_crossed(struct hl_hold *hold, struct hl_part *part, const struct hl_answer *answer); /* of a heartbeat, when the push came first: HELD */

#endif
