/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry - an operator's request: read the holder of a name (peek) or all of them (holders), or end a hold
 * (force_release). An inquiry is made through a handle, and takes no part in its locking: the handle may be in any
 * state, and have any number of inquiries.
 *
 *   PEEKING -> RELEASING -> DECIDED -> reported -> freed
 *
 * A peek ends after PEEKING, a force_release of a named holder begins with RELEASING, and a force_release of any holder
 * does both.
 * Invariants: an inquiry is answered once, command_timeout_ms after the call at the latest, even while the client
 * closes; if its handle was silenced, it is never answered. It gets all its memory with the call. It releases only the
 * holder that was named or seen. */
#ifndef HL_LOCK_INQUIRY_H
#define HL_LOCK_INQUIRY_H

#include "base/text.h"
#include "core/call.h"
#include "hold/hold.h"
#include "lock/locks.h"
#include "wire/protocol.h"

enum { HL_INQUIRY_HOLDER_MAX = HL_PEEKED_HOLDER_MAX }; /* a longer holder is cut, and cannot be released */
enum hl_inquiry_state { INQUIRY_PEEKING, INQUIRY_RELEASING, INQUIRY_DECIDED };
enum hl_inquiry_release { RELEASE_NOT_SENT, RELEASE_SENT, RELEASE_UNANSWERED }; /* the last: one that was sent got no
                                                                                 answer, and another may be sent */

struct hl_inquiry {
    struct hl_call call;
    TAILQ_ENTRY(hl_inquiry) entry; /* links the inquiry into core->locks->inquiries */
    struct hl_request request;     /* it may still be on the wire when the inquiry is DECIDED; the inquiry is freed
                                      only after the answer */
    uint32_t attempts;             /* how many requests were sent */
    hilock_operation operation;    /* PEEK, HOLDERS or FORCE_RELEASE */
    uint8_t state;                 /* enum hl_inquiry_state */
    uint8_t release;               /* enum hl_inquiry_release */
    uint8_t stage;                 /* enum hl_stage: which of the two commands of a forced release is sent */
    uint8_t found;                 /* what the peek found, an enum hl_find */
    hilock_status status;          /* the answer, once DECIDED */
    uint32_t holder_remaining_ms, holders, waiters, ready, position;
    size_t holder_length;          /* the whole length, even if the holder is cut */
    char holder[HL_INQUIRY_HOLDER_MAX + 1];
    struct hl_listing *listing;    /* the holders that the answer listed; NULL: this inquiry lists none */
    struct hl_text detail;
};

/* Begins a peek or a force_release. holder: the holder whose hold must end; NULL: any holder. Returns HILOCK_OK or
 * HILOCK_NO_MEMORY. */
hilock_status hl_inquiry_begin(struct hl_core *core, struct hilock_lock *lock, hilock_operation operation,
                               const char *holder, hilock_result_fn *on_result, void *user);

/* Begins a request for all holders. Returns HILOCK_OK or HILOCK_NO_MEMORY. */
hilock_status hl_inquiry_begin_list(struct hl_core *core, struct hilock_lock *lock, hilock_holder_fn *on_holder,
                                    hilock_result_fn *on_result, void *user);

void hl_inquiries_end(struct hl_core *core);   /* the time of the closing client is over: decides all inquiries now */
void hl_inquiries_clear(struct hl_core *core); /* the client ends: frees all inquiries without callbacks */

#endif
