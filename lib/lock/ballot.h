/* SPDX-License-Identifier: BSD-3-Clause */
/* ballot - an attempt to get a name from a quorum of masters: all are asked at once, under one id, and it is decided as soon as enough have
 * said yes, or so many have not that enough no longer can.
 *
 *   begun -> carried (the hold is kept; later votes join it)
 *        \-> lost: by those who hold it, by faults, or by silence when its time is over; what it got is returned
 *
 * Several who ask all masters at a time split the votes between them, and again each time they try. So who was woken by a message, or lost a race,
 * or knows of others who wait, asks *in order*: the first master alone, and when that has said yes the others, all at once. Whom the first one
 * refuses has taken nothing from whoever was before him there, and asks again at the next message; or, in case that one is gone and his vote
 * is left behind, all at once in a while. It is not for leases so short that they cannot bear two trips, nor for tries. All programs must
 * name the masters in one order for this to help; that a name has one holder does not hang on it.
 *
 * A master that is away, or owes an answer for long (the breaker), is not asked: it costs its vote and no time. One that falls silent
 * meanwhile is waited for only while its vote could still matter, and no longer than the ballot's own time.
 * Invariant: no two ballots for a name are carried at a time, for more than half of the masters must say yes, each for its own lease. */
#ifndef HL_LOCK_BALLOT_H
#define HL_LOCK_BALLOT_H

#include "lock/core.h"

enum hl_vote { VOTE_NONE, VOTE_YES, VOTE_HELD, VOTE_FAULT, VOTE_LASTING, VOTE_SILENT };

int hl_ballot_can_begin(const struct hl_hold *hold); /* enough masters can be asked */
uint64_t hl_ballot_ends_us(const struct hl_acquire *acquire); /* for one that begins now */
void hl_ballot_begin(struct hl_hold *hold); /* nobody has voted; nothing for a hold of another kind */
int hl_ballot_may_ask(struct hl_hold *hold, const struct hl_part *part); /* it has not voted, nor been asked, and can be */
int hl_ballot_asks_one(const struct hl_hold *hold); /* in order, and nobody has said yes yet */
int hl_ballot_can_order(const struct hl_acquire *acquire); /* with a hold. 0: its lease is too short */
/* An answer, by which it is not carried. 1: it is lost, and that is the verdict; 0: others may still answer, or be asked. */
int hl_ballot_cast(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked, struct hl_asked *ret_verdict);
struct hl_asked hl_ballot_close(struct hl_hold *hold); /* its time is over: who has not answered has not voted */

#endif
