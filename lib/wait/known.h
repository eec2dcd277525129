/* SPDX-License-Identifier: BSD-3-Clause */
/* known - what a gate knows about its name: the store's latest answer, to which acquire, how long a waiter may sleep
 * after it, and the last words of an acquire that ends without the lock: what or who was in the way. */
#ifndef HL_WAIT_KNOWN_H
#define HL_WAIT_KNOWN_H

#include "base/text.h"
#include "wait/waiter.h"

void hl_known_learn(const struct hl_acquire *acquire, const struct hl_response *said); /* its answer; NULL: none */
uint64_t hl_known_sleep_us(struct hl_core *core, const struct hl_acquire *acquire); /* how long until the next try */
/* the same of one that polls: a part is random, so that pollers do not come in step */
uint64_t hl_known_poll_us(struct hl_core *core, const struct hl_terms *terms);
int hl_known_is_held(const struct hl_name *name);
int hl_known_denies(const struct hl_name *name); /* held, and not beyond the end of the lease that was heard: a try need
                                                    not ask */

/* TIMED_OUT: held by another; UNREACHABLE: no answer; else the store's latest fault */
hilock_status hl_known_status(struct hl_core *core, const struct hl_acquire *acquire);

struct hl_known { /* for an answer of that status */
    char words[HL_TEXT_MAX];      /* TIMED_OUT: the holder, also our own; a fault: the server's words. "" */
    uint32_t holder_remaining_ms; /* TIMED_OUT */
    uint32_t age_ms;              /* of these words; 0: of our own holder */
};
struct hl_known hl_known_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

struct hl_last_words { /* one block of memory; NULL: no text or no memory: the status' own sentence */
    uint32_t holder_remaining_ms;
    const char *detail; /* behind the holder */
    char holder[];      /* "": none */
};
struct hl_last_words *hl_known_copy_words(const struct hl_memory *memory, const struct hilock_result *result);
void hl_known_say_words(const struct hl_last_words *words, struct hilock_result *result); /* of that status */
/* while the gate still knows */
struct hl_last_words *hl_known_last_words(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

#endif
