/* SPDX-License-Identifier: BSD-3-Clause */
/* ballot - an attempt to get a name from a quorum of masters: all are asked at once, under one id, and it is decided as soon as enough have
 * said yes, or so many have not that enough no longer can.
 *
 *   begun -> carried (the hold is kept; later votes join it)
 *        \-> lost: by those who hold it, by faults, or by silence when its time is over; what it got is returned
 *
 * A master that is away, or owes an answer for long (the breaker), is not asked: it costs its vote and no time. One that falls silent
 * meanwhile is waited for only while its vote could still matter, and no longer than the ballot's own time.
 * Invariant: no two ballots for a name are carried at a time, for more than half of the masters must say yes, each for its own lease. */
#ifndef HL_LOCK_BALLOT_H
#define HL_LOCK_BALLOT_H

#include "lock/acquire.h"

enum hl_vote { VOTE_NONE, VOTE_YES, VOTE_HELD, VOTE_FAULT, VOTE_LASTING, VOTE_SILENT };

int hl_ballot_can_begin(const struct hl_hold *hold); /* enough masters can be asked */
int hl_part_can_vote(const struct hl_hold *hold, const struct hl_part *part); /* its master can be asked */
uint64_t hl_ballot_patience_us(const struct hl_hold *hold); /* how long a master may owe an answer before it counts as silent */
uint64_t hl_ballot_ends_us(const struct hl_acquire *acquire); /* for one that begins now */
void hl_ballot_begin(struct hl_hold *hold); /* nobody has voted; nothing for a hold of another kind */
void hl_ballot_cast(struct hl_hold *hold, struct hl_part *part, const struct hl_asked *asked); /* an answer, by which it is not carried */
void hl_ballot_close(struct hl_hold *hold); /* its time is over: who has not answered has not voted */

#endif
