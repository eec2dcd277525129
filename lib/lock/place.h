/* SPDX-License-Identifier: BSD-3-Clause */
/* place - a place in the queue at the store. With FAIR every waiting handle has one. With MUTEX a client has one for
 * each name: the head of its line has the place, and the others wait behind it in the client. The store sees no
 * difference: an id and a ticket. A waiter with a place goes through the states of an acquire (lock/acquire.h):
 *   ASKING    a request is under way: the one that takes the place, or a heartbeat, which is the same request once
 *             more. The answer is the position, or "granted".
 *   SLEEPING  until the next heartbeat, or until a grant is pushed.
 *
 * At the store a place is a text that is written once for an id (hold->entry) and never changes, so every request
 * can name it, also the request that removes it. Each request promises when the next heartbeat comes. A waiter that
 * breaks its promise, or lets a grant lapse, loses its place and its turn, but not its ticket: it sends the ticket
 * with its next request and stands where it stood before.
 *
 * The store pushes a message to a waiter when it grants it the name, or when there is news:
 *
 *   granted --usable--> GRANTED, for a window; the watchdog makes it a lease
 *      |----not usable, or too short for this lock--> a heartbeat at once: its answer is "granted", with a whole lease
 *      `----its window is over--> this client stood still: the waiter lost its turn, and all places of this client for
 *                                 the name send a heartbeat
 *
 * Invariants:
 *  - The requests of one id are numbered, and no number is used twice. The next heartbeat is sent before the promise is
 *    over, counted from the send of the request that promised.
 *  - The deadline of a pushed grant is the sum of three times, minus a margin (R1): when this client sent the request
 *    whose number the grant carries; how long the server measured from that request to the grant; and the window. It
 *    never counts from the arrival of the push.
 *  - A push is used only if both links of the node that pushed, that of commands and that of subscriptions, have been
 *    up since that request; otherwise a heartbeat must confirm the grant.
 *  - An answer to a heartbeat that the store executed before the grant changes nothing for the hold. But if a heartbeat
 *    is answered "granted" with another token, the hold ends: the pushed grant had lapsed, and the heartbeat took the
 *    lock anew. */
#ifndef HL_LOCK_PLACE_H
#define HL_LOCK_PLACE_H

#include "lock/acquire.h"
#include "wire/push.h"
#include "wire/queued.h"

/* How many send times are kept. At most one heartbeat is pending, and a link on which a heartbeat gets no answer is
 * given up. So a grant that comes over the present links names the latest request or the one before. */
enum { HL_PLACE_SENDS = 2 };

struct hl_queue_place {
    struct hl_acquire *acquire;
    LIST_ENTRY(hl_queue_place) by_id; /* links the place into core->locks->places while pushes can find it */
    uint64_t ticket;                 /* 0: it has no ticket yet */
    uint64_t sent_us[HL_PLACE_SENDS]; /* when the latest requests were sent; request n is at index n %
                                         HL_PLACE_SENDS */
    uint64_t polls_first_since_us;   /* since when the waiter polls at position 1; 0: it does not */
    struct hl_node *node;            /* the node that got the latest request */
    uint32_t position, waiters;      /* in the queue at the store, as last heard: the position of this place, 0: not
                                        heard yet; how many wait */
    uint32_t number;                 /* the number of the latest request with this id; the first is 1 */
    uint32_t pace_us;                /* how long the queue took to move by one position, as last seen; 0: not seen
                                        yet */
    uint16_t promise_ms;             /* the promise of the latest request: the next one is sent within this time */
    uint8_t is_indexed;              /* pushes can find it: it is in core->locks->places */
    uint8_t channel;                 /* enum hl_entry_channel, as of the latest answer. POLLS: no push can find the
                                        place, so its waiter polls */
    uint8_t holder_grants_next;      /* the release of the present holder makes the next waiter the holder */
    uint8_t early_polls;             /* how many times in a row the waiter polled early, because the holder is
                                        another program whose release possibly wakes nobody */
    uint8_t is_ticket_request_time;  /* The store made the ticket when it executed the first request of this id. A
                                        ticket is the server's time, so it tells when that was. */
};

/* Call before the hold of this place goes away or gets another id: pushes no longer find the place. place NULL: does
 * nothing. */
static inline void hl_place_hide(struct hl_queue_place *place)
{
    if (!place || !place->is_indexed)
        return;
    LIST_REMOVE(place, by_id);
    place->is_indexed = 0;
}

/* The turn of the acquire has come: makes its place, if it needs one that it has not. -1: there is no memory. */
int hl_place_prepare(struct hl_acquire *acquire);
/* The acquire ends. Leaves its place and its hold to the next acquire in line, if that is possible. */
void hl_place_leave_to_next(struct hl_acquire *acquire, struct hl_acquire *next);
/* the acquire is about to be freed, or needs its place no more */
void hl_place_free(struct hl_core *core, struct hl_acquire *acquire);
/* gives the hold of this place a new id, which pushes can find */
void hl_place_begin(struct hl_core *core, struct hl_queue_place *place);

/* An acquire of this hold is about to be sent: adds the entry and the heartbeat, if the acquire has a place. */
void hl_place_add_params(struct hl_hold *hold, struct hl_acquire_params *params);
enum hl_place_fate {      /* what an answer means for a place */
    PLACE_AS_BEFORE,     /* it is there, or the acquire has none */
    PLACE_QUEUE_IS_FULL, /* the acquire requested a place, and got none */
    PLACE_GIVEN_UP       /* the ACL user of the link may not use the keys of the queue: from now on the waiter polls */
};
/* A request of this acquire was answered, and not with a grant: takes over what the answer says about its place. */
enum hl_place_fate hl_place_on_answer(struct hl_acquire *acquire, const struct hl_response *said);
/* Returns how long the waiter may sleep until its next request. While the holder is another program whose release
 * possibly wakes nobody, the time grows with each early poll. */
uint64_t hl_place_plan_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said);


/* ---- what the store pushes ---- */

/* the store granted the name to this waiter */
void hl_place_granted(struct hl_queue_place *place, struct hl_node *node, const struct hl_push *push);
/* the store tells this waiter to send a request */
void hl_place_told_to_ask(struct hl_queue_place *place, const struct hl_push *push);

#endif
