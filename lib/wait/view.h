/* SPDX-License-Identifier: BSD-3-Clause */
/* view - what a client knows about a name: the store's latest answer, to which acquire, how long a waiter may sleep
 * after it, and the last words of an acquire that ends without the lock: what or who was in the way. */
#ifndef HL_WAIT_VIEW_H
#define HL_WAIT_VIEW_H

#include "base/text.h"
#include "wait/waiter.h"

void hl_view_update(const struct hl_acquire *acquire, const struct hl_response *said); /* its answer; NULL: none */
uint64_t hl_view_sleep_us(struct hl_core *core, const struct hl_acquire *acquire); /* how long until the next try */
/* the same of one that polls: a part is random, so that pollers do not come in step */
uint64_t hl_view_poll_us(struct hl_core *core, const struct hl_terms *terms);
int hl_view_is_held(const struct hl_name *name);
/* held, and not beyond the end of the lease that was heard: a try need not ask */
int hl_view_denies_tries(const struct hl_name *name);

/* TIMED_OUT: held by another; UNREACHABLE: no answer; else the store's latest fault */
hilock_status hl_view_status(struct hl_core *core, const struct hl_acquire *acquire);

struct hl_view { /* for an answer of that status */
    char words[HL_TEXT_MAX];      /* TIMED_OUT: the holder, also our own; a fault: the server's words. "" */
    uint32_t holder_remaining_ms; /* TIMED_OUT */
    uint32_t age_ms;              /* of these words; 0: of our own holder */
};
struct hl_view hl_view_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

struct hl_result_words { /* one block of memory; NULL: no text or no memory: the status' own sentence */
    uint32_t holder_remaining_ms;
    const char *detail; /* behind the holder */
    char holder[];      /* "": none */
};
struct hl_result_words *hl_view_copy_words(const struct hl_memory *memory, const struct hilock_result *result);
void hl_view_set_words(const struct hl_result_words *words, struct hilock_result *result); /* of that status */
/* Before the acquire leaves its line. */
struct hl_result_words *hl_view_result_words(struct hl_core *core, const struct hl_acquire *acquire,
                                             hilock_status status);

#endif
