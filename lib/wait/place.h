/* SPDX-License-Identifier: BSD-3-Clause */
/* place - a place in the queue at the store, and the grants that are pushed to it. With FAIR every waiting handle has
 * one. With MUTEX a client has one for each name: the first of its line has it, and the others wait behind that one in
 * the client. For the store both are the same: an id and a ticket. A waiter with a place goes through the states of an
 * acquire (lock/acquire.h):
 *   ASKING    a heartbeat is under way: the very request that took the place, repeated. It answers the place, or
 *             "granted".
 *   SLEEPING  until the next heartbeat, or until a grant is pushed (push.h).
 *
 * Its place at the store is a text that is written once for an id (hold->entry), and never changes: so every request
 * can name it, also one that ends it. Each question promises when the next one comes. A waiter that breaks its promise,
 * or lets a grant lapse, loses its place and its turn, not its ticket: it brings the ticket along and stands where it
 * stood.
 *
 * Invariants: numbers of questions are never used twice with an id; the next heartbeat leaves before the promise is
 * over, counted from the send of the question that promised.
 *
 * A release also asks for the next handle. While handles of a client stand in line for a name, the command that ends
 * their hold also asks for the first of them, under an id of its own (R2): it puts that handle into the queue at the
 * store, behind all others there, or makes it the holder if there are none. So a turn of a client that always wants the
 * name costs one command.
 *
 *   take --release leaves--> asked for --answer--> the acquire goes on as if its own request had been answered
 *     |                        `--no answer, or an error: it may be at the store (R3): the release is repeated alone,
 *     |                                                    then the acquire, same id
 *     `--nothing left, or the release was none: the acquire asks by itself, behind the release (R4)
 *
 * Invariants: once the release has left, the next id counts as asked for without an answer: an acquire that gives up,
 * or got a push meanwhile, ends it as an id whose request may still run. Nothing is asked for at a store under its
 * restart guard. One release at most asks for the next one, and only the first time it leaves. */
#ifndef HL_WAIT_PLACE_H
#define HL_WAIT_PLACE_H

#include "wait/waiter.h"
#include "wire/queued.h"

/* At most one is pending, and a link ends with a heartbeat that gets no answer: over the present links a grant names
 * the latest or the one before. */
enum { HL_PLACE_SENDS = 2 };

struct hl_queue_place {
    struct hl_acquire *acquire;
    LIST_ENTRY(hl_queue_place) by_id; /* in core->places, while a push is to find it */
    uint64_t ticket;                 /* 0: none yet */
    uint64_t sent_us[HL_PLACE_SENDS]; /* of the latest questions, at number % HL_PLACE_SENDS */
    uint64_t first_us;               /* since when it polls at the first place; 0: it does not */
    struct hl_node *node;            /* of the latest question */
    const struct hl_hold *releasing; /* the hold whose release also asks for this place; NULL: none */
    uint32_t position, waiters;
    uint32_t number;                 /* of the latest question with this id, from 1 on */
    uint32_t pace_us;                /* how long the queue took for one place, as last seen; 0: unseen */
    uint16_t promise_ms;             /* of the latest question: the next one leaves before */
    uint8_t is_indexed;              /* by pushes: it is in core->places */
    uint8_t is_polling;              /* no push finds it */
    uint8_t hands_over;              /* the holder's release grants */
    uint8_t looks;                   /* in a row, behind another program, whose release may wake no waiter */
    uint8_t is_ticket_time;          /* its id drew its ticket with the first question: the ticket is the server's time
                                        then */
};

int hl_place_is_wanted(const struct hl_acquire *acquire); /* it will have one when its turn to ask comes */
int hl_place_new(struct hl_core *core, struct hl_acquire *acquire); /* if it has none yet; -1: no memory */
/* Gives the place up for good, if the user has no rights to the queue: from now on it polls. 1: it did */
int hl_place_give_up_queue(struct hl_acquire *acquire, const struct hl_response *said);
/* 1: it asked for a place and got none, because the queue is full */
int hl_place_is_queue_full(const struct hl_acquire *acquire, const struct hl_response *said);
/* it ends, and leaves its place and request to the next in line, if it can */
void hl_place_hand_over(struct hl_acquire *acquire, struct hl_acquire *next);
void hl_place_free(struct hl_core *core, struct hl_acquire *acquire); /* with the acquire */
void hl_place_begin(struct hl_core *core, struct hl_queue_place *place); /* a new id, which pushes find */

/* an acquire leaves: a heartbeat, if it has a place */
void hl_place_add_params(struct hl_hold *hold, struct hl_params *params);
void hl_place_on_queued(struct hl_queue_place *place, const struct hl_response *said);
/* How long until the next question. Behind another program, whose release may wake no waiter, each time longer. */
uint64_t hl_place_plan_sleep_us(struct hl_core *core, struct hl_queue_place *place, const struct hl_response *said);

/* that hold is released: takes the first in line along */
void hl_place_attach_next(struct hl_core *core, const struct hl_hold *hold);
struct hl_hold *hl_place_next(const struct hl_hold *hold); /* the hold that goes along; NULL: none */
/* That release was answered, or will not be. A next hold that was not asked for asks by itself from now on; one that
 * was is returned: call hl_place_next_answered with it after handling the release. */
struct hl_hold *hl_place_next_release_answered(const struct hl_hold *hold, const struct hl_reply *reply);
void hl_place_next_answered(struct hl_hold *next, const struct hl_reply *reply);

uint64_t hl_place_retry_us(struct hl_core *core); /* how soon to look at a name that is left to other programs */

#endif
