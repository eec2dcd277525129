/* SPDX-License-Identifier: BSD-3-Clause */
/* place - a place in the queue at the store. With FAIR every waiting handle has one. With MUTEX a client has one for
 * each name: the head of its line has the place, and the others wait behind it in the client. The store sees no
 * difference: an id and a ticket. A waiter with a place goes through the states of an acquire (lock/acquire.h):
 *   ASKING    a heartbeat is under way: the very request that took the place, repeated. The answer is the position,
 *             or "granted".
 *   SLEEPING  until the next heartbeat, or until a grant is pushed (push.h).
 *
 * At the store a place is a text that is written once for an id (hold->entry) and never changes, so every request
 * can name it, also the request that removes it. Each question promises when the next one comes. A waiter that
 * breaks its promise, or lets a grant lapse, loses its place and its turn, but not its ticket: it sends the ticket
 * with its next question and stands where it stood before.
 *
 * Invariants: the numbers of the questions are never used twice with one id. The next heartbeat is sent before the
 * promise is over, counted from the send of the question that promised.
 *
 * A release also asks for the next handle. If handles of a client stand in line for a name, the command that ends
 * their hold also asks for the head of the line, under an id of its own (R2). It puts that handle into the queue at
 * the store, behind all others there, or makes it the holder if there are none. So a client that always wants the
 * name needs one command for each turn.
 *
 *   attached --release is sent--> asked for --answer--> the acquire goes on as if its own request had been answered
 *     |                              `--no answer, or an error: the acquire may be at the store (R3). The release is
 *     |                                 repeated alone, and then the acquire is sent with the same id.
 *     `--the release was not sent, or carried no acquire: the acquire is sent by itself, after the release (R4)
 *
 * Invariants: once the release is sent, the next id counts as asked for without an answer. If that acquire gives up,
 * or a push arrives for it meanwhile, its id is ended like one whose request may still execute. Nothing is asked for
 * at a store under its restart guard. At most one release asks for the next handle, and only the first time that it
 * is sent. */
#ifndef HL_WAIT_PLACE_H
#define HL_WAIT_PLACE_H

#include "wait/waiter.h"
#include "wire/queued.h"

/* How many send times are kept. At most one heartbeat is pending, and a link ends with a heartbeat that gets no answer,
 * so a grant over the present links names the latest question or the one before. */
enum { HL_PLACE_SENDS = 2 };

struct hl_queue_place {
    struct hl_acquire *acquire;
    LIST_ENTRY(hl_queue_place) by_id; /* links the place into core->places while pushes can find it */
    uint64_t ticket;                 /* 0: it has no ticket yet */
    uint64_t sent_us[HL_PLACE_SENDS]; /* when the latest questions were sent; question n is at index n %
                                         HL_PLACE_SENDS */
    uint64_t first_us;               /* since when the waiter polls at position 1; 0: it does not */
    struct hl_node *node;            /* the node that got the latest question */
    const struct hl_hold *releasing; /* the hold whose release also asks for this place; NULL: none */
    uint32_t position, waiters;
    uint32_t number;                 /* the number of the latest question with this id; the first is 1 */
    uint32_t pace_us;                /* how long the queue took to move by one position, as last seen; 0: not seen
                                        yet */
    uint16_t promise_ms;             /* the promise of the latest question: the next one is sent within this time */
    uint8_t is_indexed;              /* pushes can find it: it is in core->places */
    uint8_t is_polling;              /* no push can find it, so its waiter polls */
    uint8_t hands_over;              /* the release of the present holder makes the next waiter the holder */
    uint8_t looks;                   /* how many short looks were made in a row behind another program whose release
                                        may wake no waiter */
    uint8_t is_ticket_time;          /* the first question of this id drew the ticket, so the ticket is the server's
                                        time of that question */
};

/* Returns 1 if the acquire must have a place when its turn to ask comes. */
int hl_place_is_wanted(const struct hl_acquire *acquire);
/* The acquire has no place yet. -1: there is no memory. */
int hl_place_new(struct hl_core *core, struct hl_acquire *acquire);
/* If the user has no rights to the queue, gives the place up for good, so that the waiter polls from now on. Returns 1
 * if it did. */
int hl_place_give_up_queue(struct hl_acquire *acquire, const struct hl_response *said);
/* Returns 1 if the acquire asked for a place and got none because the queue is full. */
int hl_place_is_queue_full(const struct hl_acquire *acquire, const struct hl_response *said);
/* The acquire ends. Leaves its place and its hold to the next acquire in line, if that is possible. */
void hl_place_hand_over(struct hl_acquire *acquire, struct hl_acquire *next);
/* the acquire is about to be freed, or needs its place no more */
void hl_place_free(struct hl_core *core, struct hl_acquire *acquire);
/* gives the hold of this place a new id, which pushes can find */
void hl_place_begin(struct hl_core *core, struct hl_queue_place *place);

/* An acquire of this hold is about to be sent: adds what makes it a heartbeat, if the acquire has a place. */
void hl_place_add_params(struct hl_hold *hold, struct hl_params *params);
void hl_place_on_queued(struct hl_queue_place *place, const struct hl_response *said);
/* Returns how long the waiter may sleep until its next question. Behind another program whose release may wake no
 * waiter, the time grows from look to look. */
uint64_t hl_place_plan_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said);

/* This hold is about to be released: attaches the head of the line, whose acquire goes along. */
void hl_place_attach_next(struct hl_core *core, const struct hl_hold *hold);
/* returns the hold that goes along with that release; NULL: none */
struct hl_hold *hl_place_next(const struct hl_hold *hold);
/* That release was answered, or will not be. If the release carried no acquire, the next handle sends its own;
 * otherwise its hold is returned: call hl_place_next_answered with it after handling the release. */
struct hl_hold *hl_place_next_release_answered(const struct hl_hold *hold, const struct hl_reply *reply);
void hl_place_next_answered(struct hl_hold *next, const struct hl_reply *reply);

/* returns how soon to look at a name that is left to other programs for a moment */
uint64_t hl_place_retry_us(struct hl_core *core);

#endif
