/* SPDX-License-Identifier: BSD-3-Clause */
/* discipline - how the handles of a kind wait for a name, which of them may hold it together, and who is next when a
 * hold ends. The line, the places, the tenures and the views ask here. So a new kind is a row of wire/kind.h and its
 * scripts. */
#ifndef HL_CORE_DISCIPLINE_H
#define HL_CORE_DISCIPLINE_H

#include "core/terms.h"

/* 1: the store has a queue for handles of these terms. 0: waiters ask again until the name is free. */
static inline int hl_has_queue(const struct hl_terms *terms) { return terms->kind->queueing != HL_QUEUES_NOT; }

/* 1: each waiting handle has a place of its own in the queue at the store, and sends its own requests. 0: the handles
 * stand in the line of their client, and only the head of the line sends requests. */
static inline int hl_has_own_place(const struct hl_terms *terms)
{
    return terms->kind->queueing == HL_QUEUES_HANDLES;
}

/* 1: whoever holds the name on these terms has it alone. 0: other handles may hold it together with this one, of this
 * client and of others; the store counts them (`holders_max`). */
static inline int hl_holds_alone(const struct hl_terms *terms) { return terms->kind->holding == HL_HOLDS_ALONE; }

/* 1: handles of these terms and of those may hold a name at the same time. */
static inline int hl_may_hold_together(const struct hl_terms *these, const struct hl_terms *those)
{
    return !hl_holds_alone(these) && !hl_holds_alone(those);
}

/* 1: a hold may serve handles of its client one after the other, so its acquire reserves a token for each. */
static inline int hl_takes_turns(const struct hl_terms *terms) { return terms->kind->queueing == HL_QUEUES_CLIENTS; }

/* 1: while a handle of this client holds the name, the head of the line sends no request, because the end of that hold
 * serves it: the hold is handed on to the head, or the release carries the acquire of the head. A hold of a handle that
 * has a place of its own is never handed on, so behind it the head must keep a place in the queue. The end of a share
 * serves nobody: others may get the name before its release is executed. */
static inline int hl_is_served_by_end_of(const struct hl_terms *holder, const struct hl_terms *head)
{
    return hl_holds_alone(holder) && !(hl_has_own_place(holder) && hl_has_queue(head));
}

#endif
