/* SPDX-License-Identifier: BSD-3-Clause */
/* downgrade - a hold that has its name alone goes on as one that shares it. It is an extend of another form: the
 * renewal that is sent for it asks the store to share the name, and its answer renews the hold as well (watchdog.h).
 *
 *   ALONE --accepted--> ASKED --the store shares the name--> DONE
 *                         |`--a sent request got no answer--> UNANSWERED --the store shares the name--> DONE
 *                         `--refused, or never sent--> ALONE
 *
 * From its acceptance on the hold has the terms of a handle that shares, because renewals and releases of a share serve
 * a hold that has the name alone as well. The handle keeps its own terms, for its next acquire.
 * Invariant: once a request of this form was sent, the hold has the terms of one that has its name alone again only if
 * an answer proved that this request had no effect. */
#ifndef HL_HOLD_DOWNGRADE_H
#define HL_HOLD_DOWNGRADE_H

#include "hold/hold.h"

enum hl_downgrade { DOWNGRADE_NONE, DOWNGRADE_ASKED, DOWNGRADE_UNANSWERED, DOWNGRADE_DONE };

/* A downgrade of this hold, which has its name alone, is accepted: gives it the terms of one that shares. Returns 0, or
 * -1 without memory. */
int hl_downgrade_accept(struct hl_hold *hold);
/* 1: the next renewal of this hold must ask the store to share the name. */
int hl_downgrade_is_due(const struct hl_hold *hold);
/* Writes that renewal, and returns its form. */
enum hl_form hl_downgrade_encode(const struct hl_hold *hold, struct hl_command *command,
                                 const struct hl_target *target);
/* The hold is held: its renewal was answered, or will have no answer. */
void hl_downgrade_on_answer(struct hl_hold *hold, const struct hl_response *said);
void hl_downgrade_on_silence(struct hl_hold *hold, const struct hl_answer *answer);
/* After that: the renewal was refused with that status, so the call is answered. attempts: how many requests were sent
 * for it. Returns the status that answers it. */
hilock_status hl_downgrade_on_refusal(struct hl_hold *hold, unsigned attempts, hilock_status status);
/* No request for the downgrade was sent: the hold goes on as one that has its name alone. */
void hl_downgrade_revert(struct hl_hold *hold);

#endif
