/* SPDX-License-Identifier: BSD-3-Clause */
/* known - what a gate knows about its name: the store's latest answer, to which acquire, and how long a waiter may
 * sleep after it. */
#ifndef HL_WAIT_KNOWN_H
#define HL_WAIT_KNOWN_H

#include "wait/waiter.h"

void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said); /* its answer; NULL: none */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire); /* how long until the next try */
/* the same of one that polls: a part is random, so that pollers do not come in step */
uint64_t hl_known_poll_us(struct hl_core *core, const struct hl_terms *terms);
int hl_known_is_held(const struct hl_name *name);

/* TIMED_OUT: held by another; UNREACHABLE: no answer; else the store's latest fault */
hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire);

enum { HL_KNOWN_WORDS_MAX = 255 }; /* longer ones are cut */

struct hl_known { /* for an answer of that status */
    char words[HL_KNOWN_WORDS_MAX + 1]; /* TIMED_OUT: the holder, also our own; a fault: the server's words. "" */
    uint32_t holder_remaining_ms;       /* TIMED_OUT */
};
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

#endif
