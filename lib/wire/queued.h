/* SPDX-License-Identifier: BSD-3-Clause */
/* queued - the commands and answers of the kinds MUTEX and FAIR: builds argv, and reads replies and pushes. Pure: no
 * state, no I/O. It is reached by hl_queued_mutex and hl_queued_fair (kind.h). A lock is a hash with Redisson's layout,
 * so that Java services and hilock exclude each other (README.md here), and beside it there is a queue. A release makes
 * the first ready waiter the holder, in the same script, and publishes that on the channel that the waiter named. Such
 * a grant lasts only for a window. It carries the server's own times of the waiter's heartbeat and of the grant, so
 * that the deadline counts from the send of that heartbeat (R1), never from the arrival of the push. */
#ifndef HL_WIRE_QUEUED_H
#define HL_WIRE_QUEUED_H

#include "wire/kind.h"
#include "wire/protocol.h"

enum {
    HL_WINDOW_MIN_MS = 400, HL_WINDOW_MAX_MS = 3000, /* how long a pushed grant lasts, unless it is renewed */
    HL_PROMISE_MIN_MS = 3000, /* to HL_PROMISE_MAX_MS: within which time the next heartbeat of a waiter comes */
    HL_LEFT_LOOK_MS = 10,     /* when the client that left a name to other programs looks again */
    HL_YIELD_MAX_MS = 1000   /* the longest pause that a message asks for */
};
/* Returns for how long a client may rely on a grant that stands for a window: by then it must have renewed the grant.
 * The rest of the window is for the client that made the grant, which looks whether it was used before anybody else can
 * find the name free. */
static inline uint32_t hl_queued_usable_ms(uint64_t window_ms)
{
    uint64_t rest_ms = window_ms / HL_WINDOW_REST_PART + HL_WINDOW_REST_MS;
    return window_ms > rest_ms ? (uint32_t)(window_ms - rest_ms) : 0;
}

hl_acquire_fn hl_queued_acquire;
hl_renew_fn hl_queued_renew;
hl_release_fn hl_queued_release;
hl_recheck_fn hl_queued_recheck;
hl_force_fn hl_queued_force;
hl_peek_fn hl_queued_peek;
hl_parse_fn hl_queued_acquired, hl_queued_released;

/* Returns 1 and the second part of an answer of form NEXT: the answer to the acquire of the next hold. 0: the release
 * did not ask for it. */
int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next);

#endif
