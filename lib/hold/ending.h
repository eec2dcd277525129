/* SPDX-License-Identifier: BSD-3-Clause */
/* ending - ends a hold that was released by its user, lost, or granted too late. The release is repeated until the
 * store has confirmed it or the lease has run out.
 * Invariants: a release is sent only while the hold has no other request under way. Until its first answer, no other
 * handle of this client requests the name. So an undo executes before this client's next acquire of the name (R4).
 * Handles that have places of their own (hl_has_own_place) wait only while more than two releases of the name are
 * unanswered (lock/line.c): their ids are independent of each other.
 *
 * A failover can lose an acknowledged release: the new master still has the hold, and no client would renew or release
 * it until its lease runs out. Therefore the latest acknowledged releases are remembered. When another server takes
 * over, each of them is sent once more with its own id, which is never used again: if the first release was not lost,
 * the second one finds nothing. The list is bounded in number and in time. Its memory is allocated when first needed;
 * without it nothing else fails. Releases are remembered only for deployments that can lose writes, and at a single
 * server only for kinds with a queue: after a restart, or with another server at the address, an id may be back in the
 * queue for much longer than a lease. */
#ifndef HL_HOLD_ENDING_H
#define HL_HOLD_ENDING_H

#include "hold/hold.h"

struct hl_ended { /* an id that may be at the store, and that no hold of this client has any more */
    struct hl_name *name;
    struct hl_terms *terms; /* whose scripts release it */
    uint64_t id;
    struct hl_entry_parts entry; /* the entry under which the id may be in the queue */
};
/* Releases such an id. Returns 0 without memory: then the id stays until its lease or its place has run out, unless
 * this is called again. */
int hl_ending_release_id(struct hl_core *core, const struct hl_ended *ended, enum hl_end end);
struct hl_withdrawal { /* how a hold ends */
    enum hl_end end;
    struct hl_hold *carried; /* the hold whose acquire the release carries (asking.h); NULL: none */
    struct hl_caller caller; /* the release call of its user, if there was one */
};
/* Ends a hold, as its state prescribes (life.h). If nothing of it is at the store, the hold is freed at once. If the
 * hold was lost, and that is not reported yet, its user may still release it: the answer to the release reports the
 * loss then. */
void hl_ending_begin(struct hl_hold *hold, const struct hl_withdrawal *how);
/* The hold is ending: does what is due now. Answers the user UNKNOWN, sends the release, or frees the hold. Call this
 * after an alarm, and when the loss has been reported, because the release waits for that. */
void hl_ending_go_on(struct hl_hold *hold);
/* An acquire of this hold has no answer, or none yet: its id counts as being at the store. */
void hl_ending_mark_acquire_unanswered(struct hl_hold *hold);
/* An acquire has no answer, or a renewal that shortens the lease (hold/shortening.h) has none: notes until when that
 * request may still execute (may_run_until_us). The function above does this, too, and marks the id as MAYBE; so call
 * this one if the hold is known to be OURS. */
void hl_ending_mark_request_unanswered(struct hl_hold *hold);
/* The client closes: answers UNKNOWN to every release call that has no answer yet. */
void hl_endings_answer_users(struct hl_core *core);
/* Answers the release call of the user that ended the hold, if there was one; only the first answer counts. */
void hl_ending_answer_user(struct hl_hold *hold, hilock_status status);
void hl_ending_free_if_done(struct hl_hold *hold); /* frees the hold if nothing of it is at the store and
                                                          nothing is left to report */
/* A server came up, or took over: repeats the acknowledged releases that this server may have lost. Without memory a
 * release stays remembered for the next time. */
void hl_endings_repeat(struct hl_core *core);
void hl_endings_forget(struct hl_core *core);

/* ---- for the table of life.c: how the requests of a hold that is ending are answered ---- */

void hl_ending_on_acquire(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_ending_on_stale(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_ending_on_unheard(struct hl_hold *hold, const struct hl_answer *answer); /* neither of these has an answer */
void hl_ending_on_renewal(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_ending_on_release(struct hl_hold *hold, const struct hl_response *said, const struct hl_answer *answer);
void hl_ending_on_silence(struct hl_hold *hold, const struct hl_answer *answer); /* the release has no answer */

#endif
