/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry - an operator's question: who holds a name (peek), or the end of somebody's hold of it (force_release). It is asked through a
 * handle and takes no part in its locking: the handle may be in any state, and have any number of them.
 *
 *   PEEKING -> RELEASING -> DECIDED -> told -> freed
 *
 * A peek ends with PEEKING, a force_release of a named holder begins with RELEASING, one of whoever holds does both. Invariants: it is
 * answered once, command_timeout_ms after the call at the latest, also while the client closes - or never, when its handle was silenced;
 * what it needs of memory is taken with the call (on a quorum an inquiry for each master besides); only the very holder that was named, or seen, is released. */
#ifndef HL_LOCK_INQUIRY_H
#define HL_LOCK_INQUIRY_H

#include "base/text.h"
#include "lock/core.h"

enum { HL_INQUIRY_HOLDER_MAX = 1024 }; /* a longer one is shown cut, and cannot be released */
enum hl_inquiry_state { INQUIRY_PEEKING, INQUIRY_RELEASING, INQUIRY_DECIDED };

struct hl_inquiry {
    struct hl_notice notice;
    TAILQ_ENTRY(hl_inquiry) entry; /* in core->inquiries */
    struct hl_request request;     /* may be on the wire still when it is decided; it lives until that is answered */
    struct hilock_lock *lock;      /* referenced */
    hilock_result_fn *on_result;   /* NULL: nobody asked for the answer */
    void *user;
    void *timer;
    uint64_t begun_us;
    uint32_t attempts;             /* requests that left */
    uint8_t state, is_forcing;
    uint8_t part, open, votes;     /* of a quorum: which master it asks; inquiries of it that are not decided; masters that said what is told */
    struct hl_inquiry *whole;      /* on a quorum each master is asked by an inquiry of its own, for this one; NULL: it is the user's */
    uint8_t was_sent;              /* a release left */
    uint8_t was_repeated;          /* one went unanswered */
    uint8_t is_second;             /* one was not to be had so: it is said in the other way */
    uint8_t found;                 /* enum hl_find, of what was peeked at */
    hilock_status status;          /* DECIDED */
    uint32_t holder_remaining_ms, waiters, position;
    size_t holder_length;          /* of all of it */
    char holder[HL_INQUIRY_HOLDER_MAX + 1];
    struct hl_text detail;
};

/* holder: whose hold is to end; NULL: whoever holds. HILOCK_OK, or NO_MEMORY. */
hilock_status hl_inquiry_peek(struct hl_core *core, struct hilock_lock *lock, hilock_result_fn *on_result, void *user);
hilock_status hl_inquiry_force(struct hl_core *core, struct hilock_lock *lock, const char *holder, hilock_result_fn *on_result, void *user);

void hl_inquiry_words(struct hl_core *core, struct hl_inquiry *inquiry); /* its detail, by its status */
void hl_inquiries_end(struct hl_core *core);   /* time is up: all are decided now */
void hl_inquiries_clear(struct hl_core *core); /* the client goes: freed, nobody is told */

#endif
