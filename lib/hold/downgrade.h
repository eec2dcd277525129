/* SPDX-License-Identifier: BSD-3-Clause */
/* downgrade - a hold that has its name alone goes on as one that shares it. It is an extend of another form: the
 * renewal that is sent for it asks the store to share the name, and its answer renews the hold as well (watchdog.h).
 *
 *   ALONE --accepted--> ASKED --the store shares the name--> DONE
 *                         |`--a sent request got no answer--> UNANSWERED --the store shares the name--> DONE
 *                         `--refused, or never sent--> ALONE
 *
 * As soon as a downgrade is accepted the hold has the terms of one that shares its name, because the store executes
 * renewals and releases of a share also for a hold that has the name alone. The handle keeps its own terms, for its
 * next acquire.
 * Invariant: once a renewal that asks for the downgrade was sent, the hold gets its former terms back only if an answer
 * proves that this renewal had no effect. */
#ifndef HL_HOLD_DOWNGRADE_H
#define HL_HOLD_DOWNGRADE_H

#include "hold/hold.h"

enum hl_downgrade { DOWNGRADE_NONE, DOWNGRADE_ASKED, DOWNGRADE_UNANSWERED, DOWNGRADE_DONE };

/* A downgrade of this hold is accepted: gives the hold the terms of one that shares its name. Returns 0, or -1 without
 * memory. */
int hl_downgrade_accept(struct hl_hold *hold);
/* 1: the next renewal of this hold must ask the store to share the name. */
static inline int hl_downgrade_is_due(const struct hl_hold *hold)
{
    return hold->downgrade == DOWNGRADE_ASKED || hold->downgrade == DOWNGRADE_UNANSWERED;
}
/* Writes that renewal, and returns its form. */
enum hl_form hl_downgrade_encode(const struct hl_hold *hold, struct hl_command *command,
                                 const struct hl_target *target);
/* The hold is held: its renewal was answered, or will have no answer. */
void hl_downgrade_on_answer(struct hl_hold *hold, const struct hl_response *said);
void hl_downgrade_on_silence(struct hl_hold *hold);
/* Call this after one of these two, if the renewal was refused with `status`. attempts: how many requests were sent for
 * the downgrade. Returns the status with which the user's call of hilock_downgrade is answered. */
hilock_status hl_downgrade_on_refusal(struct hl_hold *hold, unsigned attempts, hilock_status status);
/* No request for the downgrade was sent: the hold goes on as one that has its name alone. */
void hl_downgrade_revert(struct hl_hold *hold);

#endif
